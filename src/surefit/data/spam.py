"""Spam emails from a local file: 57 frequencies and lengths per email."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from surefit.core.errors import InvalidData

N_FEATURES = 57


class Spam(NamedTuple):
    """Emails as rows, labels (1 for spam, 0 for others), and the test indicator (None without an indicator file).

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.data import Spam
    >>> Spam(np.zeros((2, 57)), np.array([1, 0]), None).y
    array([1, 0])
    """

    X: np.ndarray
    y: np.ndarray
    test: np.ndarray | None


def load_spam(path: str | Path, test: str | Path | None = None) -> Spam:
    """Read the Spambase data: 57 numbers and a label 0 or 1 per line, separated by commas, spaces or tabs.

    Parameters
    ----------
    path : path
        Text file, plain or ``.gz``; 4601 lines of 58 numbers for the published data. surefit downloads nothing.
    test : path or None, default=None
        Text file with one 0 (training) or 1 (test) per line.

    Returns
    -------
    Spam

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from surefit.data import load_spam
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "spambase.data"
    ...     _ = file.write_text(",".join(["0.5"] * 57 + ["1"]))
    ...     data = load_spam(file)
    >>> data.X.shape, data.y
    ((1, 57), array([1]))
    """
    table = _numbers(path)
    if table.shape[1] != N_FEATURES + 1 or not np.all(np.isin(table[:, -1], (0, 1))):
        raise InvalidData(
            f"load_spam: {path} must have {N_FEATURES + 1} numbers per line, the last one 0 or 1; got {table.shape[1]} columns."
        )
    indicator = None
    if test is not None:
        indicator = _numbers(test).ravel()
        if len(indicator) != len(table) or not np.all(np.isin(indicator, (0, 1))):
            raise InvalidData(
                f"load_spam: {test} must have {len(table)} zeros and ones, one per email; got {len(indicator)} numbers."
            )
    return Spam(table[:, :-1], table[:, -1].astype(np.int64), None if indicator is None else indicator == 1)


def _numbers(path: str | Path) -> np.ndarray:
    if not Path(path).exists():
        raise InvalidData(
            f"load_spam: {path} does not exist; surefit downloads nothing. Get spambase.data from the UCI archive."
        )
    for delimiter in (",", None):
        try:
            return np.loadtxt(path, delimiter=delimiter, ndmin=2)
        except ValueError as error:
            problem = error
    raise InvalidData(f"load_spam: {path} is not a table of numbers ({problem}).")
