"""Computation with Dask, locally or on a cluster whose workers may fail, until a time limit or Ctrl-C."""

from __future__ import annotations

import math
import time
from threading import Event
from typing import Any

import dask

from surefit.core.budget import Reason
from surefit.core.partitioned import ClusterLost, PassStopped

POLL = 0.2  # seconds between two checks of the time limit and of the workers
RETRIES = 3  # for a task whose worker died or that could not read its file
PATIENCE = 30.0  # seconds without any worker after which the cluster is lost; Dask's setting "surefit.patience"


def active_client() -> Any:
    """Return the client of a cluster if one is in use, else None."""
    if dask.config.get("scheduler", None) in (
        "threads",
        "threading",
        "sync",
        "synchronous",
        "single-threaded",
        "processes",
    ):
        return None
    try:
        from distributed import default_client

        return default_client()
    except (ImportError, ValueError):  # Dask uses threads
        return None


def compute(value: Any, budget: Any = None) -> Any:
    """Compute a delayed value; raise ``PassStopped`` or ``ClusterLost`` if it cannot be completed."""
    client = active_client()
    if client is None:
        _require_time(budget)
        return value.compute()
    return _result(client, client.compute(value, retries=RETRIES), budget)


def persist_and_compute(items: list[Any], value: Any, budget: Any = None) -> tuple[list[Any], Any]:
    """Compute a delayed value and the delayed ``items``, which are kept where they are computed, by one graph."""
    client = active_client()
    if client is None:
        _require_time(budget)
        *kept, value = dask.persist(*items, value)
        return kept, value.compute()
    *kept, last = client.persist([*items, value], retries=RETRIES)
    return kept, _result(client, last.dask[last.key], budget)


def _result(client: Any, future: Any, budget: Any) -> Any:
    """Wait for a future; raise ``PassStopped`` or ``ClusterLost`` if it cannot be completed."""
    from distributed import CancelledError, KilledWorker

    done = Event()
    # A timeout of ``future.result`` cancels it, and Dask may lose a result that arrives at that moment.
    future.add_done_callback(lambda ended: done.set())
    seen = time.monotonic()
    try:
        while not done.wait(POLL):
            _require_time(budget)
            now, workers = time.monotonic(), workers_of(client) if client.status == "running" else []
            seen = now if any(worker.get("status") != "paused" for worker in workers) else seen
            patience = float(dask.config.get("surefit.patience", PATIENCE))
            if now - seen > patience or client.status == "closed":
                raise ClusterLost(_silence(workers, patience))
        if future.status not in ("finished", "error"):
            raise ClusterLost("the cluster dropped a pass")
        return future.result()
    except (CancelledError, KilledWorker) as error:
        raise ClusterLost(f"the cluster lost its workers ({type(error).__name__}: {error})") from None
    finally:
        future.release()


def workers_of(client: Any) -> list[dict[str, Any]]:
    """Return the scheduler's information about each worker."""
    return list(client.scheduler_info(n_workers=-1).get("workers", {}).values())


def free_memory(worker: dict[str, Any]) -> float:
    """Return the bytes that a worker has left below its memory limit; code and compiled loops use about 300 MB of it."""
    limit = worker.get("memory_limit")
    return max(limit - worker.get("metrics", {}).get("memory", 0), 0.0) if limit else math.inf


def _silence(workers: list[dict[str, Any]], patience: float) -> str:
    """Return why nothing is computed: there is no worker, or Dask paused all of them because their memory is full."""
    if not workers:
        return f"the cluster has had no worker for {patience:g} seconds"
    full = min(workers, key=free_memory)
    used, limit = full.get("metrics", {}).get("memory", 0) / 2**20, (full.get("memory_limit") or 0) / 2**20
    return (
        f"Dask has paused all workers for {patience:g} seconds, because their memory is full ({used:.0f} of {limit:.0f} MiB are "
        "used, some 400 MiB of them by code); give workers more memory, fewer threads, or smaller partitions"
    )


def _require_time(budget: Any) -> None:
    """Raise ``PassStopped`` if the time limit of a fit is reached or the user interrupted it."""
    if budget is None:
        return
    if budget.stopped is None and budget.max_time is not None and budget.seconds >= budget.max_time:
        budget.stopped = Reason.MAX_TIME
    if budget.stopped is not None:
        raise PassStopped(budget.stopped)
