"""Readers for models of the Python packages of LIBLINEAR and LIBSVM, while their parameters are still in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.audit.linear_statement import linear_problem
from surefit.audit.machines import reading_of, reference_of
from surefit.audit.reading import Reading, named, reader, target_of
from surefit.audit.scores import solved_reading
from surefit.core.errors import InvalidData
from surefit.core.sample import Data
from surefit.kernel_machines.svc import SVC
from surefit.kernel_machines.svr import SVR
from surefit.kernels import resolve
from surefit.linear.logistic.classifier import LogisticRegression
from surefit.linear.margins.classifier import LinearSVC
from surefit.linear.margins.regressor import LinearSVR

#: LIBLINEAR's solver types: loss, and whether the penalty is the sum of absolute values.
LIBLINEAR = {
    0: ("logistic", False),
    1: ("squared_hinge", False),
    2: ("squared_hinge", False),
    3: ("hinge", False),
    5: ("squared_hinge", True),
    6: ("logistic", True),
    7: ("logistic", False),
    11: ("squared_epsilon_insensitive", False),
    12: ("squared_epsilon_insensitive", False),
    13: ("epsilon_insensitive", False),
}
KERNELS = {0: "linear", 1: "poly", 2: "rbf", 3: "sigmoid"}
REFERENCE = {"tol": 1e-9, "max_iter": 100_000, "fit_intercept": False}


@reader("liblinear", "model")
def read_liblinear_model(model, data: Data, tol: float) -> Reading:
    """Read a LIBLINEAR model: the objective of its solver type; the intercept, if any, is penalized."""
    param, C = model.param, float(model.param.C)
    if param.solver_type not in LIBLINEAR or not C > 0:
        raise InvalidData(
            f"certify: no objective is known for solver type {param.solver_type} of LIBLINEAR with C = {C:g}; known are types "
            f"{', '.join(map(str, LIBLINEAR))} of models that were trained in this process (a file does not keep C)."
        )
    if data.X.shape[1] != model.nr_feature:
        raise InvalidData(
            f"certify: this model of LIBLINEAR has {model.nr_feature} columns, but X has {data.X.shape[1]}."
        )
    scaling = float(model.bias) if model.bias > 0 else None
    if scaling is not None and not getattr(param, "regularize_bias", 1):
        raise InvalidData(
            "certify: this model of LIBLINEAR does not penalize its intercept (-R); use scikit-learn's solvers."
        )
    loss, absolute = LIBLINEAR[param.solver_type]
    regression = param.solver_type >= 11
    classes, weights = (None, None) if regression else _classes(model, data)
    l1, run = 1.0 if absolute else 0.0, {"solver_type": int(param.solver_type)}
    problem = linear_problem(
        {"loss": loss, "epsilon": float(param.p)}, l1, 1.0 - l1, strength=C, fit_intercept=False, tol=tol, intercept_scaling=scaling,
        classes=None if classes is None else named(classes), class_weights=None if weights is None else weights.tolist(),
        objective="l1 |w|_1 + l2/2 |w|^2 + C sum_i s_i loss_i; the intercept is penalized as one more coefficient",
    )  # fmt: skip
    target_of(model, data)
    if classes is None:
        return solved_reading(
            problem, data, LinearSVR(epsilon=float(param.p), loss=loss, C=C, **REFERENCE), run, "liblinear"
        )
    if len(classes) > 2 and loss == "logistic":
        raise InvalidData(
            "certify: LIBLINEAR solves one logistic problem per class; certify them one by one, or use scikit-learn's."
        )
    ours: Any = LinearSVC(penalty="l1" if absolute else "l2", loss=loss, C=C, **REFERENCE)
    if loss == "logistic":
        ours = LogisticRegression(C=C, l1_ratio=l1, **REFERENCE)
    return solved_reading(problem, data, ours, run, "liblinear")


@reader("libsvm", "svm_model")
def read_libsvm_model(model, data: Data, tol: float) -> Reading:
    """Read a LIBSVM model (C-SVC, nu-SVC or epsilon-SVR); the intercept is not penalized."""
    param = model.param
    if param.svm_type not in (0, 1, 3) or param.kernel_type not in KERNELS:
        raise InvalidData(
            "certify: LIBSVM models are supported for C-SVC, nu-SVC and epsilon-SVR with vector kernels; this "
            f"one has type {param.svm_type} and kernel {param.kernel_type}."
        )
    if not param.C > 0:
        raise InvalidData(
            "certify: this model of LIBSVM does not contain C (model files do not store it); train it in this process."
        )
    kernel = resolve(
        KERNELS[param.kernel_type], gamma=float(param.gamma) or 1.0, degree=int(param.degree), coef0=float(param.coef0)
    )
    C = float(param.C)
    target_of(model, data)
    common = {"kernel": kernel.to_record(), "fit_intercept": True}
    if param.svm_type == 3:
        problem = {"C": C, "epsilon": float(param.p), "classes": None, "loss": "epsilon_insensitive", **common}
        ours: Any = SVR(C=C, epsilon=float(param.p), kernel=kernel, tol=1e-9)
        return reading_of(problem, kernel, reference_of(ours, kernel, data), tol, False, "libsvm")
    classes, weights = _classes(model, data)
    problem = {
        "C": C,
        "epsilon": 0.0,
        "classes": named(classes),
        "class_weights": weights.tolist(),
        "strategy": "ovo",
        **common,
    }
    witness: dict = {}
    if param.svm_type == 1:
        problem = {**problem, "C": 1.0, "nu": float(param.nu), "class_weights": [1.0] * len(classes)}
    else:
        ours = SVC(
            C=C, kernel=kernel, tol=1e-9, class_weight=dict(zip(classes.tolist(), weights.tolist(), strict=True))
        )
        witness = reference_of(ours, kernel, data)
    return reading_of(problem, kernel, witness, tol, True, "libsvm")


def _classes(model, data: Data) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted labels and unit weights; raise an error for labels that the model does not know."""
    labels = np.array(model.get_labels(), dtype=np.float64)
    y = np.asarray(target_of(model, data))
    unknown = ~np.isin(y, labels)
    if unknown.any():
        raise InvalidData(f"certify: row {int(np.argmax(unknown))} has a label that this model was not trained on.")
    labels = np.sort(labels) if len(labels) == 2 else labels  # coefficients are read for the larger label
    if np.any(np.diff(labels) < 0):
        raise InvalidData(
            "certify: sort the rows so that the labels first appear in increasing order, and train again."
        )
    if model.param.nr_weight:  # these structures point to memory that the library's package has already freed
        raise InvalidData(
            "certify: this model was trained with class weights (-w), which it does not store; use scikit-learn's."
        )
    return labels, np.ones(len(labels))
