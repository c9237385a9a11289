"""Statement of every predictor about new data: a VC bound for half-spaces, or that the fit does not bound the error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.base import ClassifierMixin, RegressorMixin

from surefit.core.claims import Claim

UNCLAIMED = "risk.unclaimed"
VC = "risk.vc"
MEASURING = (
    "risk.",
    "conformal.",
    "selection.",
)  # claims of methods that test models on held-out rows: risk bounds, or the reason why there is none
#: By estimator: the options or data that a fit needs to bound the error on new data.
OWN_BOUNDS = {
    "BaggingClassifier": "oob_score=True",
    "DecisionTreeClassifier": "declared thresholds",
    "ExtraTreesClassifier": "bootstrap=True and oob_score=True",
    "KernelPerceptron": "a kernel and an intercept that do not depend on the rows",
    "RandomForestClassifier": "oob_score=True",
}

#: Estimators whose prediction for two classes is the side of a hyperplane (with a linear kernel, if they use kernels).
LINEAR = (
    "AveragedPerceptron", "BatchPerceptron", "FisherDiscriminant", "LeastSquaresClassifier", "LinearDiscriminantAnalysis", "LinearSVC",
    "LogisticRegression", "MarginPerceptron", "Perceptron", "SGDClassifier", "SVC", "VariableIncrementPerceptron",
)  # fmt: skip


def half_space_dimension(name: str, params: Mapping[str, Any], n_features: int) -> float | None:
    """Return the VC dimension d + 1 (d without intercept), infinity for other kernels, None for other classifiers.

    Examples
    --------
    >>> from surefit.core.issuing.new_rows import half_space_dimension
    >>> half_space_dimension("LinearSVC", {"fit_intercept": False}, 7), half_space_dimension("SVC", {"kernel": "rbf"}, 7)
    (7.0, inf)
    """
    if name not in LINEAR:
        return None
    kernel = params.get("kernel", "linear")
    if not (isinstance(kernel, str) and kernel == "linear") and type(kernel).__name__ != "Linear":
        return float("inf")
    return float(n_features + bool(params.get("fit_intercept", True)))


def _half_spaces(estimator: Any) -> bool:
    """Return whether the fitted classifier is a half-space, so that its training error implies a VC bound."""
    if len(getattr(estimator, "classes_", ())) != 2:
        return False
    if type(estimator).__name__ not in LINEAR:
        return False
    found = half_space_dimension(type(estimator).__name__, estimator.get_params(deep=False), 1)
    return found is not None and found < float("inf")


def _kind(estimator: Any) -> str | None:
    """Return the type of the estimator; its tags, which are slow to build, are read only if its base classes do not say it."""
    if isinstance(estimator, RegressorMixin):
        return "regressor"
    return "classifier" if isinstance(estimator, ClassifierMixin) else estimator.__sklearn_tags__().estimator_type


def with_word_on_new_rows(estimator: Any, claims: list[Claim], recountable: bool = False) -> tuple[Claim, ...]:
    """Add a VC bound on the error on new data, or the statement that the fit does not bound it.

    ``recountable`` means that the training rows are available, so that the checker can count the errors.
    """
    half_spaces = _half_spaces(estimator)
    again = (UNCLAIMED, VC) if half_spaces else (UNCLAIMED,)
    said = [claim for claim in claims if claim.name not in again]  # an earlier certificate of the fit may contain it
    kind = _kind(estimator)
    if kind not in ("classifier", "regressor") or any(map(_measures, said)):
        return tuple(said)
    if kind == "classifier" and recountable and half_spaces:
        return (*said, Claim(VC))
    return (*said, Claim(UNCLAIMED, numbers=unclaimed_numbers(type(estimator).__name__, said)))


def _measures(claim: Claim) -> bool:
    return claim.name.startswith(MEASURING) or claim.kind == "risk_bound"


def unclaimed_numbers(estimator: str, claims: Any) -> dict[str, Any]:
    """Return the fields of the statement about new data: whether an estimate exists, and what the fit needs for a bound."""
    return {"estimate": any(claim.kind == "estimate" for claim in claims), "ask": OWN_BOUNDS.get(estimator, "")}
