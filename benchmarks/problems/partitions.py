"""The same rows in partitions: problems of one machine, given to solvers as Dask arrays."""

from functools import cache
from typing import Any

ROWS_PER_PARTITION = 50_000


def in_partitions(array: Any) -> Any:
    """Return a Dask array over rows in memory."""
    import dask.array

    return dask.array.from_array(array, chunks=(ROWS_PER_PARTITION, *array.shape[1:]))


@cache
def client() -> Any:
    """Return the client of two processes with a thread each; they start once, in the run before the timed ones."""
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "host": "127.0.0.1"}
    return Client(LocalCluster(**options))
