"""Tested and training rows, and whether the split is the one that the seed draws."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.rows import row_keys
from surefit.core.sample import Data

MOST_HELD_OUT = 5000  # units, however many there are


def unit_codes(subject: Any, assume: tuple[str, ...], data: Data) -> np.ndarray:
    """Return the unit of each row: its group, or one unit for equal rows unless they are declared to be draws."""
    groups = getattr(subject, "groups_", None)
    if groups is not None:
        return np.unique(np.asarray(groups), return_inverse=True)[1]
    if "equal_rows_are_draws" in assume:
        return np.arange(data.X.shape[0])
    if "unit_codes" not in data.memo:
        seen: dict[bytes, int] = {}
        keys = row_keys(data.X, data.y)
        data.memo["unit_codes"] = np.array([seen.setdefault(key, len(seen)) for key in keys], dtype=np.int64)
    return data.memo["unit_codes"]


def unit_tags(subject: Any, codes: np.ndarray) -> tuple[str, ...]:
    """Return the assumptions about the units."""
    if getattr(subject, "groups_", None) is not None:
        return ("groups_iid",)
    return ("iid",) if len(np.unique(codes)) == len(codes) else ("iid", "equal_rows_are_copies")


def unit_means(losses: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the mean loss of each unit, in order of first appearance."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    means = np.bincount(inverse, weights=losses) / np.bincount(inverse)
    return means[np.argsort(first)]


def split_trouble(codes: np.ndarray, tested: np.ndarray, train: np.ndarray | None) -> str:
    """Return why the rows are invalid (repeated test rows, copies of them in training), or an empty string."""
    n = len(codes)
    for rows in (tested,) if train is None else (tested, train):
        if rows.ndim != 1 or rows.dtype.kind not in "iu" or (len(rows) and (rows.min() < 0 or rows.max() >= n)):
            return "a row does not exist"
    if len(tested) == 0 or len(np.unique(tested)) != len(tested):
        return "no row was tested, or one was tested twice"
    if train is not None and np.intersect1d(codes[train], codes[tested]).size:
        return "a tested row, or a copy of one, was trained on"
    return ""


def drawn_order(params: Any, total: int) -> np.ndarray | None:
    """Return the order of the units that the seed draws; None without a seed."""
    seed = params.get("random_state")
    return np.random.RandomState(seed).permutation(total) if isinstance(seed, (int, np.integer)) else None


def size_trouble(params: Any, held_out: int, total: int) -> str:
    """Say so if other than the required number of units are held out: by default a fifth, at least 200 (or half), at most 5000."""
    size = params.get("test_size", params.get("calibration_size"))
    size = min(max(total // 5, min(200, total // 2)), MOST_HELD_OUT) if size is None else int(size)
    return "" if held_out == size else f"{size} rows (or groups) must be held out, and {held_out} were"
