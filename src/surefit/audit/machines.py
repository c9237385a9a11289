"""Reads kernel machines of scikit-learn: SVC, NuSVC, SVR and NuSVR, all fitted by LIBSVM."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

import numpy as np
from sklearn.base import clone

from surefit.audit.free_bounds import free_of_machine
from surefit.audit.labels import labels_of
from surefit.audit.linear_claims import in_words
from surefit.audit.reading import Reading, attribute, reader, refuse, target_of
from surefit.checks.audited_svm import INWARDS, excess_of, labels_in_doubt, prediction_reach
from surefit.checks.base import Data
from surefit.checks.score_losses import values
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import ConvergenceWarning, InvalidData
from surefit.kernel_machines.svc import SVC
from surefit.kernel_machines.svr import SVR
from surefit.kernels import resolve
from surefit.kernels.base import Kernel

LARGEST_REFERENCE = 5000  # rows up to which we solve the problem ourselves to narrow the bracket
REFERENCE_TOL = 1e-9
DIGITS = 1e-5  # of a stated distance, which another order of its sums may change


@reader("sklearn", "SVC")
def read_svc(model, data: Data, tol: float) -> Reading:
    """``1/2 |f|^2 + C sum of hinges``, one problem a pair of classes; the offset is free."""
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
        "objective": "1/2 |f|^2 + C sum_i s_i (1 - t_i (f(x_i) + b))_+ for each pair of classes; the offset is free",
    }
    labels = attribute(model, "classes_").tolist()
    ours = SVC(
        C=float(model.C),
        kernel=kernel,
        tol=REFERENCE_TOL,
        class_weight=dict(zip(labels, weights.tolist(), strict=True)),
    )
    witness = reference_of(ours, kernel, data)
    null = float(model.C) * (len(classes) - 1) * _total(data)  # every row takes part in that many pairs
    before = (model.kernel == "linear" or not isinstance(model.gamma, str)) and model.class_weight != "balanced"
    free = free_of_machine(before and kernel.positive_semidefinite is True, len(classes))
    return reading_of(problem, kernel, witness, null, tol, classifier=True)._replace(free=free)


@reader("sklearn", "NuSVC")
def read_nu_svc(model, data: Data, tol: float) -> Reading:
    """The problem of SVC whose price C makes nu what it is, one price a pair of classes."""
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
        "objective": "1/2 |f|^2 + C sum_i s_i (1 - t_i (f(x_i) + b))_+ for each pair, C = sum |beta| / (nu n); the offset is free",
    }
    null = float(np.abs(_dense(model.dual_coef_)).sum()) / float(model.nu)
    return reading_of(problem, kernel, {}, null, tol, classifier=True)


@reader("sklearn", "SVR")
def read_svr(model, data: Data, tol: float) -> Reading:
    """``1/2 |f|^2 + C sum of distances from the tube``; the offset is free."""
    kernel = kernel_of_model(model)
    y = np.asarray(target_of(model, data), dtype=np.float64)
    problem = {
        "C": float(model.C),
        "epsilon": float(model.epsilon),
        "classes": None,
        "loss": "epsilon_insensitive",
        "kernel": kernel.to_record(),
        "fit_intercept": True,
        "drops_rows": True,
        "objective": "1/2 |f|^2 + C sum_i s_i (|y_i - f(x_i) - b| - epsilon)_+; the offset is free",
    }
    ours = SVR(C=float(model.C), epsilon=float(model.epsilon), kernel=kernel, tol=REFERENCE_TOL)
    s = np.ones(len(y)) if data.weights is None else data.weights
    null = float(model.C) * math.fsum(s * values(problem, y, np.full(len(y), float(np.median(y)))))
    return reading_of(problem, kernel, reference_of(ours, kernel, data), null, tol, classifier=False)


@reader("sklearn", "NuSVR")
def read_nu_svr(model, data: Data, tol: float) -> Reading:
    """``1/2 |f|^2 + C (nu n epsilon + sum of distances from the tube)``, the tube's width included; the offset is free."""
    kernel = kernel_of_model(model)
    if data.weights is not None:
        raise InvalidData("certify: of NuSVR fits without weights are read.")
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
        "objective": "1/2 |f|^2 + C (nu n epsilon + sum_i (|y_i - f(x_i) - b| - epsilon)_+); offset and epsilon are free",
    }
    middle = np.abs(y - float(np.median(y)))
    best = float(np.quantile(middle, 1.0 - nu))
    null = C * (nu * len(y) * best + math.fsum(np.maximum(middle - best, 0.0)))
    return reading_of(problem, kernel, witness, null, tol, classifier=False, fixed_tube=False)


def _tube(model, data: Data, y: np.ndarray) -> float:
    """Return the best width of the tube for the model's residuals: nu n rows are to lie beyond it."""
    away = np.sort(np.abs(y - model.predict(data.X)))
    return float(away[min(max(math.ceil((1.0 - float(model.nu)) * len(y)) - 1, 0), len(y) - 1)])


def _dense(dual) -> np.ndarray:
    return np.asarray(dual.toarray() if hasattr(dual, "toarray") else dual, dtype=np.float64)


def kernel_of_model(model) -> Kernel:
    """Return the kernel; gamma is the number that the fit used."""
    attribute(model, "support_")
    if callable(model.kernel):
        raise refuse(model, "kernel", "a name (a function cannot be written into a certificate)")
    return resolve(
        model.kernel, gamma=float(model._gamma) or 1.0, degree=model.degree, coef0=model.coef0, who="certify"
    )


def _total(data: Data) -> float:
    return float(data.X.shape[0]) if data.weights is None else math.fsum(data.weights)


def reference_of(ours, kernel: Kernel, data: Data) -> dict[str, np.ndarray]:
    """Solve the same problem ourselves, where that is cheap and has an optimum."""
    if kernel.positive_semidefinite is False or data.X.shape[0] > LARGEST_REFERENCE:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ours.fit(data.X, data.y, sample_weight=data.weights)
    return {
        "support": np.asarray(ours.support_),
        "dual_coef": np.asarray(ours.dual_coef_),
        "intercept": np.atleast_1d(np.asarray(ours.intercept_, dtype=np.float64)),
    }


def reading_of(
    problem: dict,
    kernel: Kernel,
    witness: dict,
    null: float,
    tol: float,
    classifier: bool,
    derived: str = "svm",
    fixed_tube: bool = True,
) -> Reading:
    """State the claims about a machine as read."""
    is_kernel = kernel.positive_semidefinite is not False

    def state(draft: Certificate, rows: Data) -> list[Claim]:
        draft = replace(draft, claims=(Claim("audit.svm_gap", "optimality", "", witness=witness),), seal="")
        least, most, objective = excess_of(draft, rows)
        if not math.isfinite(most):
            raise InvalidData(
                "certify: dual coefficients lie outside their box, 0 to C times the weight of the row; pass the data and weights of "
                "the fit, and leave C as it was."
            )
        if not is_kernel:
            words = f"The conditions of optimality are violated by {most:.3g} in all; this kernel is none, no optimum is claimed."
            return [Claim("audit.svm_gap", "process_fact", words, value=most, limit=tol * null)]
        assumed = () if kernel.positive_semidefinite else ("kernel_positive_semidefinite",)
        numbers = {"objective": objective, "at_least": least, "null_objective": null}
        gap = Claim(
            "audit.svm_gap",
            "optimality",
            in_words(objective, least, most),
            value=most,
            limit=tol * null,
            numbers=numbers,
            assumptions=assumed,
        )
        n = rows.X.shape[0] if rows.weights is None else int(np.sum(rows.weights > 0))
        if classifier:
            count = int(np.sum(labels_in_doubt(draft, rows)))
            words = f"{n - count} of {n} training labels are those of the exact optimum; {count} could change."
            return [gap, Claim("audit.svm_labels", "uncertainty", words, value=float(count), assumptions=assumed)]
        if not fixed_tube:  # the offset of the optimum is not bounded while the width may change
            return [gap]
        reach = float(np.max(prediction_reach(draft, rows), initial=0.0)) * (1 + DIGITS)
        words = f"No training prediction is farther than {reach:.3g} from that of an exact optimum."
        return [gap, Claim("audit.svm_predictions", "uncertainty", words, value=reach, assumptions=assumed)]

    return Reading("A" if is_kernel else "B", problem, (), state, witness, {}, derived)
