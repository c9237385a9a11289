"""Folds of a cross-validated logistic regression: their rows, classes and scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import brier_score_loss, check_scoring, log_loss, make_scorer
from sklearn.model_selection import check_cv

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import COUNT
from surefit.linear.linear_classifier import Labeled
from surefit.linear.logistic.classifier import LogisticRegression

DEFAULT_FOLDS = 5
PROBABILITY_SCORES = {"neg_log_loss": log_loss, "neg_brier_score": brier_score_loss}


def scorer_of(scoring: Any, classes: np.ndarray) -> Any:
    """Return the scorer (accuracy by default); probability scorers get all classes, as a fold may lack some."""
    if not isinstance(scoring, str) or scoring not in PROBABILITY_SCORES:
        return check_scoring(LogisticRegression(), scoring="accuracy" if scoring is None else scoring)
    options = {"pos_label": classes[1]} if scoring == "neg_brier_score" and len(classes) == 2 else {}
    return make_scorer(
        PROBABILITY_SCORES[scoring], greater_is_better=False, response_method="predict_proba", labels=classes, **options
    )


def split_rows(estimator: Any, data: Labeled, split_by: dict[str, Any]) -> list:
    """Return the training and test rows of each fold; ``split_by`` are metadata of the splitter."""
    counts = np.bincount(data.codes, minlength=len(data.classes))
    fewest, who, cv = int(counts.min()), type(estimator).__name__, estimator.cv
    if cv is None and fewest < 2:
        raise InvalidData(
            f"{who}: class {data.classes.tolist()[np.argmin(counts)]!r} has {fewest} row; cross-validation needs a "
            "training row and a test row. Add rows, leave the class out, or give a splitter as cv."
        )
    if COUNT.allows(cv) and not 2 <= cv <= counts.max():
        expected = f"from 2 to {counts.max()} folds (the largest class has {counts.max()} rows)"
        raise InvalidParameter(who, "cv", expected, cv)
    cv = min(DEFAULT_FOLDS, fewest) if cv is None else cv
    return list(check_cv(cv, data.y, classifier=True).split(data.X, data.y, **split_by))


def of_all_classes(coef: np.ndarray, offset: np.ndarray, present: np.ndarray, n_classes: int):
    """Return the coefficients and intercepts of all classes; a class without rows has the score minus infinity."""
    if len(present) == n_classes:
        return coef, offset
    full, offsets = np.zeros((n_classes, coef.shape[1])), np.full(n_classes, -np.inf)
    offsets[present] = 0.0
    rows = present[1:] if len(coef) == 1 else present  # with two classes, the first one has the score zero
    full[rows], offsets[rows] = coef, offset
    return full, offsets


def rows_of(data: Labeled, rows: np.ndarray) -> Labeled:
    """Return the training data restricted to the given rows."""
    weight = None if data.sample_weight is None else data.sample_weight[rows]
    return data._replace(
        X=data.X[rows], y=data.y[rows], codes=data.codes[rows], sample_weight=weight, weights=data.weights[rows]
    )
