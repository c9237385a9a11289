"""Readers for scikit-learn's SVC, NuSVC, SVR and NuSVR, which are all fitted by LIBSVM."""

from __future__ import annotations

import math
import warnings

import numpy as np
from sklearn.base import clone

from surefit.audit.free_bounds import free_of_machine
from surefit.audit.labels import labels_of
from surefit.audit.reading import Reading, attribute, reader, refuse, target_of
from surefit.audit.stating import asking
from surefit.checks.audits.machines import INWARDS, solved
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import ConvergenceWarning, InvalidData
from surefit.core.issuing.state import dense
from surefit.core.sample import Data
from surefit.kernel_machines.svc import SVC
from surefit.kernel_machines.svr import SVR
from surefit.kernels import resolve
from surefit.kernels.base import Kernel

LARGEST_REFERENCE = 5000  # rows up to which we solve the problem ourselves to narrow the interval
REFERENCE_TOL = 1e-9


@reader("sklearn", "SVC")
def read_svc(model, data: Data, tol: float) -> Reading:
    """Read SVC: ``1/2 |f|^2 + C sum of hinge losses``, one-vs-one; the intercept is not penalized."""
    kernel = kernel_of_model(model)
    classes, weights = labels_of(model, data, attribute(model, "class_weight_"))
    problem = {
        "C": float(model.C),
        "epsilon": 0.0,
        "classes": classes,
        "class_weights": weights.tolist(),
        "strategy": "ovo",
        "kernel": kernel.to_record(),
        "fit_intercept": True,
        "drops_rows": True,
        "objective": "1/2 |f|^2 + C sum_i s_i (1 - t_i (f(x_i) + b))_+ for each pair of classes; the intercept is not penalized",
    }
    labels = attribute(model, "classes_").tolist()
    ours = SVC(
        C=float(model.C),
        kernel=kernel,
        tol=REFERENCE_TOL,
        class_weight=dict(zip(labels, weights.tolist(), strict=True)),
    )
    witness = reference_of(ours, kernel, data)
    before = (model.kernel == "linear" or not isinstance(model.gamma, str)) and model.class_weight != "balanced"
    free = free_of_machine(before and kernel.positive_semidefinite is True, len(classes))
    return reading_of(problem, kernel, witness, tol, classifier=True)._replace(free=free)


@reader("sklearn", "NuSVC")
def read_nu_svc(model, data: Data, tol: float) -> Reading:
    """Read NuSVC as the problem of SVC with the C that corresponds to nu, one C per pair of classes."""
    kernel = kernel_of_model(model)
    if model.class_weight is not None:
        raise refuse(model, "class_weight", "None")
    classes, weights = labels_of(model, data, None)
    problem = {
        "C": 1.0,
        "nu": float(model.nu),
        "epsilon": 0.0,
        "classes": classes,
        "class_weights": weights.tolist(),
        "strategy": "ovo",
        "kernel": kernel.to_record(),
        "fit_intercept": True,
        "drops_rows": True,
        "objective": "1/2 |f|^2 + C sum_i s_i (1 - t_i (f(x_i) + b))_+ for each pair, C = sum |beta| / (nu n); "
        "the intercept is not penalized",
    }
    return reading_of(problem, kernel, {}, tol, classifier=True)


@reader("sklearn", "SVR")
def read_svr(model, data: Data, tol: float) -> Reading:
    """Read SVR: ``1/2 |f|^2 + C sum of distances from the tube``; the intercept is not penalized."""
    kernel = kernel_of_model(model)
    target_of(model, data)
    problem = {
        "C": float(model.C),
        "epsilon": float(model.epsilon),
        "classes": None,
        "loss": "epsilon_insensitive",
        "kernel": kernel.to_record(),
        "fit_intercept": True,
        "drops_rows": True,
        "objective": "1/2 |f|^2 + C sum_i s_i (|y_i - f(x_i) - b| - epsilon)_+; the intercept is not penalized",
    }
    ours = SVR(C=float(model.C), epsilon=float(model.epsilon), kernel=kernel, tol=REFERENCE_TOL)
    return reading_of(problem, kernel, reference_of(ours, kernel, data), tol, classifier=False)


@reader("sklearn", "NuSVR")
def read_nu_svr(model, data: Data, tol: float) -> Reading:
    """Read NuSVR: ``1/2 |f|^2 + C (nu n epsilon + sum of distances from the tube)``; intercept and epsilon are free."""
    kernel = kernel_of_model(model)
    if data.weights is not None:
        raise InvalidData("certify: NuSVR is supported without sample weights only.")
    y = np.asarray(target_of(model, data), dtype=np.float64)
    C, nu = float(model.C), float(model.nu)
    width, witness = _tube(model, data, y), {}
    if len(y) <= LARGEST_REFERENCE and kernel.positive_semidefinite is not False:
        exact = clone(model).set_params(tol=REFERENCE_TOL, max_iter=-1).fit(data.X, y)  # any dual point will do
        witness = {
            "support": np.asarray(exact.support_).astype(np.int64),
            "dual_coef": INWARDS * _dense(exact.dual_coef_),
            "intercept": np.asarray(exact.intercept_, dtype=np.float64),
            "epsilon": np.asarray(_tube(exact, data, y)),
        }
    problem = {
        "C": C,
        "nu": nu,
        "epsilon": width,
        "classes": None,
        "loss": "epsilon_insensitive",
        "kernel": kernel.to_record(),
        "fit_intercept": True,
        "drops_rows": True,
        "objective": "1/2 |f|^2 + C (nu n epsilon + sum_i (|y_i - f(x_i) - b| - epsilon)_+); intercept and epsilon are not penalized",
    }
    return reading_of(problem, kernel, witness, tol, classifier=False, fixed_tube=False)


def _tube(model, data: Data, y: np.ndarray) -> float:
    """Return the optimal half-width of the tube for the model's residuals: at most nu n rows lie outside."""
    away = np.sort(np.abs(y - model.predict(data.X)))
    return float(away[min(max(math.ceil((1.0 - float(model.nu)) * len(y)) - 1, 0), len(y) - 1)])


def _dense(dual) -> np.ndarray:
    return np.asarray(dual.toarray() if hasattr(dual, "toarray") else dual, dtype=np.float64)


def kernel_of_model(model) -> Kernel:
    """Return the kernel, with the value of gamma that the fit used."""
    attribute(model, "support_")
    if callable(model.kernel):
        raise refuse(model, "kernel", "a name (a function cannot be written into a certificate)")
    return resolve(
        model.kernel, gamma=float(model._gamma) or 1.0, degree=model.degree, coef0=model.coef0, who="certify"
    )


def _total(data: Data) -> float:
    return float(data.X.shape[0]) if data.weights is None else math.fsum(data.weights)


def reference_of(ours, kernel: Kernel, data: Data) -> dict[str, np.ndarray]:
    """Return our own solution of the same problem; empty for an indefinite kernel or too many rows."""
    if kernel.positive_semidefinite is False or data.X.shape[0] > LARGEST_REFERENCE:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ours.fit(data.X, data.y, sample_weight=data.weights)
    return {
        "support": np.asarray(ours.support_),
        "dual_coef": np.asarray(dense(ours.dual_coef_)),
        "intercept": np.atleast_1d(np.asarray(ours.intercept_, dtype=np.float64)),
    }


def reading_of(
    problem: dict,
    kernel: Kernel,
    witness: dict,
    tol: float,
    classifier: bool,
    derived: str = "svm",
    fixed_tube: bool = True,
) -> Reading:
    """Return the reading of a support vector machine and the claims about it."""
    is_kernel = kernel.positive_semidefinite is not False
    more = (
        ["svm_labels"] if classifier else ["svm_predictions"] if fixed_tube else []
    )  # a free width leaves the intercept unbounded
    names = ["svm_gap", *more] if is_kernel else ["svm_stationarity"]

    def state(draft: Certificate, rows: Data) -> list[Claim]:
        if not solved(draft, rows, False).feasible:
            raise InvalidData(
                "certify: dual coefficients lie outside their box, 0 to C times the weight of the row; pass the data and weights of "
                "the fit, and leave C as it was."
            )
        return asking(*names)(draft, rows)

    return Reading("A" if is_kernel else "B", {**problem, "tol": tol}, (), state, witness, {}, derived)
