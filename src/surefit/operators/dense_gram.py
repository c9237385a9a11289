from __future__ import annotations

from collections.abc import Callable

import numpy as np

from surefit.core.threads import blocks
from surefit.operators.base import rows_per_block

BLOCK_ENTRIES = 1 << 19  # 4 MB: large enough for BLAS to run at full speed, small compared to designs that need blocks


def gram_rows_by_blocks(
    gather: Callable[[int, int], np.ndarray],
    n_rows: int,
    first: int,
    out: np.ndarray,
    between_blocks: Callable[[], None],
) -> None:
    """Sum ``B[first:] @ B.T`` over blocks ``B = gather(start, stop)`` of shape (n_columns, stop - start) into ``out``."""
    for start, stop in blocks(n_rows, rows_per_block(out.shape[1], BLOCK_ENTRIES)):
        block = gather(start, stop)
        old, new = block[:first], block[first:]
        if start == 0:
            np.matmul(new, new.T, out=out[:, first:])  # NumPy detects the symmetry and does half the work
            np.matmul(new, old.T, out=out[:, :first])
        else:
            out[:, first:] += new @ new.T
            out[:, :first] += new @ old.T
        between_blocks()
