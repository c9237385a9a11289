from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from surefit.core.errors import InvalidData
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import (
    BOOLEAN,
    COUNT,
    NON_NEGATIVE,
    NOTHING,
    RANDOM_STATE,
    Rule,
    check_params,
    one_of,
    read_data,
)
from surefit.decomposition.pca_training import fit_pca


def _is_count(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= 0


def _is_share(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral) and 0 < float(value) < 1


COUNT_OR_ZERO = Rule("an integer >= 0", _is_count)
SHARE = Rule("a number between 0 and 1", _is_share)
READ: dict[str, Any] = {"accept_sparse": ["csr", "csc"], "dtype": [np.float64, np.float32]}


class PCA(CertifiedMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Principal component analysis: orthogonal directions of largest variance.

    .. math:: \max_{V V^\top = I_q} \operatorname{tr}(V S V^\top), \qquad S = \frac{1}{n-1} \sum_i (x_i - \bar x)(x_i - \bar x)^\top

    Hypothesis class: projections onto q dimensions. Loss: squared distance to the projection. Optimizer: eigenvalue
    decomposition of S, singular value decomposition of the centered data, or subspace iteration from a random start.

    Guarantee: the captured variance differs from the maximum over all q directions by at most the gap in the
    certificate. Each explained variance is within the stated residual of an eigenvalue of S. With a solver that
    computes the whole spectrum, no eigenvalue was missed (theory: :ref:`eigen-residual`). Signs are fixed: the largest
    entry of each component is positive.

    Parameters
    ----------
    n_components : int, float, "mle" or None, default=None
        Number of components q. A number between 0 and 1 is the fraction of the variance to explain, "mle" is Minka's
        estimate, and None keeps all components.
    copy : bool, default=True
        Ignored; X is never modified.
    whiten : bool, default=False
        Whether to divide the components of the transformed rows by their standard deviations.
    svd_solver : {"auto", "full", "covariance_eigh", "arpack", "randomized"}, default="auto"
        Singular value decomposition of the centered rows ("full"), eigenvalue decomposition of S ("covariance_eigh"),
        Lanczos iteration ("arpack"), or subspace iteration ("randomized"). "auto" chooses by the shape of X, as in
        scikit-learn.
    tol : float >= 0, default=0.0
        Tolerance of "arpack".
    iterated_power : int >= 0 or "auto", default="auto"
        Number of iterations of "randomized"; "auto" is 7 for less than a tenth of the components, else 4.
    n_oversamples : int >= 1, default=10
        Number of directions in addition to q that "randomized" computes.
    power_iteration_normalizer : {"auto", "QR", "LU", "none"}, default="auto"
        Ignored; every step is orthogonalized.
    random_state : int, RandomState or None, default=None
        Seed of "arpack" and "randomized", and of the random vector used to measure their error.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, in order of decreasing variance.
    explained_variance_, explained_variance_ratio_ : ndarrays of shape (n_components,)
        Variance along each direction (divisor n - 1), and its fraction of the total variance.
    singular_values_ : ndarray of shape (n_components,)
        Singular values of the centered rows.
    mean_ : ndarray of shape (n_features,)
        Mean of the rows.
    n_components_, n_samples_ : int
        Number of components and of rows.
    noise_variance_ : float
        Mean variance of the remaining directions: the noise variance of probabilistic PCA.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    On Dask collections and Parquet paths (extra ``cluster``), the mean and the scatter matrix are computed by passes
    over the partitions, and the eigenvectors on the client (``svd_solver="covariance_eigh"``); X must have at least as
    many rows as columns.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import PCA
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [3.0, 1.0]])
    >>> model = PCA().fit(X)
    >>> model.singular_values_**2
    array([9., 1.])
    >>> model.verify(X)["eigen.gap"].level
    'enclosed'
    """

    _rules = {
        "n_components": NOTHING | COUNT_OR_ZERO | SHARE | one_of("mle"),
        "copy": BOOLEAN,
        "whiten": BOOLEAN,
        "svd_solver": one_of("auto", "full", "covariance_eigh", "arpack", "randomized"),
        "tol": NON_NEGATIVE,
        "iterated_power": one_of("auto") | COUNT_OR_ZERO,
        "n_oversamples": COUNT,
        "power_iteration_normalizer": one_of("auto", "QR", "LU", "none"),
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_components=None,
        *,
        copy=True,
        whiten=False,
        svd_solver="auto",
        tol=0.0,
        iterated_power="auto",
        n_oversamples=10,
        power_iteration_normalizer="auto",
        random_state=None,
    ):
        self.n_components = n_components
        self.copy = copy
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.tol = tol
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state

    def fit(self, X, y=None):
        """Find the components. Returns the estimator."""
        check_params(self)
        return fit_pca(self, read_data(self, X, **READ))

    def fit_transform(self, X, y=None):
        """Fit and return the components of the rows."""
        return self.fit(X).transform(X)

    def transform(self, X) -> np.ndarray:
        """Return the components of the rows: ``(X - mean_) components_.T``, scaled if ``whiten``."""
        check_is_fitted(self)
        X = read_data(self, X, reset=False, **READ)
        if sparse.issparse(X) or self._is_near_origin():
            scores = np.asarray(X @ self.components_.T)
            scores -= (self.mean_ @ self.components_.T).astype(scores.dtype)
        else:
            scores = (X - self.mean_) @ self.components_.T
        return scores / self._deviations() if self.whiten else scores

    def _is_near_origin(self) -> bool:
        """Whether the mean can be subtracted after the product with a loss of at most 3 bits by cancellation."""
        rest = (self.n_features_in_ - self.n_components_) * self.noise_variance_
        return bool(self.mean_ @ self.mean_ <= 64 * (self.explained_variance_.sum() + rest))

    def inverse_transform(self, X) -> np.ndarray:
        """Return the rows with these components; all other components are zero."""
        check_is_fitted(self)
        scores = check_array(X, dtype=[np.float64, np.float32], ensure_min_features=0)
        return (scores * self._deviations() if self.whiten else scores) @ self.components_ + self.mean_

    def get_covariance(self) -> np.ndarray:
        """Return the covariance of probabilistic PCA: component variances, and noise in all other directions."""
        check_is_fitted(self)
        surplus = np.maximum(self.explained_variance_ - self.noise_variance_, 0.0)
        covariance = (self.components_.T * surplus) @ self.components_
        covariance.flat[:: len(covariance) + 1] += self.noise_variance_
        return covariance

    def get_precision(self) -> np.ndarray:
        """Return the inverse of :meth:`get_covariance`, without inverting a large matrix."""
        check_is_fitted(self)
        d, noise = self.n_features_in_, self.noise_variance_
        if self.n_components_ == 0:
            return np.eye(d) / noise
        if noise == 0.0 or np.any(self.explained_variance_ < noise):
            return self._inverse_covariance()
        shrink = (1.0 / self.explained_variance_ - 1.0 / noise)[:, None] * self.components_
        precision = self.components_.T @ shrink
        precision.flat[:: d + 1] += 1.0 / noise
        return precision

    def _inverse_covariance(self) -> np.ndarray:
        try:
            return np.linalg.inv(self.get_covariance())
        except np.linalg.LinAlgError:
            raise InvalidData(
                "PCA: the covariance matrix is singular, so there is no density; fit with fewer n_components, which leaves "
                "noise in all directions."
            ) from None

    def score_samples(self, X) -> np.ndarray:
        """Return the log-density of each row under probabilistic PCA."""
        check_is_fitted(self)
        X = read_data(self, X, reset=False, dtype=[np.float64, np.float32])
        about, precision = X - self.mean_, self.get_precision()
        log_determinant = np.linalg.slogdet(precision)[1]
        return -0.5 * np.sum(about * (about @ precision), axis=1) - 0.5 * (
            X.shape[1] * math.log(2 * math.pi) - log_determinant
        )

    def score(self, X, y=None) -> float:
        """Return the mean log-density of the rows under probabilistic PCA."""
        return float(np.mean(self.score_samples(X)))

    def _deviations(self) -> np.ndarray:
        return np.maximum(np.sqrt(self.explained_variance_), np.finfo(self.explained_variance_.dtype).eps)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse = self.svd_solver in ("auto", "arpack", "covariance_eigh")
        return tags
