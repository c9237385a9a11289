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

    Guarantee: no rule exceeds the value of Fisher's criterion that this one attains by more than the gap in the certificate; each
    ratio of scatters is within the stated distance of an eigenvalue, and none was missed (theory: :ref:`rayleigh-gap`). It is a statement
    about the criterion; Gaussian classes, and hence a small error rate, remain an assumption.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}, default="svd"
        How to compute. "svd" pools the rows of all classes and drops dimensions in which they do not vary; "lsqr" and "eigen" mix
        the covariances of the classes by the priors. "lsqr" finds no directions, so it has no ``transform``.
    shrinkage : float from 0 to 1, "auto" or None, default=None
        Draw the covariance of each class towards a multiple of the identity: by this share, or by that of Ledoit and Wolf for
        standardized columns. Not for "svd".
    priors : array of shape (n_classes,) or None, default=None
        Prior probabilities; None takes the class frequencies.
    n_components : int >= 1 or None, default=None
        Directions that ``transform`` uses, at most ``min(n_classes - 1, n_features)``, which None means.
    store_covariance : bool, default=False
        Whether to keep ``covariance_`` also with "svd".
    tol : float >= 0, default=1e-4
        With "svd": singular values of the standardized rows up to ``tol`` count as zero, and so do those of the class means up to
        ``tol`` times the largest.
    covariance_estimator : estimator or None, default=None
        A copy of it is fitted to the rows of each class; it must provide ``covariance_``. Not for "svd", nor with ``shrinkage`` or weights.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights; for two classes those of the second against the first.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Offsets.
    means_ : ndarray of shape (n_classes, n_features)
        Class means.
    priors_ : ndarray of shape (n_classes,)
        Prior probabilities.
    covariance_ : ndarray of shape (n_features, n_features)
        Covariance within classes, divisor n (not n minus the number of classes).
    scalings_ : ndarray of shape (n_features, n_directions)
        Directions, unit variance within classes; not with "lsqr".
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of each direction in the sum of the ratios of scatter; not with "lsqr".
    xbar_ : ndarray of shape (n_features,)
        Mean of the class means, by the priors; with "svd".
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
        """Return the rows projected on the directions; with "svd" from ``xbar_`` on."""
        check_is_fitted(self)
        if self.solver == "lsqr":
            raise InvalidParameter(type(self).__name__, "solver", "'svd' or 'eigen' for transform", self.solver)
        X = read_data(self, X, reset=False, **READ)
        V = self.scalings_[:, : self._max_components]
        projected = np.asarray(X @ V)
        return projected - self.xbar_ @ V if self.solver == "svd" else projected

    def to_logistic(self) -> LogisticForm:
        """Return the logistic model that this is: same probabilities at every point.

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
        scores = np.asarray(X @ self.coef_.T, dtype=np.float64) + self.intercept_
        return np.column_stack([np.zeros(len(scores)), scores]) if scores.shape[1] == 1 else scores

    @property
    def _n_features_out(self) -> int:
        return min(self._max_components, self.scalings_.shape[1])
