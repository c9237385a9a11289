"""Problems of nearest neighbors and kernel density estimation: the distance and its parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.issuing.parameters import plain
from surefit.kernels import Kernel, resolve
from surefit.problems.base import Given, problem_of


@problem_of(
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "NearestNeighbors",
    "RadiusNeighborsClassifier",
    "RadiusNeighborsRegressor",
)
def neighbors_problem(given: Given) -> dict[str, Any]:
    """Return the number of neighbors or the radius, and the distance: a name with options, the record of a kernel, or a function."""
    params = given.params
    kernel = params.get("kernel") if params.get("kernel") is not None else _kernel_in(params["metric"])
    name, options = (None, {}) if kernel is not None else effective_metric(params)
    return {
        **({"k": int(params["n_neighbors"])} if "n_neighbors" in params else {"radius": float(params["radius"])}),
        "metric": name if name is None or isinstance(name, str) else "function",
        "options": {key: plain(value) for key, value in options.items()},
        "kernel": None if kernel is None else _record(kernel, given),
    }


@problem_of("KernelDensity")
def kernel_density(given: Given) -> dict[str, Any]:
    """Return the shape and the bandwidth of the kernel, and the distance."""
    name, options = effective_metric({**given.params, "p": 2})
    return {
        "bandwidth": bandwidth_of(given.params["bandwidth"], given.X, given.weights),
        "shape": given.params["kernel"],
        "metric": name if isinstance(name, str) else "function",
        "options": {key: plain(value) for key, value in options.items()},
        "kernel": None,
    }


def bandwidth_of(bandwidth: Any, X: Any, weights: np.ndarray | None) -> float:
    """Return the bandwidth: given, or by Scott's or Silverman's rule for the total weight of the rows."""
    if not isinstance(bandwidth, str):
        return float(bandwidth)
    n, d = float(X.shape[0] if weights is None else weights.sum()), X.shape[1]
    return float((n if bandwidth == "scott" else n * (d + 2) / 4) ** (-1 / (d + 4)))


@problem_of("NearestCentroid")
def nearest_centroid(given: Given) -> dict[str, Any]:
    """Return the distance, the shrinkage threshold, and the class priors."""
    priors, threshold = given.params["priors"], given.params["shrink_threshold"]
    return {
        "metric": given.params["metric"],
        "shrink_threshold": None if threshold is None else float(threshold),
        "priors": priors if isinstance(priors, str) else np.asarray(priors, dtype=np.float64).tolist(),
    }


def _kernel_in(metric: Any) -> Any:
    stored = isinstance(metric, dict) and set(metric) == {"record"}
    return metric if isinstance(metric, Kernel) or stored else None


def _record(kernel: Any, given: Given) -> Any:
    """Return the record of the kernel, with gamma="scale" resolved on rows of positive weight; "function" for a function."""
    if isinstance(kernel, dict):
        return kernel["record"]
    if not isinstance(kernel, (str, Kernel)) or (isinstance(kernel, str) and kernel.startswith("function ")):
        return "function"
    rows = given.X if given.weights is None else given.X[np.flatnonzero(given.weights > 0)]
    try:
        return resolve(kernel, gamma="scale", X=rows, who="KNeighbors").to_record()
    except ValueError:  # a kernel made of functions
        return "function"


def effective_metric(params: Any) -> tuple[Any, dict[str, Any]]:
    """Return scikit-learn's name of the distance and its options."""
    metric, stored = params["metric"], params["metric_params"] or {}
    pairs = stored["pairs"] if set(stored) == {"pairs"} else stored.items()
    options = {key: value for key, value in pairs}
    if not isinstance(metric, str) or metric != "minkowski":
        return metric, options
    p = options.pop("p", params["p"])
    simple = {1: "manhattan", 2: "euclidean", np.inf: "chebyshev"}.get(p)
    return (simple, options) if simple and not options else ("minkowski", {"p": p, **options})
