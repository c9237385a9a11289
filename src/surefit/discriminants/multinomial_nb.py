from __future__ import annotations

import numpy as np

from surefit.discriminants.discrete_nb import COMMON, CountsNB, log_shares


class MultinomialNB(CountsNB):
    r"""Multinomial naive Bayes, for counts such as word counts of texts.

    .. math::

        \hat y(x) = \arg\max_k \; \ln \pi_k + \sum_j x_j \ln p_{kj}, \qquad
        p_{kj} = \frac{N_{kj} + \alpha_j}{\sum_l (N_{kl} + \alpha_l)}

    where :math:`N_{kj}` is the sum of column j over the rows of class k.

    Hypothesis class: linear functions of counts. Loss: negative log-likelihood. Optimizer: closed form.

    Guarantee: the log-likelihood, with ``alpha`` additional counts of each feature in each class, is within
    ``certificate_["naive_bayes.likelihood"].value`` of its maximum over all probabilities (theory:
    :ref:`naive-bayes-likelihood`). The estimates are the posterior mode under Dirichlet priors.

    Parameters
    ----------
    alpha : float >= 0 or array of shape (n_features,), default=1.0
        Counts that are added to each feature; 1 is Laplace smoothing, 0 is maximum likelihood.
    force_alpha : bool, default=True
        If False, ``alpha`` below 1e-10 is replaced by 1e-10.
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
        Weighted sums of the columns over the rows of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        Logarithms of the class probabilities.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Logarithms of the feature probabilities.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import MultinomialNB
    >>> model = MultinomialNB().fit([[2, 0], [1, 0], [0, 3]], ["a", "a", "b"])
    >>> np.exp(model.feature_log_prob_).round(12).tolist()
    [[0.8, 0.2], [0.2, 0.8]]
    >>> model.predict([[1, 0], [1, 4]]).tolist()
    ['a', 'b']
    """

    _rules = COMMON

    def __init__(self, *, alpha=1.0, force_alpha=True, fit_prior=True, class_prior=None):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _set_log_probabilities(self, alpha: np.ndarray) -> None:
        self.feature_log_prob_ = log_shares(self.feature_count_ + alpha)
