"""Gene expression of tumors, from a local file, for clustering."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from surefit.core.errors import InvalidData


class Microarray(NamedTuple):
    """Samples as rows, genes as columns, and the tumor type of each sample (empty string if unknown).

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.data import Microarray
    >>> Microarray(np.zeros((2, 3)), np.array(["BREAST", ""])).labels.tolist()
    ['BREAST', '']
    """

    X: np.ndarray
    labels: np.ndarray


def load_microarray(values: str | Path, labels: str | Path | None = None) -> Microarray:
    r"""Read expression values with one gene per line and one sample per column, transposed so that rows are samples.

    Parameters
    ----------
    values : path
        Text file of numbers separated by spaces or tabs, plain or ``.gz``; 6830 lines of 64 numbers for the NCI data.
    labels : path, optional
        Text file with one label per line, in the order of the columns.

    Returns
    -------
    Microarray

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from surefit.data import load_microarray
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "values.txt").write_text("1 2\n3 4\n5 6\n")
    ...     print(load_microarray(Path(folder, "values.txt")).X)
    [[1. 3. 5.]
     [2. 4. 6.]]
    """
    for file in (values, labels):
        if file is not None and not Path(file).exists():
            raise InvalidData(f"load_microarray: {file} does not exist; surefit downloads nothing.")
    try:
        table = np.loadtxt(values, ndmin=2)
    except ValueError as error:
        raise InvalidData(f"load_microarray: {values} is not a table of numbers ({error}).") from None
    X = np.ascontiguousarray(table.T)
    if labels is None:
        return Microarray(X, np.full(len(X), ""))
    names = np.array([line.strip() for line in Path(labels).read_text(encoding="utf-8").splitlines() if line.strip()])
    if len(names) != len(X):
        raise InvalidData(f"load_microarray: expected {len(X)} labels, one per column of {values}; got {len(names)}.")
    return Microarray(X, names)


def cluster_table(clusters, labels) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count how often each cluster (rows) contains each label (columns).

    Returns
    -------
    table, cluster names, label names
        Row sums are the sizes of clusters, column sums the numbers of labels.

    Examples
    --------
    >>> from surefit.data import cluster_table
    >>> table, _, names = cluster_table([0, 0, 1, 1], ["breast", "breast", "breast", "colon"])
    >>> table.tolist(), names.tolist()
    ([[2, 0], [1, 1]], ['breast', 'colon'])
    """
    rows, row_codes = np.unique(np.asarray(clusters), return_inverse=True)
    columns, column_codes = np.unique(np.asarray(labels), return_inverse=True)
    if len(row_codes) != len(column_codes):
        raise InvalidData(
            f"cluster_table: clusters and labels must have the same length; got {len(row_codes)} and {len(column_codes)}."
        )
    table = np.zeros((len(rows), len(columns)), dtype=np.int64)
    np.add.at(table, (row_codes, column_codes), 1)
    return table, rows, columns
