"""The full matrix of fits on a cluster: every estimator on 1, 3 and 7 partitions, with 1, 2 and 4 processes, bit for bit.

``python -m tests.reliability.cluster`` prints one line per estimator and returns the number of faults.
"""

import sys
import warnings

import numpy as np
from distributed import Client, LocalCluster
from sklearn.base import clone
from tests.cluster.test_linear import CASES, X, chunked


def found(model, y, parts: int) -> tuple[bytes, str, float]:
    """Return the bits, the claims and the objective of a fit, whose certificate verifies on partitions and in memory."""
    fitted = clone(model).fit(chunked(X, parts), chunked(y, parts))
    fitted.verify(chunked(X, 2), chunked(y, 2))
    fitted.verify(X, y)
    memory = clone(model).fit(X, y)
    excess = abs(memory.objective_ - fitted.objective_) - memory.dual_gap_ - fitted.dual_gap_
    bits = np.asarray(fitted.coef_).tobytes() + np.asarray(fitted.intercept_).tobytes()
    return bits, repr(fitted.certificate_.claims), excess / abs(memory.objective_)


def main() -> int:
    """Fit everything on clusters of each size."""
    results: dict[tuple[int, int], list] = {}
    for workers in (1, 2, 4):
        with (
            LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            for i, (model, y) in enumerate(CASES):
                for parts in (1, 3, 7):
                    results.setdefault((i, parts), []).append(found(model, y, parts))
    faults = 0
    for i, (model, _) in enumerate(CASES):
        same = all(len({(bits, claims) for bits, claims, _ in results[i, parts]}) == 1 for parts in (1, 3, 7))
        worst = max(excess for parts in (1, 3, 7) for _, _, excess in results[i, parts])
        wrong = not same or worst > 1e-9
        faults += wrong
        print(
            f"{'FAULT' if wrong else 'ok':6}{model}: same bits {same}, objective beyond the gaps {max(worst, 0.0):.1e}"
        )
    return faults


if __name__ == "__main__":
    sys.exit(main())
