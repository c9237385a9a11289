from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import pairwise_distances
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from surefit.core.centering import column_means
from surefit.core.claims import Claim
from surefit.core.errors import DataWarning, InvalidData, InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import ARRAY, NOTHING, POSITIVE, check_labels, check_params, one_of, read_data
from surefit.core.warn import warn
from surefit.problems import pose

READ: dict[str, Any] = {"accept_sparse": ["csr", "csc"], "dtype": [np.float64, np.float32]}


def _euclidean(model) -> bool:
    if model.metric != "euclidean":
        raise AttributeError("scores and probabilities need metric='euclidean'")
    return True


class NearestCentroid(CertifiedMixin, ClassifierMixin, BaseEstimator):
    r"""Nearest class centroid, optionally with shrunken centroids.

    .. math:: \hat y(x) = \arg\min_k d(x, c_k)

    where :math:`c_k` is the mean of the rows of class k (the median of each column for "manhattan"). If the priors are
    not equal, the score :math:`2 \ln \pi_k - \sum_j (x_j - c_{kj})^2 / \sigma_j^2` is maximized, where :math:`\sigma_j`
    is the standard deviation within classes. Hypothesis class: Voronoi cells of the centroids. Loss: none. Optimizer:
    closed form.

    Guarantee: the certificate bounds the errors of the centroids, deviations and priors, which the checker recomputes
    (theory: :ref:`nearest-centroid`). Ties go to the first class.

    Parameters
    ----------
    metric : {"euclidean", "manhattan"}, default="euclidean"
        Distance, which determines the centroid (mean or median).
    shrink_threshold : float > 0 or None, default=None
        Soft threshold for the standardized distances of the centroids from the overall mean. Not supported for sparse
        rows.
    priors : {"uniform", "empirical"} or array of shape (n_classes,), default="uniform"
        Class probabilities; "empirical" uses the class frequencies.

    Attributes
    ----------
    centroids_ : ndarray of shape (n_classes, n_features)
        The centroids, shrunken if ``shrink_threshold`` is given.
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    deviations_ : ndarray of shape (n_classes, n_features)
        Standardized distances of the centroids from the overall mean.
    within_class_std_dev_ : ndarray of shape (n_features,)
        Standard deviations within classes, divisor n - n_classes.
    class_prior_ : ndarray of shape (n_classes,)
        Class probabilities.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from surefit import NearestCentroid
    >>> model = NearestCentroid().fit([[-2.0], [-1.0], [1.0], [3.0]], ["a", "a", "b", "b"])
    >>> model.centroids_.tolist(), model.predict([[0.0], [1.0]]).tolist()
    ([[-1.5], [2.0]], ['a', 'b'])
    """

    _rules = {
        "metric": one_of("euclidean", "manhattan"),
        "shrink_threshold": NOTHING | POSITIVE,
        "priors": one_of("uniform", "empirical") | ARRAY,
    }

    def __init__(self, metric="euclidean", *, shrink_threshold=None, priors="uniform"):
        self.metric = metric
        self.shrink_threshold = shrink_threshold
        self.priors = priors

    def fit(self, X, y):
        """Compute the centroids. Returns the estimator."""
        check_params(self)
        X, y = read_data(self, X, y, **READ)
        check_labels(y)
        if sparse.issparse(X) and self.shrink_threshold is not None:
            raise InvalidParameter("NearestCentroid", "shrink_threshold", "None for sparse rows", self.shrink_threshold)
        self.classes_, codes = np.unique(y, return_inverse=True)
        n, K = X.shape[0], len(self.classes_)
        if K < 2:
            raise InvalidData(f"NearestCentroid: The number of classes has to be greater than one; got {K} class.")
        self.class_prior_ = self._priors(np.bincount(codes) / n)
        rows = [X[np.flatnonzero(codes == k)] for k in range(K)]
        center = _medians if self.metric == "manhattan" else _means
        self.centroids_ = np.array([center(part) for part in rows])
        squares = sum(_squares(_dense(part) - c) for part, c in zip(rows, self.centroids_, strict=True))
        self.within_class_std_dev_ = np.sqrt(squares / max(n - K, 1))
        if np.array_equal(_dense(X.max(axis=0)).ravel(), _dense(X.min(axis=0)).ravel()):
            raise InvalidData("NearestCentroid: All features have zero variance. Division by zero.")
        self._shrink(_means(X), np.array([part.shape[0] for part in rows]), n)
        read_as = y.astype(np.float64) if y.dtype.kind in "biuf" else y  # in the format of the checker
        self._issue(
            "C",
            [Claim("nearest_centroid.centroids")],
            problem=pose(self, X, read_as),
            model=("centroids_", "within_class_std_dev_", "class_prior_", "classes_"),
            sample=(X, read_as, None),
        )
        return self

    def _priors(self, shares: np.ndarray) -> np.ndarray:
        if isinstance(self.priors, str):
            return shares if self.priors == "empirical" else np.full(len(shares), 1 / len(shares))
        given = np.asarray(self.priors, dtype=np.float64)
        if given.shape != shares.shape or (given < 0).any() or not given.sum() > 0:
            raise InvalidParameter(
                "NearestCentroid", "priors", "one number >= 0 per class: priors must be non-negative", self.priors
            )
        if not np.isclose(given.sum(), 1.0):
            warn("NearestCentroid: The priors do not sum to 1. Normalizing such that it sums to one.", DataWarning)
        return given / given.sum()

    def _shrink(self, mean: np.ndarray, counts: np.ndarray, n: int) -> None:
        """Set ``deviations_`` and shrink the centroids by soft thresholding."""
        scale = self.within_class_std_dev_ + np.median(self.within_class_std_dev_)
        unit = np.sqrt(1.0 / counts - 1.0 / n)[:, None] * scale
        away = self.centroids_ - mean
        if self.shrink_threshold is not None:
            away = np.sign(away) * np.maximum(np.abs(away) - float(self.shrink_threshold) * unit, 0.0)
            self.centroids_ = mean + away
        self.deviations_ = np.divide(away, unit, out=np.zeros(away.shape), where=unit > 0)

    def predict(self, X) -> np.ndarray:
        """Return the class of the nearest centroid of each row, or the class of largest score if priors differ."""
        X = self._read(X)
        if np.allclose(self.class_prior_, 1 / len(self.classes_)):
            return self.classes_[np.argmin(pairwise_distances(X, self.centroids_, metric=self.metric), axis=1)]
        return self.classes_[np.argmax(self._scores(X), axis=1)]

    @available_if(_euclidean)
    def decision_function(self, X) -> np.ndarray:
        """Return the scores of the classes; for two classes, the score of the second minus that of the first."""
        scores = self._scores(self._read(X))
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    @available_if(_euclidean)
    def predict_proba(self, X) -> np.ndarray:
        """Return probabilities of the classes: the softmax of the scores."""
        return np.exp(self.predict_log_proba(X))

    @available_if(_euclidean)
    def predict_log_proba(self, X) -> np.ndarray:
        """Return the logarithms of :meth:`predict_proba`."""
        scores = self._scores(self._read(X))
        scores = scores - scores.max(axis=1, keepdims=True)
        return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))

    def _scores(self, X) -> np.ndarray:
        units = np.where(self.within_class_std_dev_ > 0, self.within_class_std_dev_, 1.0)
        distances = pairwise_distances(_dense(X) / units, self.centroids_ / units, metric=self.metric)
        with np.errstate(divide="ignore"):
            return 2.0 * np.log(self.class_prior_) - distances**2

    def _read(self, X):
        check_is_fitted(self)
        return read_data(self, X, reset=False, **READ)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _dense(X) -> np.ndarray:
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def _means(X) -> np.ndarray:
    if isinstance(X, np.ndarray) and X.dtype == np.float64:
        return column_means(X)
    return np.asarray(X.sum(axis=0, dtype=np.float64)).ravel() / X.shape[0]


def _squares(X: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->j", X, X)


def _medians(X) -> np.ndarray:
    return np.median(_dense(X), axis=0)
