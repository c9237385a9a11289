"""A data set of four times the workers' memory limit: it is fitted and verified below that limit, and no rows reach the client.

``python -m tests.reliability.memory`` prints what was measured and returns the number of faults; ``--limit`` is in MiB per worker.
"""

import argparse
import resource
import sys
import time
from typing import NamedTuple

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from surefit import LogisticRegression, Ridge

COLUMNS = 63
PART = 2**24  # bytes of a partition


class Measured(NamedTuple):
    """Peaks in MiB, and what was proved."""

    data: float
    worker: float  # peak of the largest worker, code included
    before: float  # its peak before the fit, after a fit to two partitions
    client: float  # by which the peak of the client, and of the scheduler in its process, grew during fit and verify
    seconds: float
    gap: float
    verified: bool


def block(seed: int) -> np.ndarray:
    """Return some rows; the target is the last column. It is computed again whenever a pass asks for it."""
    table = np.random.default_rng(seed).random((PART // (8 * (COLUMNS + 1)), COLUMNS + 1))
    table[:, -1] += table[:, :-1] @ np.arange(COLUMNS) / COLUMNS
    return table


def table_of(megabytes: float) -> da.Array:
    """Return a table of that size, which nothing stores."""
    shape = (PART // (8 * (COLUMNS + 1)), COLUMNS + 1)
    count = int(np.ceil(megabytes * 2**20 / PART))
    return da.concatenate([da.from_delayed(dask.delayed(block)(i), shape, float) for i in range(count)])


def peak() -> float:
    """Return the largest memory that this process has had, in MiB."""
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def measured(client: Client, megabytes: float, model, labels: bool = False) -> Measured:
    """Fit and verify on a table of that size, after a fit to two partitions."""

    def parts(size: float) -> tuple[da.Array, da.Array]:
        table = table_of(size)
        return table[:, :-1], (table[:, -1] > COLUMNS / 4).astype(int) if labels else table[:, -1]

    model.fit(*parts(2 * PART / 2**20))
    before = max(client.run(peak).values())
    X, y = parts(megabytes)
    own, began = peak(), time.monotonic()
    fitted = model.fit(X, y)
    found = fitted.verify(X, y)["linear.gap"]
    seconds, most = time.monotonic() - began, peak() - own
    worker = max(client.run(peak).values())
    return Measured(X.nbytes / 2**20 + y.nbytes / 2**20, worker, before, most, seconds, found.proved, found.ok)


def main() -> int:
    """Measure, print and count faults."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=640.0, help="memory limit of a worker, in MiB")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--times", type=float, default=4.0, help="size of the data, in limits of all workers")
    parser.add_argument("--only", default="", help="part of the name of an estimator")
    options = parser.parse_args()
    limit, faults = int(options.limit * 2**20), 0
    workers = {"n_workers": options.workers, "threads_per_worker": 1, "memory_limit": limit, "host": "127.0.0.1"}
    size = options.times * options.limit * options.workers
    cases = [case for case in ((Ridge(), False), (LogisticRegression(), True)) if options.only in str(case[0])]
    for model, labels in cases:
        with LocalCluster(**workers, dashboard_address="127.0.0.1:0") as cluster, Client(cluster) as client:
            found = measured(client, size, model, labels)
        wrong = not found.verified or found.worker > options.limit or found.client > 0.05 * size
        faults += wrong
        print(
            f"{'FAULT' if wrong else 'ok':6}{model}: {found.data:.0f} MiB of rows, limit {options.limit:.0f} MiB x {options.workers}; "
            f"peak of a worker {found.worker:.0f} MiB ({found.before:.0f} before), of the client {found.client:.1f} MiB; "
            f"gap {found.gap:.2g} verified, {found.seconds:.0f} s",
            flush=True,
        )
    return faults


if __name__ == "__main__":
    sys.exit(main())
