"""Gene expression of tumours, from a local file: samples to be clustered without their labels."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from surefit.core.errors import InvalidData


class Microarray(NamedTuple):
    """Samples as rows, genes as columns, and the tumour type of each sample (empty texts if unknown)."""

    X: np.ndarray
    labels: np.ndarray


def load_microarray(values: str | Path, labels: str | Path | None = None) -> Microarray:
    """Read expression values with a gene a line and a sample a column, and turn them: samples become rows.

    Parameters
    ----------
    values : path
        Text file of numbers separated by spaces or tabs, plain or ``.gz``; 6830 lines of 64 numbers for the NCI data.
    labels : path, optional
        Text file with one label a line, in the order of the columns.

    Returns
    -------
    Microarray
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
        raise InvalidData(f"load_microarray: {len(names)} labels for {len(X)} samples (columns of {values}).")
    return Microarray(X, names)


def cluster_table(clusters, labels) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count how often each cluster (rows) holds each label (columns).

    Returns
    -------
    table, cluster names, label names
        Sums of rows are the sizes of clusters, sums of columns the numbers of labels.

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
        raise InvalidData(f"cluster_table: {len(row_codes)} clusters named for {len(column_codes)} labels.")
    table = np.zeros((len(rows), len(columns)), dtype=np.int64)
    np.add.at(table, (row_codes, column_codes), 1)
    return table, rows, columns
