"""Cross-validation with scikit-learn's scores, and with valid intervals for the risks."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from surefit.core.errors import InvalidParameter
from surefit.core.validation import is_partitioned, one_of
from surefit.risk.ledger import SHARE
from surefit.risk.units import ASSUME
from surefit.risk.void import why_void
from surefit.selection.cross_validated_scores import CrossValidation
from surefit.selection.fold_losses import Plan, measure

RULE = one_of("best", "1se")


def cross_validate(
    estimator,
    X,
    y=None,
    *,
    groups=None,
    scoring=None,
    cv=None,
    n_jobs=None,
    verbose=0,
    params=None,
    pre_dispatch="2*n_jobs",
    return_train_score=False,
    return_estimator=False,
    return_indices=False,
    error_score=np.nan,
    loss=None,
    y_range=None,
    confidence=0.95,
    rule="1se",
    assume=(),
    random_state=None,
) -> CrossValidation:
    r"""Cross-validate one model, or compare several on the same folds.

    Parameters, folds and scores are those of scikit-learn. The result is scikit-learn's dict, with the losses of all
    tested rows as an attribute.

    Guarantee: ``interval()`` covers the mean risk of the k fold models with probability at least ``confidence``, for
    both sides together. If the model was chosen by this function, the interval accounts for the selection. The
    confidence term counts the rows of one fold, because the errors of the folds are dependent (theory: :ref:`k-fold`).
    Means, standard errors and p-values are estimates.

    Parameters
    ----------
    estimator : estimator, list or dict of estimators
        The model, or candidates by name, the simplest first.
    X, y : array-like
        Rows and targets.
    groups, scoring, n_jobs, verbose, params, pre_dispatch, return_train_score, return_estimator, return_indices, error_score
        As in scikit-learn.
    cv : int, splitter, iterable of splits or None, default=None
        As in scikit-learn. With ``random_state``, a number means random folds that keep equal rows and groups together.
    loss : {"zero_one", "brier", "squared", "absolute"}, callable or None, default=None
        None: errors of classifiers, squared errors of regressors.
    y_range : (low, high) or None, default=None
        Declared range of a regressor's target; predictions are clipped to it. Without it the squared error is estimated, but its
        intervals are infinite.
    confidence : float, default=0.95
        Confidence of intervals.
    rule : {"1se", "best"}, default="1se"
        Choose the first model within one standard error of the best mean, or the best mean.
    assume : tuple of {"equal_rows_are_draws", "fixed_scaling", "independent_times"}, default=()
        Assumptions that you declare.
    random_state : int, RandomState or None, default=None
        Seed of random folds; None: scikit-learn's folds.

    Returns
    -------
    CrossValidation
        A mapping with the keys of scikit-learn's result: ``fit_time``, ``score_time``, ``test_score`` (or ``test_<name>`` for several
        scores), and ``train_score``, ``estimator``, ``indices`` if requested.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from surefit import cross_validate
    >>> X, y = load_digits(return_X_y=True)
    >>> models = {"naive Bayes": GaussianNB(), "5 neighbors": KNeighborsClassifier()}
    >>> result = cross_validate(models, X, y, cv=4, random_state=0)
    >>> result.chosen, result.means.round(3).tolist()
    ('5 neighbors', [0.159, 0.018])
    >>> result.compare("naive Bayes", "5 neighbors").decided
    True
    """
    who = "cross_validate"
    if not SHARE.allows(confidence):
        raise InvalidParameter(who, "confidence", SHARE.words, confidence)
    if not RULE.allows(rule):
        raise InvalidParameter(who, "rule", RULE.words, rule)
    if not ASSUME.allows(assume):
        raise InvalidParameter(who, "assume", ASSUME.words, assume)
    models = named(estimator)
    options = {
        "scoring": scoring, "n_jobs": n_jobs, "verbose": verbose, "params": params, "pre_dispatch": pre_dispatch,
        "return_train_score": return_train_score, "return_indices": return_indices, "error_score": error_score,
    }  # fmt: skip
    plan = Plan(cv, loss, y_range, groups, tuple(assume), random_state, options)
    if is_partitioned(X):
        found, trouble = import_module("surefit.cluster.cross_validation").measure(
            who, list(models.values()), X, y, plan
        )
    else:
        found = measure(who, list(models.values()), X, y, plan)
        trouble = found.missing
    if found.folds is not None and not is_partitioned(X):
        trouble = why_void(X, y, groups=groups, assume=tuple(assume)) or found.folds.drawing.trouble
    scores = _joined(found.scores, return_estimator)
    return CrossValidation(tuple(models), found.folds, found.loss, confidence, rule, trouble, scores)


def _joined(scores: list[dict[str, Any]], with_models: bool) -> dict[str, Any]:
    """Return the scores of one model, or one row per model; all models share the indices."""
    keys = [key for key in scores[0] if with_models or key != "estimator"]
    if len(scores) == 1:
        return {key: scores[0][key] for key in keys}
    lists = {"estimator": [found["estimator"] for found in scores], "indices": scores[0].get("indices")}
    return {key: lists[key] if key in lists else np.vstack([found[key] for found in scores]) for key in keys}


def named(estimator) -> dict:
    """Return the candidates by name; an unnamed candidate gets the name of its class, numbered if it repeats."""
    if isinstance(estimator, Mapping):
        return dict(estimator)
    models = list(estimator) if isinstance(estimator, (list, tuple)) else [estimator]
    classes = [type(model).__name__ for model in models]
    names = [f"{c} {i + 1}" if classes.count(c) > 1 else c for i, c in enumerate(classes)]
    return dict(zip(names, models, strict=True))
