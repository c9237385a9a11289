"""Problems of Gaussian processes: the kernel with its fitted hyperparameters, and the noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone

from surefit.core.errors import CertificateError, InvalidParameter
from surefit.kernels import RBF, Kernel, Noise, Scaled, Sum, resolve
from surefit.problems.base import Given, problem_of

REGRESSION = "y = f + noise, f ~ GP(0, kernel), noise variance noise_ per row; targets (y - y_mean_) / y_scale_"
CLASSES = "sum_i ln(1 + exp(-t_i f_i)) + 1/2 a'Ka, f = K a, for each pair (class, or class against class)"
WIENER = "y = f + N(0, noise), f a Wiener process (order 1) or its integral (order 2) times sqrt(variance)"
WEIGHTS = "sum_i s_i ln(1 + exp(-t_i w'x_i)) + 1/2 w' prior^-1 w"


def kernel_in(params: Mapping[str, Any], X: Any, who: str = "verify") -> Kernel:
    """Return a copy of the kernel for a fit; by default a Gaussian kernel with fixed hyperparameters, as in scikit-learn."""
    kernel = params["kernel"]
    if kernel is None:
        return Scaled(RBF(1.0, "fixed"), 1.0, "fixed")
    if isinstance(kernel, dict) and "record" in kernel:
        kernel = Kernel.from_record(kernel["record"])
    if isinstance(kernel, str) and who == "verify" and " " in kernel:  # an object that JSON cannot represent
        raise CertificateError("The certificate cannot hold this kernel; verify the model itself (model.verify).")
    kernel = resolve(kernel, X=X, who=who)
    if kernel.takes == "values":
        raise InvalidParameter(
            who, "kernel", "a kernel of elements; precomputed values say nothing about new rows", kernel
        )
    return clone(kernel)


def free_values(kernel: Kernel) -> np.ndarray:
    """Return the values of the hyperparameters that are not fixed."""
    return np.array([h.value for h in kernel.hyperparameters if not h.fixed], dtype=np.float64)


def with_values(kernel: Kernel, values: np.ndarray) -> Kernel:
    """Return the kernel with exactly these hyperparameters, without rounding through logarithms."""
    names = [h.name for h in kernel.hyperparameters if not h.fixed]
    if len(values) != len(names):
        raise CertificateError(f"The kernel has {len(names)} free hyperparameters; {len(values)} were chosen.")
    params = kernel.get_params()
    changed: dict[str, Any] = {}
    for name, value in zip(names, values.tolist(), strict=True):
        name, _, place = name.partition("[")
        if place:
            changed.setdefault(name, np.array(params[name], dtype=np.float64))[int(place[:-1])] = value
        else:
            changed[name] = float(value)
    return clone(kernel).set_params(**changed)


def learned_kernel(params: Mapping[str, Any], X: Any, who: str = "verify") -> Kernel:
    """Return the kernel of a regression; by default a scaled Gaussian kernel whose hyperparameters are all learned."""
    return Scaled(RBF(1.0)) if params["kernel"] is None else kernel_in(params, X, who)


def sparse_kernel(params: Mapping[str, Any], X: Any, who: str = "verify") -> Kernel:
    """Return the kernel of a sparse process; by default a scaled Gaussian kernel plus noise, with learned hyperparameters."""
    return Sum(Scaled(RBF(1.0)), Noise(1.0)) if params["kernel"] is None else kernel_in(params, X, who)


@problem_of("GaussianProcessRegressor")
def regression(given: Given) -> dict[str, Any]:
    """Return the fitted kernel, the noise, the jitter, and the tolerance of the hyperparameter search."""
    kernel = with_values(learned_kernel(given.params, given.X), given.chosen["hyperparameters_"])
    return {
        "kernel": kernel.to_record(),
        "tol": float(given.params["tol"]),
        "noise": np.asarray(given.params["alpha"], dtype=np.float64).tolist(),
        "jitter": float(given.chosen["jitter_"]),
        "normalize_y": bool(given.params["normalize_y"]),
        "objective": REGRESSION,
    }


@problem_of("SparseGaussianProcessRegressor")
def sparse(given: Given) -> dict[str, Any]:
    """Return the fitted kernel, the noise, and whether targets are standardized."""
    kernel = with_values(sparse_kernel(given.params, given.X), given.chosen["hyperparameters_"])
    normalize = bool(given.params["normalize_y"])
    return {"kernel": kernel.to_record(), "noise": float(given.params["alpha"]), "normalize_y": normalize}


@problem_of("GaussianProcessClassifier")
def classes(given: Given) -> dict[str, Any]:
    """Return one convex problem per pair of classes, each with its fitted kernel."""
    assert given.y is not None
    labels = np.unique(given.y)
    pairs = class_pairs(len(labels), given.params["multi_class"])
    values = np.asarray(given.chosen["hyperparameters_"]).reshape(len(pairs), -1)
    kernel, numbers = kernel_in(given.params, given.X), labels.dtype.kind in "biuf"
    return {
        "kernels": [with_values(kernel, line).to_record() for line in values],
        "classes": [float(c) if numbers else str(c) for c in labels],
        "pairs": [list(pair) for pair in pairs],
        "tol": float(given.params["tol"]),
        "objective": CLASSES,
    }


def class_pairs(count: int, multi_class: str) -> list[tuple[int, int]]:
    """Return the two classes of each problem (-1: all other classes); two classes give one problem."""
    if count == 2:
        return [(1, 0)]
    if multi_class == "one_vs_rest":
        return [(c, -1) for c in range(count)]
    return [(i, j) for i in range(count) for j in range(i + 1, count)]


@problem_of("WienerProcessRegressor")
def wiener(given: Given) -> dict[str, Any]:
    """Return the order and origin of the process, and both variances: given, or chosen by the evidence."""
    chosen = {
        name: float(given.chosen[f"{name}_"]) if given.params[name] == "evidence" else float(given.params[name])
        for name in ("variance", "noise")
    }
    return {"order": int(given.params["order"]), "origin": float(given.params["origin"]), **chosen, "objective": WIENER}


@problem_of("BayesianLogisticRegression")
def weights(given: Given) -> dict[str, Any]:
    """Return the prior covariance of the weights, and the method for the posterior."""
    assert given.y is not None
    labels, intercept = np.unique(given.y), bool(given.params["fit_intercept"])
    numbers = labels.dtype.kind in "biuf"
    prior = prior_covariance(given.params["prior_covariance"], given.X.shape[1] + int(intercept))
    return {
        "method": given.params["method"],
        "fit_intercept": intercept,
        "prior": prior.tolist(),
        "tol": float(given.params["tol"]),
        "classes": [float(c) if numbers else str(c) for c in labels],
        "objective": WEIGHTS,
    }


def prior_covariance(given: Any, d: int) -> np.ndarray:
    """Return the covariance matrix for a number, d numbers or a matrix."""
    given = np.asarray(given, dtype=np.float64)
    return given * np.eye(d) if given.ndim == 0 else np.diag(given) if given.ndim == 1 else given
