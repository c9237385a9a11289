"""Reads least squares of scikit-learn: with a ridge, an l1 or both, chosen or given, and classification by it."""

from __future__ import annotations

import math
import warnings

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from surefit.audit.choices import with_path_choice, with_ridge_choice
from surefit.audit.free_bounds import free_of_squares
from surefit.audit.labels import as_classes, labels_of
from surefit.audit.linear_claims import linear_claims
from surefit.audit.reading import Reading, attribute, reader, refuse, target_of
from surefit.checks.base import Data
from surefit.core.errors import ConvergenceWarning, InvalidData
from surefit.linear.elastic_net import ElasticNet
from surefit.linear.least_squares import LinearRegression
from surefit.linear.ridge import Ridge

REFERENCE_TOL = 1e-10  # of the solution that ours is compared with


@reader("sklearn", "LinearRegression", "Ridge", "RidgeCV")
def read_least_squares(model, data: Data, tol: float) -> Reading:
    """Sum of squares, plus ``alpha |w|^2``; the intercept is free."""
    alpha = getattr(model, "alpha_", getattr(model, "alpha", 0.0))
    reading = ridge_reading(model, data, tol, alpha)
    return reading._replace(claims=with_ridge_choice(model, data, reading.claims))


@reader("sklearn", "BayesianRidge")
def read_bayesian_ridge(model, data: Data, tol: float) -> Reading:
    """The posterior mean solves the ridge problem whose penalty is the ratio of both precisions."""
    attribute(model, "coef_")
    reading = ridge_reading(model, data, tol, float(model.lambda_) / float(model.alpha_))
    ratio = "alpha is the ratio of both precisions, as they are; nothing is claimed about other precisions"
    return reading._replace(
        problem={**reading.problem, "objective": f"{reading.problem['objective']}; {ratio}"}, free=None
    )


@reader("sklearn", "RidgeClassifier", "RidgeClassifierCV")
def read_ridge_classifier(model, data: Data, tol: float) -> Reading:
    """Ridge regression on targets 1 for the class and -1 for the others; the intercept is free."""
    names, ones = labels_of(model, data, None)
    classes, weights = attribute(model, "classes_"), ones
    y = as_classes(target_of(model, data), classes)
    if model.class_weight is not None:
        weights = compute_class_weight(model.class_weight, classes=classes, y=y)
    codes = np.searchsorted(classes, y)
    table = 2.0 * (codes[:, None] == np.arange(1 if len(classes) == 2 else 0, len(classes))) - 1.0
    s = weights[codes] * (1.0 if data.weights is None else data.weights)
    shown = data._replace(y=table, weights=s)
    alpha = float(getattr(model, "alpha_", getattr(model, "alpha", 0.0)))
    ours = (LinearRegression() if alpha == 0 else Ridge(alpha)).set_params(fit_intercept=bool(model.fit_intercept))
    witness = solution_of(ours, shown._replace(y=table if table.shape[1] > 1 else table.ravel()))
    reading = ridge_reading(model, shown, tol, alpha, witness)
    more = {"indicators": True, "classes": names, "class_weights": [float(w) for w in weights]}
    return reading._replace(problem={**reading.problem, **more}, free=None)


def ridge_reading(model, data: Data, tol: float, alpha, witness: dict | None = None) -> Reading:
    """State the gap of least squares with a ridge penalty, one weight a target or the same for all; labels with a reference."""
    W = np.atleast_2d(attribute(model, "coef_"))
    alphas = np.broadcast_to(np.asarray(alpha, dtype=np.float64), len(W))
    Y = target_of(model, data)
    if Y.reshape(len(Y), -1).shape[1] != len(W):
        raise InvalidData(
            f"certify: this {type(model).__name__} has {len(W)} targets, y has {Y.reshape(len(Y), -1).shape[1]}."
        )
    free = bool(model.fit_intercept)
    problem = {
        "family": "least_squares",
        "alpha": [float(a) for a in alphas],
        "fit_intercept": free,
        "penalize_intercept": False,
        "positive": bool(getattr(model, "positive", False)),
        "radius": None,
        "objective": "sum_i s_i residual_i^2 + alpha |w|^2; the intercept is free",
    }
    state = linear_claims(spread_of(data, free), tol, witness or {}, classifier=witness is not None)
    return Reading("A", problem, ("coef_", "intercept_"), state, witness or {}, free=free_of_squares)


@reader("sklearn", "Lasso", "ElasticNet", "LassoCV", "ElasticNetCV")
def read_penalised_squares(model, data: Data, tol: float) -> Reading:
    """Half the mean of squares, plus ``alpha (l1_ratio |w|_1 + (1 - l1_ratio)/2 |w|^2)``; the intercept is free."""
    if attribute(model, "coef_").ndim != 1:
        raise InvalidData(f"certify: this {type(model).__name__} has several targets; certify one target at a time.")
    alpha = float(getattr(model, "alpha_", getattr(model, "alpha", 0.0)))
    ratio = float(getattr(model, "l1_ratio_", model.l1_ratio)) if hasattr(model, "l1_ratio") else 1.0
    if alpha == 0.0:
        raise refuse(model, "alpha", "positive (certify a LinearRegression instead)")
    reading = elastic_reading(model, data, tol, alpha, ratio)
    return reading._replace(claims=with_path_choice(model, reading.claims))


def elastic_reading(model, data: Data, tol: float, alpha: float, ratio: float) -> Reading:
    """State the gap of half the mean of squares with an elastic-net penalty."""
    problem = {
        "family": "penalised_squares",
        "alpha": alpha * ratio,
        "beta": alpha * (1.0 - ratio),
        "l1_ratio": ratio,
        "fit_intercept": bool(model.fit_intercept),
        "positive": bool(getattr(model, "positive", False)),
        "radius": None,
        "multiplier": None,
        "objective": "1/(2 sum s) sum_i s_i residual_i^2 + alpha |w|_1 + beta/2 |w|^2; the intercept is free",
    }
    ours = ElasticNet(
        alpha,
        l1_ratio=ratio,
        fit_intercept=problem["fit_intercept"],
        positive=problem["positive"],
        tol=REFERENCE_TOL,
        max_iter=100_000,
    )
    witness = solution_of(ours, data)
    spread = spread_of(data, bool(model.fit_intercept))
    total = float(data.X.shape[0]) if data.weights is None else math.fsum(data.weights)
    state = linear_claims(spread / (2 * total), tol, witness, classifier=False)
    return Reading("A", problem, ("coef_", "intercept_"), state, witness, {"iterations": int(np.max(model.n_iter_))})


def solution_of(ours, data: Data) -> dict[str, np.ndarray]:
    """Fit our own estimator; however far it came, its gap is counted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ours.fit(data.X, data.y, sample_weight=data.weights)
    gap = next((claim for claim in ours.certificate_.claims if claim.name == "linear.gap"), None)
    duals = {} if gap is None else {name: np.asarray(value) for name, value in gap.witness.items()}
    widths = ours.certificate_.problem.get("widths")
    extra = {} if widths is None else {"widths": np.asarray(widths)}
    intercept = np.asarray(ours.intercept_, dtype=np.float64)
    return {"coef": np.asarray(ours.coef_), "intercept": intercept, **duals, **extra}


def spread_of(data: Data, centred: bool) -> float:
    """Sum of squares about the best constant, all targets."""
    Y = np.asarray(data.target, dtype=np.float64).reshape(data.X.shape[0], -1)
    s = np.ones(len(Y)) if data.weights is None else data.weights
    middle = s @ Y / math.fsum(s) if centred else np.zeros(Y.shape[1])
    return math.fsum((s[:, None] * (Y - middle) ** 2).ravel())
