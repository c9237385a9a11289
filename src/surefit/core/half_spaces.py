"""Classifiers that choose a half-space, and the VC dimension of what they choose from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Estimators whose answer for two classes is the side of a hyperplane (with a linear kernel, where they have one).
LINEAR = (
    "AveragedPerceptron", "BatchPerceptron", "FisherDiscriminant", "LeastSquaresClassifier", "LinearDiscriminantAnalysis", "LinearSVC",
    "LogisticRegression", "MarginPerceptron", "Perceptron", "SGDClassifier", "SVC", "VariableIncrementPerceptron",
)  # fmt: skip


def half_space_dimension(name: str, params: Mapping[str, Any], n_features: int) -> float | None:
    """Return the VC dimension d + 1 (d without intercept), infinity for other kernels, None for other classifiers.

    Examples
    --------
    >>> from surefit.core.half_spaces import half_space_dimension
    >>> half_space_dimension("LinearSVC", {"fit_intercept": False}, 7), half_space_dimension("SVC", {"kernel": "rbf"}, 7)
    (7.0, inf)
    """
    if name not in LINEAR:
        return None
    kernel = params.get("kernel", "linear")
    if not (isinstance(kernel, str) and kernel == "linear") and type(kernel).__name__ != "Linear":
        return float("inf")
    return float(n_features + bool(params.get("fit_intercept", True)))
