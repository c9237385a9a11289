from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import BOOLEAN, NOTHING, check_labels, check_params, read_data, read_weights
from surefit.ensembles.bagging_ensemble import READ, RULES, BaggingMixin
from surefit.ensembles.bagging_training import fit_bagging
from surefit.ensembles.forest_grow import Sample
from surefit.ensembles.members import ESTIMATOR


def _members_score(self) -> bool:
    base = self.estimators_[0] if hasattr(self, "estimators_") else self.estimator
    return hasattr(base, "decision_function")


class BaggingClassifier(BaggingMixin, CertifiedMixin, CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    r"""Bagging classifier: mean of the probabilities (or votes) of classifiers fitted to bootstrap samples.

    .. math:: \hat y(x) = \arg\max_k \frac1M \sum_m \hat p_m(k \mid x).

    Hypothesis class: means of the base classifiers. Loss: that of the base classifier. Optimizer: that of the base
    classifier, on every bootstrap sample.

    Guarantee: the certificate proves that the draws follow from the seeds. With ``oob_score`` it also states the
    out-of-bag error and, for independent rows, two bounds on the error of the majority vote on new data (theory:
    :ref:`bootstrap-votes`).

    Parameters
    ----------
    estimator : classifier or None, default=None
        Base classifier; None means :class:`DecisionTreeClassifier`.
    n_estimators : int >= 1, default=10
        Number of members.
    max_samples : int, float or None, default=None
        Number of draws for each member, or their fraction of the rows. None means the number of rows (with integer
        weights, their sum).
    max_features : int or float in (0, 1], default=1.0
        Number of columns per member, or a fraction of them.
    bootstrap : bool, default=True
        Whether to draw rows with replacement.
    bootstrap_features : bool, default=False
        Whether to draw columns with replacement.
    oob_score : bool, default=False
        Whether to evaluate the members on their out-of-bag rows.
    warm_start : bool, default=False
        Whether to add members to the previous fit.
    n_jobs : int or None, default=None
        Number of threads; -1 uses all cores. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws and of the members. The draws do not depend on the order of the rows.
    verbose : int, default=0
        If nonzero, print one line per member.
    delta : float in (0, 1), default=0.05
        Failure probability of the bounds on the error of the vote.
    max_time : float > 0 or None, default=None
        Time limit in seconds; the members so far are returned. Ctrl-C has the same effect.

    Attributes
    ----------
    estimators_ : list
        The members.
    estimators_features_ : list of ndarray
        Columns of each member.
    estimators_samples_ : list of ndarray
        Indices of the rows to which each member was fitted, repeated as often as they were drawn.
    tree_seeds_ : ndarray
        Seeds of the draws.
    oob_score_, oob_decision_function_
        With ``oob_score``: the score, and the means over the members for which a row is out of bag.
    certificate_ : Certificate
        Claims with evidence; ``verify(X, y)`` re-derives them.
    estimator_, classes_, n_classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surefit import BaggingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BaggingClassifier(n_estimators=30, oob_score=True, random_state=0).fit(X, y)
    >>> model.oob_score_ > 0.9, model.verify(X, y)["forest.draws"].level
    (True, 'exact')
    """

    classes_: np.ndarray

    _rules = {**RULES, "estimator": NOTHING | ESTIMATOR, "bootstrap_features": BOOLEAN, "oob_score": BOOLEAN}

    def __init__(
        self,
        estimator=None,
        n_estimators=10,
        *,
        max_samples=None,
        max_features=1.0,
        bootstrap=True,
        bootstrap_features=False,
        oob_score=False,
        warm_start=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        delta=0.05,
        max_time=None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.delta = delta
        self.max_time = max_time

    @with_callbacks
    def fit(self, X, y, sample_weight=None, **fit_params):
        """Fit the members, with ``sample_weight`` as frequency weights and metadata ``fit_params``. Returns the estimator."""
        check_params(self)
        params = self._routed("fit", fit_params)
        X, given = read_data(self, X, y, **READ)
        check_labels(given)
        self.classes_, codes = np.unique(given, return_inverse=True)
        self.n_classes_ = len(self.classes_)
        sample = Sample(X, codes.astype(np.int64), read_weights(self, sample_weight, X.shape[0]), None, self.n_classes_)
        y = given.astype(np.float64) if given.dtype.kind in "biuf" else given
        return fit_bagging(self, self._base(), sample, given, y, params)

    def _base(self):
        if self.estimator is not None:
            return self.estimator
        from surefit.trees.classifier import DecisionTreeClassifier

        return DecisionTreeClassifier()

    def predict(self, X, **params) -> np.ndarray:
        """Return the class with the largest mean probability; ties go to the first class. ``params`` are metadata."""
        places = self._mean(X, self._routed("predict", params)).argmax(axis=1)
        return self.classes_[places]

    def predict_proba(self, X, **params) -> np.ndarray:
        """Return the mean of the members' probabilities, or of their votes if they have none. ``params`` are metadata."""
        return self._mean(X, self._routed("predict_proba", params))

    def predict_log_proba(self, X, **params) -> np.ndarray:
        """Return the logarithm of ``predict_proba``. ``params`` are metadata for the members."""
        routed = self._routed("predict_log_proba", params)
        if not routed or not hasattr(self.estimators_[0], "predict_log_proba"):
            with np.errstate(divide="ignore"):
                return np.log(self._mean(X, routed))
        rows = self._rows(X)
        found = ((member, member.predict_log_proba(rows[:, at], **routed)) for member, at in self._members())
        tables = [self._in_classes(member, table, -np.inf) for member, table in found]
        return np.logaddexp.reduce(tables, axis=0) - np.log(len(tables))

    @available_if(_members_score)
    def decision_function(self, X, **params) -> np.ndarray:
        """Return the mean of the members' decision functions, if they have one and were fitted on all classes."""
        rows, routed = self._rows(X), self._routed("decision_function", params)
        return np.mean(
            [member.decision_function(rows[:, columns], **routed) for member, columns in self._members()], axis=0
        )

    def _mean(self, X, params: dict) -> np.ndarray:
        return self._predictions(self._rows(X), params).mean(axis=0)

    def _member_predictions(self, member, X: np.ndarray, params: dict) -> np.ndarray:
        if hasattr(member, "predict_proba"):
            return self._in_classes(member, member.predict_proba(X, **params), 0.0)
        table = np.zeros((X.shape[0], len(self.classes_)))
        table[np.arange(len(table)), np.searchsorted(self.classes_, member.predict(X, **params))] = 1.0
        return table

    def _in_classes(self, member, table: np.ndarray, missing: float) -> np.ndarray:
        """Return a member's table with one column per class; a bootstrap sample may lack a class."""
        full = np.full((len(table), len(self.classes_)), missing)
        full[:, np.searchsorted(self.classes_, member.classes_)] = table
        return full
