r"""Checks Huber's regression with its scale, and quantile regression, by a dual point.

With residuals :math:`r` and :math:`S = \sum_i s_i`,

.. math:: P = S\sigma + \sum_i s_i \sigma H(r_i/\sigma) + \alpha\|w\|^2, \qquad
          D(\theta) = \theta^\top y - \|X^\top\theta\|^2 / (4\alpha)

for :math:`|\theta_i| \le 2\varepsilon s_i`, :math:`\sum_i \theta_i^2/s_i \le 4S`: the scale is part of the problem, because
:math:`\sigma H(r/\sigma) = \max_{|q| \le 2\varepsilon} (qr - \sigma q^2/4)` and what multiplies :math:`\sigma` must not be negative.
Quantiles: :math:`P = \sum_i s_i \rho(r_i) + \alpha S\|w\|_1`, :math:`D = \theta^\top y` for
:math:`(\tau - 1)s_i \le \theta_i \le \tau s_i`, :math:`\|X^\top\theta\|_\infty \le \alpha S`. Both ask for :math:`\sum_i \theta_i = 0`
where the intercept is free (theory: ``audit``).
"""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.audited_models import inner
from surefit.checks.base import Data, Finding, checker
from surefit.checks.enclosure import gamma
from surefit.checks.linear_scores import rounding
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

ZERO = 1e-9  # share of the sum of absolute terms that counts as zero where nothing is penalised


@checker("audit.robust_gap")
def check_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """P - min P is at most value."""
    objective, bound, plain, noise = robust_bounds(certificate, data, claim.witness.get("dual"))
    found = max(objective + noise - bound, 0.0)
    ok = objective - plain - claim.value <= noise + plain - bound + rounding(claim.value, objective)
    return Finding(claim.name, claim.value, found, bool(ok), "recomputed", f"min P >= {bound:.6g} by a dual point.")


def robust_bounds(
    certificate: Certificate, data: Data, witness: np.ndarray | None
) -> tuple[float, float, float, float]:
    """Return the objective, lower bounds of its minimum with the rounding of products counted and without, and its own rounding.

    The bounds are the better ones of the witness and of the model's own slopes.
    """
    read_as, rows = inner(certificate, data)
    problem, model = read_as.problem, read_as.model
    y, w, b = np.asarray(rows.target, dtype=np.float64), model["coef_"], float(np.ravel(model["intercept_"])[0])
    s = np.ones(len(y)) if rows.weights is None else rows.weights
    r = y - np.asarray(rows.X @ w).ravel() - b
    scale = float(np.ravel(model["scale_"])[0]) if problem["law"] == "huber" else 0.0
    duals = [own_dual(problem, r, s, scale), *([] if witness is None else [np.asarray(witness, dtype=np.float64)])]
    bounds = [_dual_values(problem, rows.X, y, s, theta) for theta in duals if theta.shape == y.shape]
    size = np.asarray(abs(rows.X) @ np.abs(w), dtype=np.float64).ravel() + np.abs(y) + abs(b)
    steepest = 2 * problem["epsilon"] if problem["law"] == "huber" else 1.0
    noise = steepest * gamma(len(w) + 4) * math.fsum(s * size)
    low, plain = max(bounds, default=(-math.inf, -math.inf))
    return objective_of(problem, w, r, s, scale), low, plain, noise


def objective_of(problem: dict, w: np.ndarray, r: np.ndarray, s: np.ndarray, scale: float) -> float:
    """Return P."""
    total, alpha = math.fsum(s), problem["alpha"]
    if problem["law"] == "quantile":
        tau = problem["quantile"]
        return math.fsum(s * np.maximum(tau * r, (tau - 1) * r)) + alpha * total * math.fsum(np.abs(w))
    inside = np.minimum(np.abs(r), problem["epsilon"] * scale)
    return total * scale + math.fsum(s * inside * (2 * np.abs(r) - inside)) / scale + alpha * math.fsum(w**2)


def own_dual(problem: dict, r: np.ndarray, s: np.ndarray, scale: float) -> np.ndarray:
    """Return the slopes of the loss at these residuals."""
    if problem["law"] == "quantile":
        return s * np.where(r > 0, problem["quantile"], np.where(r < 0, problem["quantile"] - 1.0, 0.0))
    return 2 * s * np.clip(r / scale, -problem["epsilon"], problem["epsilon"])


def _dual_values(problem: dict, X, y: np.ndarray, s: np.ndarray, theta: np.ndarray) -> tuple[float, float]:
    huber, total, alpha = problem["law"] == "huber", math.fsum(s), problem["alpha"]
    high = 2 * problem["epsilon"] * s if huber else problem["quantile"] * s
    low = -high if huber else (problem["quantile"] - 1.0) * s
    theta = np.clip(theta, low, high)
    if problem["fit_intercept"]:  # the heavier side is scaled: the box holds zero
        up, down = math.fsum(theta[theta > 0]), -math.fsum(theta[theta < 0])
        if max(up, down) > 0:
            theta = np.where((theta > 0) == (up > down), theta * (min(up, down) / max(up, down)), theta)
    if huber:
        square = math.fsum(np.divide(theta**2, s, out=np.zeros(len(s)), where=s > 0))
        theta = theta * min(1.0, math.sqrt(4 * total / square)) if square > 0 else theta
    v = np.asarray(X.T @ theta, dtype=np.float64).ravel()
    size = np.asarray(abs(X).T @ np.abs(theta), dtype=np.float64).ravel()
    linear = math.fsum(theta * y)
    if alpha == 0.0:
        value = linear if np.all(np.abs(v) <= ZERO * size) else -math.inf
        return value, value
    radius = gamma(len(y) + 2) * size
    if huber:
        both = [linear - math.fsum(part**2) / (4 * alpha) for part in (np.abs(v) + radius, v)]
    else:
        largest = [float(np.max(part, initial=0.0)) for part in (np.abs(v) + radius, np.abs(v))]
        both = [linear * (min(1.0, alpha * total / most) if most > 0 else 1.0) for most in largest]
    return min(both), both[1]
