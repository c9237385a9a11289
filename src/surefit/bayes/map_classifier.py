from __future__ import annotations

import numpy as np
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from surefit.bayes.class_families import FAMILIES, ClassParameters, estimate, log_densities, require_spread
from surefit.bayes.classes import ClassDistribution
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData
from surefit.core.estimator import CertifiedMixin
from surefit.core.guards import memory
from surefit.core.validation import (
    ARRAY,
    NON_NEGATIVE,
    NOTHING,
    Rule,
    check_labels,
    check_params,
    one_of,
    read_data,
    read_weights,
)
from surefit.problems import pose

DISTRIBUTIONS = one_of(*FAMILIES) | Rule("a list of distributions with logpdf", lambda v: isinstance(v, (list, tuple)))


class MAPClassifier(CertifiedMixin, ClassifierMixin, BaseEstimator):
    r"""Maximum a posteriori classifier: the Bayes rule with given or fitted class-conditional distributions.

    .. math:: h(x) = \min \operatorname*{argmax}_k \; \ln p_k + \ln f_k(x), \qquad
              P(Y = k | x) = \frac{p_k f_k(x)}{\sum_r p_r f_r(x)}

    Hypothesis class: rules that compare densities of a family. Loss: minus log-likelihood. Optimizer: closed form.

    Guarantee: with the true priors and distributions no rule has a smaller error probability (theory: :ref:`bayes-risk`). Fitted
    distributions maximize the likelihood of the rows of each class within their family, up to ``var_smoothing``; the
    certificate states the distance to the maximum.

    Parameters
    ----------
    distributions : {"diagonal", "full", "common", "bernoulli"} or list of distributions, default="diagonal"
        With "diagonal", normal with independent columns (naive Bayes); with "full", normal with one covariance matrix
        per class; with "common", normal with a common covariance matrix; with "bernoulli", independent columns of zeros
        and ones. A list contains one known distribution with ``logpdf`` per class, such as those of ``scipy.stats``, in
        the order of ``classes_``.
    priors : array of shape (n_classes,) or None, default=None
        Probabilities of the classes; None uses the class frequencies.
    var_smoothing : float >= 0, default=1e-9
        Fraction of the largest variance of a column that is added to all variances. For "bernoulli", it is added to the
        counts of zeros and ones (1 is Laplace smoothing).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted; ties go to the first.
    class_prior_ : ndarray of shape (n_classes,)
        Probabilities of the classes.
    means_ : ndarray of shape (n_classes, n_features)
        Means, or probabilities of a one; empty if distributions were given.
    spreads_ : ndarray
        Variances or covariance matrices; empty for "bernoulli" and for given distributions.
    log_likelihood_ : float
        Log-likelihood of the training rows with their classes.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from surefit import MAPClassifier
    >>> X, y = [[0.0], [2.0], [10.0], [14.0]], ["a", "a", "b", "b"]
    >>> model = MAPClassifier().fit(X, y)
    >>> print(model.predict([[3.0], [9.0]]), model.means_.ravel())
    ['a' 'b'] [ 1. 12.]
    """

    _rules = {"distributions": DISTRIBUTIONS, "priors": NOTHING | ARRAY, "var_smoothing": NON_NEGATIVE}

    def __init__(self, distributions="diagonal", *, priors=None, var_smoothing=1e-9):
        self.distributions = distributions
        self.priors = priors
        self.var_smoothing = var_smoothing

    def fit(self, X, y, sample_weight=None):
        """Fit the distributions of the classes; an integer weight counts as repetitions of the row. Returns the estimator."""
        check_params(self)
        X, y = read_data(self, X, y, dtype=np.float64)
        check_labels(y)
        weights = read_weights(self, sample_weight, X.shape[0])
        present = np.full(X.shape[0], True) if weights is None else weights > 0
        self.classes_, codes = np.unique(y[present], return_inverse=True)
        memory.require_classes("MAPClassifier", len(codes), len(self.classes_))
        used = np.ones(int(present.sum())) if weights is None else weights[present]
        self._set_priors(codes, used)
        family = self.distributions if isinstance(self.distributions, str) else "given"
        rows = X[present]
        if family == "given":
            if len(self.distributions) != len(self.classes_):
                raise InvalidData(
                    f"MAPClassifier: {len(self.classes_)} classes need as many distributions; got {len(self.distributions)}."
                )
            self.means_, self.spreads_ = np.zeros((0, 0)), np.zeros(0)
        else:
            if family == "bernoulli" and not np.all((rows == 0) | (rows == 1)):
                raise InvalidData(
                    "MAPClassifier: distributions='bernoulli' needs columns of zeros and ones; use sklearn.preprocessing.Binarizer."
                )
            floor = float(self.var_smoothing) * (1.0 if family == "bernoulli" else _largest_variance(rows, used))
            parameters = estimate(family, rows, codes, used, len(self.classes_), floor)
            if len(rows) == 1:
                raise InvalidData("MAPClassifier: a variance needs at least two rows; got n_samples = 1.")
            require_spread("MAPClassifier", family, parameters, self.classes_)
            self.means_, self.spreads_ = parameters
        joint = self._log_joint(rows)
        self.log_likelihood_ = float(used @ joint[np.arange(len(codes)), codes])
        numbers = y.dtype.kind in "biuf"
        self._issue(
            "A" if family != "given" else "C",
            [Claim("map.given" if family == "given" else "map.likelihood")],
            problem=pose(self, X, y, weights),
            model=("classes_", "class_prior_", "means_", "spreads_"),
            sample=(X, y.astype(np.float64) if numbers else y, weights),
        )
        return self

    def _set_priors(self, codes: np.ndarray, weights: np.ndarray) -> None:
        shares = np.bincount(codes, weights, minlength=len(self.classes_)) / weights.sum()
        if self.priors is None:
            self.class_prior_ = shares
            return
        given = np.asarray(self.priors, dtype=np.float64)
        if given.shape != shares.shape or np.any(given < 0) or abs(given.sum() - 1) > 1e-9:
            raise InvalidData(
                f"MAPClassifier: priors must be {len(shares)} probabilities, one per class, that sum to one; got {self.priors!r}."
            )
        self.class_prior_ = given

    def _log_joint(self, X: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            prior = np.log(self.class_prior_)
        if isinstance(self.distributions, str):
            return prior + log_densities(self.distributions, ClassParameters(self.means_, self.spreads_), X)
        return ClassDistribution(self.class_prior_, self.distributions).log_joint(X)

    def predict_joint_log_proba(self, X) -> np.ndarray:
        r"""Return :math:`\ln p_k + \ln f_k(x)`, with columns in the order of ``classes_``."""
        check_is_fitted(self)
        return self._log_joint(read_data(self, X, reset=False, dtype=np.float64))

    def predict_log_proba(self, X) -> np.ndarray:
        """Return the logarithms of the probabilities of the classes."""
        joint = self.predict_joint_log_proba(X)
        return joint - logsumexp(joint, axis=1, keepdims=True)

    def predict_proba(self, X) -> np.ndarray:
        """Return the probabilities of the classes."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X) -> np.ndarray:
        """Return the most probable class; ties go to the first."""
        best = np.argmax(self.predict_joint_log_proba(X), axis=1)
        return self.classes_[best]


def _largest_variance(X: np.ndarray, weights: np.ndarray) -> float:
    """Return the largest variance of a column; an integer weight counts as repetitions of the row."""
    mean = np.average(X, axis=0, weights=weights)
    return float(np.max(np.average((X - mean) ** 2, axis=0, weights=weights)))
