from __future__ import annotations

import numpy as np
from scipy import sparse

from surefit.core.errors import InvalidData
from surefit.core.validation import NOTHING, REAL
from surefit.discriminants.discrete_nb import COMMON, DiscreteNB, weighted_logs


class BernoulliNB(DiscreteNB):
    r"""Bernoulli naive Bayes, for columns that are present (1) or absent (0).

    .. math::

        \hat y(x) = \arg\max_k \; \ln \pi_k + \sum_j \big( x_j \ln p_{kj} + (1 - x_j) \ln (1 - p_{kj}) \big), \qquad
        p_{kj} = \frac{N_{kj} + \alpha_j}{n_k + 2 \alpha_j}

    Hypothesis class: linear functions of zeros and ones. Loss: negative log-likelihood. Optimizer: closed form.

    Guarantee: the log-likelihood, with ``alpha`` additional rows of either value of each feature in each class, is
    within ``certificate_["naive_bayes.likelihood"].value`` of its maximum over all probabilities (theory:
    :ref:`naive-bayes-likelihood`).

    Parameters
    ----------
    alpha : float >= 0 or array of shape (n_features,), default=1.0
        Number of rows with either value that are added to each class.
    force_alpha : bool, default=True
        If False, ``alpha`` below 1e-10 is replaced by 1e-10.
    binarize : float or None, default=0.0
        Entries above this threshold become ones, others zeros; None: X already consists of zeros and ones.
    fit_prior : bool, default=True
        Whether class probabilities are the class frequencies; otherwise they are equal.
    class_prior : array of shape (n_classes,) or None, default=None
        Class probabilities, if given.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Weight of the rows of each class.
    feature_count_ : ndarray of shape (n_classes, n_features)
        Weight of the rows of each class in which the feature is present.
    class_log_prior_ : ndarray of shape (n_classes,)
        Logarithms of the class probabilities.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Logarithms of the probabilities that a feature is present.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import BernoulliNB
    >>> model = BernoulliNB().fit([[1, 0], [1, 0], [0, 1]], ["a", "a", "b"])
    >>> np.exp(model.feature_log_prob_[0]).round(12).tolist()
    [0.75, 0.25]
    """

    _rules = {**COMMON, "binarize": NOTHING | REAL}

    def __init__(self, *, alpha=1.0, force_alpha=True, binarize=0.0, fit_prior=True, class_prior=None):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _require_features(self, X) -> None:
        entries = X.data if sparse.issparse(X) else X
        if self.binarize is None and np.any((entries != 0) & (entries != 1)):
            raise InvalidData("BernoulliNB: binarize=None needs entries that are 0 or 1; pass a threshold as binarize.")
        if sparse.issparse(X) and self.binarize is not None and self.binarize < 0:
            raise InvalidData(
                "BernoulliNB: binarize must be >= 0 for sparse X, whose zeros are absent; got a negative number."
            )

    def _counted(self, X):
        if self.binarize is None:
            return X
        if not sparse.issparse(X):
            return (X > self.binarize).astype(np.float64)
        present = X.copy()
        present.data = (X.data > self.binarize).astype(np.float64)
        return present

    def _set_log_probabilities(self, alpha: np.ndarray) -> None:
        total = self.class_count_[:, None] + 2 * alpha
        self.feature_log_prob_ = np.log(self.feature_count_ + alpha) - np.log(total)
        self.feature_log_prob_[np.broadcast_to(total == 0, self.feature_log_prob_.shape)] = np.log(0.5)

    def _log_densities(self, X) -> np.ndarray:
        with np.errstate(divide="ignore"):
            absent = np.log1p(-np.minimum(np.exp(self.feature_log_prob_), 1.0))
        counted = self._counted(X)
        if np.isfinite(absent).all() and np.isfinite(self.feature_log_prob_).all():
            return counted @ (self.feature_log_prob_ - absent).T + absent.sum(axis=1)
        rows = counted.toarray() if sparse.issparse(counted) else counted
        return weighted_logs(rows, self.feature_log_prob_) + weighted_logs(1.0 - rows, absent)
