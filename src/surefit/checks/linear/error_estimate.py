r"""Generalized cross-validation estimate of the squared error on new data, :math:`\bar r^2 / (1 - \mathrm{df}/n)^2`.

The degrees of freedom are the trace of the matrix that maps targets to fitted values. They are :math:`\sum_j s_j^2 /
(s_j^2 + \mu)` for ridge regression with singular values :math:`s_j`, and the number of nonzero coefficients for the
lasso. For a Gaussian prior, they are the number of coefficients minus the trace of the posterior covariance divided by
the prior variance.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.checks.eigen import centered_product, dense, rows_at_once, spectrum, weighted_mean
from surefit.checks.enclosure import Enclosed, block_sum, gamma, times
from surefit.checks.judge import AtMost, Proof, claim, recalled, refused
from surefit.checks.linear.columns import columns_of, gaps
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data

ENOUGH = 1e-7  # largest rounding of the degrees of freedom for which products of the rows are used


@claim("estimates.gcv", kind="estimate", side="upper", theory="least-squares-gap", about="mean squared error on new rows",
       says="estimate, not a bound: mean squared error on new rows {value:.4g} (generalized cross-validation, "
            "{degrees_of_freedom:.4g} degrees of freedom in {rows} rows)")  # fmt: skip
def gcv(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Divide the mean squared residual of each target by ``(1 - df / n)^2``."""
    n, d = data.X.shape
    if data.weights is not None:
        return refused("rows with weights do not count equally")
    count, targets = np.size(certificate.model["coef_"]) // d, np.size(data.target) // n
    if count != targets:
        return refused(f"{targets} targets need {targets} rows of coefficients; there are {count}")
    squares = _squares_of_gaps(data) or _squares(certificate, data)
    if len(squares) != count:
        return refused("the scores are not one column per target")
    mid = most = degrees_of_freedom = off = 0.0
    for t, (square, square_off) in enumerate(squares):
        df, df_off = _freedom(certificate, data, t)
        if not df + df_off < n:
            return refused(f"{df:.4g} degrees of freedom are too many for {n} rows")
        mid += square / (1 - df / n) ** 2 / count
        most += (square + square_off) / (1 - (df + df_off) / n) ** 2 / count
        degrees_of_freedom, off = max(degrees_of_freedom, df), max(off, df_off)
    numbers = {"degrees_of_freedom": AtMost(degrees_of_freedom + off, off), "rows": n}
    most *= 1 + gamma(16)
    return Proof(
        most, "recomputed", note="residuals and degrees of freedom recomputed.", numbers=numbers, spread=most - mid
    )


def _squares_of_gaps(data: Data) -> list[tuple[float, float]]:
    """Return the mean squared residuals and their rounding from the proof of the gap, if it was computed before."""
    found, columns = recalled(gaps, data), recalled(columns_of, data)
    if found is None or columns is None:
        return []
    return [_of_gap(gap, point) for gap, point in zip(found, columns.points, strict=True)]


def _squares(certificate: Certificate, data: Data) -> list[tuple[float, float]]:
    """Return the mean squared residuals and their rounding from the coefficients."""
    n, d = data.X.shape
    W, b = (np.asarray(certificate.model[name], dtype=np.float64) for name in ("coef_", "intercept_"))
    W, Y = W.reshape(-1, d), np.asarray(data.target, dtype=np.float64).reshape(n, -1).T
    b = np.broadcast_to(b, (len(W),))
    return [_mean_square(times(data.X, w), y, float(own)) for w, y, own in zip(W, Y, b, strict=True)]


def _of_gap(gap: Any, point: Any) -> tuple[float, float]:
    if gap.squares is None:
        return _mean_square(gap.z, point.y, 0.0)
    plain, upper = gap.squares
    weight = float(point.c[0]) * len(point.y)  # all rows have the same weight
    return plain / weight, (upper - plain) / weight + gamma(8) * upper / weight


def _mean_square(scores: Enclosed, y: np.ndarray, b: float) -> tuple[float, float]:
    residuals = np.abs(y - scores.mid - b)
    rad = scores.rad + gamma(4) * (np.abs(y) + np.abs(scores.mid) + abs(b))
    return block_sum(residuals**2) / len(y), block_sum((2 * residuals + rad) * rad) / len(y) * (1 + gamma(len(y) + 8))


def _freedom(certificate: Certificate, data: Data, target: int) -> tuple[float, float]:
    """Return the degrees of freedom and their rounding."""
    problem, model, n = certificate.problem, certificate.model, data.X.shape[0]
    if "posterior_covariance_" in model:
        held = np.diagonal(model["posterior_covariance_"]) / problem["prior_variance"]
        count = len(held)
        return max(count - float(np.sum(held)), 0.0), gamma(count + 8) * (count + float(np.sum(np.abs(held))))
    penalty, free = problem["penalty"], bool(problem["fit_intercept"])
    if "alphas" not in penalty:
        return float(np.count_nonzero(model["coef_"]) + free), 0.0
    if penalty["positive"] or penalty.get("ball") is not None:
        raise ValueError("a constrained fit is not a linear function of the targets")
    ratio = penalty["l2"] * penalty["alphas"][target] / (problem["strength"] / (n if problem["mean"] else 1))
    apart = free and not problem.get("penalize_intercept", False)
    found = recalled(gaps, data)
    if ratio == 0 and found and found[target].met and penalty["factors"] is None and apart == free:
        return float(
            data.X.shape[1] + apart
        ), 0.0  # a dual point orthogonal to every column exists, so they are independent
    s2, s2_off, off = _squared_singular_values(data, penalty["factors"], free and not apart, apart, ratio)
    if ratio == 0:
        if np.any((s2 > 0) & (s2 <= 2 * s2_off)):
            raise ValueError("the rank of X cannot be determined because of rounding")
        return float(np.sum(s2 > 2 * s2_off) + apart), 0.0
    return float((s2 / (s2 + ratio)).sum()) + apart, off + gamma(len(s2) + 16) * len(s2)


def _doubt(s2: np.ndarray, off: Any, ratio: float) -> float:
    """Bound the rounding of the degrees of freedom, at most one per direction; without a penalty, one if the rank is uncertain."""
    if ratio == 0:
        return float(np.count_nonzero(s2 <= 2 * off))
    low = np.maximum(s2 - off, 0.0) + ratio
    return float(np.minimum(off * ratio / low**2, 1.0).sum())


def _squared_singular_values(data: Data, factors: Any, constant: bool, centered: bool, ratio: float) -> Any:
    """Return squared singular values, their rounding, and its effect, from products of the rows if these are accurate enough."""
    key = ("gcv", constant, centered)
    if key not in data.memo:
        X = data.X
        n, d = X.shape
        mean = weighted_mean(X) if centered else np.zeros(d)
        if factors is None and not constant:
            M, off = centered_product(X, None, mean, by_rows=n < d)
            if centered and n < d:  # does not depend on the rounding of the mean
                M = M - M.mean(axis=0) - M.mean(axis=1)[:, None] + M.mean()
            whole = spectrum(M, off)
            s2 = np.maximum(whole.values, 0.0)
            data.memo[key] = s2, whole.radius
            if (effect := _doubt(s2, whole.radius, ratio)) <= ENOUGH:
                return s2, whole.radius, effect
        Z = np.column_stack([dense(X), np.ones(n)]) if constant else dense(X) - mean
        Z = Z / np.sqrt(np.asarray(factors, dtype=np.float64)) if factors is not None else Z
        s = np.linalg.svd(Z, compute_uv=False)
        off = gamma(4 * min(n, d) + rows_at_once(d)) * float(np.linalg.norm(Z))
        data.memo[key] = s**2, (2 * s + off) * off
    s2, off = data.memo[key]
    return s2, off, _doubt(s2, off, ratio)
