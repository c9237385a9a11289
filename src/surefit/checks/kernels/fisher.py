r"""Checks of kernel Fisher discriminants, with recomputed and enclosed kernel values.

For :math:`f = \sum_j \beta_j k(x_j, \cdot)` the residual :math:`\rho = (m_1 - m_0) - (\Sigma + \lambda I) f` has the
coefficients :math:`v = d - P F / \mu - \lambda \beta` (F: values on the rows, P: subtracts class means), and :math:`J^*
- J(f) \le \rho^\top (\Sigma + \lambda I)^{-1} \rho \le v^\top K v / \lambda`. Without a ridge, for every function
:math:`g` with :math:`\langle g, \Sigma g \rangle \ge \tau \|g\|^2`: :math:`J(g) \le (\langle f, \Sigma f \rangle^{1/2}
+ \|\rho\| \tau^{-1/2})^2` (theory: ``kernel-fisher-gap``).
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from surefit.checks.eigen import weights_of
from surefit.checks.enclosure import UNIT, Bound, Enclosed, gamma, upper_sum
from surefit.checks.judge import AtLeast, Proof, claim, refused, shared
from surefit.checks.kernels.model import class_codes, require_rows, spread_out
from surefit.checks.kernels.operator import Gram, norm_square
from surefit.checks.kernels.values import about_kernel, assumptions_of
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data

PRECISE = 1e-8  # expected gap with a ridge, relative to the criterion (at least this value)
RESTRICTED = 1e-5  # the same for the restricted gap, whose residual is known to half the digits only
SEPARATE = 1e-5  # within-class spread, relative to the distance of the means, that counts as zero


class Found(NamedTuple):
    """Bounds for the function on the data, including all rounding errors."""

    rest: Bound  # squared norm of the residual
    spread: Bound  # within classes
    square: float  # upper bound on the squared norm of the function
    distance: Enclosed  # of the class means
    cut: Bound  # error of the intercept

    def criterion(self, ridge: float) -> tuple[float, float]:
        """Return a lower bound on the criterion and its rounding."""
        within = self.spread.value + ridge * self.square
        least = max(float(self.distance.mid - self.distance.rad), 0.0)
        J = least**2 / within * (1 - 32 * UNIT) if within > 0 else 0.0
        mid = self.spread.value - self.spread.spread + ridge * self.square
        return J, float(self.distance.mid) ** 2 / mid - J + 64 * UNIT * J if mid > 0 else 0.0


fact = partial(claim, side="upper", theory="kernel-fisher-gap", assumptions=assumptions_of)


@fact("kernel_fisher.gap", kind="optimality",
      says="Fisher's criterion is at least {criterion:.6g}, and no function exceeds it by more than {value:.3g}.")  # fmt: skip
def gap(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that no function has a criterion larger than that of the model by more than ``value``."""
    found, ridge = examine(certificate, data), certificate.problem["ridge"]
    if not ridge > 0:
        return refused("without a ridge the criterion may have no bound")
    return _exceeded(certificate, found, ridge, found.rest.over(ridge), PRECISE, {})


@fact("kernel_fisher.restricted_gap", kind="optimality", infinite=True,
      says="Fisher's criterion is at least {criterion:.6g}, and no function whose spread within the classes is at least "
      "{least_spread:.3g} times its squared norm exceeds it by more than {value:.3g}.")  # fmt: skip
def restricted_gap(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that no function with enough within-class spread has a criterion larger by more than ``value``."""
    found, least = examine(certificate, data), float(claim.numbers["least_spread"])
    if not (least > 0 and math.isfinite(least)):
        return refused("the least spread must be a number > 0")
    J, spread = found.criterion(0.0)
    roots = found.spread.root(), found.rest.over(least).root()
    most, low = (sum(r.value for r in roots) ** 2 * (1 + 32 * UNIT), sum(r.value - r.spread for r in roots) ** 2)
    bound = Bound(max(most - J, 0.0), most - low + spread)
    return _exceeded(certificate, found, 0.0, bound, RESTRICTED, {"least_spread": least})


def _exceeded(
    certificate: Certificate, found: Found, ridge: float, bound: Bound, goal: float, numbers: dict[str, Any]
) -> Proof:
    """Return the proof that no function exceeds the criterion by more than ``bound``."""
    J, spread = found.criterion(ridge)
    note, numbers = (
        f"J >= {J:.6g}; no function exceeds it by more than {bound.value:.3g}.",
        {"criterion": AtLeast(J, spread), **numbers},
    )
    limit = goal * max(J, goal)
    return about_kernel(certificate, bound, note, numbers=numbers, limit=limit, limit_spread=goal * spread)


@fact("kernel_fisher.separation", kind="data_fact", infinite=True,
      says="The class means differ, and the standard deviation of the training scores within the classes is at most {value:.3g} times "
      "this difference: up to rounding, the criterion is unbounded.")  # fmt: skip
def separation(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the within-class spread is at most ``value`` times the distance of the class means."""
    found = examine(certificate, data)
    least, most = (float(found.distance.mid + sign * found.distance.rad) for sign in (-1.0, 1.0))
    root = found.spread.root()
    value = root.value / least * (1 + 8 * UNIT) if least > 0 else math.inf
    low = (root.value - root.spread) / most if most > 0 else 0.0
    note = f"criterion at least {1 / value**2 if value > 0 else math.inf:.3g}."
    return about_kernel(certificate, Bound(value, value - low), note, limit=SEPARATE)


@fact(
    "kernel_fisher.cut", kind="data_fact", says="The threshold is halfway between the class means, up to {value:.3g}."
)
def cut(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the threshold is halfway between the class means, up to ``value``."""
    return about_kernel(certificate, examine(certificate, data).cut, "class means recomputed.")


@claim("kernel_fisher.error", kind="estimate", side="upper", high=1.0, theory="kernel-fisher-gap",
       says="If the scores were Gaussian, the error would be at most {value:.4g}.")  # fmt: skip
def error(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Evaluate the plug-in error at the lower bound on the criterion."""
    J, spread = examine(certificate, data).criterion(certificate.problem["ridge"])
    bound, low = (float(ndtr(-math.sqrt(value) / 2)) for value in (J, J + spread))
    value, note = bound * (1 + 64 * UNIT), "normal distribution function at the criterion."
    if value + 3 * (value - low) >= 0.5:  # no digit of the criterion is certain
        return Proof(0.5, "recomputed", note)
    return Proof(value, "recomputed", note, spread=value - low)


@shared
def examine(certificate: Certificate, data: Data) -> Found:
    """Return bounds for the function in the kernel's space."""
    gram, ridge = Gram.of(certificate, data), certificate.problem["ridge"]
    codes, s = class_codes(certificate, data), weights_of(data)
    require_rows(certificate, data, "X_fit_")
    n, divisor = gram.n, math.fsum(s) - 2
    beta = spread_out(certificate.model["dual_coef_"], np.arange(n), n)[0]
    scores = gram.times(beta)
    F, F_rad = scores
    means, means_rad = _class_means(codes, s, F, F_rad)
    d = np.zeros(n)
    for side in (0, 1):
        own = codes == side
        d[own] = (1.0 if side else -1.0) * s[own] / math.fsum(s[own])
    about = F - means[codes]
    v = d - s * about / divisor - ridge * beta
    size = np.abs(d) + s * (np.abs(F) + np.abs(means[codes])) / divisor + ridge * np.abs(beta)
    v_rad = s * (F_rad + means_rad[codes]) / divisor + gamma(8) * size
    image = gram.times(v[:, None])
    slip = upper_sum(v_rad * gram.lengths()) * (1 + 8 * UNIT)
    rest = norm_square(gram.form(v[:, None], image), slip)
    about_rad = F_rad + means_rad[codes] + 4 * UNIT * (np.abs(F) + np.abs(means[codes]))
    spread = upper_sum(s * (np.abs(about) + about_rad) ** 2) / divisor * (1 + 16 * UNIT)
    low = math.fsum(s * np.maximum(np.abs(about) - about_rad, 0.0) ** 2) / divisor
    square = gram.form(beta[:, None], Enclosed(F[:, None], F_rad[:, None]))
    radius = float(means_rad.sum()) + 8 * UNIT * float(np.abs(means).sum())
    distance = Enclosed(np.abs(means[1] - means[0]), np.asarray(radius))
    intercept = float(np.ravel(certificate.model["intercept_"])[0])
    off = abs(intercept + float(means.sum()) / 2)
    return Found(
        rest, Bound(spread, spread - low), float(max(square.mid[0], 0.0) + square.rad[0]), distance,
        Bound((off + radius) * (1 + 8 * UNIT), radius + 8 * UNIT * abs(intercept)),
    )  # fmt: skip


def _class_means(codes: np.ndarray, s: np.ndarray, F: np.ndarray, F_rad: np.ndarray) -> tuple[Any, Any]:
    """Return the weighted means of both classes and their radii."""
    means, radii = np.zeros(2), np.zeros(2)
    for side in (0, 1):
        own = codes == side
        total = math.fsum(s[own])
        means[side] = math.fsum(s[own] * F[own]) / total
        radii[side] = upper_sum(s[own] * (F_rad[own] + 4 * UNIT * np.abs(F[own]))) / total * (1 + 8 * UNIT)
    return means, radii
