"""Problems of linear models: a loss of linear scores, a penalty on the coefficients, and the weights of rows.

The objective is ``P(w, b) = strength * sum_i s_i k_i loss(y_i, x_i'w + b) [/ sum_i s_i] + penalty(w)`` with sample
weights ``s`` and class weights ``k``; the sum becomes a mean if ``mean`` is set. Several targets or classes are one
problem each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.losses import is_margin_loss
from surefit.penalties import L1, L2
from surefit.problems.base import Given, problem_of
from surefit.problems.labels import class_weights, named_classes
from surefit.problems.terms import loss_numbers, loss_term, penalty_numbers, penalty_term


def linear_problem(
    loss: dict[str, Any], penalty: dict[str, Any], given: Given, *, strength: float = 1.0, mean: bool, labels: bool
) -> dict[str, Any]:
    """Return the problem with these terms; ``labels`` states whether the target is a label."""
    problem: dict[str, Any] = {
        **loss,
        "penalty": penalty,
        "strength": float(strength),
        "mean": mean,
        "fit_intercept": bool(given.params["fit_intercept"]),
        "tol": float(given.params.get("tol", 1e-6) or 0.0),
        "classes": None,
        "class_weights": None,
    }
    if labels:
        assert given.y is not None
        problem["classes"] = named_classes(given.y)
        asked = given.params.get("class_weight")
        problem["class_weights"] = class_weights(asked, given.y, problem["classes"], given.weights)
    return problem


@problem_of("LinearModel")
def linear_model(given: Given) -> dict[str, Any]:
    """Return the problem: mean loss plus penalty, both given by the parameters."""
    loss = loss_term(given.params["loss"])
    penalty = penalty_term(given.params["penalty"], given.params["alpha"])
    numbers = penalty_numbers(penalty, given.X.shape[1])
    return linear_problem(loss_numbers(loss), numbers, given, mean=True, labels=bool(is_margin_loss(loss)))


@problem_of("QuantileRegressor")
def quantile_regressor(given: Given) -> dict[str, Any]:
    """Return the problem: mean pinball loss plus ``alpha`` times the l1 norm."""
    loss = {"loss": "pinball", "quantile": float(given.params["quantile"])}
    return linear_problem(loss, penalty_numbers(L1(float(given.params["alpha"])), 0), given, mean=True, labels=False)


@problem_of("HuberRegressor")
def huber_regressor(given: Given) -> dict[str, Any]:
    """Return the problem: Huber's loss with the scale as a parameter, plus ``alpha`` times the squared norm."""
    loss = {"loss": "huber_scale", "epsilon": float(given.params["epsilon"])}
    penalty = penalty_numbers(L2(2 * float(given.params["alpha"])), 0)
    return linear_problem(loss, penalty, given, mean=False, labels=False)


@problem_of("PoissonRegressor")
def poisson_regressor(given: Given) -> dict[str, Any]:
    """Return the problem: mean half Poisson deviance plus ``alpha / 2`` times the squared norm."""
    penalty = penalty_numbers(L2(float(given.params["alpha"])), 0)
    return linear_problem({"loss": "poisson"}, penalty, given, mean=True, labels=False)


@problem_of("GammaRegressor", "TweedieRegressor")
def tweedie_regressor(given: Given) -> dict[str, Any]:
    """Return the problem: mean half Tweedie deviance plus ``alpha / 2`` times the squared norm."""
    power = float(given.params.get("power", 2.0))
    loss = {"loss": "squared_error"} if power == 0 else {"loss": "tweedie", "power": power}
    penalty = penalty_numbers(L2(float(given.params["alpha"])), 0)
    return linear_problem(loss, penalty, given, mean=True, labels=False)


@problem_of("RidgeClassifier")
def ridge_classifier(given: Given) -> dict[str, Any]:
    """Return the problem: sum of squared errors for labels -1 and 1 plus ``alpha`` times the squared norm."""
    penalty = {**penalty_numbers(L2(2 * float(given.params["alpha"])), 0), "positive": bool(given.params["positive"])}
    return linear_problem({"loss": "squared_error"}, penalty, given, strength=2.0, mean=False, labels=True)


@problem_of("Ridge", "RidgeCV", "LinearRegression", "LeastSquaresClassifier")
def least_squares(given: Given) -> dict[str, Any]:
    """Return the problem: sum of squares plus ``alpha`` times the squared norm per target, or a bound on the norm of all targets."""
    params, labels = given.params, "tau" in given.params
    assert given.y is not None
    if labels:
        count = len(named_classes(given.y))
        targets = 1 if count == 2 else count
    else:
        targets = 1 if given.y.ndim == 1 else given.y.shape[1]
    alpha = given.chosen["alpha_"] if "alpha_" in given.chosen else params.get("alpha", 0.0)
    alphas = (2.0 * np.asarray(alpha, dtype=np.float64).ravel()).tolist()
    if len(alphas) not in (1, targets):
        raise ValueError(f"{targets} targets need one penalty or {targets}; there are {len(alphas)}")
    alphas = alphas * targets if len(alphas) == 1 else alphas
    ball, factors = params.get("radius"), params.get("penalty_factors")
    penalty = {
        "l1": 0.0,
        "l2": 1.0 if ball is None else 2.0,
        "alphas": alphas if ball is None else [1.0] * targets,
        "factors": None if factors is None else np.asarray(factors, dtype=np.float64).tolist(),
        "positive": bool(params.get("positive", False)),
        "radius": None,
        "ball": None if ball is None else float(ball),
    }
    problem = linear_problem({"loss": "squared_error"}, penalty, given, strength=2.0, mean=False, labels=labels)
    problem["penalize_intercept"] = bool(params.get("penalize_intercept", False)) and problem["fit_intercept"]
    problem["indicators"] = labels  # targets are 0 and 1, not -1 and 1
    return problem


@problem_of("MultiTaskLasso", "MultiTaskElasticNet")
def multi_task(given: Given) -> dict[str, Any]:
    """Return the problem: half the mean squared error of all targets plus a group penalty with one group per feature."""
    alpha, ratio = float(given.params["alpha"]), float(given.params.get("l1_ratio", 1.0))
    return {
        "l1": alpha * ratio,
        "l2": alpha * (1.0 - ratio),
        "fit_intercept": bool(given.params["fit_intercept"]),
        "tol": float(given.params["tol"]),
    }


@problem_of("Lasso", "ElasticNet", "LassoCV", "ElasticNetCV")
def penalized_least_squares(given: Given) -> dict[str, Any]:
    """Return the problem: half the mean squared error plus the elastic net, or with a radius that bounds the unweighted penalty."""
    params, chosen = given.params, given.chosen
    ratio = float(chosen["l1_ratio_"]) if "l1_ratio_" in chosen else float(params.get("l1_ratio", 1.0))
    radius = params.get("radius")
    alpha = float(chosen["alpha_"]) if "alpha_" in chosen else float(params["alpha"])
    alpha = alpha if radius is None else 1.0
    factors = params["penalty_factors"]
    penalty = {
        "l1": alpha * ratio,
        "l2": alpha * (1.0 - ratio),
        "factors": None if factors is None else np.asarray(factors, dtype=np.float64).tolist(),
        "positive": bool(params["positive"]),
        "radius": None if radius is None else float(radius),
    }
    return linear_problem({"loss": "squared_error"}, penalty, given, mean=True, labels=False)


@problem_of("SGDClassifier", "SGDRegressor")
def stochastic(given: Given) -> dict[str, Any]:
    """Return the problem: mean loss plus the elastic net; ``tol`` is a stopping rule of the descent, so no gap is requested."""
    params, name = given.params, {"log_loss": "logistic"}.get(given.params["loss"], given.params["loss"])
    numbers = {"huber": "delta", "epsilon_insensitive": "epsilon", "squared_epsilon_insensitive": "epsilon"}
    loss = {"loss": name, **({numbers[name]: float(params["epsilon"])} if name in numbers else {})}
    ratio = {"l2": 0.0, "l1": 1.0}.get(str(params["penalty"]), params["l1_ratio"])
    alpha, ratio = 0.0 if params["penalty"] is None else float(params["alpha"]), 0.0 if ratio is None else float(ratio)
    penalty = {"l1": alpha * ratio, "l2": alpha * (1.0 - ratio), "factors": None, "positive": False, "radius": None}
    problem = linear_problem(loss, penalty, given, mean=True, labels=False)
    problem["tol"] = None
    if "classes_" in given.chosen:  # after ``partial_fit``: a block of rows may lack some classes
        assert given.y is not None
        known = np.asarray(given.chosen["classes_"])
        if not np.array_equal(np.unique(known), known):
            raise ValueError("classes_ must be sorted labels")
        problem["classes"] = named_classes(known)
        problem["class_weights"] = class_weights(params["class_weight"], given.y, problem["classes"], given.weights)
    return problem


@problem_of("LinearSVC")
def linear_svc(given: Given) -> dict[str, Any]:
    """Return the problem: ``C`` times the sum of margin losses plus half the squared l2 norm or the l1 norm."""
    params = given.params
    penalty = penalty_numbers(L1(1.0) if params["penalty"] == "l1" else L2(1.0), 0)
    loss = {"loss": params["loss"]}
    return linear_problem(loss, penalty, given, strength=float(params["C"]), mean=False, labels=True)


@problem_of("LinearSVR")
def linear_svr(given: Given) -> dict[str, Any]:
    """Return the problem: ``C`` times the sum of epsilon-insensitive losses plus half the squared norm."""
    params = given.params
    loss = {"loss": params["loss"], "epsilon": float(params["epsilon"])}
    penalty = penalty_numbers(L2(1.0), 0)
    return linear_problem(loss, penalty, given, strength=float(params["C"]), mean=False, labels=False)


@problem_of("LogisticRegression", "LogisticRegressionCV")
def logistic_regression(given: Given) -> dict[str, Any]:
    """Return the problem: ``C`` times the sum of log losses plus the elastic net; ``C = 1`` without a penalty.

    Two classes have one score. With more classes, each class has one score, except a reference class.
    """
    l1, l2, C = logistic_penalty(given.params, given.chosen)
    assert given.y is not None
    classes, factors = named_classes(given.y), given.params.get("penalty_factors")
    penalty = {
        "l1": l1,
        "l2": l2,
        "factors": None if factors is None else np.asarray(factors, dtype=np.float64).tolist(),
        "positive": False,
        "radius": None,
    }
    separate = len(classes) == 2 or given.params.get("multi_class") == "ovr"
    loss = {"loss": "logistic" if separate else "softmax"}
    problem = linear_problem(loss, penalty, given, strength=C, mean=False, labels=True)
    problem["penalize_intercept"] = bool(given.params.get("penalize_intercept", False)) and problem["fit_intercept"]
    reference = given.params.get("reference")
    if reference is not None and not separate:
        problem["reference"] = classes.index(reference if isinstance(reference, str) else float(reference))
    return problem


def logistic_penalty(params: Any, chosen: Any = ()) -> tuple[float, float, float]:
    """Return the weights ``l1``, ``l2`` and ``C``: cross-validated, given, or defined by the deprecated parameter ``penalty``."""
    C = float(chosen["C_"]) if "C_" in chosen else float(params["C"])
    ratio = params.get("l1_ratio")
    ratio = float(chosen["l1_ratio_"]) if "l1_ratio_" in chosen else (0.0 if ratio is None else float(ratio))
    name = params.get("penalty", "deprecated")
    if "C_" not in chosen and name != "deprecated":
        if name is None:
            return 0.0, 0.0, 1.0
        ratio = {"l1": 1.0, "l2": 0.0}.get(name, ratio)
    return (0.0, 0.0, 1.0) if np.isinf(C) else (ratio, 1.0 - ratio, C)


@problem_of("LeastAbsoluteDeviations")
def least_absolute(given: Given) -> dict[str, Any]:
    """Return the problem: the sum of absolute residuals, without a penalty."""
    return linear_problem({"loss": "absolute_error"}, penalty_numbers(L2(0.0), 0), given, mean=False, labels=False)
