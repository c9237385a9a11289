"""Let Dask compute: with the scheduler in use, or on a cluster whose workers may die, until a time limit or Ctrl-C."""

from __future__ import annotations

import time
from typing import Any

import dask

from surefit.core.budget import Reason
from surefit.core.partitioned import ClusterLost, PassStopped

POLL = 0.2  # seconds between two looks at the time limit and at the workers
RETRIES = 3  # of a task whose worker died, or that could not read its file
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
    """Return what a delayed value is."""
    client = active_client()
    if client is None:
        _require_time(budget)
        return value.compute()
    from distributed import CancelledError, KilledWorker

    future = client.compute(value, retries=RETRIES)
    seen = time.monotonic()
    try:
        while True:
            try:
                return future.result(timeout=POLL)
            except TimeoutError:
                if future.status == "error":
                    raise
            _require_time(budget)
            now = time.monotonic()
            seen = now if client.status == "running" and client.scheduler_info().get("workers") else seen
            patience = float(dask.config.get("surefit.patience", PATIENCE))
            if now - seen > patience or client.status == "closed":
                raise ClusterLost(f"the cluster has had no worker for {patience:g} seconds")
    except (CancelledError, KilledWorker) as error:
        raise ClusterLost(f"the cluster lost its workers ({type(error).__name__}: {error})") from None
    finally:
        future.release()


def _require_time(budget: Any) -> None:
    """Raise ``PassStopped`` if a fit's time is over or the user interrupted it."""
    if budget is None:
        return
    if budget.stopped is None and budget.max_time is not None and budget.seconds >= budget.max_time:
        budget.stopped = Reason.MAX_TIME
    if budget.stopped is not None:
        raise PassStopped(budget.stopped)
