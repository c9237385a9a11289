from __future__ import annotations

import numpy as np
from sklearn.base import RegressorMixin

from surefit.partitions.base import PARTITIONER, SIDE, PartitionBase


class Regressogram(RegressorMixin, PartitionBase):
    r"""Regressogram (histogram regression): the mean target of each cell of a partition.

    .. math:: f(x) = \frac{1}{N(x)} \sum_{x_i \in A(x)} y_i

    Hypothesis class: functions that are constant on cells. Loss: squared error. Optimizer: exact; the normal equations are diagonal.

    Guarantee: no function that is constant on the cells has a smaller sum of squared training errors; residuals sum to zero in every
    cell. For targets in [0, 1] it is the plug-in estimate of the consistency theorem (theory: :ref:`consistency`).

    Parameters
    ----------
    partitioner : object, callable or None, default=None
        Assigns a row to its cell: an object with ``fit(X)`` and one of ``cells``, ``apply``, ``predict`` (a clustering) or ``transform``
        (a discretizer), or a function of the rows. None: cubes of side ``side``.
    side : float > 0 or "auto", default="auto"
        Side of the cubes; "auto" is the largest range of a column times :math:`n^{-1/(d+2)}`.

    Attributes
    ----------
    partition_ : object
        The fitted partitioner.
    n_cells_ : int
        Number of cells with a training row.
    cell_counts_, cell_means_ : ndarray of shape (n_cells,)
        Total weight of the training rows in each cell, and mean targets.
    mean_ : float
        Mean target of all rows: the prediction in a cell without training rows.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from surefit import Regressogram
    >>> model = Regressogram(side=1.0).fit([[0.2], [0.7], [1.5]], [1.0, 2.0, 5.0])
    >>> print(model.predict([[0.9], [1.1]]))
    [1.5 5. ]
    """

    _rules = {"partitioner": PARTITIONER, "side": SIDE}

    def __init__(self, partitioner=None, *, side="auto"):
        self.partitioner = partitioner
        self.side = side

    def fit(self, X, y, sample_weight=None):
        """Average the targets of each cell, with ``sample_weight`` as frequency weights. Returns the estimator."""
        X, y, weights = self._read(X, y, sample_weight, y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        counts = self._partition(X, weights)
        targets = y if weights is None else y[weights > 0]
        shift = float(np.average(targets, weights=counts))  # centering preserves the digits of the sums
        sums = np.bincount(self._training_cells, counts * (targets - shift), minlength=self.n_cells_)
        self.cell_means_ = shift + sums / self.cell_counts_
        self.mean_ = shift
        self._certify(X, y, weights, ("partition.squares", "partition.means"), "cell_means_", "mean_")
        return self

    def predict(self, X) -> np.ndarray:
        """Return the mean target of the cell of each row."""
        cells = self.apply(X)
        return np.where(cells < 0, self.mean_, self.cell_means_[np.maximum(cells, 0)])
