r"""Checks of the duality gap of kernel ridge regression, with enclosed kernel values.

For :math:`f = \sum_j c_j k(x_j, \cdot)` and a free part :math:`p` with residuals :math:`r`, a dual vector :math:`v`, the function
:math:`g = \sum_j v_j k(x_j, \cdot)`, and the values :math:`t` of the free function by which :math:`v / s` differs (zero up to rounding),

.. math:: P - \min P \le \sum_i s_i (r_i - v_i / s_i + t_i)^2 + \frac1\alpha \Bigl(\sum_i s_i |t_i| \sqrt{k(x_i, x_i)}\Bigr)^2 ,
          \qquad v = \alpha c ,

a sum of squares without cancellation. With the constraint :math:`\|f\| \le R` instead of a penalty, any :math:`v`
proves the bound :math:`\sum_i s_i (r_i - v_i / s_i + t_i)^2 + 2 (R \|g\| - \langle f, g \rangle)` (theory:
``kernel-ridge-gap``).
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.eigen import weights_of
from surefit.checks.enclosure import UNIT, Bound, Enclosed, upper_sum
from surefit.checks.judge import Proof, claim, shared
from surefit.checks.kernels.machines import NEAR, VIOLATED, WITHIN
from surefit.checks.kernels.model import require_rows
from surefit.checks.kernels.null_space import free_coefficients, free_part, free_values, repairs
from surefit.checks.kernels.operator import Gram, kernel_on, norm_square
from surefit.checks.kernels.values import about_kernel, assumptions_of, require_definite
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import CertificateError
from surefit.core.sample import Data

GOAL = 1e-10  # expected gap, relative to the squares of the targets
HALF_THE_DIGITS = 1e-5  # the same for an inactive constraint, where a norm is the square root of rounding errors


class Found(NamedTuple):
    """Proved bounds for all targets together."""

    gap: Bound  # of the problem as given
    distance: Bound  # from the optimal functions
    norm: Bound  # of the functions


bound = partial(claim, kind="optimality", side="upper", theory="kernel-ridge-gap", infinite=True)


@bound("kernel_ridge.gap", says=WITHIN, assumptions=assumptions_of)
def gap(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that P - min P is at most ``value``."""
    require_definite(kernel_on(certificate, data))
    return _gap(certificate, data)


@bound("kernel_ridge.stationarity", kind="stationarity", says=VIOLATED)
def stationarity(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the optimality conditions are violated by at most ``value``, for an indefinite kernel."""
    return _gap(certificate, data)._replace(numbers={})


def _gap(certificate: Certificate, data: Data) -> Proof:
    found, Y = examine(certificate, data).gap, np.reshape(data.target, (len(data.target), -1))
    goal = GOAL if min(certificate.problem["alphas"]) > 0 else HALF_THE_DIGITS
    squares = Y**2 if data.weights is None else data.weights[:, None] * Y**2
    limit = goal * math.fsum(squares.ravel().tolist())
    note = f"P - min P <= {found.value:.3g} by the dual coefficients."
    return about_kernel(
        certificate, found, note, kernel_on(certificate, data), limit=limit, limit_spread=8 * UNIT * limit
    )


@bound("kernel_ridge.distance", says=NEAR, assumptions=assumptions_of)
def distance(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the functions are within ``value`` of the optimal ones in the RKHS norm, by strong convexity."""
    distance = examine(certificate, data).distance
    return about_kernel(certificate, distance, "from the gap and strong convexity.", kernel_on(certificate, data))


@bound("kernel_ridge.norm", kind="feasibility", assumptions=assumptions_of,
       says="The function has norm at most {value:.9g} in the kernel's space.")  # fmt: skip
def norm(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the norm of the functions is at most ``value``, and at most the radius if there is one."""
    found, radius = examine(certificate, data).norm, certificate.problem.get("radius")
    return about_kernel(
        certificate, found, "norm of the functions recomputed.", kernel_on(certificate, data), limit=radius
    )


@shared
def examine(certificate: Certificate, data: Data) -> Found:
    """Bound P - min P; the targets share the kernel values."""
    gram, all_weights = Gram.of(certificate, data), weights_of(data)
    require_rows(certificate, data, "X_fit_")
    n = gram.n
    rows: Any = slice(None) if data.weights is None else np.flatnonzero(all_weights > 0)
    C = np.asarray(certificate.model["dual_coef_"], dtype=np.float64).reshape(n, -1)
    if not np.isfinite(C).all():
        raise CertificateError("dual_coef_ must be finite.")
    s, Y = all_weights[rows], np.reshape(data.target, (n, -1))[rows]
    alphas, radius = np.array(certificate.problem["alphas"]), certificate.problem.get("radius")
    scores = gram.times(C)
    squares = gram.form(C, scores)
    T = free_values(certificate, data)
    T = Enclosed(T.mid[rows], T.rad[rows])
    free = free_part(T, free_coefficients(certificate, C.shape[1]))
    f = Enclosed(scores.mid[rows], scores.rad[rows])
    residual = Y - f.mid - free.mid
    rad = f.rad + free.rad + 8 * UNIT * (np.abs(Y) + np.abs(f.mid) + np.abs(free.mid))
    plain = radius is not None and not alphas[0] > 0  # for an inactive constraint, the residuals are the dual vector
    v = s[:, None] * residual if plain else alphas * C[rows]
    t = repairs(T, s, v)
    norm = norm_square(squares)
    if t is None or (C != 0.0)[all_weights == 0.0].any() or (not plain and (alphas <= 0).any()):
        nothing = Bound(math.inf, 0.0)
        return Found(nothing, nothing, norm.root())
    share, move = v / s[:, None], np.abs(t.mid)
    off = residual - share + t.mid
    off_rad = rad + t.rad + 8 * UNIT * (np.abs(share) + move)
    gaps = _squares(off, off_rad, s)
    if plain:
        return Found(
            _inactive(gram, rows, (v, off_rad, s), t, f, gaps, float(radius or 0.0)), Bound(math.inf, 0.0), norm.root()
        )
    lengths = gram.lengths()[rows]
    for k, alpha in enumerate(alphas.tolist()):
        drifts = [
            upper_sum(s * part * lengths) ** 2 / alpha * (1 + 16 * UNIT)
            for part in (move[:, k] + t.rad[:, k], move[:, k])
        ]
        gaps[k] = gaps[k].plus(Bound(drifts[0], drifts[0] - drifts[1] + 16 * UNIT * drifts[0]))
    total, apart = _sum(gaps), _sum([own.over(alpha) for own, alpha in zip(gaps, alphas.tolist(), strict=True)])
    if radius is None:
        return Found(total, apart.root(), norm.root())
    # The penalized function is close to ours and to the constrained optimum; the distance is at most the sum of both.
    total = total.plus(_slack(squares, radius, float(alphas[0])))
    both = apart.root().plus(total.over(float(alphas[0])).root())
    return Found(total, both, norm.root())


def _squares(off: np.ndarray, rad: np.ndarray, s: np.ndarray) -> list[Bound]:
    """Bound the weighted sum of squares for each target."""
    bounds = []
    for k in range(off.shape[1]):
        size, own = np.abs(off[:, k]), rad[:, k]
        value = upper_sum(s * (size + own) ** 2) * (1 + 8 * UNIT)
        low = math.fsum((s * np.maximum(size - own, 0.0) ** 2).tolist())
        bounds.append(Bound(value, value - low))
    return bounds


def _slack(squares: Enclosed, radius: float, alpha: float) -> Bound:
    """Bound ``alpha (R^2 - |f|^2)``, the contribution of the constraint's slack to the gap."""
    mid = max(alpha * (radius**2 - float(np.sum(squares.mid))), 0.0)
    rad = alpha * (float(np.sum(squares.rad)) + 8 * UNIT * (radius**2 + float(np.sum(np.abs(squares.mid)))))
    return Bound((mid + rad) * (1 + 8 * UNIT), rad * (1 + 8 * UNIT))


def _inactive(
    gram: Gram, rows: Any, dual: tuple[Any, ...], t: Enclosed, f: Enclosed, gaps: list[Any], radius: float
) -> Bound:
    """Bound the gap by the residuals, made orthogonal to the free functions, as dual vector, or by the objective."""
    v, off_rad, s = dual
    moved = v - s[:, None] * t.mid
    slips = s[:, None] * (t.rad + off_rad) + 8 * UNIT * (np.abs(v) + s[:, None] * np.abs(t.mid))
    full = np.zeros((gram.n, v.shape[1]))
    full[rows] = moved
    image = gram.times(full)
    slip = upper_sum((slips * gram.lengths()[rows, None]).ravel()) * (1 + 8 * UNIT)
    length = norm_square(gram.form(full, image), slip).root()
    terms = (moved * f.mid).ravel()
    pairing = math.fsum(terms)
    pairing_rad = upper_sum(((np.abs(moved) + slips) * f.rad + slips * np.abs(f.mid)).ravel()) + 4 * UNIT * upper_sum(
        np.abs(terms)
    )
    value = 2 * (radius * length.value - pairing + pairing_rad) * (1 + 16 * UNIT)
    own = Bound(max(value, 0.0), 2 * (radius * length.spread + pairing_rad) * (1 + 16 * UNIT) + 16 * UNIT * abs(value))
    return min(_sum([*gaps, own]), _sum(_squares(v / s[:, None], off_rad, s)))


def _sum(bounds: list[Bound]) -> Bound:
    total = Bound(0.0, 0.0)
    for bound in bounds:
        total = total.plus(bound)
    return total
