"""Errors for data without a hard margin, with the proof that none exists."""

from __future__ import annotations

import math

import numpy as np

from surefit.core.errors import InvalidData
from surefit.kernel_machines.svc_training import TwoClasses
from surefit.kernel_machines.svm_inputs import Sample
from surefit.kernels import Linear
from surefit.separation.separability import separability
from surefit.solvers.smo.minimize import DualFit


def refuse(who: str, sample: Sample, problem: TwoClasses, fit: DualFit, intercept: bool) -> InvalidData:
    """Return the error for a problem without a hard margin, with the strongest available proof."""
    ends = "give C a finite value for a soft margin."
    if isinstance(sample.kernel, Linear):
        report = separability(sample.X[problem.rows], problem.signs, intercept=intercept, columns=False)
        if report.status != "strict":
            witness = report.certificate.claims[0].statement
            error = InvalidData(
                f"{who}: C=inf requires a hard margin, but the data are {report.status} (proved exactly: {witness}) "
                f"surefit.separability returns the proof, and the error carries its weights as `witness`; {ends}"
            )
            error.witness = report.alpha  # type: ignore[attr-defined]
            return error
    twins = _equal_rows(sample, problem)
    if twins is not None:
        i, j = twins
        return InvalidData(
            f"{who}: C=inf requires a hard margin, but rows {i} and {j} are equal and have different labels; {ends}"
        )
    total = float(np.abs(fit.point.beta).sum())
    square = max(float(fit.point.beta @ fit.point.scores), 0.0)
    bound = math.sqrt(square) / total if total > 0 else math.inf
    return InvalidData(
        f"{who}: C=inf requires a hard margin, but no margin in the kernel's space is wider than {bound:.2g} (the dual "
        f"coefficients prove it), which cannot be distinguished from zero because of rounding; {ends}"
    )


def _equal_rows(sample: Sample, problem: TwoClasses) -> tuple[int, int] | None:
    """Return the indices of two equal rows with different labels, or None."""
    X = sample.X[problem.rows]
    if sample.kernel.takes == "values":
        return None
    seen: dict[bytes, int] = {}
    texts = X.toarray() if hasattr(X, "toarray") else X
    for i in range(len(problem.rows)):
        key = str(texts[i]).encode() if texts.ndim == 1 else np.ascontiguousarray(texts[i]).tobytes()
        first = seen.setdefault(key, i)
        if problem.signs[first] != problem.signs[i]:
            return int(problem.rows[first]), int(problem.rows[i])
    return None
