from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin

from surefit.bounds.conformal import conformal_quantile, conformal_rank
from surefit.core.claims import Claim
from surefit.core.errors import InvalidParameter
from surefit.core.rows import take_rows
from surefit.core.validation import BOOLEAN
from surefit.risk.conformal_predictor import RULES, ConformalMixin
from surefit.risk.conformal_statement import folds_claim, split_claims
from surefit.risk.losses import Loss, comparable, in_columns, respond

PROBABILITIES = Loss("brier", "predict_proba", True)


class ConformalClassifier(ConformalMixin, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    r"""Conformal classifier: prediction sets with guaranteed coverage, for any classifier with probabilities.

    .. math:: C(x) = \{k : 1 - \hat p_k(x) \le \hat q\}, \qquad
              \hat q = \text{the } \lceil (m + 1)(1 - \alpha) \rceil \text{-th smallest } 1 - \hat p_{y_i}(x_i),

    over m calibration rows that the model did not see. Hypothesis class, loss and optimizer are those of the estimator.

    Guarantee: the set of a new exchangeable row contains its class with probability at least ``coverage`` (split); with
    ``by_class=True`` also within each class; for ``"cv+"`` and ``"jackknife+"`` at least about ``1 - 2 (1 -
    coverage)``. The split method also gives a statement conditional on the calibration rows (theory: :ref:`conformal`).

    Parameters
    ----------
    estimator : classifier with ``predict_proba``, pipeline or None, default=None
        Estimator to fit; it is cloned (except with ``"prefit"``). None is ``LogisticRegression()``.
    method : {"split", "prefit", "jackknife+", "cv+"}, default="split"
        How the rows are used. With ``"prefit"``, the estimator is already fitted, and all rows passed to ``fit`` are
        calibration rows. Jackknife+ needs one fit per row.
    coverage : float, default=0.9
        Target probability of containing the true class.
    by_class : bool, default=False
        With ``"split"``: one threshold per class, for coverage within every class; every set then contains the classes
        with too few calibration rows.
    confidence : float, default=0.95
        Joint confidence of the statements given the calibration rows, over all classes.
    calibration_size : int or None, default=None
        Number of calibration rows of ``"split"``; None: a fifth, at least 200 or half, at most 5000.
    n_folds : int, default=10
        Number of folds of ``"cv+"``.
    assume : tuple of {"equal_rows_are_draws", "fixed_scaling", "independent_times"}, default=()
        Assumptions that you declare: equal rows are separate draws; the columns were scaled without using these rows; rows indexed by
        time are independent.
    random_state : int, RandomState or None, default=None
        Seed of the split.

    Attributes
    ----------
    estimator_ : classifier
        The model for point predictions.
    classes_ : ndarray
        Classes of y. A class that is missing in the training rows has an infinite score, so it is in all sets or in
        none.
    thresholds_ : ndarray of shape (n_classes,)
        Largest score at which each class is included in the set (split).
    scores_ : ndarray
        Scores of the calibration rows.
    calibration_rows_ : ndarray of int
        Indices of the calibration rows.
    split_seed_ : int
        For partitioned data, the seed by which calibration rows are drawn (:doc:`/scaling`).
    models_ : list
        Models fitted without each row or fold.
    certificate_ : Certificate
        Claims with evidence.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefit import ConformalClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = ConformalClassifier(GaussianNB(), random_state=0).fit(X[:1200], y[:1200])
    >>> inside = model.predict_set(X[1200:])
    >>> round(float(inside[range(597), y[1200:]].mean()), 2), round(float(inside.sum(axis=1).mean()), 2)
    (0.87, 1.21)
    """

    _rules = {**RULES, "by_class": BOOLEAN}

    def __init__(
        self,
        estimator=None,
        method="split",
        *,
        coverage=0.9,
        by_class=False,
        confidence=0.95,
        calibration_size=None,
        n_folds=10,
        assume=(),
        random_state=None,
    ):
        self.estimator = estimator
        self.method = method
        self.coverage = coverage
        self.by_class = by_class
        self.confidence = confidence
        self.calibration_size = calibration_size
        self.n_folds = n_folds
        self.assume = assume
        self.random_state = random_state

    def fit(self, X, y):
        """Fit the model and calibrate the sets. Returns the estimator."""
        y, units, order = self._begin(X, y)
        who = type(self).__name__
        if not hasattr(self._base(), "predict_proba"):
            raise InvalidParameter(who, "estimator", "a classifier with predict_proba", type(self._base()).__name__)
        if self.by_class and not self._splits:
            raise InvalidParameter(who, "by_class", f"False with method={self.method!r}", True)
        tags = (*units.tags, *self.assume)
        if self._splits:
            self.estimator_, train, rows = self._split(X, y, units, order)
            self._classes_of_y, met = np.unique(y), self.estimator_.classes_
            answer = self._scores(self.estimator_, take_rows(X, rows), met)
            self.calibration_rows_, self.scores_ = rows, self._own(answer, y[rows], met)
            self.train_rows_ = train
            claims = self._calibrate(y[rows], self.classes_, tags)
        else:
            self.estimator_ = self._fit_rows(X, y, np.arange(len(y)))
            self.models_, self.folds_ = self._fold_models(X, y, units, order)
            known = np.unique(y)
            scores = np.empty(len(y))
            for k, model in enumerate(self.models_):
                mine = np.flatnonzero(self.folds_ == k)
                scores[mine] = self._own(self._scores(model, take_rows(X, mine), known), y[mine], known)
            inside = np.flatnonzero(self.folds_ >= 0)
            rows = np.sort(inside[np.unique(units.codes[inside], return_index=True)[1]])
            self.calibration_rows_, self.scores_ = rows, scores[rows]
            claims = [folds_claim(len(rows), len(self.models_), 1.0 - self.coverage, tags)]
        self._finish(X, y, claims, ("scores_", "calibration_rows_"))
        return self

    def _calibrate(self, y: np.ndarray, known: np.ndarray, tags) -> list[Claim]:
        """Return thresholds and claims: one for all rows, or one per class at a fraction of delta."""
        alpha, delta = 1.0 - self.coverage, 1.0 - self.confidence
        if not self.by_class:
            found = conformal_quantile(self.scores_, alpha)
            self.thresholds_ = np.full(len(known), found.value)
            return split_claims(found, delta, tags)
        self.thresholds_ = np.full(len(known), np.inf)
        claims = []
        for place, name in enumerate(known):
            own = self.scores_[comparable(y) == comparable([name])[0]]
            if len(own) == 0:
                claims.append(Claim("conformal.unseen_class", numbers={"group": str(comparable([name])[0])}))
                continue
            found = conformal_quantile(own, alpha)
            self.thresholds_[place] = found.value
            claims += split_claims(found, delta / len(known), tags, group=str(comparable([name])[0]))
        return claims

    @staticmethod
    def _scores(model, X, known) -> np.ndarray:
        return 1.0 - respond(model, X, PROBABILITIES, known)

    @staticmethod
    def _own(scores: np.ndarray, y: np.ndarray, known: np.ndarray) -> np.ndarray:
        """Return the score of the true class; infinite for a class that the model was not fitted on."""
        hit = comparable(y)[:, None] == comparable(known)[None, :]
        return np.where(hit.any(axis=1), np.sum(np.where(hit, scores, 0.0), axis=1), np.inf)

    def predict_set(self, X) -> np.ndarray:
        """Return the classes in the set of each row: booleans of shape (n_rows, n_classes), in the order of ``classes_``."""
        self._check_fitted()
        if self._splits:
            met = self.estimator_.classes_
            scores = in_columns(self._scores(self.estimator_, X, met), self.estimator_, self.classes_, np.inf)
            return scores <= self.thresholds_
        known, own = self.estimator_.classes_, self.folds_[self.calibration_rows_]
        rank = conformal_rank(len(self.scores_), 1.0 - self.coverage)
        worse = np.zeros(1, dtype=np.int64)
        for k, model in enumerate(self.models_):
            mine = np.sort(self.scores_[own == k])
            worse = worse + np.searchsorted(
                mine, self._scores(model, X, known), side="left"
            )  # number of rows with a smaller score
        return worse < rank

    def _base(self):
        if self.estimator is None:
            from surefit.linear.logistic.classifier import LogisticRegression

            return LogisticRegression()
        return self.estimator
