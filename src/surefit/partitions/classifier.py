from __future__ import annotations

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.validation import check_labels, one_of
from surefit.partitions.base import PARTITIONER, SIDE, PartitionBase


class PartitionClassifier(ClassifierMixin, PartitionBase):
    r"""Partitioning classifier: the majority label of each cell of a partition.

    .. math:: \hat r_c(x) = \frac{1}{N(x)} \sum_{x_i \in A(x)} 1\{y_i = c\}, \qquad h(x) = \min \operatorname*{argmax}_c \hat r_c(x)

    :math:`A(x)` is the cell of :math:`x` and :math:`N(x)` its number of training rows. Hypothesis class: functions that are constant on
    cells. Loss: zero-one. Optimizer: exact, one count per cell.

    Guarantee: no classifier that is constant on the cells has fewer training errors; the certificate contains the
    count. If cells shrink and their counts grow, the risk converges to the Bayes risk, provided that the partition does
    not depend on the labels (theory: :ref:`consistency`). ``fit`` ensures this by fitting the partitioner on X alone.

    Parameters
    ----------
    partitioner : object, callable or None, default=None
        Assigns a row to its cell: an object with ``fit(X)`` and one of ``cells``, ``apply``, ``predict`` (a clustering) or ``transform``
        (a discretizer), or a function of the rows. None: cubes of side ``side``.
    side : float > 0 or "auto", default="auto"
        Side of the cubes; "auto" is the largest range of a column times :math:`n^{-1/(d+2)}`.
    empty : {"prior", "first"}, default="prior"
        Prediction in a cell without training rows: the class fractions of all training rows, or the first class.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted; ties go to the first class.
    partition_ : object
        The fitted partitioner.
    n_cells_ : int
        Number of cells with a training row.
    cell_counts_ : ndarray of shape (n_cells,)
        Total weight of the training rows in each cell.
    cell_shares_ : ndarray of shape (n_cells, n_classes)
        Class fractions of each cell.
    training_error_ : float
        Fraction of misclassified training rows.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from surefit import PartitionClassifier
    >>> X, y = [[0.0], [1.0], [9.0], [10.0]], ["a", "b", "b", "b"]
    >>> model = PartitionClassifier(KMeans(2, n_init=1, random_state=0)).fit(X, y)
    >>> print(model.predict([[2.0], [8.0]]), model.training_error_)
    ['a' 'b'] 0.25
    """

    _rules = {"partitioner": PARTITIONER, "side": SIDE, "empty": one_of("prior", "first")}

    def __init__(self, partitioner=None, *, side="auto", empty="prior"):
        self.partitioner = partitioner
        self.side = side
        self.empty = empty

    def fit(self, X, y, sample_weight=None):
        """Count the labels in each cell, with ``sample_weight`` as frequency weights. Returns the estimator."""
        X, y, weights = self._read(X, y, sample_weight)
        check_labels(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        counts = self._partition(X, weights)
        taking_part = codes if weights is None else codes[weights > 0]
        votes = np.zeros((self.n_cells_, len(self.classes_)))
        np.add.at(votes, (self._training_cells, taking_part), counts)
        self.cell_shares_ = votes / votes.sum(axis=1, keepdims=True)
        self._prior = votes.sum(axis=0) / votes.sum()
        self.training_error_ = float(np.sum(votes.sum(axis=1) - votes.max(axis=1)) / votes.sum())
        names = ("partition.training_error", "partition.shares")
        self._certify(X, y, weights, names, "cell_shares_", "_prior", "classes_")
        return self

    def predict_proba(self, X) -> np.ndarray:
        """Return the class fractions in the cell of each row, columns in the order of ``classes_``."""
        cells = self.apply(X)
        nothing = self._prior if self.empty == "prior" else np.eye(len(self.classes_))[0]
        return np.where((cells < 0)[:, None], nothing, self.cell_shares_[np.maximum(cells, 0)])

    def predict(self, X) -> np.ndarray:
        """Return the majority label in the cell of each row."""
        check_is_fitted(self)
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]


class HistogramClassifier(PartitionClassifier):
    r"""Histogram classifier: the majority label of each cube of a grid.

    Cells are half-open cubes of side :math:`h` of a grid through the origin, stored in a hash table: memory grows with the rows, not with
    the volume. Hypothesis class: functions that are constant on cubes. Loss: zero-one. Optimizer: exact, one count per cube.

    Guarantee: as for :class:`PartitionClassifier`; universally consistent if :math:`h \to 0` and :math:`n h^d \to \infty`, which "auto"
    satisfies (theory: :ref:`consistency`).

    Parameters
    ----------
    side : float > 0 or "auto", default="auto"
        Side of the cubes; "auto" is the largest range of a column times :math:`n^{-1/(d+2)}`.
    empty : {"prior", "first"}, default="prior"
        Prediction in a cube without training rows: the class fractions of all training rows, or the first class.

    Attributes
    ----------
    classes_, partition_, n_cells_, cell_counts_, cell_shares_, training_error_, certificate_
        As in :class:`PartitionClassifier`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from surefit import HistogramClassifier
    >>> model = HistogramClassifier(side=1.0).fit([[0.2], [0.7], [0.9], [1.5]], [0, 1, 1, 0])
    >>> print(model.predict([[0.5], [1.1]]), model.cell_counts_)
    [1 0] [3. 1.]
    """

    _rules = {"side": SIDE, "empty": one_of("prior", "first")}
    partitioner = None

    def __init__(self, side="auto", *, empty="prior"):
        self.side = side
        self.empty = empty
