"""Partitions of the feature space: the interface, and two implementations."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_array

from surefit.core.distinct import unique_rows
from surefit.core.errors import InvalidData, InvalidParameter

#: Methods of a fitted partitioner that return cells, in order of preference: ours, trees, clusterings, discretizers.
VERBS = ("cells", "apply", "predict", "transform")
LARGEST_INDEX = 2.0**62  # limit for integer cell coordinates


class CubicPartition(BaseEstimator):
    r"""Half-open cubes :math:`\prod_j [h k_j, h (k_j + 1))` of a grid through the origin.

    Parameters
    ----------
    side : float > 0, default=1.0
        Side :math:`h` of the cubes; the diameter of a cell is :math:`h \sqrt d`.

    Examples
    --------
    >>> from surefit.partitions.partitioners import CubicPartition
    >>> CubicPartition(side=0.5).cells([[0.0, 0.49], [-0.1, 0.5]])
    array([[ 0,  0],
           [-1,  1]])
    """

    def __init__(self, side=1.0):
        self.side = side

    def fit(self, X, y=None):
        """Do nothing, because the partition does not depend on the rows; return the partition."""
        return self

    def cells(self, X) -> np.ndarray:
        """Return the integer coordinates of the cube of each row."""
        places = np.floor(np.asarray(X, dtype=np.float64) / float(self.side))
        if np.any(np.abs(places) > LARGEST_INDEX):
            row = int(np.argmax(np.max(np.abs(places), axis=1)))
            raise InvalidParameter(
                "CubicPartition", "side", f"large enough for integer coordinates of row {row}", self.side
            )
        return places.astype(np.int64)

    def diameter(self, n_columns: int) -> float:
        """Return the diameter of a cell."""
        return float(self.side) * float(np.sqrt(n_columns))


class QuantilePartition(BaseEstimator):
    """Boxes with equally many rows in each slice of each column; the slices depend on the rows but not on their labels.

    Parameters
    ----------
    slices : int >= 1, default=4
        Number of slices per column.

    Examples
    --------
    >>> from surefit.partitions.partitioners import QuantilePartition
    >>> QuantilePartition(slices=2).fit([[0.0], [1.0], [5.0], [9.0]]).cells([[2.9], [3.1]])
    array([[0],
           [1]])
    """

    def __init__(self, slices=4):
        self.slices = slices

    def fit(self, X, y=None):
        """Compute the quantiles of each column; return the partition."""
        X = check_array(X, dtype=np.float64)
        inner = np.arange(1, int(self.slices)) / int(self.slices)
        self.cuts_ = np.quantile(X, inner, axis=0).T  # (n_columns, slices - 1)
        return self

    def cells(self, X) -> np.ndarray:
        """Return the slice of each column that contains each row."""
        X = np.asarray(X, dtype=np.float64)
        return np.stack(
            [np.searchsorted(cuts, column, side="right") for cuts, column in zip(self.cuts_, X.T, strict=True)], axis=1
        )


def fit_partitioner(who: str, partitioner: Any, X) -> Any:
    """Return a copy of ``partitioner`` fitted on the rows alone; a function is returned unchanged."""
    if callable(partitioner) and not hasattr(partitioner, "fit"):
        return partitioner
    if hasattr(partitioner, "fit") and any(hasattr(partitioner, verb) for verb in VERBS):
        return clone(partitioner).fit(X)
    expected = f"a function of the rows, or an object with fit and one of {', '.join(VERBS)}"
    raise InvalidParameter(who, "partitioner", expected, partitioner)


def cell_keys(partition: Any, X) -> np.ndarray:
    """Return the key of the cell of each row as a row of numbers."""
    verb = next((verb for verb in VERBS if hasattr(partition, "fit") and hasattr(partition, verb)), None)
    named = partition(X) if verb is None else getattr(partition, verb)(X)
    keys = np.asarray(named.toarray() if hasattr(named, "toarray") else named)
    if keys.ndim == 1:
        keys = keys[:, None]
    if len(keys) != X.shape[0] or keys.ndim != 2 or keys.dtype.kind not in "iufb":
        raise InvalidData(
            f"The partitioner must return one cell per row, {X.shape[0]} numbers or rows of numbers; "
            f"got {keys.dtype} of shape {keys.shape}."
        )
    return np.ascontiguousarray(keys, dtype=np.float64) + 0.0  # turns -0.0 into 0.0


def cell_numbers(known: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Return the index of each key among the ``known`` keys; -1 for an unknown key.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.partitions.partitioners import cell_numbers
    >>> cell_numbers(np.array([[0.0, 1.0], [2.0, 0.0]]), np.array([[2.0, 0.0], [5.0, 5.0]]))
    array([ 1, -1])
    """
    table = {key.tobytes(): number for number, key in enumerate(known)}
    distinct, places = unique_rows(keys, return_inverse=True)
    numbers = np.array([table.get(key.tobytes(), -1) for key in distinct], dtype=np.int64)
    return numbers[places.reshape(-1)]
