r"""Checks of the modes of Gaussian-process classifiers, which minimize kernel logistic losses without intercept.

:math:`P(a) = \sum \ln(1 + e^{-t f}) + \frac12 a^\top K a`, :math:`f = K a` (theory: ``laplace-approximation``).
"""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.enclosure import Bound, gamma
from surefit.checks.gap import Point
from surefit.checks.judge import AtMost, Proof, claim, no_claim, refused
from surefit.checks.kernels.logistic import two_classes
from surefit.checks.kernels.operator import Gram
from surefit.checks.kernels.values import is_rigorous
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import CertificateError, InvalidParameter
from surefit.core.sample import Data
from surefit.kernels import Kernel

for name, words in (
    ("approximation", "Laplace's approximation is not the posterior; nothing is claimed about their distance."),
    ("hyperparameters", "Nothing is claimed about the search of hyperparameters; higher maxima are possible."),
    ("not_convex", "The kernel is not known to be positive semidefinite: the objective need not be convex."),
):
    no_claim(f"gaussian_process_classifier.{name}", words)


def kernels_of(certificate: Certificate) -> list[Kernel]:
    """Rebuild the kernels, one per two-class problem; a user-defined function is taken from the model."""
    records = certificate.problem["kernels"]
    try:
        return [Kernel.from_record(record) for record in records]
    except InvalidParameter:
        own = getattr(certificate.subject, "kernels_", None)
        if own is None or [kernel.to_record() for kernel in own] != records:
            raise CertificateError(
                "A kernel is a function, which a certificate cannot hold; verify the model itself (model.verify)."
            ) from None
        return own


@claim("gaussian_process_classifier.gap", kind="optimality", side="upper", theory="laplace-approximation",
       says="The modes are within {value:.2g} of the smallest values of their {problems} objectives, in sum.")  # fmt: skip
def gap(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the sum of P - min P at the modes of all two-class problems is at most ``value``."""
    kernels, problem, duals = kernels_of(certificate), certificate.problem, certificate.model["dual_coef_"]
    classes = np.asarray(problem["classes"])
    y = data.target if data.target.dtype.kind in "biuf" else data.target.astype(str)
    own = certificate.model.get("classes_")
    if own is not None and not np.array_equal(own.astype(classes.dtype), classes):
        return refused("classes_ are not the labels of the rows, sorted")
    if duals.shape != (len(kernels), len(y)) or not np.isfinite(duals).all():
        return refused("dual_coef_ are not one number per row and problem")
    if not all(kernel.positive_semidefinite for kernel in kernels):
        return refused("a kernel is not known to be positive semidefinite")
    fits = getattr(certificate.subject, "_fits", None) or [None] * len(kernels)
    total, objective, count = Bound(0.0, 0.0), Bound(0.0, 0.0), 0
    for kernel, dual, (positive, negative), fit in zip(kernels, duals, problem["pairs"], fits, strict=True):
        mine = y == classes[positive]
        rows = np.flatnonzero(mine | (y == classes[negative])) if negative >= 0 else np.arange(len(y))
        if np.any(np.delete(dual, rows) != 0):
            return refused("dual_coef_ has coefficients of rows that a problem does not have")
        if fit is not None and not np.array_equal(fit.mode.dual, dual[rows]):
            return refused("the model predicts with coefficients other than dual_coef_")
        gram, t = Gram(kernel, kernel.read(data.X[rows])), np.where(mine[rows], 1.0, -1.0)
        found, P = two_classes(gram, Point(t, np.ones(len(t)), dual[rows], 0.0, False), gram.times(dual[rows]))
        total, objective, count = total.plus(found), objective.plus(P), count + len(rows)
    level = "enclosed" if all(map(is_rigorous, kernels)) else "recomputed"
    limit = count * math.log(2) * max(float(problem.get("tol", 0.0)), 1e-10)
    note = f"{len(kernels)} two-class problems."
    numbers = {"problems": len(kernels), "objective": AtMost(*objective)}
    return Proof(total.value, level, note, numbers, limit, total.spread, gamma(8) * limit)
