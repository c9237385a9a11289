from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.errors import InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import (
    BOOLEAN,
    COUNT,
    FRACTION,
    NON_NEGATIVE,
    NOTHING,
    Rule,
    check_params,
    one_of,
    read_data,
)
from surefit.discriminants.base import PRIORS, READ, ScoredMixin, read_labeled
from surefit.discriminants.lda_training import fit_lda
from surefit.discriminants.logistic_form import LogisticForm

SHRINKAGE = NOTHING | one_of("auto") | FRACTION
COVARIANCE_ESTIMATOR = NOTHING | Rule("an estimator with fit", lambda v: hasattr(v, "fit"))


class LinearDiscriminantAnalysis(
    CertifiedMixin, ClassNamePrefixFeaturesOutMixin, ScoredMixin, TransformerMixin, BaseEstimator
):
    r"""Linear discriminant analysis: Gaussian classes with a common covariance and linear boundaries.

    .. math::

        \hat y(x) = \arg\max_k \; x^\top W^{-1} m_k - \tfrac12 m_k^\top W^{-1} m_k + \ln \pi_k , \qquad
        W = \frac1n \sum_i (x_i - m_{y_i})(x_i - m_{y_i})^\top ,

    and ``transform`` projects on the directions that maximize :math:`v^\top B v / v^\top W v`, the ratio of the scatter of the class
    means to that within classes.

    Hypothesis class: half-spaces, one per pair of classes. Loss: negative log-likelihood of Gaussian classes with a common
    covariance, which has its minimum in closed form. Optimizer: a symmetric eigenvalue problem, after whitening.

    Guarantee: Fisher's criterion differs from its maximum by at most the gap in the certificate. Each ratio of scatters
    is within the stated distance of an eigenvalue, and no eigenvalue was missed (theory: :ref:`rayleigh-gap`). These
    are statements about the criterion, not about the error rate; Gaussian classes are an assumption.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}, default="svd"
        The solver. "svd" pools the rows of all classes and drops dimensions in which they do not vary. "lsqr" and
        "eigen" average the covariances of the classes, weighted by the priors. "lsqr" does not compute directions, so
        ``transform`` is not available.
    shrinkage : float from 0 to 1, "auto" or None, default=None
        Shrinkage of each class covariance toward a multiple of the identity: this fraction, or the estimate of Ledoit
        and Wolf for standardized columns. Not supported by "svd".
    priors : array of shape (n_classes,) or None, default=None
        Prior probabilities; None uses the class frequencies.
    n_components : int >= 1 or None, default=None
        Number of directions used by ``transform``; None: the maximum, ``min(n_classes - 1, n_features)``.
    store_covariance : bool, default=False
        Whether to store ``covariance_`` with "svd" too.
    tol : float >= 0, default=1e-4
        With "svd": singular values of the standardized rows up to ``tol`` count as zero, and so do those of the class means up to
        ``tol`` times the largest.
    covariance_estimator : estimator or None, default=None
        Estimator with ``covariance_``; a clone is fitted to the rows of each class. Not supported with "svd",
        ``shrinkage`` or weights.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients; for two classes, those of the second class against the first.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    means_ : ndarray of shape (n_classes, n_features)
        Class means.
    priors_ : ndarray of shape (n_classes,)
        Prior probabilities.
    covariance_ : ndarray of shape (n_features, n_features)
        Covariance within classes, divisor n (not n minus the number of classes).
    scalings_ : ndarray of shape (n_features, n_directions)
        Directions, with unit variance within classes; not with "lsqr".
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Fraction of each direction in the sum of the ratios of scatter; not with "lsqr".
    xbar_ : ndarray of shape (n_features,)
        Mean of the class means, weighted by the priors; with "svd".
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surefit import LinearDiscriminantAnalysis
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearDiscriminantAnalysis().fit(X, y)
    >>> model.explained_variance_ratio_.round(4)
    array([0.9912, 0.0088])
    >>> model.verify(X, y)["discriminant.gap"].level
    'enclosed'
    """

    _shares_rows = True
    _rules = {
        "solver": one_of("svd", "lsqr", "eigen"),
        "shrinkage": SHRINKAGE,
        "priors": PRIORS,
        "n_components": NOTHING | COUNT,
        "store_covariance": BOOLEAN,
        "tol": NON_NEGATIVE,
        "covariance_estimator": COVARIANCE_ESTIMATOR,
    }

    coef_: np.ndarray
    intercept_: np.ndarray
    scalings_: np.ndarray
    xbar_: np.ndarray
    _max_components: int

    def __init__(
        self,
        solver="svd",
        shrinkage=None,
        priors=None,
        n_components=None,
        store_covariance=False,
        tol=1e-4,
        covariance_estimator=None,
    ):
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    def fit(self, X, y, sample_weight=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator."""
        check_params(self)
        return fit_lda(self, read_labeled(self, X, y, sample_weight))

    def transform(self, X) -> np.ndarray:
        """Return the rows projected on the directions; with "svd", relative to ``xbar_``."""
        check_is_fitted(self)
        if self.solver == "lsqr":
            raise InvalidParameter(type(self).__name__, "solver", "'svd' or 'eigen' for transform", self.solver)
        X = read_data(self, X, reset=False, **READ)
        V = self.scalings_[:, : self._max_components]
        projected = np.asarray(X @ V)
        return projected - self.xbar_ @ V if self.solver == "svd" else projected

    def to_logistic(self) -> LogisticForm:
        """Return the logistic model with the same class probabilities.

        Examples
        --------
        >>> import numpy as np
        >>> from surefit import LinearDiscriminantAnalysis
        >>> X, y = np.array([[0.0], [2.0], [3.0], [5.0]]), [0, 0, 1, 1]
        >>> form = LinearDiscriminantAnalysis().fit(X, y).to_logistic()
        >>> print(form.coef[0, 0], form.intercept[0])  # 3 x - 7.5: variance 1, means 1 and 4
        3.0 -7.5
        """
        check_is_fitted(self)
        return LogisticForm(self.coef_.copy(), self.intercept_.copy())

    def _scores(self, X) -> np.ndarray:
        scores = np.asarray(X @ self.coef_.T, dtype=np.float64)
        scores += self.intercept_
        return scores

    @property
    def _n_features_out(self) -> int:
        return min(self._max_components, self.scalings_.shape[1])
