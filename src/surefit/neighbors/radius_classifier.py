from __future__ import annotations

import numpy as np
from sklearn.base import ClassifierMixin

from surefit.core.errors import DataWarning, InvalidData, InvalidParameter
from surefit.core.validation import ANYTHING, check_labels
from surefit.core.warn import warn
from surefit.neighbors.inputs import read_training
from surefit.neighbors.radius_base import RadiusNeighborsBase


class RadiusNeighborsClassifier(ClassifierMixin, RadiusNeighborsBase):
    r"""Radius-neighbors classifier: the majority label of all training rows within a radius.

    .. math:: h(x) = \min \operatorname*{argmax}_c \sum_{i : d(x, x_i) \le r} v_i 1\{y_i = c\}

    Hypothesis class: functions of the labels of the rows within the radius. Loss: zero-one. Optimizer: none; the search is exact.

    Guarantee: the neighbors are all rows whose double-precision distance is at most the radius; ties of votes go to the first class in
    ``classes_`` (theory: :ref:`consistency`). The fit does not bound the risk, as the certificate states.

    Parameters
    ----------
    radius : float >= 0, default=1.0
        Largest distance of a neighbor.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        Equal weights, the reciprocal of the distance (only rows at distance zero count if there are any), or a function
        of the distances of a query.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        Matrix products or a k-d tree (both tree names select it); the result is the same.
    leaf_size : int >= 1, default=30
        Ignored; accepted for compatibility with scikit-learn.
    p : float > 0, default=2
        Exponent of metric="minkowski".
    metric : str, callable or kernel, default="minkowski"
        As in scikit-learn; "precomputed" expects distances as X. With a kernel of ``surefit.kernels``, distances are those between its
        features.
    outlier_label : label, "most_frequent" or None, default=None
        Label of rows without neighbors; None: raise an error.
    metric_params : dict or None, default=None
        Further arguments of the metric.
    n_jobs : int or None, default=None
        Number of threads. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    outlier_label_ : label or None
        Label of rows without neighbors.
    outputs_2d_ : bool
        Always False; there is one target per row.
    n_samples_fit_ : int
        Number of training rows.
    sample_indices_ : ndarray
        Indices of these rows in the training data.
    effective_metric_, effective_metric_params_
        As in scikit-learn.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from surefit import RadiusNeighborsClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> model = RadiusNeighborsClassifier(radius=1.2, outlier_label=0).fit(X, y)
    >>> print(model.predict([[0.5], [2.5], [9.0]]))
    [0 1 0]
    >>> model.verify(X, y)["knn.within"].proved
    0.0
    """

    _rules = {**RadiusNeighborsBase._rules, "outlier_label": ANYTHING}

    def __init__(
        self,
        radius=1.0,
        *,
        weights="uniform",
        algorithm="auto",
        leaf_size=30,
        p=2,
        metric="minkowski",
        outlier_label=None,
        metric_params=None,
        n_jobs=None,
    ):
        self.radius = radius
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.outlier_label = outlier_label
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Store the training rows. Returns the estimator."""
        X, y = read_training(self, X, y)
        check_labels(y)
        self.classes_ = np.unique(y)
        self.outputs_2d_ = False
        self._remember(X, y, None)
        return self

    def _class_attributes(self) -> tuple[str, ...]:
        return ("classes_",)

    def _keep_targets(self, y: np.ndarray) -> None:
        self._codes = np.searchsorted(self.classes_, y)[self.sample_indices_].astype(np.int64)
        self.outlier_label_ = self.outlier_label
        if isinstance(self.outlier_label, str) and self.outlier_label == "most_frequent":
            counts = np.bincount(self._codes, minlength=len(self.classes_))
            self.outlier_label_ = self.classes_[int(np.argmax(counts))]
        elif self.outlier_label is not None:
            try:
                fits = np.asarray(self.outlier_label).ndim == 0
                self.classes_.dtype.type(self.outlier_label)
            except (TypeError, ValueError):
                fits = False
            if not fits:
                wanted = f"a label like those of y, such as {self.classes_.tolist()[0]!r}, 'most_frequent' or None"
                raise InvalidParameter(type(self).__name__, "outlier_label", wanted, self.outlier_label)

    def predict_proba(self, X) -> np.ndarray:
        """Return the fraction of votes of each class; a row without neighbors has the outlier label, or zeros."""
        return self._votes(X)[0]

    def _votes(self, X) -> tuple[np.ndarray, np.ndarray]:
        """Return the fractions of votes, and a mask of the rows without neighbors."""
        found, shares = self._ballots(X)
        votes = np.zeros((len(found.starts) - 1, len(self.classes_)))
        np.add.at(votes, (found.queries, self._codes[found.indices]), shares)
        alone = np.diff(found.starts) == 0
        if alone.any():
            self._treat_outliers(votes, alone)
        total = votes.sum(axis=1, keepdims=True)
        return np.divide(votes, total, out=votes, where=total > 0), alone

    def _treat_outliers(self, votes: np.ndarray, alone: np.ndarray) -> None:
        if self.outlier_label_ is None:
            raise InvalidData(
                f"{type(self).__name__}: No neighbors found for test samples {np.flatnonzero(alone)[:5]}; use a larger radius, give "
                "an outlier_label, or leave these rows out."
            )
        known = np.flatnonzero(self.classes_ == self.outlier_label_)
        if len(known):
            votes[alone, known[0]] = 1.0
        else:
            warn(
                f"{type(self).__name__}: outlier_label {self.outlier_label_!r} is not among the classes; all probabilities of "
                f"{np.count_nonzero(alone)} rows without neighbors are zero.",
                DataWarning,
            )

    def predict(self, X) -> np.ndarray:
        """Return the label with the most votes; ties go to the first class."""
        votes, alone = self._votes(X)
        labels = self.classes_[np.argmax(votes, axis=1)]
        if alone.any():
            labels = np.where(alone, np.asarray(self.outlier_label_), labels)
        return labels
