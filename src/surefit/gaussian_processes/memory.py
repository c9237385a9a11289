"""Memory that a dense Gaussian process needs, compared with what there is before anything is allocated."""

from __future__ import annotations

import math
import os
from pathlib import Path

from surefit.core.errors import InvalidData

WITH_SEARCH = 7  # arrays of n x n held at once: values, factor, slopes and what they are made of
GIVEN = 4  # with given hyper-parameters


def needed(n: int, arrays: int) -> int:
    """Bytes for ``arrays`` square arrays of n rows."""
    return 8 * arrays * n * n


def available() -> float:
    """Bytes that this machine can give away now; infinite where it does not say."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return 1024.0 * int(line.split()[1])
    except OSError:
        pass
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return math.inf


def require(who: str, n: int, arrays: int, limit: float | None) -> None:
    """Refuse a sample whose square arrays do not fit, and name the number of rows that would."""
    bytes_ = available() if limit is None else float(limit)
    if needed(n, arrays) > bytes_:
        rows = math.isqrt(int(bytes_) // (8 * arrays))
        raise InvalidData(
            f"{who}: {n} rows need about {needed(n, arrays) / 2**30:.3g} GiB and {bytes_ / 2**30:.3g} GiB may be used; {rows} rows "
            "would fit. Fit a part of the rows, raise max_memory, or use SparseGaussianProcessRegressor."
        )
