"""Workers with little memory: rows are kept where some is left, and full workers end a fit instead of stalling it."""

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster

from surefit import Ridge
from surefit.cluster.running import free_memory
from surefit.core.partitioned import ClusterLost

WORKER = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "host": "127.0.0.1"}


def test_rows_are_kept_where_memory_is_left_only():
    assert free_memory({"memory_limit": 1000, "metrics": {"memory": 900}}) == 100
    assert free_memory({"memory_limit": 1000, "metrics": {"memory": 2000}}) == 0
    assert free_memory({"memory_limit": 0}) == np.inf


@pytest.mark.filterwarnings("ignore")
def test_workers_whose_memory_is_full_are_named():
    """Code alone exceeds the limit, so Dask pauses the worker: the fit ends and says so, instead of waiting for ever."""
    X = da.ones((100, 2), chunks=(50, 2))
    with (
        dask.config.set({"distributed.worker.memory.terminate": False, "surefit.patience": 2.0}),
        LocalCluster(**WORKER, memory_limit="64MiB") as cluster,
        Client(cluster),
        pytest.raises(ClusterLost, match=r"Ridge: Dask has paused all workers for 2 seconds, .* of 64 MiB are used"),
    ):
        Ridge().fit(X, X[:, 0])
