r"""Checks of Bayesian ridge regression: the posterior at the fitted precisions, and derivatives of the log evidence.

With the exact posterior :math:`N(m^*, \Sigma^*)`, the derivatives with respect to :math:`\ln\lambda` and
:math:`\ln\alpha` are

.. math:: \tfrac12 \big(p - \lambda |m^*|^2 - \lambda \operatorname{tr} \Sigma^*\big) + \lambda_1 - \lambda_2 \lambda, \qquad
          \tfrac12 \big(n - \alpha \mathrm{RSS}(m^*) - p + \lambda \operatorname{tr} \Sigma^*\big) + \alpha_1 - \alpha_2 \alpha .

The enclosed posterior bounds :math:`|m^* - m|_A`, hence :math:`|m^* - m|` and the change of the residuals, and the trace up to its
factor (theory: ``mle-map``).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.bayes.linear import Posterior, Rows, enclosed_posterior
from surefit.checks.eigen import dense, weights_of
from surefit.checks.enclosure import UNIT, Enclosed, gamma
from surefit.checks.gap.rows import side_sums
from surefit.checks.judge import AtMost, Proof, claim, refused, shared
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data


class Centered(NamedTuple):
    """Centered columns and their means, both enclosed."""

    values: Rows
    mean: Enclosed


class Found(NamedTuple):
    """The posterior in centered coordinates, and the centered columns and targets."""

    posterior: Posterior
    columns: Centered
    target: Centered


@claim("bayesian_ridge.posterior", kind="data_fact", side="upper", infinite=True, theory="mle-map",
       says="For alpha_ and lambda_ the posterior mean is within {value:.2g} posterior standard deviations of the exact one, every "
       "posterior variance within {variance:.2g} of itself, and the intercept within {intercept:.2g}.")  # fmt: skip
def posterior(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check the posterior mean, up to ``value`` posterior standard deviations, and the posterior variances."""
    found, model = _examine(certificate, data), certificate.model
    room = 1 - found.posterior.eta
    variance = AtMost(math.inf)
    if room > 0:
        variance = AtMost(found.posterior.eta / room, found.posterior.eta_rounding / room**2)
    w, b = model["coef_"], float(model["intercept_"])
    if not certificate.problem["fit_intercept"]:
        if b != 0.0:
            return refused("intercept_ must be zero with fit_intercept=False")
        off, spread = 0.0, 0.0
    else:
        x, y = found.columns.mean, found.target.mean
        size = float(np.abs(x.mid) @ np.abs(w)) + abs(float(y.mid[0])) + abs(b)
        spread = float(y.rad[0]) + float(x.rad @ np.abs(w)) + gamma(len(w) + 8) * size
        off = abs(b - (float(y.mid[0]) - float(x.mid @ w))) + spread
    note = "normal equations about the means, in the axes of the posterior."
    numbers = {"variance": variance, "intercept": AtMost(off * (1 + 4 * UNIT), 2 * spread)}
    return Proof(found.posterior.distance, note=note, numbers=numbers, spread=found.posterior.distance_rounding)


@claim("bayesian_ridge.evidence", kind="stationarity", side="upper", infinite=True, theory="mle-map",
       assumptions=("prior_declared",),
       says="The derivatives of the log evidence with respect to log(alpha_) and log(lambda_) are at most {value:.2g}.")  # fmt: skip
def evidence(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the derivatives of the log evidence at the fitted precisions are at most ``value``."""
    found, problem = _examine(certificate, data), certificate.problem
    limit: dict[str, Any] = {"limit": float(problem["tol"])}
    if not found.posterior.eta < 1:
        return Proof(math.inf, note="no digits of the posterior are certain.", **limit)
    alpha, lam = _precisions(certificate)
    m, s, Z, y = certificate.model["coef_"], weights_of(data), found.columns.values, found.target.values
    p, room = Z.mid.shape[1], 1 - found.posterior.eta
    trace = lam * math.fsum(np.diag(certificate.model["sigma_"]))
    trace_rad = trace * (found.posterior.eta / room + gamma(8))
    away = found.posterior.distance * math.sqrt(abs(trace) / (lam * room)) * (1 + gamma(8))
    length = math.sqrt(math.fsum(m * m))
    norm, norm_rad = lam * length**2, lam * away * (2 * length + away) + gamma(8) * lam * length**2
    r = y.mid[:, 0] - Z.mid @ m
    (lengths, errors), (y_length, y_error) = Z.lengths(s), y.lengths(s)
    r_rad = float(gamma(p + 6) * (y_length[0] + lengths @ np.abs(m)) + y_error[0] + errors @ np.abs(m)) * (
        1 + gamma(p + 8)
    )
    rss = alpha * sum(side_sums(s * r * r))
    slip = found.posterior.distance + math.sqrt(alpha) * r_rad * (1 + gamma(8))
    rss_rad = slip * (2 * math.sqrt(rss) + slip) + gamma(16) * rss
    total = sum(side_sums(s))
    slopes = (
        0.5 * (p - norm - trace) + problem["lambda_1"] - problem["lambda_2"] * lam,
        0.5 * (total - rss - p + trace) + problem["alpha_1"] - problem["alpha_2"] * alpha,
    )
    sizes = p + norm + trace + total + rss + problem["lambda_2"] * lam + problem["alpha_2"] * alpha
    rounding = 0.5 * (trace_rad + norm_rad + rss_rad) * (1 + gamma(16)) + gamma(16) * sizes
    if not math.isfinite(rounding):
        return Proof(math.inf, note="no digits of the derivatives are certain.", **limit)
    note = f"by ln lambda {slopes[0]:.2g}, by ln alpha {slopes[1]:.2g}."
    return Proof(max(map(abs, slopes)) + rounding, note=note, spread=rounding, **limit)


def _precisions(certificate: Certificate) -> tuple[float, float]:
    alpha, lam = (float(certificate.model[name]) for name in ("alpha_", "lambda_"))
    if not (0 < alpha < math.inf and 0 < lam < math.inf):
        raise ValueError("alpha_ and lambda_ must be positive and finite")
    return alpha, lam


@shared
def _examine(certificate: Certificate, data: Data) -> Found:
    X, s, model = dense(data.X), weights_of(data), certificate.model
    columns, target = (
        _about_mean(part, s, certificate.problem["fit_intercept"])
        for part in (X, np.asarray(data.target, dtype=np.float64)[:, None])
    )
    m, C = model["coef_"], model["sigma_"]
    if m.shape != (X.shape[1],) or C.shape != 2 * m.shape or not (np.isfinite(m).all() and np.isfinite(C).all()):
        raise ValueError("coef_ and sigma_ do not fit the columns")
    alpha, lam = _precisions(certificate)
    known = enclosed_posterior(columns.values, target.values, s, 1 / alpha, 1 / lam, m, C)
    return Found(known, columns, target)


def _about_mean(A: np.ndarray, s: np.ndarray, centered: bool) -> Centered:
    """Subtract the weighted mean, computed in two passes; its rounding error is relative to the spread, plus that of storing the mean."""
    A, total = np.asarray(A, dtype=np.float64), sum(side_sums(s))
    zero = np.zeros(A.shape[1])
    if not centered:
        return Centered(Rows(A).summed(s), Enclosed(zero, zero))
    first = s @ A / total
    away = Rows(A - first, 2 * UNIT).summed(s)
    step = s @ away.mid / total
    # The mean absolute value is at most the root mean square.
    mean, size = first + step, away.lengths(s)[0] / math.sqrt(total)
    rad = 2 * UNIT * np.abs(mean) + gamma(len(A) + 8) * size * (1 + gamma(8))
    if np.any(np.abs(step) > rad):  # columns far from the origin
        return Centered(Rows(A - mean, 2 * UNIT, rad).summed(s), Enclosed(mean, rad))
    return Centered(away._replace(shift=np.abs(step) + rad), Enclosed(mean, rad))
