from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier
from sklearn.utils.multiclass import check_classification_targets

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import BOOLEAN, NOTHING, Rule, check_params, read_data, read_weights
from surefit.ensembles.bagging_base import READ, RULES, BaggingMixin
from surefit.ensembles.bagging_fit import fit_bagging
from surefit.ensembles.forest_grow import Sample

_CLASSIFIER = NOTHING | Rule(
    "a classifier", lambda v: hasattr(v, "fit") and not isinstance(v, type) and is_classifier(v)
)


class BaggingClassifier(BaggingMixin, CertifiedMixin, CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    r"""Mean of the probabilities (or votes) of copies of a classifier, each fitted to a bootstrap draw.

    .. math:: \hat y(x) = \arg\max_k \frac1M \sum_m \hat p_m(k \mid x).

    Hypothesis class: means of the base classifiers. Loss and optimiser: those of the base classifier.

    Guarantee: the draws are those of the seeds; with ``oob_score`` also the out-of-bag error, and two bounds on the error of the
    majority vote on new rows, for independent rows (theory: :ref:`bootstrap-votes`).

    Parameters
    ----------
    estimator : classifier or None, default=None
        What to fit; None: :class:`DecisionTreeClassifier`.
    n_estimators : int >= 1, default=10
        Members.
    max_samples : int, float or None, default=None
        Draws for each member, or their share of the rows; None: as many as rows (as the total of integer weights).
    max_features : int or float in (0, 1], default=1.0
        Columns for each member, or their share.
    bootstrap : bool, default=True
        Draw rows with replacement.
    bootstrap_features : bool, default=False
        Draw columns with replacement.
    oob_score : bool, default=False
        Ask the members for the rows they have not drawn.
    warm_start : bool, default=False
        Add members to the last fit.
    n_jobs : int or None, default=None
        Threads; -1 is all cores. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seeds draws and members. The order of the rows does not matter to the draws.
    verbose : int, default=0
        Accepted so that code written for scikit-learn runs.
    delta : float in (0, 1), default=0.05
        Failure probability of the bounds of the vote.
    max_time : float > 0 or None, default=None
        Seconds after which the members so far are returned. Ctrl-C does the same.

    Attributes
    ----------
    estimators_ : list
        The members.
    estimators_features_ : list of ndarray
        Columns of each member.
    tree_seeds_ : ndarray
        Seeds of the draws.
    oob_score_, oob_decision_function_
        With ``oob_score``: the score, and the means over the members that left a row out.
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

    _own_bound = "oob_score=True"

    _rules = {**RULES, "estimator": _CLASSIFIER, "bootstrap_features": BOOLEAN, "oob_score": BOOLEAN}

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
    def fit(self, X, y, sample_weight=None):
        """Fit the members; rows count as often as ``sample_weight`` says. Returns the estimator."""
        check_params(self)
        X, given = read_data(self, X, y, **READ)
        check_classification_targets(given)
        self.classes_, codes = np.unique(given, return_inverse=True)
        self.n_classes_ = len(self.classes_)
        base = self.estimator
        if base is None:
            from surefit.trees.classifier import DecisionTreeClassifier

            base = DecisionTreeClassifier()
        sample = Sample(X, codes.astype(np.int64), read_weights(self, sample_weight, len(X)), None, self.n_classes_)
        return fit_bagging(self, base, sample, given, given.astype(np.float64) if given.dtype.kind in "biuf" else given)

    def predict(self, X) -> np.ndarray:
        """Return the class with the largest mean probability; a tie goes to the class that comes first."""
        places = self._mean(X).argmax(axis=1)
        return self.classes_[places]

    def predict_proba(self, X) -> np.ndarray:
        """Return the mean over the members of their probabilities, or of their votes if they have none."""
        return self._mean(X)

    def predict_log_proba(self, X) -> np.ndarray:
        """Return the logarithm of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            return np.log(self._mean(X))

    def _mean(self, X) -> np.ndarray:
        return self._said(self._rows(X)).mean(axis=0)

    def _member_says(self, member, X: np.ndarray) -> np.ndarray:
        table = np.zeros((X.shape[0], len(self.classes_)))
        places = np.searchsorted(self.classes_, member.classes_)  # a draw may miss a class
        if hasattr(member, "predict_proba"):
            table[:, places] = member.predict_proba(X)
        else:
            table[np.arange(len(table)), np.searchsorted(self.classes_, member.predict(X))] = 1.0
        return table
