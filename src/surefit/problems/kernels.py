"""Problems of kernel methods: the kernel with its data-dependent width, classes with their weights, and penalties."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from surefit.kernels import Kernel, resolve
from surefit.problems.base import Given, problem_of
from surefit.problems.decoding import as_kernel
from surefit.problems.labels import class_factors, named_classes

HINGE = "1/2 |f|^2 + C sum_i s_i (1 - t_i (f(x_i) + b))_+"
LOGISTIC = "1/2 |f|^2 + C sum_i s_i ln(1 + exp(-t_i (f(x_i) + b)))"
SOFTMAX = "1/2 |f|^2 + C sum_i s_i [ln sum_k exp(z_ik) - z_i,y(i)], z_ik = f_k(x_i) + b_k"
TUBE = "1/2 |f|^2 + C sum_i s_i (|y_i - f(x_i) - b| - epsilon)_+"
NU_HINGE = "1/2 |f|^2 - nu S rho + sum_i s_i (rho - t_i (f(x_i) + b))_+, divided by rho"
NU_TUBE = "1/2 |f|^2 + C (nu S epsilon + sum_i s_i (|y_i - f(x_i) - b| - epsilon)_+)"
ONE_CLASS = "1/2 |f|^2 - nu S rho + sum_i s_i (rho - f(x_i))_+"
SQUARES = "sum_i s_i (y_i - f(x_i) - p(x_i))^2 + alpha |f|^2"
FREE = "; the intercept is not penalized"
MEASURED = 500  # rows on which the error of Nystroem is measured: a fit reads its landmarks only


def kernel_in(params: Mapping[str, Any], X: Any, weights: np.ndarray | None = None, who: str = "verify") -> Kernel:
    """Return the kernel that the parameters define on these rows; ``gamma=None`` is one over the number of columns.

    The parameters are those of a model or were read from a certificate, which stores a kernel as its record and a
    function as its name.
    """
    kernel = as_kernel(params["kernel"]) if who == "verify" else params["kernel"]
    gamma, degree, coef0 = params.get("gamma", "scale"), params.get("degree", 3), params.get("coef0", 0.0)
    if callable(kernel) and not isinstance(kernel, Kernel) and params.get("kernel_params"):
        kernel = partial(kernel, **params["kernel_params"])
    return resolve(
        kernel,
        gamma="auto" if gamma is None else gamma,
        degree=3 if degree is None else int(degree),
        coef0=1.0 if coef0 is None else coef0,
        X=X,
        weights=weights if X.ndim == 2 else None,
        who=who,
    )


def kernel_record(given: Given) -> dict[str, Any]:
    """Return the record of the kernel, as stored in a certificate."""
    kernel = kernel_in(given.params, given.X, given.weights) if given.kernel is None else given.kernel
    return kernel.to_record()


def classes_of(given: Given) -> dict[str, Any]:
    """Return the sorted labels and the class weights."""
    assert given.y is not None
    classes = named_classes(given.y)
    factors = class_factors(given.params.get("class_weight"), given.y, given.weights)
    return {"classes": classes, "class_weights": factors or [1.0] * len(classes)}


@problem_of("SVC")
def classification(given: Given) -> dict[str, Any]:
    """Return the problem of an SVM classifier with hinge loss; ``C`` is given, infinite, or determined by a budget."""
    params = given.params
    budget = params["budget"]
    C = float(params["C"]) if budget is None else float(given.chosen["C_"])
    return {
        "objective": HINGE + FREE,
        "C": math.inf if budget == 0 else C,
        "budget": float(budget) if budget else None,
        **classes_of(given),
        "strategy": params["multi_class"],
        **_common(given),
    }


@problem_of("SVR")
def regression(given: Given) -> dict[str, Any]:
    """Return the problem of support vector regression with the epsilon-insensitive loss."""
    params = given.params
    return {"objective": TUBE + FREE, "C": float(params["C"]), "epsilon": float(params["epsilon"]), **_common(given)}


@problem_of("NuSVC", "NuSVR", "OneClassSVM")
def shares(given: Given) -> dict[str, Any]:
    """Return the problem of a nu-SVM: classification, regression, or a one-class SVM."""
    params = given.params
    problem: dict[str, Any] = {"nu": float(params["nu"]), "fit_intercept": True, "tol": float(params["tol"])}
    problem["kernel"] = kernel_record(given)
    if "class_weight" in params:
        return {"objective": NU_HINGE, **problem, **classes_of(given), "strategy": "ovo"}
    if "C" in params:
        return {"objective": NU_TUBE, **problem, "C": float(params["C"])}
    return {"objective": ONE_CLASS, **problem}


@problem_of("KernelLogisticRegression")
def logistic(given: Given) -> dict[str, Any]:
    """Return the problem with logistic loss, or with softmax loss for more than two classes."""
    return {**_probabilistic(given), **_common(given)}


@problem_of("NystroemSVC")
def subset_classification(given: Given) -> dict[str, Any]:
    """Return the problem with hinge loss, minimized in the span of landmarks and compared with the full RKHS."""
    return {"objective": HINGE + FREE, "loss": "hinge", "C": float(given.params["C"]), **_subset(given)}


@problem_of("NystroemLogisticRegression")
def subset_logistic(given: Given) -> dict[str, Any]:
    """Return the problem with logistic loss, minimized in the span of landmarks and compared with the full RKHS."""
    return {**_probabilistic(given), **_subset(given)}


@problem_of("NystroemRidge")
def subset_squares(given: Given) -> dict[str, Any]:
    """Return the problem with squared error, minimized in the span of landmarks and compared with the full RKHS."""
    params = given.params
    return {
        "objective": SQUARES + FREE,
        "alpha": float(params["alpha"]),
        "dual": params["dual"],
        "fit_intercept": bool(params["fit_intercept"]),
        "kernel": kernel_record(given),
    }


@problem_of("KernelFisherDiscriminant")
def fisher(given: Given) -> dict[str, Any]:
    """Return the Fisher criterion: squared distance of the class means over the within-class variance plus the ridge."""
    return {
        "criterion": "(f(m_1) - f(m_0))^2 / (spread of f within classes, divisor n - 2, + ridge |f|^2)",
        "classes": classes_of(given)["classes"],
        "ridge": float(given.params["ridge"]),
        "kernel": kernel_record(given),
    }


@problem_of("KernelPCA")
def components(given: Given) -> dict[str, Any]:
    """Return the problem of kernel PCA: the variance of the centered features along directions."""
    back = {"alpha": float(given.params["alpha"])} if given.params["fit_inverse_transform"] else {}
    return {"criterion": "variance of the centered features in the directions", "kernel": kernel_record(given), **back}


@problem_of("RBFSampler")
def random_phases(given: Given) -> dict[str, Any]:
    """Return the kernel, the number of random features, and the confidence of the error bound."""
    kernel = kernel_in({"kernel": "rbf", "gamma": given.params["gamma"]}, given.X).to_record()
    counts = {"n_frequencies": int(given.params["n_components"]), "phases": True}
    return {"kernel": kernel, **counts, "confidence": float(given.params["confidence"])}


@problem_of("NystroemFeatures")
def features(given: Given) -> dict[str, Any]:
    """Return the kernel that the features approximate."""
    return {"kernel": kernel_record(given)}


@problem_of("Nystroem")
def sampled_features(given: Given) -> dict[str, Any]:
    """The kernel that the features approximate, and the largest number of rows on which their error is measured."""
    return {**features(given), "measured_rows": MEASURED}


@problem_of("RandomFourierFeatures")
def random_features(given: Given) -> dict[str, Any]:
    """Return the kernel, the number of random frequencies, and the confidence of the error bound."""
    return {
        "kernel": kernel_record(given),
        "n_frequencies": int(given.params["n_frequencies"]),
        "phases": False,
        "confidence": float(given.params["confidence"]),
    }


def _common(given: Given) -> dict[str, Any]:
    params = given.params
    return {
        "fit_intercept": bool(params["fit_intercept"]),
        "tol": float(params["tol"]),
        "kernel": kernel_record(given),
    }


def _subset(given: Given) -> dict[str, Any]:
    return {**classes_of(given), "dual": given.params["dual"], **_common(given)}


def _probabilistic(given: Given) -> dict[str, Any]:
    labels = classes_of(given)
    joint = len(labels["classes"]) > 2 and given.params["multi_class"] == "multinomial"
    return {
        "objective": (SOFTMAX if joint else LOGISTIC) + FREE,
        "loss": "softmax" if joint else "logistic",
        "C": float(given.params["C"]),
        **labels,
    }
