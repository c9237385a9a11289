"""Readers for scikit-learn's least squares: ridge, lasso, elastic net and their CV versions, and ridge classifiers."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from surefit.audit.choices import with_path_choice, with_ridge_choice
from surefit.audit.free_bounds import free_of_squares
from surefit.audit.labels import as_classes, labels_of
from surefit.audit.linear_statement import linear_problem, linear_reading
from surefit.audit.reading import Reading, attribute, reader, refuse, target_of
from surefit.core.errors import InvalidData
from surefit.core.sample import Data
from surefit.linear.lasso.elastic_net import ElasticNet
from surefit.linear.least_squares.regressor import LinearRegression
from surefit.linear.ridge.regressor import Ridge

SQUARES = {"loss": "squared_error"}
SUM_OF_SQUARES = "sum_i s_i residual_i^2 + alpha |w|^2; the intercept is free"
REFERENCE_TOL = 1e-10  # tolerance of our own reference solution


@reader("sklearn", "LinearRegression", "Ridge", "RidgeCV")
def read_least_squares(model, data: Data, tol: float) -> Reading:
    """Read least squares: sum of squares plus ``alpha |w|^2``; the intercept is not penalized."""
    alpha = getattr(model, "alpha_", getattr(model, "alpha", 0.0))
    reading = ridge_reading(model, data, tol, alpha)
    return reading._replace(claims=with_ridge_choice(model, data, reading.claims))


@reader("sklearn", "BayesianRidge")
def read_bayesian_ridge(model, data: Data, tol: float) -> Reading:
    """Read Bayesian ridge: the posterior mean solves a ridge problem whose penalty is the ratio of the precisions."""
    attribute(model, "coef_")
    reading = ridge_reading(model, data, tol, float(model.lambda_) / float(model.alpha_))
    ratio = "alpha is the ratio of the estimated precisions; nothing is claimed about other precisions"
    return reading._replace(
        problem={**reading.problem, "objective": f"{reading.problem['objective']}; {ratio}"}, free=None
    )


@reader("sklearn", "RidgeClassifier", "RidgeClassifierCV")
def read_ridge_classifier(model, data: Data, tol: float) -> Reading:
    """Read a ridge classifier: ridge regression on targets 1 for the class and -1 for the others."""
    names, weights = labels_of(model, data, None)
    classes, free = attribute(model, "classes_"), bool(model.fit_intercept)
    y = as_classes(target_of(model, data), classes)
    if model.class_weight is not None:
        weights = compute_class_weight(model.class_weight, classes=classes, y=y)
    codes = np.searchsorted(classes, y)
    table = 2.0 * (codes[:, None] == np.arange(1 if len(classes) == 2 else 0, len(classes))) - 1.0
    s = weights[codes] * (1.0 if data.weights is None else data.weights)
    alpha = float(getattr(model, "alpha_", getattr(model, "alpha", 0.0)))
    ours = (LinearRegression() if alpha == 0 else Ridge(alpha)).set_params(fit_intercept=free)
    witness = solution_of(ours, data._replace(y=table if table.shape[1] > 1 else table.ravel(), weights=s))
    positive = bool(getattr(model, "positive", False))
    attribute(model, "coef_")
    problem = linear_problem(
        SQUARES, 0.0, 2 * alpha, strength=2.0, positive=positive, fit_intercept=free, tol=tol, objective=SUM_OF_SQUARES,
        classes=names, class_weights=[float(w) for w in weights],
    )  # fmt: skip
    return linear_reading(problem, witness, True, {})


def ridge_reading(model, data: Data, tol: float, alpha) -> Reading:
    """Return the reading of ridge regression, with one penalty per target or the same for all targets."""
    W = np.atleast_2d(attribute(model, "coef_"))
    alphas = np.broadcast_to(np.asarray(alpha, dtype=np.float64), len(W))
    Y = target_of(model, data)
    if Y.reshape(len(Y), -1).shape[1] != len(W):
        raise InvalidData(
            f"certify: this {type(model).__name__} has {len(W)} targets, but y has {Y.reshape(len(Y), -1).shape[1]}."
        )
    free, positive = bool(model.fit_intercept), bool(getattr(model, "positive", False))
    problem = linear_problem(
        SQUARES, 0.0, 1.0, strength=2.0, alphas=[2 * float(a) for a in alphas], positive=positive, fit_intercept=free, tol=tol,
        objective=SUM_OF_SQUARES,
    )  # fmt: skip
    ours = (
        LinearRegression()
        if not np.any(alphas)
        else Ridge(float(alphas[0]) if len(set(alphas)) == 1 else alphas.copy())
    )
    witness = solution_of(ours.set_params(fit_intercept=free, positive=positive), data)
    return linear_reading(problem, witness, False, {})._replace(free=free_of_squares)


@reader("sklearn", "Lasso", "ElasticNet", "LassoCV", "ElasticNetCV")
def read_penalized_squares(model, data: Data, tol: float) -> Reading:
    """Read lasso or elastic net: half the mean of squares plus the elastic-net penalty; the intercept is free."""
    if attribute(model, "coef_").ndim != 1:
        raise InvalidData(f"certify: this {type(model).__name__} has several targets; certify one target at a time.")
    alpha = float(getattr(model, "alpha_", getattr(model, "alpha", 0.0)))
    ratio = float(getattr(model, "l1_ratio_", model.l1_ratio)) if hasattr(model, "l1_ratio") else 1.0
    if alpha == 0.0:
        raise refuse(model, "alpha", "positive (certify a LinearRegression instead)")
    reading = elastic_reading(model, data, tol, alpha, ratio)
    return reading._replace(claims=with_path_choice(model, reading.claims))


def elastic_reading(model, data: Data, tol: float, alpha: float, ratio: float) -> Reading:
    """Return the reading of half the mean of squares with an elastic-net penalty."""
    free, positive = bool(model.fit_intercept), bool(getattr(model, "positive", False))
    words = "1/(2 sum s) sum_i s_i residual_i^2 + l1 |w|_1 + l2/2 |w|^2; the intercept is free"
    problem = linear_problem(
        SQUARES, alpha * ratio, alpha * (1.0 - ratio), mean=True, positive=positive, fit_intercept=free, tol=tol, objective=words
    )  # fmt: skip
    ours = ElasticNet(
        alpha, l1_ratio=ratio, fit_intercept=free, positive=positive, tol=REFERENCE_TOL, max_iter=100_000
    )  # fmt: skip
    return linear_reading(problem, solution_of(ours, data), False, {"iterations": int(np.max(model.n_iter_))})


def solution_of(ours, data: Data) -> dict[str, np.ndarray]:
    """Fit our own estimator and return its solution with its dual point; it need not have converged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours.fit(data.X, data.y, sample_weight=data.weights)
    gap = next((claim for claim in ours.certificate_.claims if claim.name == "linear.gap"), None)
    duals = {} if gap is None else {name: np.asarray(value) for name, value in gap.witness.items()}
    intercept = np.asarray(ours.intercept_, dtype=np.float64)
    scale = {"scale": np.asarray(ours.scale_, dtype=np.float64)} if hasattr(ours, "scale_") else {}
    return {"coef": np.asarray(ours.coef_), "intercept": intercept, **scale, **duals}
