"""The same rows in partitions: problems of one machine, given to solvers as Dask arrays."""

from typing import Any

ROWS_PER_PARTITION = 50_000


def in_partitions(array: Any) -> Any:
    """Return a Dask array over rows in memory."""
    import dask.array

    return dask.array.from_array(array, chunks=(ROWS_PER_PARTITION, *array.shape[1:]))
