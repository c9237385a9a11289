from __future__ import annotations

import numpy as np
from sklearn.base import RegressorMixin

from surefit.core.claims import Claim
from surefit.partitions.base import PARTITIONER, SIDE, PartitionBase


class Regressogram(RegressorMixin, PartitionBase):
    r"""The mean target of each cell of a partition: histogram regression.

    .. math:: f(x) = \frac{1}{N(x)} \sum_{x_i \in A(x)} y_i

    Hypothesis class: functions that are constant on cells. Loss: squared error. Optimiser: exact; the normal equations are diagonal.

    Guarantee: no function that is constant on the cells has a smaller sum of squares on the training rows; residuals sum to zero in
    every cell. For targets in [0, 1] it is the plug-in estimate of the consistency theorem (theory: :ref:`consistency`).

    Parameters
    ----------
    partitioner : object, callable or None, default=None
        What names the cell of a row: an object with ``fit(X)`` and one of ``cells``, ``apply``, ``predict`` (a clustering) or
        ``transform`` (a discretiser), or a function of the rows. None is cubes of side ``side``.
    side : float > 0 or "auto", default="auto"
        Side of the cubes; "auto" is the largest range of a column times :math:`n^{-1/(d+2)}`.

    Attributes
    ----------
    partition_ : object
        The fitted partitioner.
    n_cells_ : int
        Cells that hold a training row.
    cell_counts_, cell_means_ : ndarray of shape (n_cells,)
        Their training rows, by weight, and mean targets.
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
        """Average the targets of each cell; a weight counts a row as many times. Returns the estimator."""
        X, y, weights = self._read(X, y, sample_weight, y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        counts = self._partition(X, weights)
        targets = y if weights is None else y[weights > 0]
        shift = float(np.average(targets, weights=counts))  # sums of what is left lose no digits
        sums = np.bincount(self._training_cells, counts * (targets - shift), minlength=self.n_cells_)
        self.cell_means_ = shift + sums / self.cell_counts_
        self.mean_ = shift
        squares = float(np.sum(counts * (targets - self.cell_means_[self._training_cells]) ** 2))
        claim = Claim(
            "partition.squares",
            "optimality",
            f"Of all functions that are constant on the {self.n_cells_} cells none has a sum of squares below {squares:.6g}, that "
            "of this one, beyond rounding.",
            value=squares,
            witness={"cells": self._training_cells, "means": self.cell_means_.copy()},
        )
        self._certify(X, y, weights, [claim])
        return self

    def predict(self, X) -> np.ndarray:
        """Return the mean target of each row's cell."""
        cells = self.apply(X)
        return np.where(cells < 0, self.mean_, self.cell_means_[np.maximum(cells, 0)])
