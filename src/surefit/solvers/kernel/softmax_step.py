r"""Newton step of softmax regression in an RKHS, by conjugate gradients or, if they converge slowly, by factorizations.

The step of the coefficients solves :math:`(I + W K) \delta = r - W 1 \Delta b`, :math:`r = \theta - \beta`, where :math:`W` couples the
classes of a row: :math:`W_i = c_i (\mathrm{diag}(p_i) - p_i p_i^\top) = L_i L_i^\top` with :math:`L_i = \sqrt{c_i}
(\mathrm{diag}(\sqrt{p_i}) - p_i \sqrt{p_i}^\top)`. So :math:`\delta = q - L (I + L^\top K L)^{-1} L^\top K q` for a right-hand side
:math:`q`. The eigenvalues of :math:`I + L^\top K L` are at least one, and conjugate gradients need only products with
it. The intercepts make the sums of :math:`\beta + \delta` over the rows zero.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

ACCURACY = 1e-9  # relative residual at which conjugate gradients stop
MOST_STEPS = 300
CHEAPER = 2  # rows per class that one iteration may correspond to before factorizations are cheaper


def newton_step(
    K: np.ndarray, c: np.ndarray, P: np.ndarray, rest: np.ndarray, sums: np.ndarray, offset: bool, exact: bool = False
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return the steps of the coefficients and of the intercepts, and whether factorizations were used.

    ``sums`` are the sums of the coefficients over the rows.
    """
    found = None if exact else by_gradients(K, c, P, rest, offset)
    direction, columns = by_factors(K, c, P, rest, offset) if found is None else found
    shift = np.zeros(P.shape[1])
    if offset:  # the sums of the coefficients over the rows must become zero
        totals = np.column_stack([column.sum(axis=0) for column in columns])
        shift = np.linalg.lstsq(totals, direction.sum(axis=0) + sums, rcond=1e-12)[0]
        direction = direction - sum(d * column for d, column in zip(shift, columns, strict=True))
    return direction, shift, found is None


def by_gradients(K, c, P, rest, offset: bool) -> tuple[np.ndarray, list[np.ndarray]] | None:
    """Return the step at fixed intercepts and the effect of a unit change of each intercept, by conjugate gradients, or None."""
    root, half, classes = np.sqrt(c)[:, None, None], np.sqrt(P)[:, :, None], P.shape[1]
    whole = P[:, :, None]

    def kernel(V):
        return (K @ V.reshape(len(K), -1)).reshape(V.shape)

    def left(V):
        return root * (half * V - whole * np.sum(half * V, axis=1, keepdims=True))

    def right(V):
        return root * half * (V - np.sum(whole * V, axis=1, keepdims=True))

    sides = [K @ rest]
    if offset:  # equal changes of all intercepts have no effect, so the last one follows from the others
        sides += [np.eye(1, classes, k).repeat(len(c), axis=0) for k in range(classes - 1)]
    goal = right(np.stack(sides, axis=2))
    u, r, p = np.zeros_like(goal), goal, goal
    square = _squares(r, r)
    enough = ACCURACY**2 * square
    for _ in range(min(MOST_STEPS, 10 + len(K) // (CHEAPER * classes))):
        if not np.all(np.isfinite(square)):
            return None
        if np.all(square <= enough):
            images = np.moveaxis(left(u), 2, 0)
            others = list(images[1:])
            return rest - images[0], [*others, -sum(others)] if offset else []
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            image = p + right(kernel(left(p)))
            size = np.where(square > enough, square / _squares(p, image), 0.0)
            u, r = u + size * p, r - size * image
            last, square = square, _squares(r, r)
            p = r + np.where(last > enough, square / last, 0.0) * p
    return None


def _squares(U: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Return the inner products of corresponding columns, one per right-hand side."""
    return np.einsum("ijk,ijk->k", U, V)


def by_factors(K, c, P, rest, offset: bool) -> tuple[np.ndarray, list[np.ndarray]]:
    r"""Return the same by :math:`\delta = r - A (K r + 1 \Delta b)`.

    Here :math:`A = E - E R (\sum_k E_k)^{-1} R^\top E` with :math:`E_k = (K + (c P_k)^{-1})^{-1}` and :math:`R` the sum over classes.
    """
    times, classes = curvature(K, c[:, None] * P), P.shape[1]
    ones = [np.eye(1, classes, k).repeat(len(c), axis=0) for k in range(classes)]
    return rest - times(K @ rest), [times(one) for one in ones] if offset else []


def curvature(K: np.ndarray, D: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return the map ``A`` for the weights times probabilities ``D``, one column per class."""
    inverses, total = [], np.zeros_like(K)
    for d in D.T:
        root = np.sqrt(d)
        B = K * root[:, None] * root
        B[np.diag_indices(len(d))] += 1.0
        inverse = _inverse(B, 1.0) * (root[:, None] * root)
        inverses.append(inverse)
        total += inverse
    common = _inverse(total, np.finfo(np.float64).eps * float(np.max(total.diagonal())))

    def times(V: np.ndarray) -> np.ndarray:
        parts = np.column_stack([inverse @ v for inverse, v in zip(inverses, V.T, strict=True)])
        shared = common @ parts.sum(axis=1)
        return parts - np.column_stack([inverse @ shared for inverse in inverses])

    return times


def _inverse(B: np.ndarray, least: float) -> np.ndarray:
    """Invert a symmetric matrix whose eigenvalues are at least ``least`` up to rounding."""
    factor, failed = lapack.dpotrf(B, lower=1)
    if not failed:
        inverse, failed = lapack.dpotri(factor, lower=1, overwrite_c=1)
    if not failed and np.all(np.isfinite(inverse.diagonal())):
        return np.tril(inverse) + np.tril(inverse, -1).T
    values, vectors = linalg.eigh(B, check_finite=False)
    return (vectors / np.maximum(values, least or 1.0)) @ vectors.T
