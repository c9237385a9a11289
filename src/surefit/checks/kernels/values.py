"""Enclosed kernel values, so that claims refer to the exact kernel and not to its floating-point values.

One function per kernel computes it from inner products and distances. ``Between`` provides those of two samples and
``Itself`` those of each element with itself, so the same function is used for Gram matrices and their diagonals.
"""

from __future__ import annotations

import math
from functools import singledispatch
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from surefit import kernels as k
from surefit.checks import balls
from surefit.checks.balls import TINY, ball
from surefit.checks.enclosure import UNIT, Bound, Enclosed, gamma
from surefit.checks.judge import Proof
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.encoding import same
from surefit.core.errors import CertificateError, InvalidParameter
from surefit.kernels.base import Kernel
from surefit.kernels.vectors import dense, products, square_norms

DIRECT = 2**31  # largest number of products for which distances are computed from differences


class Between:
    """All pairs of an element of ``A`` and an element of ``B``."""

    def __init__(self, A: Any, B: Any) -> None:
        self.A, self.B = A, B
        self.shape: tuple[int, ...] = (A.shape[0], B.shape[0])
        self.same = False

    def values(self, kernel: Kernel) -> np.ndarray:
        """Return the values as the kernel computes them."""
        return np.asarray(kernel._gram(self.A, self.B), dtype=np.float64)

    def products(self) -> Enclosed:
        """Enclose the inner products; they are exact for integers."""
        a, b = (np.sqrt(square_norms(X)) * (1 + gamma(X.shape[1] + 4)) for X in (self.A, self.B))
        mid, most = products(self.A, self.B), float(np.max(a, initial=0.0) * np.max(b, initial=0.0))
        if most < balls.WHOLE and all(balls.is_whole(X.data if sparse.issparse(X) else X) for X in (self.A, self.B)):
            return ball(mid)
        return Enclosed(mid, np.multiply.outer(a * gamma(self.A.shape[1] + 4), b) + TINY)

    def square_distances(self, lengths: Any = 1.0) -> Enclosed:
        """Enclose the squared distances in units of the length scales."""
        A, B, d = self.A, self.B, self.A.shape[1]
        weights = np.broadcast_to(1.0 / np.asarray(lengths, dtype=np.float64) ** 2, (d,))
        if not (sparse.issparse(A) or sparse.issparse(B)) and A.shape[0] * B.shape[0] * d <= DIRECT:
            return ball(cdist(A, B, "sqeuclidean", w=weights), gamma(d + 10))
        root = np.sqrt(weights)
        if sparse.issparse(A) or sparse.issparse(B):
            A, B = (X.multiply(root).tocsr() if sparse.issparse(X) else X * root for X in (A, B))
        else:
            center = np.mean(B, axis=0)
            A, B = (A - center) * root, (B - center) * root
        a, b = square_norms(A), square_norms(B)
        reach = (np.sqrt(a)[:, None] + np.sqrt(b)) ** 2  # upper bound on |x - y|^2 and on all terms
        mid = np.maximum(a[:, None] + b - 2 * products(A, B), 0.0)
        return Enclosed(mid, reach * (2 * gamma(d + 6) + 16 * UNIT) + TINY)

    def manhattan(self) -> Enclosed:
        """Enclose the sums of absolute differences."""
        A, B = dense(self.A), dense(self.B)
        return ball(cdist(A, B, "cityblock"), gamma(A.shape[1] + 3))

    def column(self, j: int) -> tuple[np.ndarray, np.ndarray]:
        """Return one column of both samples, with shapes for broadcasting."""
        return dense(self.A)[:, j, None], dense(self.B)[None, :, j]


class Itself:
    """Each element of ``A`` with itself."""

    def __init__(self, A: Any) -> None:
        self.A = self.B = A
        self.shape: tuple[int, ...] = (A.shape[0],)
        self.same = True

    def values(self, kernel: Kernel) -> np.ndarray:
        """Return the values as the kernel computes them."""
        return np.asarray(kernel._diagonal(self.A), dtype=np.float64)

    def products(self) -> Enclosed:
        """Enclose the squared norms."""
        norms, whole = square_norms(self.A), balls.is_whole(self.A.data if sparse.issparse(self.A) else self.A)
        return ball(norms, 0.0 if whole and balls.is_whole(norms) else gamma(self.A.shape[1] + 3))

    def square_distances(self, lengths: Any = 1.0) -> Enclosed:
        """Return zeros."""
        return ball(np.zeros(self.shape))

    def manhattan(self) -> Enclosed:
        """Return zeros."""
        return ball(np.zeros(self.shape))

    def column(self, j: int) -> tuple[np.ndarray, np.ndarray]:
        """Return one column twice."""
        column = dense(self.A)[:, j]
        return column, column


Pairs = Between | Itself


@singledispatch
def enclose(kernel: Any, pairs: Pairs) -> Enclosed:
    """Enclose the values of a kernel; those of an unknown kernel are assumed accurate to 64 units in the last place."""
    values = pairs.values(kernel)
    return ball(values, 0.0 if balls.is_whole(values) else 64 * UNIT)


def is_rigorous(kernel: Kernel) -> bool:
    """Return whether the values of a kernel and of its inner kernels are enclosed, not only recomputed."""
    parts = [kernel, *(part for part in kernel.get_params().values() if isinstance(part, Kernel))]
    return all(enclose.dispatch(type(part)) is not enclose.dispatch(object) for part in parts)


def level_of(kernel: Kernel) -> str:
    """Return the level of rigor for claims about this kernel."""
    return "enclosed" if is_rigorous(kernel) else "recomputed"


def kernel_facts(certificate: Certificate) -> dict[str, bool]:
    """Return whether the kernel is known to be positive semidefinite on every sample, as a number of the claim."""
    return {"kernel_known": kernel_of(certificate).positive_semidefinite is True}


def assumptions_of(claim: Claim) -> tuple[str, ...]:
    """Return the assumptions of a claim about its kernel."""
    return () if claim.numbers.get("kernel_known", False) else ("kernel_positive_semidefinite",)


def require_definite(kernel: Kernel) -> None:
    """Raise an error for a kernel that is known to be indefinite, for which the objective has no minimum."""
    if kernel.positive_semidefinite is False:
        raise ValueError("the kernel is indefinite, so there is no smallest objective")


def about_kernel(certificate: Certificate, bound: Bound, note: str, kernel: Kernel | None = None, **more: Any) -> Proof:
    """Return the proof of an upper bound that depends on the certificate's kernel; infinite if not finite."""
    value, spread = bound if math.isfinite(bound.value + bound.spread) else (math.inf, 0.0)
    kernel = kernel_of(certificate) if kernel is None else kernel
    more["numbers"] = {**more.get("numbers", {}), "kernel_known": kernel.positive_semidefinite is True}
    return Proof(value, level_of(kernel), note, spread=spread, **more)


def enclosed_values(kernel: Kernel, A: Any, B: Any) -> Enclosed:
    """Enclose the values between two samples in the form that the kernel reads."""
    return enclose(kernel, Between(A, B))


def enclosed_diagonal(kernel: Kernel, A: Any) -> Enclosed:
    """Enclose the values of each element with itself."""
    return enclose(kernel, Itself(A))


def training_values(kernel: Kernel, A: Any, rows: np.ndarray, columns: np.ndarray) -> Enclosed:
    """Enclose rows and columns of the Gram matrix of one sample, including noise on the diagonal."""
    rows, columns = np.asarray(rows), np.asarray(columns)
    given = kernel.takes == "values"
    pairs = Between(A[rows][:, columns], A[columns][:, rows]) if given else Between(A[rows], A[columns])
    inside = enclose(kernel, pairs)
    mid, rad = np.array(inside.mid), np.array(inside.rad)
    i, j = np.nonzero(rows[:, None] == columns)
    if len(i):
        met = rows[i]
        own = enclose(kernel, Itself(A[met][:, met] if given else A[met]))
        mid[i, j], rad[i, j] = own.mid, own.rad
    return Enclosed(mid, rad)


def kernel_of(certificate: Certificate) -> Kernel:
    """Rebuild the kernel of ``certificate.problem["kernel"]``; a function is taken from the model's ``kernel_``.

    The model predicts with its ``kernel_``, which must be the same.
    """
    record = certificate.problem["kernel"]
    own = getattr(certificate.subject, "kernel_", None)
    if isinstance(own, Kernel) and not same(own.to_record(), record):
        raise CertificateError("The model's kernel_ is not the kernel that its parameters define.")
    try:
        return Kernel.from_record(record)
    except InvalidParameter:
        if not isinstance(own, Kernel):
            raise CertificateError(
                "The kernel is a function, which a certificate cannot hold; verify the model itself (model.verify)."
            ) from None
        return own


# --- one function per kernel --------------------------------------------------------------------------------------------


@enclose.register
def _(kernel: k.Linear, pairs: Any) -> Any:
    return pairs.products()


@enclose.register
def _(kernel: k.DotProduct, pairs: Any) -> Any:
    return balls.add(pairs.products(), balls.power(ball(np.asarray(float(kernel.sigma_0))), 2))


@enclose.register
def _(kernel: k.Polynomial, pairs: Any) -> Any:
    inner = balls.add(balls.scale(pairs.products(), kernel.gamma), ball(np.asarray(float(kernel.coef0))))
    return balls.power(inner, kernel.degree)


@enclose.register
def _(kernel: k.RBF, pairs: Any) -> Any:
    if pairs.same:  # the distances are zero
        return ball(np.ones(pairs.shape))
    lengths, factor = (kernel.lengths, 0.5) if kernel.gamma is None else (1.0, kernel.gamma)
    return balls.exponential(balls.negative(balls.scale(pairs.square_distances(lengths), factor)))


@enclose.register
def _(kernel: k.Laplacian, pairs: Any) -> Any:
    return balls.exponential(balls.negative(balls.scale(pairs.manhattan(), kernel.gamma)))


@enclose.register
def _(kernel: k.Sigmoid, pairs: Any) -> Any:
    inner = balls.add(balls.scale(pairs.products(), kernel.gamma), ball(np.asarray(float(kernel.coef0))))
    return balls.smooth(np.tanh, inner)


@enclose.register
def _(kernel: k.Precomputed, pairs: Any) -> Any:
    return ball(dense(pairs.A.diagonal() if pairs.same else pairs.A))


@enclose.register
def _(kernel: k.Constant, pairs: Any) -> Any:
    return ball(np.full(pairs.shape, float(kernel.value)))


@enclose.register
def _(kernel: k.Noise, pairs: Any) -> Any:
    return ball(np.full(pairs.shape, float(kernel.variance) if pairs.same else 0.0))


@enclose.register
def _(kernel: k.Matern, pairs: Any) -> Any:
    r = balls.root(pairs.square_distances(kernel.length_scale))
    one = ball(np.ones(pairs.shape))
    if kernel.nu == 0.5:
        return balls.exponential(balls.negative(r))
    t = balls.scale(r, np.sqrt(2 * kernel.nu), 2 * UNIT)
    factor = balls.add(one, t)
    if kernel.nu == 2.5:
        factor = balls.add(factor, balls.scale(balls.multiply(t, t), 1 / 3, 2 * UNIT))
    return balls.multiply(factor, balls.exponential(balls.negative(t)))


@enclose.register
def _(kernel: k.RationalQuadratic, pairs: Any) -> Any:
    q = balls.scale(pairs.square_distances(kernel.length_scale), 0.5 / kernel.alpha, 2 * UNIT)
    return balls.exponential(balls.negative(balls.scale(balls.smooth(np.log1p, q), kernel.alpha)))


@enclose.register
def _(kernel: k.Periodic, pairs: Any) -> Any:
    total = ball(np.zeros(pairs.shape))
    for j in range(pairs.A.shape[1]):
        a, b = pairs.column(j)
        angle = balls.scale(ball(a - b, UNIT), np.pi / kernel.periodicity, 4 * UNIT)
        sine = balls.smooth(np.sin, angle)
        total = balls.add(total, balls.multiply(sine, sine))
    return balls.exponential(balls.negative(balls.scale(total, 2 / kernel.length_scale**2, 4 * UNIT)))


@enclose.register
def _(kernel: k.Sum, pairs: Any) -> Any:
    return balls.add(enclose(kernel.left, pairs), enclose(kernel.right, pairs))


@enclose.register
def _(kernel: k.Product, pairs: Any) -> Any:
    return balls.multiply(enclose(kernel.left, pairs), enclose(kernel.right, pairs))


@enclose.register
def _(kernel: k.Scaled, pairs: Any) -> Any:
    return balls.scale(enclose(kernel.kernel, pairs), kernel.factor)


@enclose.register
def _(kernel: k.Power, pairs: Any) -> Any:
    return balls.power(enclose(kernel.kernel, pairs), kernel.exponent)
