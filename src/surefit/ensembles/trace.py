"""Traces of ensembles: bootstrap samples, the weights and normalizers of AdaBoost, and the variance of the members."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.ensembles.bootstrap import Draws


class AdaBoostTrace(NamedTuple):
    """AdaBoost in textbook scaling, round by round (M rounds, n rows)."""

    errors: np.ndarray  # (M,) weighted errors
    alphas: np.ndarray  # (M,) 1/2 ln((1 - error) / error)
    normalizers: np.ndarray  # (M,) Z_m = 2 sqrt(error (1 - error))
    weights: np.ndarray  # (M + 1, n) weights of the rows before each round, and after the last
    scores: np.ndarray  # (n,) f = sum_m alpha_m h_m
    exponential_loss: float  # mean of exp(-y f), which equals the product of the normalizers


def adaboost_trace(model, X, y) -> AdaBoostTrace:
    r"""Recompute the rounds of a fitted two-class ``AdaBoostClassifier`` on its training rows, in textbook scaling.

    ``estimator_weights_`` and ``decision_function`` follow scikit-learn and are twice as large. Guarantee: the
    identities :math:`\frac1n \sum_i e^{-y_i f(x_i)} = \prod_m Z_m` and
    :math:`w_M(i) = e^{-y_i f(x_i)} / (n \prod_m Z_m)` hold, and the rows that the last member misclassifies have half
    of the new weight (theory: :ref:`adaboost-product`).

    Parameters
    ----------
    model : fitted AdaBoostClassifier
        The model, with two classes and ``learning_rate=1``.
    X, y : arrays
        Training data of the model.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import AdaBoostClassifier, adaboost_trace
    >>> X, y = np.arange(1.0, 7.0)[:, None], np.array([1, 1, -1, -1, 1, 1])
    >>> trace = adaboost_trace(AdaBoostClassifier(n_estimators=3).fit(X, y), X, y)
    >>> trace.alphas.round(8), round(trace.exponential_loss, 8), round(float(np.prod(trace.normalizers)), 8)
    (array([0.34657359, 0.54930614, 0.80471896]), 0.60858062, 0.60858062)
    """
    if len(model.classes_) != 2 or model.learning_rate != 1.0:
        raise InvalidParameter(
            "adaboost_trace", "model", "an AdaBoostClassifier with two classes and learning_rate=1", model
        )
    t = np.where(np.asarray(y) == model.classes_[1], 1.0, -1.0)
    w = np.full(len(t), 1 / len(t))
    history, errors, alphas, scores = [w], [], [], np.zeros(len(t))
    for member in model.estimators_:
        h = np.where(np.asarray(member.predict(X)) == model.classes_[1], 1.0, -1.0)
        error = float(w[h != t].sum())
        if not 0 < error < 1:
            raise InvalidData(
                "adaboost_trace: a member makes no error, so its weight is infinite and the identities do not apply."
            )
        alpha = 0.5 * np.log((1 - error) / error)
        w = w * np.exp(-alpha * t * h)
        w = w / w.sum()
        history.append(w)
        errors.append(error)
        alphas.append(alpha)
        scores = scores + alpha * h
    e = np.array(errors)
    return AdaBoostTrace(
        e, np.array(alphas), 2 * np.sqrt(e * (1 - e)), np.array(history), scores, float(np.mean(np.exp(-t * scores)))
    )


def bootstrap_samples(model, X, y, sample_weight=None) -> list[np.ndarray]:
    """Return the bootstrap sample of each member of a bagging ensemble or forest, as row indices with repetitions.

    Draws depend on the seeds of the fit and on the data, but not on the order of the rows.

    Parameters
    ----------
    model : fitted BaggingClassifier, BaggingRegressor, RandomForestClassifier or RandomForestRegressor
        The model, fitted with ``bootstrap=True``.
    X, y, sample_weight : arrays
        Training data of the model.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import BaggingRegressor, Ridge, bootstrap_samples
    >>> X, y = np.arange(8.0)[:, None], np.arange(8.0)
    >>> model = BaggingRegressor(Ridge(), n_estimators=3, random_state=0).fit(X, y)
    >>> [len(rows) for rows in bootstrap_samples(model, X, y)]
    [8, 8, 8]
    """
    if not hasattr(model, "tree_seeds_") or not getattr(model, "bootstrap", False):
        raise InvalidParameter(
            "bootstrap_samples", "model", "a fitted bagging ensemble or forest with bootstrap=True", model
        )
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    codes = np.searchsorted(model.classes_, y) if hasattr(model, "classes_") else y.astype(np.float64)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    draws = Draws(X, codes, weights, model.max_samples)
    return [np.repeat(np.arange(len(y)), draws.counts(int(seed))) for seed in model.tree_seeds_]


class Ambiguity(NamedTuple):
    """Decomposition of the mean squared error of an averaged prediction: ``error = member_error - spread``."""

    error: float
    member_error: float
    spread: float


def ensemble_ambiguity(model, X, y) -> Ambiguity:
    r"""Decompose the squared error of an averaging ensemble into the error of its members and their variance.

    .. math:: (\bar h - y)^2 = \frac1m \sum_k (h_k - y)^2 - \frac1m \sum_k (h_k - \bar h)^2

    Guarantee: the identity is exact, so the error of the mean is at most the mean error of its members.

    Parameters
    ----------
    model : ensemble with ``estimators_``, or a list of fitted regressors
        ``BaggingRegressor``, ``RandomForestRegressor``, or any members.
    X, y : arrays
        Rows and targets.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import BaggingRegressor, Ridge, ensemble_ambiguity
    >>> X, y = np.arange(8.0)[:, None], np.arange(8.0) ** 2
    >>> parts = ensemble_ambiguity(BaggingRegressor(Ridge(), n_estimators=5, random_state=0).fit(X, y), X, y)
    >>> bool(np.isclose(parts.error, parts.member_error - parts.spread))
    True
    """
    members: Any = model if isinstance(model, (list, tuple)) else model.estimators_
    columns = getattr(model, "estimators_features_", None) or [slice(None)] * len(members)
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    said = np.array([np.asarray(m.predict(X[:, c]), dtype=np.float64) for m, c in zip(members, columns, strict=True)])
    mean = said.mean(axis=0)
    return Ambiguity(
        float(np.mean((mean - y) ** 2)), float(np.mean((said - y) ** 2)), float(np.mean((said - mean) ** 2))
    )
