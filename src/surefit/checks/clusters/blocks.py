"""Passes of the checker over the rows of a clustering, in fixed blocks for the threads of the fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from surefit.core.certificate import Certificate
from surefit.core.partitioned import Part, PartitionedRows, add
from surefit.core.sample import Data
from surefit.core.threads import map_blocks, one_blas_thread, threads_to_check

#: Rows per block.
BLOCK = 2**13


def over_blocks(
    certificate: Certificate,
    data: Data,
    function: Callable[..., Any],
    *small: Any,
    combine: Callable[[Any, Any], Any] = add,
    sliced: Sequence[np.ndarray] = (),
) -> Any:
    """Return the combined results of ``function(part, *small, *slices)``; blocks of rows in memory are joined in pairs.

    The blocks do not depend on the number of threads, and neither does the result.
    """
    if isinstance(data.X, PartitionedRows):
        return data.X.map_reduce(function, *small, combine=combine, sliced=sliced)
    X = data.X.tocsr() if hasattr(data.X, "tocsr") else data.X

    def work(start: int, stop: int) -> Any:
        weights = None if data.weights is None else data.weights[start:stop]
        part = Part(X[start:stop], None, weights, start, "the rows")
        return function(part, *small, *(array[start:stop] for array in sliced))

    with one_blas_thread():
        level = map_blocks(work, X.shape[0], BLOCK, threads_to_check(certificate.params.get("n_jobs")))
    while len(level) > 1:
        level = [reduce(combine, level[i : i + 2]) for i in range(0, len(level), 2)]
    return level[0]
