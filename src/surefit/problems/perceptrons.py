r"""Problems of perceptrons: steps, thresholds and the constant feature.

A problem has one pair of steps per two-class problem, and the thresholds below which a margin counts as a mistake. The
constant feature that represents the intercept is given by its square :math:`\beta = c^2` (zero: no intercept).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.class_weight import compute_class_weight

from surefit.core.errors import InvalidData
from surefit.core.jit import compiled
from surefit.kernels import RBF, Kernel, Laplacian, gamma_of, resolve
from surefit.problems.base import Given, problem_of
from surefit.problems.decoding import as_dict, as_kernel

#: Threshold for which a zero margin is not a mistake: the largest negative normal number.
BELOW_ZERO = -(2.0**-1022)
#: Thresholds of the negative and the positive class for each mistake rule.
CUTS = {"<=0": (0.0, 0.0), "<0": (BELOW_ZERO, BELOW_ZERO), "sign": (0.0, BELOW_ZERO)}


@problem_of("Perceptron", "AveragedPerceptron", "VotedPerceptron", "VariableIncrementPerceptron")
def online(given: Given) -> dict[str, Any]:
    """Return the problem of a perceptron that processes one row at a time; ``classes_`` comes from the labels or ``partial_fit``."""
    params, classes = given.params, given.chosen["classes_"]
    eta0, threshold = float(params.get("eta0", 1.0)), float(params.get("threshold", 0.0))
    joint = params.get("multi_class", "ovr") == "joint" and len(classes) > 2
    factors = class_factors(params, classes, np.asarray(given.y))
    return {
        "multi_class": "joint" if joint else "ovr",
        "steps": [[step * eta0 for step in pair] for pair in step_pairs(factors)],
        "joint_steps": [eta0 * factor for factor in factors] if joint else None,
        "cuts": list(CUTS[params["mistake"]] if threshold == 0.0 else (threshold, threshold)),
        "bias_step": bias_step(params, lambda: largest_square(given.X)),
        "delta": 1.0 - params["confidence"],
        "looks_ahead": looks_ahead(params),
    }


@problem_of("BatchPerceptron")
def batch(given: Given) -> dict[str, Any]:
    """Return the problem of a perceptron that adds all misclassified rows at once; rows of weight zero are ignored."""
    used = given.X if given.weights is None else given.X[np.flatnonzero(given.weights > 0)]
    return {"bias_step": bias_step(given.params, lambda: largest_square(used))}


@problem_of("MarginPerceptron")
def unit_rows(given: Given) -> dict[str, Any]:
    """Return the problem of a perceptron on rows of unit length; the fit chooses the target margin."""
    return {
        "bias_step": bias_step(given.params, lambda: largest_square(given.X)),
        "epsilon": float(given.params["epsilon"]),
    }


@problem_of("KernelPerceptron")
def in_feature_space(given: Given) -> dict[str, Any]:
    """Return the problem of a perceptron in the feature space of a kernel."""
    params, threshold = given.params, float(given.params["threshold"])
    X = given.X.astype(np.float64, copy=False)
    named = as_kernel(params["kernel"])
    options = {"degree": params["degree"], "coef0": params["coef0"], "who": "KernelPerceptron"}
    kernel = resolve(named, gamma=gamma_of(params["gamma"], X, "KernelPerceptron"), **options)
    usual = isinstance(named, str)
    constant_radius = isinstance(kernel, (RBF, Laplacian))
    return {
        "steps": step_pairs(np.ones(len(given.chosen["classes_"]))),
        "cuts": list(CUTS[params["mistake"]] if threshold == 0.0 else (threshold, threshold)),
        "bias_step": bias_step(params, lambda: _largest_value(kernel, X)),
        "kernel": kernel.to_record(),
        "given_kernel": not usual,
        "looks_ahead": bool(
            drawn(params)
            or (usual and named in ("rbf", "poly", "laplacian") and params["gamma"] == "scale")
            or (params["fit_intercept"] and params["bias"] == "r_squared" and not constant_radius)
            or params["mistake"] != "<=0"
            or threshold > 0
        ),
    }


def _largest_value(kernel: Kernel, X: Any) -> float:
    """Return the largest ``k(x, x)``, rounded to twelve digits because further digits may depend on the machine."""
    diagonal = kernel.rows(X).diagonal
    return float(f"{float(np.max(diagonal[np.isfinite(diagonal)], initial=0.0)):.12g}")


def step_pairs(factors: np.ndarray) -> list[list[float]]:
    """Return the steps on negative and positive rows of each two-class problem; the other classes have weight one."""
    if len(factors) == 2:
        return [[float(factors[0]), float(factors[1])]]
    return [[1.0, float(factor)] for factor in factors]


def drawn(params: Any) -> bool:
    """Return whether rows are drawn with replacement; ``order`` may also be an array."""
    order = params.get("order")
    return isinstance(order, str) and order == "random"


def looks_ahead(params: Any) -> bool:
    """Return whether the first pass depends on later rows, so that its mistakes do not bound the risk."""
    return bool(
        drawn(params)
        or params.get("early_stopping", False)
        or (params["fit_intercept"] and params["bias"] == "r_squared")
        or as_dict(params.get("class_weight")) == "balanced"
        or params["mistake"] != "<=0"
        or params.get("threshold", 0.0) > 0
    )


def class_codes(classes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the position of each label among the classes."""
    return (y == classes[1]).view(np.int8) if len(classes) == 2 else np.searchsorted(classes, y)


def class_factors(params: Any, classes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the factors of the steps on rows of each class."""
    factors, given = np.ones(len(classes)), as_dict(params.get("class_weight"))
    if given is None:
        return factors
    codes = class_codes(classes, y)
    present = np.unique(codes)
    factors[present] = compute_class_weight(given, classes=classes[present], y=classes[codes])
    if not (np.all(np.isfinite(factors)) and np.all(factors > 0)):
        raise ValueError("None, 'balanced' or factors > 0")
    return factors


def bias_step(params: Any, largest: Any) -> float:
    """Return the square of the constant feature; ``largest()`` is the largest squared norm of a row."""
    if not params["fit_intercept"]:
        return 0.0
    if params["bias"] != "r_squared":
        return float(params["bias_constant"]) ** 2 if params["bias"] == "augmented" else 1.0
    found = float(largest())
    if found == 0.0:
        raise InvalidData(
            "bias='r_squared' needs a row that is not zero (R = 0 would never change the intercept); use bias='plain'."
        )
    return found


def largest_square(X: Any) -> float:
    """Return the largest squared norm of a row, summed from left to right, so that it is bitwise the same on every machine."""
    return float(np.max(squared_norms(X), initial=0.0))


def squared_norms(X: Any) -> np.ndarray:
    """Return the squared norm of each row, summed from left to right.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.problems.perceptrons import squared_norms
    >>> squared_norms(np.array([[3.0, 4.0], [0.0, 1.0]]))
    array([25.,  1.])
    """
    out = np.empty(X.shape[0])
    if sparse.issparse(X):
        rows = X.tocsr()
        _square_stored(rows.data, rows.indptr, out)
    else:
        _square_dense(np.ascontiguousarray(X), out)
    return out


@compiled
def _square_dense(X: Any, out: Any) -> None:
    for i in range(X.shape[0]):
        total = 0.0
        for j in range(X.shape[1]):
            value = np.float64(X[i, j])
            total += value * value
        out[i] = total


@compiled
def _square_stored(values: Any, starts: Any, out: Any) -> None:
    for i in range(len(out)):
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            value = np.float64(values[k])
            total += value * value
        out[i] = total
