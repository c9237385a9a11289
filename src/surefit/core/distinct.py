"""Distinct rows of an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.guards.interrupts import deferred


def unique_rows(rows: np.ndarray, **wanted: bool) -> Any:
    """Return ``np.unique(rows, axis=0, **wanted)``; Ctrl-C waits, because NumPy would turn it into an error about types."""
    with deferred():
        return np.unique(rows, axis=0, **wanted)  # type: ignore[call-overload]
