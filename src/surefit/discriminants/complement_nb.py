from __future__ import annotations

import numpy as np

from surefit.core.validation import BOOLEAN
from surefit.discriminants.discrete_nb import COMMON, CountsNB, DiscreteNB, log_shares


class ComplementNB(CountsNB):
    r"""Complement naive Bayes, for counts in classes of very different sizes.

    .. math::

        \hat y(x) = \arg\min_k \; \sum_j x_j w_{kj}, \qquad
        w_{kj} = \ln \frac{\bar N_{kj} + \alpha_j}{\sum_l (\bar N_{kl} + \alpha_l)}

    where :math:`\bar N_{kj}` is the sum of column j over the rows of all other classes. With ``norm``, the weights of
    each class are divided by their sum.

    Hypothesis class: linear functions of counts. Loss: negative log-likelihood of the other classes. Optimizer: closed form.

    Guarantee: no weight differs from its exact value for the rows by more than
    ``certificate_["naive_bayes.parameters"].value`` (theory: :ref:`naive-bayes-likelihood`). The rule is a heuristic:
    its weights do not maximize a likelihood of the classes.

    Parameters
    ----------
    alpha : float >= 0 or array of shape (n_features,), default=1.0
        Counts that are added to each feature.
    force_alpha : bool, default=True
        If False, ``alpha`` below 1e-10 is replaced by 1e-10.
    fit_prior : bool, default=True
        Only used if there is one class.
    class_prior : array of shape (n_classes,) or None, default=None
        Not used in predictions.
    norm : bool, default=False
        Whether the weights of each class are divided by their sum.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Weight of the rows of each class.
    feature_count_ : ndarray of shape (n_classes, n_features)
        Weighted sums of the columns over the rows of each class.
    feature_all_ : ndarray of shape (n_features,)
        Weighted sums of the columns.
    class_log_prior_ : ndarray of shape (n_classes,)
        Logarithms of the class probabilities.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Weights of the features, with the sign with which they are added to scores.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from surefit import ComplementNB
    >>> model = ComplementNB().fit([[2, 0], [1, 0], [0, 3]], ["a", "a", "b"])
    >>> model.predict([[1, 0], [1, 4]]).tolist()
    ['a', 'b']
    """

    _rules = {**COMMON, "norm": BOOLEAN}
    _claims = ("naive_bayes.parameters",)
    _parameters = (*DiscreteNB._parameters, "feature_all_")

    def __init__(self, *, alpha=1.0, force_alpha=True, fit_prior=True, class_prior=None, norm=False):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm

    def _set_log_probabilities(self, alpha: np.ndarray) -> None:
        self.feature_all_ = self.feature_count_.sum(axis=0)
        logs = log_shares(outside(self.feature_count_) + alpha)
        if not self.norm:
            self.feature_log_prob_ = -logs
            return
        totals = logs.sum(axis=1, keepdims=True)  # zero for one column
        self.feature_log_prob_ = np.divide(logs, totals, out=np.zeros_like(logs), where=totals != 0)

    def _log_weights(self) -> np.ndarray:
        return self.class_log_prior_ if len(self.classes_) == 1 else np.zeros(len(self.classes_))


def outside(counts: np.ndarray) -> np.ndarray:
    """Return the sums over all other classes, from prefix and suffix sums, without cancellation."""
    before, after = np.zeros_like(counts), np.zeros_like(counts)
    before[1:] = np.cumsum(counts[:-1], axis=0)
    after[:-1] = np.cumsum(counts[:0:-1], axis=0)[::-1]
    return before + after
