from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import NON_NEGATIVE
from surefit.discriminants.base import PRIORS, log_priors
from surefit.discriminants.naive_bayes import Batch, NaiveBayes, read_class_priors
from surefit.solvers.discriminants.counts import Spread, class_spread, merged, overall


class GaussianNB(NaiveBayes):
    r"""Gaussian naive Bayes classifier: columns are normal and independent within each class.

    .. math::

        \hat y(x) = \arg\max_k \; \ln \pi_k - \tfrac12 \sum_j \Big( \ln 2\pi v_{kj} + \frac{(x_j - \theta_{kj})^2}{v_{kj}} \Big)

    where :math:`\theta_{kj}` and :math:`\mathrm{var}_{kj}` are the mean and the variance (divisor :math:`n_k`) of
    column j in class k, and :math:`v_{kj} = \mathrm{var}_{kj} + \varepsilon`.

    Hypothesis class: quadratic surfaces without products of columns. Loss: negative log-likelihood. Optimizer: closed form.

    Guarantee: the expected log-likelihood, if every entry of X has independent noise of variance :math:`\varepsilon`,
    is within ``certificate_["naive_bayes.likelihood"].value`` of its maximum (theory: :ref:`naive-bayes-likelihood`).
    Independent and normal columns are an assumption.

    Parameters
    ----------
    priors : array of shape (n_classes,) or None, default=None
        Class probabilities; None uses the class frequencies.
    var_smoothing : float >= 0, default=1e-9
        Fraction of the largest (weighted) variance of a column that is added to all variances.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Weight of the rows of each class.
    class_prior_ : ndarray of shape (n_classes,)
        Class probabilities.
    theta_ : ndarray of shape (n_classes, n_features)
        Means.
    var_ : ndarray of shape (n_classes, n_features)
        Variances, with ``epsilon_`` added.
    epsilon_ : float
        The number added to variances; after ``partial_fit``, the number of the last call.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surefit import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GaussianNB().fit(X, y)
    >>> model.score(X, y)
    0.96
    >>> model.verify(X, y)["naive_bayes.likelihood"].proved < 1e-20
    True
    """

    _rules = {"priors": PRIORS, "var_smoothing": NON_NEGATIVE}
    _read = {"dtype": [np.float64, np.float32]}
    _statistics = ("class_count_", "theta_", "var_", "epsilon_")
    _parameters = ("class_prior_",)

    def __init__(self, *, priors=None, var_smoothing=1e-9):
        self.priors = priors
        self.var_smoothing = var_smoothing

    def _update(self, batch: Batch, earlier: dict[str, np.ndarray], problem: dict[str, Any]) -> None:
        read_class_priors(self, "priors", problem)
        if problem["priors"] is not None and abs(sum(problem["priors"]) - 1.0) > 1e-8:
            raise InvalidParameter(
                "GaussianNB", "priors", "probabilities: The sum of the priors should be 1", self.priors
            )
        with np.errstate(over="ignore", invalid="ignore"):
            found = batch.rows if isinstance(batch.rows, Spread) else class_spread(batch.rows)
            self.epsilon_ = float(self.var_smoothing * overall(found).max())
            if earlier:
                before = np.maximum(earlier["var_"] - earlier["epsilon_"], 0.0)
                found = merged(Spread(earlier["class_count_"], earlier["theta_"], before), found)
        self.class_count_, self.theta_ = found.totals, found.means
        self.var_ = found.variances + self.epsilon_
        self._require_spread()
        shares = found.totals / found.totals.sum()
        self.class_prior_ = shares if problem["priors"] is None else np.asarray(problem["priors"])

    def _require_spread(self) -> None:
        present = self.class_count_ > 0
        if not (np.isfinite(self.theta_).all() and np.isfinite(self.var_).all()):
            raise InvalidData(
                "GaussianNB: X has entries so large that sums of their squares overflow; divide its columns by a constant."
            )
        flat = np.argwhere((self.var_ == 0) & present[:, None])
        if len(flat):
            k, j = (int(place) for place in flat[0])
            raise InvalidData(
                f"GaussianNB: column {j} has variance zero in class {self.classes_.tolist()[k]!r}, n_samples = "
                f"{self.class_count_[k]:g}; raise var_smoothing, leave the column out, or fit more rows."
            )

    def _scores(self, X) -> np.ndarray:
        scores = np.empty((X.shape[0], len(self.classes_)))
        variances = np.where(self.var_ > 0, self.var_, 1.0)  # a class without rows has probability zero
        for k, v in enumerate(variances):
            scores[:, k] = -0.5 * (((X - self.theta_[k]) ** 2) @ (1.0 / v) + np.sum(np.log(2.0 * np.pi * v)))
        return scores + log_priors(self.class_prior_)
