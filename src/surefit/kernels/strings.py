"""Samples of strings: reading."""

from __future__ import annotations

import numpy as np

from surefit.core.errors import InvalidData


def read_strings(who: str, X) -> np.ndarray:
    """Return a sample of strings as a one-dimensional array of objects; a table of one column will do."""
    if isinstance(X, str):
        raise InvalidData(f"{who}: a sample is a list of strings; got one string, {X!r}. Put it into a list.")
    array = np.asarray(X, dtype=object)
    array = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
    if array.ndim != 1 or not len(array):
        raise InvalidData(
            f"{who}: a sample is a list of strings or a table of one column; got an array of shape {array.shape}."
        )
    for i, text in enumerate(array):
        if not isinstance(text, str):
            raise InvalidData(f"{who}: every element must be a string; element {i} is {text!r}.")
    return array
