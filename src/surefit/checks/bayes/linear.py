r"""Checks of the posterior and the evidence of Bayesian linear regression, including rounding errors.

With :math:`A = Z^\top S Z / \sigma^2 + I / \tau^2` and any triangular :math:`L`, :math:`LL^\top = C`, let :math:`F =
L^\top A L - I` and :math:`\eta = \|F\|_F < 1`. Then :math:`C / (1 + \eta) \preceq A^{-1} \preceq C / (1 - \eta)`. Every
posterior variance is thus accurate up to the factor :math:`1 \pm \eta/(1-\eta)`, the mean :math:`m` is within
:math:`\|L^\top (Am - c)\| / \sqrt{1 - \eta}` posterior standard deviations of the exact one, and :math:`\ln\det A = -2
\ln\det L + \ln\det(I + F)`. Nothing depends on the units of the columns (theory: ``mle-map``).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.eigen import dense, weights_of
from surefit.checks.enclosure import UNIT, gamma, length, row_blocks, upper_sum
from surefit.checks.gap.rows import side_sums
from surefit.checks.judge import AtMost, Proof, claim, no_claim, refused, shared
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data

no_claim("bayesian_linear.sequential",
        "The posterior was updated in several calls; no claim is made about the earlier rows.")  # fmt: skip


class Posterior(NamedTuple):
    """Bounds on the errors of a posterior mean and covariance, and the log evidence."""

    distance: float  # of the mean, in posterior standard deviations
    distance_rounding: float
    eta: float  # relative, of the covariance; no bound if at least one
    eta_rounding: float
    log_evidence: float
    radius: float


UNKNOWN = Posterior(math.inf, 0.0, math.inf, 0.0, math.nan, math.inf)


@claim("bayesian_linear.posterior", kind="optimality", side="upper", infinite=True, theory="mle-map",
       says="The posterior mean is within {value:.2g} posterior standard deviations of the exact one, and every posterior variance "
       "within {variance:.2g} of itself.")  # fmt: skip
def posterior(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check the posterior mean, up to ``value`` posterior standard deviations, and the posterior variances."""
    found, model = _posterior(certificate, data), certificate.model
    stored = np.append(model["intercept_"], model["coef_"]) if certificate.problem["fit_intercept"] else model["coef_"]
    if not np.array_equal(stored, model["posterior_mean_"]):
        return refused("coef_ and intercept_ are not the posterior mean")
    room = 1 - found.eta
    variance = AtMost(found.eta / room, found.eta_rounding / room**2) if room > 0 else AtMost(math.inf)
    note = "normal equations in the axes of the posterior."
    return Proof(found.distance, note=note, numbers={"variance": variance}, spread=found.distance_rounding)


@claim("bayesian_linear.evidence", kind="data_fact", side="upper", infinite=True, theory="mle-map",
       says="The log evidence is {log_evidence:.8g}, up to {value:.2g}.")  # fmt: skip
def evidence(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the error of ``log_evidence_`` is at most ``value``."""
    found, stored = _posterior(certificate, data), float(certificate.model["log_evidence_"])
    numbers, note = {"log_evidence": stored}, f"log evidence {found.log_evidence:.8g}."
    if not math.isfinite(found.radius):
        return Proof(math.inf, note=note, numbers=numbers)
    return Proof(abs(found.log_evidence - stored) + found.radius, note=note, numbers=numbers, spread=found.radius)


@shared
def _posterior(certificate: Certificate, data: Data) -> Posterior:
    problem, model, X = certificate.problem, certificate.model, dense(data.X)
    Z = np.column_stack([np.ones(len(X)), X]) if problem["fit_intercept"] else X
    m, C = model["posterior_mean_"], model["posterior_covariance_"]
    if m.shape != (Z.shape[1],) or C.shape != 2 * m.shape or not (np.isfinite(m).all() and np.isfinite(C).all()):
        raise ValueError("posterior_mean_ and posterior_covariance_ do not fit the columns")
    rows, y = exactly(Z), exactly(data.target)
    return enclosed_posterior(rows, y, weights_of(data), problem["noise_variance"], problem["prior_variance"], m, C)


class Rows(NamedTuple):
    """Columns with error bounds: an entry has an error of at most ``share`` times its size plus ``shift`` of its column."""

    mid: np.ndarray
    share: float = 0.0
    shift: Any = 0.0
    squares: np.ndarray | None = None  # weighted sums of the squares of the columns, if they are known

    def summed(self, weights: np.ndarray) -> Rows:
        """Return the same columns with their weighted sums of squares, for several calls of ``lengths``."""
        return self._replace(squares=self._summed(weights))

    def _summed(self, weights: np.ndarray) -> np.ndarray:
        return np.einsum("ij,ij,i->j", self.mid, self.mid, weights, optimize=False)

    def lengths(self, weights: np.ndarray, factor: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
        """Bound the norms of the columns and of their errors, for ``factor`` times the weights."""
        squares = self._summed(weights) if self.squares is None else self.squares
        lengths = np.sqrt(squares * factor) * (1 + gamma(len(self.mid) + 12))
        total = math.sqrt(upper_sum(weights) * factor) * (1 + 8 * UNIT)
        return lengths, (self.share * lengths + total * self.shift) * (1 + gamma(8))


def exactly(values: Any) -> Rows:
    """Return ``values`` as columns without error."""
    values = np.asarray(values, dtype=np.float64)
    return Rows(values.reshape(len(values), -1))


@np.errstate(over="ignore", invalid="ignore")
def enclosed_posterior(rows: Rows, targets: Rows, s: Any, noise: float, prior: float, m: Any, C: Any) -> Posterior:
    """Bound the errors of mean ``m`` and covariance ``C``, and enclose the log evidence of the targets.

    Rounding errors are bounded by column norms (Cauchy-Schwarz).
    """
    Z, y = rows.mid, targets.mid[:, 0]
    n, p = Z.shape
    try:
        L = np.linalg.cholesky((C + C.T) / 2)
    except np.linalg.LinAlgError:
        return UNKNOWN
    if not np.array_equal(C, C.T):
        return UNKNOWN
    root, (lengths, errors), (y_length, y_error) = (
        np.sqrt(s / noise),
        *(part.lengths(s, 1 / noise) for part in (rows, targets)),
    )
    q, F, off, squares = (y - Z @ m) * root, L.T @ L / prior - np.eye(p), -(L.T @ m) / prior, np.zeros(p)
    for part in row_blocks(n):  # a block fits in the cache
        B = (Z[part] @ L) * root[part, None]
        F, off, squares = F + B.T @ B, off + B.T @ q[part], squares + np.einsum("ij,ij->j", B, B)
    B_rad = (gamma(p + 8) * lengths + errors) @ np.abs(L) * (1 + gamma(p + 8))
    size = np.sqrt(squares) * (1 + gamma(n + 8)) + B_rad
    products = np.outer(size, size) + np.abs(L).T @ np.abs(L) / prior + np.eye(p)
    F_rad = 2 * np.outer(size, B_rad) + gamma(n + p + 16) * products
    eta_rounding = float(np.linalg.norm(F_rad)) * (1 + gamma(p * p + 8))
    eta = float(np.linalg.norm(F)) * (1 + gamma(p * p + 8)) + eta_rounding
    if not eta < 1:
        return UNKNOWN
    r_rad = float(gamma(p + 6) * (y_length[0] + lengths @ np.abs(m)) + y_error[0] + errors @ np.abs(m)) * (
        1 + gamma(p + 8)
    )
    weighted = length(q) + r_rad
    off_rad = size * r_rad + B_rad * weighted
    off_rad += gamma(n + p + 16) * (size * weighted + np.abs(L).T @ np.abs(m) / prior)
    grow = (1 + gamma(p + 8)) / math.sqrt(1 - eta)
    rounding = float(np.linalg.norm(off_rad)) * grow
    distance = float(np.linalg.norm(off)) * grow + rounding
    # The exact minimum of the quadratic is below its value at m by the squared distance.
    quadratic, penalty = sum(side_sums(q * q)), math.fsum(m * m) / prior
    logs = np.log(np.diag(L))
    total = sum(side_sums(s))
    constant = total * math.log(2 * math.pi * noise) + p * math.log(prior)
    value = -0.5 * (constant - 2 * math.fsum(logs) + quadratic + penalty)
    radius = 0.5 * (-p * math.log1p(-eta) + distance**2) + gamma(64) * (
        abs(constant) + p * (1 + abs(math.log(noise)) + abs(math.log(prior))) + float(np.sum(np.abs(logs)))
    )
    radius += 0.5 * (3 * weighted * r_rad + gamma(16) * (quadratic + penalty))
    radius += gamma(16) * total * (1 + abs(math.log(noise)))
    if not math.isfinite(distance + radius):
        return UNKNOWN
    return Posterior(distance, rounding, eta, eta_rounding, value, radius * (1 + gamma(64)))
