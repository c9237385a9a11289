from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.errors import InvalidData
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import (
    COUNT,
    FRACTION,
    NOTHING,
    POSITIVE,
    RANDOM_STATE,
    check_params,
    one_of,
    read_data,
)
from surefit.ensembles.adaboost_statement import pack
from surefit.ensembles.adaboost_training import fit_adaboost
from surefit.ensembles.members import ESTIMATOR, SequenceMixin, predicted_codes
from surefit.ensembles.stump import DecisionStump

READ = {"dtype": [np.float64, np.float32], "accept_sparse": "csr"}


class AdaBoostClassifier(SequenceMixin, CertifiedMixin, CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    r"""AdaBoost: weighted vote of classifiers, each fitted with larger weights on previously misclassified rows.

    .. math::

        \hat y(x) = \arg\max_k \sum_{m : h_m(x) = k} \alpha_m, \qquad
        \alpha_m = \nu \Bigl[ \ln \frac{1 - \varepsilon_m}{\varepsilon_m} + \ln(K - 1) \Bigr],

    where :math:`\varepsilon_m` is the weighted error of :math:`h_m`; weights of misclassified rows are multiplied by
    :math:`e^{\alpha_m}`.

    Hypothesis class: votes of the base classifiers. Loss: exponential. Optimizer: one member at a time.

    Guarantee: the training error is at most :math:`\prod_m Z_m`, which *equals* the mean exponential loss; for
    :math:`\nu = 1` and two classes :math:`Z_m = 2\sqrt{\varepsilon_m (1 - \varepsilon_m)}` (theory:
    :ref:`adaboost-product`). Each stump is optimal for its weights, and the smallest margin is within a stated gap of
    the largest possible (:ref:`adaboost-margin`). The fit does not bound the error on new data.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Base classifier, which must accept ``sample_weight``. None means :class:`DecisionStump`, found by scanning
        sorted columns.
    n_estimators : int >= 1, default=50
        Maximum number of rounds.
    learning_rate : float > 0, default=1.0
        Shrinkage :math:`\nu`.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the base classifiers that accept one.
    algorithm : {'samme', 'm1'}, default='samme'
        'm1' omits :math:`\ln(K - 1)` and stops at a member with weighted error of one half or more. Both agree for two
        classes.
    stop_bound : float in [0, 1], 'zero' or None, default=None
        Stop as soon as the bound on the training error is below this value. With 'zero' this value is the smallest
        weight of a row, which proves that the training error is zero.
    max_time : float > 0 or None, default=None
        Time limit in seconds; the rounds so far are returned. Ctrl-C has the same effect.

    Attributes
    ----------
    estimators_ : list
        The members.
    estimator_weights_ : ndarray
        Weights :math:`\alpha_m` of the members; for two classes, twice those of the textbook form with labels
        :math:`\pm1`.
    estimator_errors_ : ndarray
        Weighted errors :math:`\varepsilon_m` of the members.
    bounds_ : ndarray
        :math:`\prod_{k \le m} Z_k` after each round.
    training_errors_ : ndarray
        Training error after each round; ties are errors.
    stop_reason_ : str
        'max_iter' (all rounds done), 'converged' (``stop_bound``, or a member without errors), 'stalled' (a member no
        better than chance, which is dropped), 'max_time', 'interrupted' or 'callback'.
    feature_importances_ : ndarray of shape (n_features,)
        Mean importances of the members, weighted by their votes.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    estimator_, classes_, n_classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import AdaBoostClassifier
    >>> X, y = np.arange(1.0, 7.0)[:, None], np.array([1, 1, -1, -1, 1, 1])
    >>> model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    >>> model.estimator_errors_.round(6).tolist(), model.training_errors_.round(6).tolist()
    ([0.333333, 0.25, 0.166667], [0.333333, 0.333333, 0.0])
    >>> round(float(model.bounds_[-1]), 8)
    0.60858062
    >>> model.verify(X, y)["adaboost.product"].ok
    True
    """

    _rules = {
        "estimator": NOTHING | ESTIMATOR,
        "n_estimators": COUNT,
        "learning_rate": POSITIVE,
        "random_state": RANDOM_STATE,
        "algorithm": one_of("samme", "m1"),
        "stop_bound": NOTHING | FRACTION | one_of("zero"),
        "max_time": NOTHING | POSITIVE,
    }

    def __init__(
        self,
        estimator=None,
        *,
        n_estimators=50,
        learning_rate=1.0,
        random_state=None,
        algorithm="samme",
        stop_bound=None,
        max_time=None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.random_state = random_state
        self.algorithm = algorithm
        self.stop_bound = stop_bound
        self.max_time = max_time

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fit the members, with ``sample_weight`` as frequency weights. Returns the estimator."""
        check_params(self)
        return fit_adaboost(self, X, y, sample_weight)

    def _answers_again(self, certificate, X) -> dict[str, np.ndarray]:
        """Return the votes of members other than stumps in the format of the certificate."""
        if not any("votes" in claim.witness for claim in certificate.claims):
            return {}
        rows = self._rows(X)
        said = [predicted_codes(member, rows, self.classes_) for member in self.estimators_]
        return {"votes": pack(said, self.n_classes_)}

    # --- predictions --------------------------------------------------------------------------------------------------

    def votes(self, X) -> np.ndarray:
        """Return the sum of the votes for each class, of shape (n, classes)."""
        *_, last = self._staged_votes(X)
        return last

    def decision_function(self, X) -> np.ndarray:
        r"""Return :math:`\sum_m \alpha_m h_m(x)` (two classes; estimates the log-odds), or the votes of each class."""
        return self._scores(self.votes(X))

    def predict(self, X) -> np.ndarray:
        """Return the class with the most votes; ties go to the first class."""
        places = self.votes(X).argmax(axis=1)
        return self.classes_[places]

    def predict_proba(self, X) -> np.ndarray:
        """Return probabilities proportional to the exponential of the votes (theory: :ref:`half-log-odds`)."""
        return _probabilities(self.votes(X))

    def predict_log_proba(self, X) -> np.ndarray:
        """Return the logarithm of ``predict_proba``."""
        votes = self.votes(X)
        top = votes.max(axis=1, keepdims=True)
        return votes - top - np.log(np.exp(votes - top).sum(axis=1, keepdims=True))

    def margins(self, X, y) -> np.ndarray:
        """Return the margin of each row: (votes for the label - most votes for another class) / all votes."""
        votes = self.votes(X)
        rows, codes = np.arange(len(votes)), np.searchsorted(self.classes_, np.asarray(y))
        if np.any(codes >= len(self.classes_)) or np.any(self.classes_[codes] != np.asarray(y)):
            raise InvalidData("AdaBoostClassifier: y contains labels that were not in the training data.")
        own = votes[rows, codes].copy()
        votes[rows, codes] = -np.inf
        rival = votes.max(axis=1) if votes.shape[1] > 1 else 0.0
        return (own - rival) / self.estimator_weights_.sum()

    def staged_decision_function(self, X) -> Iterator[np.ndarray]:
        """Yield ``decision_function`` after each round."""
        for votes in self._staged_votes(X):
            yield self._scores(votes.copy())

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """Yield ``predict`` after each round."""
        for votes in self._staged_votes(X):
            yield self.classes_[votes.argmax(axis=1)]

    def staged_predict_proba(self, X) -> Iterator[np.ndarray]:
        """Yield ``predict_proba`` after each round."""
        for votes in self._staged_votes(X):
            yield _probabilities(votes)

    def staged_score(self, X, y, sample_weight=None) -> Iterator[float]:
        """Yield the accuracy after each round."""
        for said in self.staged_predict(X):
            yield float(np.average(said == np.asarray(y), weights=sample_weight))

    @property
    def feature_importances_(self) -> np.ndarray:
        """Importances of the members, weighted by their votes."""
        check_is_fitted(self)
        if not hasattr(self.estimators_[0], "feature_importances_"):
            raise AttributeError(f"{type(self.estimators_[0]).__name__} has no feature_importances_.")
        parts = np.array([member.feature_importances_ for member in self.estimators_])
        return self.estimator_weights_ @ parts / self.estimator_weights_.sum()

    # --- the stumps, in the format of the certificate -----------------------------------------------------------------

    @property
    def stump_features_(self) -> np.ndarray:
        """Columns of the stumps."""
        return np.array([stump.feature_ for stump in self.estimators_])

    @property
    def stump_thresholds_(self) -> np.ndarray:
        """Thresholds of the stumps."""
        return np.array([stump.threshold_ for stump in self.estimators_])

    @property
    def stump_labels_(self) -> np.ndarray:
        """Indices into ``classes_`` of the labels below and above each threshold."""
        return np.array([(stump.left_, stump.right_) for stump in self.estimators_])

    def _staged_votes(self, X) -> Iterator[np.ndarray]:
        """Yield the votes after each member, in one array that is updated in place."""
        rows = self._rows(X)
        votes = np.zeros((rows.shape[0], len(self.classes_)))
        places = np.arange(rows.shape[0])
        for member, alpha in zip(self.estimators_, self.estimator_weights_, strict=True):
            is_stump = type(member) is DecisionStump
            said = member._codes(rows) if is_stump else predicted_codes(member, rows, self.classes_)
            votes[places, said] += alpha
            yield votes

    def _rows(self, X):
        check_is_fitted(self)
        return read_data(self, X, reset=False, **READ)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.estimator is None or get_tags(self.estimator).input_tags.sparse
        return tags

    def _scores(self, votes: np.ndarray) -> np.ndarray:
        return votes[:, 1] - votes[:, 0] if votes.shape[1] == 2 else votes


def _probabilities(votes: np.ndarray) -> np.ndarray:
    weights = np.exp(votes - votes.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)
