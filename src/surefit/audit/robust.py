"""Readers for scikit-learn's HuberRegressor (including the scale) and QuantileRegressor."""

from __future__ import annotations

import numpy as np

from surefit.audit.linear_statement import linear_problem, linear_reading
from surefit.audit.reading import Reading, attribute, reader, target_of
from surefit.audit.squares import solution_of
from surefit.core.sample import Data
from surefit.linear.huber import HuberRegressor
from surefit.linear.quantile import QuantileRegressor

LARGEST_REFERENCE = 20_000  # number of rows up to which we solve the problem ourselves
REFERENCE_TOL = 1e-10


@reader("sklearn", "HuberRegressor")
def read_huber(model, data: Data, tol: float) -> Reading:
    """Read Huber: ``sum_i s_i (sigma + sigma H(r_i / sigma)) + alpha |w|^2`` over coefficients, intercept and scale."""
    attribute(model, "scale_")
    target_of(model, data)
    free, alpha, epsilon = bool(model.fit_intercept), float(model.alpha), float(model.epsilon)
    words = "sum_i s_i (sigma + sigma H(residual_i / sigma)) + alpha |w|^2; intercept and sigma are free"
    loss = {"loss": "huber_scale", "epsilon": epsilon}
    problem = linear_problem(loss, 0.0, 2 * alpha, fit_intercept=free, tol=tol, objective=words)
    ours = HuberRegressor(epsilon=epsilon, alpha=alpha, fit_intercept=free, tol=REFERENCE_TOL, max_iter=10_000)
    reading = _reading(model, data, problem, ours)
    return reading._replace(attributes=(*reading.attributes, "scale_"))


@reader("sklearn", "QuantileRegressor")
def read_quantile(model, data: Data, tol: float) -> Reading:
    """Read quantile regression: mean pinball loss plus ``alpha |w|_1``; the intercept is not penalized."""
    attribute(model, "coef_")
    target_of(model, data)
    free, alpha, quantile = bool(model.fit_intercept), float(model.alpha), float(model.quantile)
    words = "1/(sum s) sum_i s_i pinball(residual_i) + alpha |w|_1; the intercept is free"
    loss = {"loss": "pinball", "quantile": quantile}
    problem = linear_problem(loss, alpha, 0.0, mean=True, fit_intercept=free, tol=tol, objective=words)
    return _reading(model, data, problem, QuantileRegressor(quantile=quantile, alpha=alpha, fit_intercept=free))


def _reading(model, data: Data, problem: dict, ours) -> Reading:
    witness = solution_of(ours, data) if data.X.shape[0] <= LARGEST_REFERENCE else {}
    return linear_reading(problem, witness, None, {"iterations": int(np.max(model.n_iter_))})
