"""Learning, validation and complexity curves, with a verdict: underfits, fits, overfits."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import check_random_state

from surefit.core.errors import InvalidParameter
from surefit.risk.losses import Loss
from surefit.selection.cross_validation import named
from surefit.selection.curve import Curve
from surefit.selection.fold_losses import Measured, Plan, folds_of, measure, single_target


def complexity_curve(
    estimators, X, y, *, cv=5, loss=None, y_range=None, groups=None, assume=(), random_state=None, name="model"
) -> Curve:
    """Return the errors of several models, ordered from simple to rich, on the same folds.

    Parameters
    ----------
    estimators : list or dict of estimators
        Simplest first.
    X, y : array-like
        Rows and targets.
    cv, loss, y_range, groups, assume, random_state
        As in :func:`cross_validate`.
    name : str, default="model"
        Label of the models on the curve.

    Returns
    -------
    Curve

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from surefit import LinearRegression, PolynomialBasis, complexity_curve
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-1, 1, size=(60, 1))
    >>> y = (x**2).ravel() + 0.1 * rng.normal(size=60)
    >>> degrees = {d: make_pipeline(PolynomialBasis(d), LinearRegression()) for d in (1, 2, 14)}
    >>> curve = complexity_curve(degrees, x, y, random_state=0, name="degree")
    >>> curve.verdicts, curve.x[curve.chosen]
    (('underfits', 'fits', 'overfits'), 2)
    """
    plan = Plan(cv, loss, y_range, groups, tuple(assume), random_state, {"scoring": _unscored})
    curve = _along("complexity_curve", list(named(estimators).items()), X, y, plan, name)
    return replace(curve, values=())


def _unscored(model, X, y) -> float:
    """Return zero as a placeholder score, because a complexity curve uses losses only."""
    return 0.0


def validation_curve(
    estimator,
    X,
    y=None,
    *,
    param_name,
    param_range,
    groups=None,
    cv=None,
    scoring=None,
    n_jobs=None,
    pre_dispatch="all",
    verbose=0,
    error_score=np.nan,
    params=None,
    loss=None,
    y_range=None,
    assume=(),
    random_state=None,
) -> Curve:
    """Return scores and errors of one model along values of a parameter, ordered from simple to rich.

    Parameters
    ----------
    estimator : estimator
        The model.
    X, y : array-like
        Rows and targets.
    param_name : str
        Name of the parameter.
    param_range : list
        Values, starting with the simplest model (a large penalty, a small degree).
    groups, cv, scoring, n_jobs, pre_dispatch, verbose, error_score, params
        As in scikit-learn.
    loss, y_range, assume, random_state
        As in :func:`cross_validate`.

    Returns
    -------
    Curve
        Unpacks to scikit-learn's ``train_scores, test_scores``, with one row per value and one column per fold.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from surefit import validation_curve
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(random_state=0)
    >>> curve = validation_curve(tree, X, y, param_name="max_depth", param_range=[1, 3, 9], random_state=0)
    >>> len(curve.x), bool(curve.train[2] < curve.train[0])
    (3, True)
    >>> train_scores, test_scores = curve
    >>> test_scores.shape
    (3, 5)
    """
    models = [(value, clone(estimator).set_params(**{param_name: value})) for value in param_range]
    options = {
        "scoring": scoring, "n_jobs": n_jobs, "pre_dispatch": pre_dispatch, "verbose": verbose, "error_score": error_score,
        "params": params,
    }  # fmt: skip
    plan = Plan(cv, loss, y_range, groups, tuple(assume), random_state, options)
    return _along("validation_curve", models, X, y, plan, param_name)


def learning_curve(
    estimator,
    X,
    y=None,
    *,
    groups=None,
    train_sizes=(0.1, 0.325, 0.55, 0.775, 1.0),
    cv=None,
    scoring=None,
    n_jobs=None,
    pre_dispatch="all",
    verbose=0,
    shuffle=False,
    random_state=None,
    error_score=np.nan,
    return_times=False,
    params=None,
    loss=None,
    y_range=None,
    assume=(),
) -> Curve:
    """Return scores and errors of one model trained on increasing numbers of rows, tested on the same folds.

    Parameters
    ----------
    estimator : estimator
        The model.
    X, y : array-like
        Rows and targets.
    train_sizes : list of float or int
        Fractions (up to 1.0) or numbers of the training rows of a fold.
    groups, cv, scoring, n_jobs, pre_dispatch, verbose, shuffle, random_state, error_score, return_times, params
        As in scikit-learn; ``random_state`` is the seed of ``shuffle``.
    loss, y_range, assume
        As in :func:`cross_validate`.

    Returns
    -------
    Curve
        Unpacks to scikit-learn's ``train_sizes, train_scores, test_scores`` (and ``fit_times, score_times`` with ``return_times``).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefit import learning_curve
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> curve = learning_curve(GaussianNB(), X, y, train_sizes=[0.2, 1.0])
    >>> curve.x, curve.verdicts[1]
    ((91, 455), 'settled')
    >>> sizes, train_scores, test_scores = curve
    >>> train_scores.shape
    (2, 5)
    """
    who = "learning_curve"
    options = {
        "scoring": scoring, "n_jobs": n_jobs, "pre_dispatch": pre_dispatch, "verbose": verbose, "error_score": error_score,
        "params": params, "return_train_score": True,
    }  # fmt: skip
    single_target(who, X, y)  # raise an error for unusable sizes before folds are drawn
    plan = Plan(cv, loss, y_range, groups, tuple(assume), None, options)
    splits, _ = folds_of(who, plan, None, X, y, is_classifier(estimator))
    if shuffle:
        rng = check_random_state(random_state)
        splits = [(rng.permutation(train), test) for train, test in splits]
    sizes = _sizes(who, train_sizes, len(splits[0][0]))
    parts = [[(train[:size], test) for train, test in splits] for size in sizes]
    found = [measure(who, [estimator], X, y, plan._replace(cv=part)) for part in parts]
    train, test, error, loss_read = _errors(found)
    values = (np.asarray(sizes), *_matrices(found, "train_score", "test_score"))
    if return_times:
        values = (*values, *_matrices(found, "fit_time", "score_time"))
    return Curve("learning", "rows", tuple(sizes), train, test, error, loss_read, values)


def _along(who: str, pairs: list[tuple], X, y, plan: Plan, name: str) -> Curve:
    """Return the curve of (value, model) pairs on the same folds."""
    options = {**plan.scoring, "return_train_score": True}
    if not pairs:
        raise InvalidParameter(who, "param_range", "at least one value", [])
    found = measure(who, [model for _, model in pairs], X, y, plan._replace(scoring=options))
    each = [found._replace(scores=[scores], folds=_line(found, k)) for k, scores in enumerate(found.scores)]
    train, test, error, loss = _errors(each)
    values = _matrices(each, "train_score", "test_score")
    return Curve("complexity", name, tuple(value for value, _ in pairs), train, test, error, loss, values)


def _line(found: Measured, k: int):
    folds = found.folds
    return None if folds is None else folds._replace(losses=folds.losses[[k]], train_losses=folds.train_losses[[k]])


def _errors(found: list[Measured]) -> tuple[np.ndarray, np.ndarray, np.ndarray, Loss]:
    """Return mean training and test losses (or negative scores), and twice the standard error of the latter."""
    if all(each.folds is not None for each in found):
        loss, folds = found[0].loss, [each.folds for each in found if each.folds is not None]
        tested = [np.hstack([part.unit_losses(k)[0] for k in range(part.n_folds)]) * loss.scale for part in folds]
        train = np.array([part.train_losses.mean() for part in folds]) * loss.scale
    else:
        loss = Loss("custom", "predict", False)
        tested = [-np.asarray(each.scores[0]["test_score"]) for each in found]
        train = np.array([-np.mean(each.scores[0]["train_score"]) for each in found])
    error = np.array([line.std(ddof=1) / math.sqrt(len(line)) if len(line) > 1 else np.nan for line in tested])
    return train, np.array([line.mean() for line in tested]), 2 * error, loss


def _matrices(found: list[Measured], *keys: str) -> tuple[np.ndarray, ...]:
    return tuple(np.vstack([each.scores[0][key] for each in found]) for key in keys)


def _sizes(who: str, wanted, largest: int) -> list[int]:
    shares = np.asarray(wanted).dtype.kind == "f" and np.max(wanted, initial=0.0) <= 1
    sizes = [int(size * largest) if shares else int(size) for size in wanted]
    if not sizes or min(sizes) < 1 or max(sizes) > largest or sorted(set(sizes)) != sizes:
        raise InvalidParameter(who, "train_sizes", f"increasing fractions, or integers from 1 to {largest}", wanted)
    return sizes
