from __future__ import annotations

from collections.abc import Callable

import numpy as np

from surefit.core.threads import blocks
from surefit.designs.base import rows_a_block

BLOCK_ENTRIES = 1 << 20  # 8 MB: large enough for BLAS to run at full speed, small next to any design worth blocking


def gram_rows_by_blocks(
    gather: Callable[[int, int], np.ndarray],
    n_rows: int,
    n_columns: int,
    first: int,
    between_blocks: Callable[[], None],
) -> np.ndarray:
    """Sum ``B[first:] @ B.T`` over blocks ``B = gather(start, stop)`` of shape (n_columns, stop - start)."""
    total = np.zeros((n_columns - first, n_columns))
    for start, stop in blocks(n_rows, rows_a_block(n_columns, BLOCK_ENTRIES)):
        block = gather(start, stop)
        new = block[first:]
        total[:, first:] += new @ new.T  # NumPy sees the symmetry and does half the work
        if first:
            total[:, :first] += new @ block[:first].T
        between_blocks()
    return total
