"""Memory checks before allocation: square arrays, and one vector per class."""

from __future__ import annotations

import math

from surefit.core.errors import InvalidData
from surefit.core.guards.machine import available

WITH_SEARCH = 7  # number of n x n arrays in memory: values, factor, derivatives and intermediate results
ALWAYS = 2**24  # number of bytes that may be used without a check
GIVEN = 4  # with fixed hyperparameters
KERNEL = 3  # for a kernel machine: values, factor and an intermediate result
SUBSET = "Fit a subset of the rows, raise max_memory, or use SparseGaussianProcessRegressor."
LANDMARKS = "Fit a subset of the rows, or use landmarks (NystroemRidge, NystroemSVC, NystroemLogisticRegression, NystroemFeatures)."


def needed(n: int, arrays: int) -> int:
    """Return the bytes for ``arrays`` square arrays of n rows."""
    return 8 * arrays * n * n


def require(
    who: str, n: int, arrays: int, limit: float | None = None, remedy: str = SUBSET, what: str = "rows"
) -> None:
    """Raise ``InvalidData`` if the square arrays do not fit into memory; the message gives the number of rows or columns that would fit."""
    if limit is None and needed(n, arrays) <= ALWAYS:
        return
    bytes_ = available() if limit is None else float(limit)
    if needed(n, arrays) > bytes_:
        most = math.isqrt(int(bytes_) // (8 * arrays))
        raise InvalidData(
            f"{who}: {n} {what} need about {needed(n, arrays) / 2**30:.3g} GiB and {bytes_ / 2**30:.3g} GiB are available; {most} {what} "
            f"would fit. {remedy}"
        )


def require_classes(who: str, n_rows: int, n_classes: int) -> None:
    """Raise ``InvalidData`` if a vector of all rows for every class does not fit into memory."""
    bytes_ = 8 * n_rows * n_classes
    if bytes_ > ALWAYS and bytes_ > available():
        raise InvalidData(
            f"{who}: {n_classes} classes of {n_rows} rows need about {bytes_ / 2**30:.3g} GiB and {available() / 2**30:.3g} GiB are "
            "available. Merge rare classes, or use KNeighborsClassifier or GaussianNB; if y is an amount, fit a regression."
        )
