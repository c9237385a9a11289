"""The full matrix of fits on a cluster: every estimator on 1, 3 and 7 partitions, with 1, 2 and 4 processes, bit for bit.

``python -m tests.reliability.cluster`` prints one line per estimator and returns the number of faults; ``--workers 1 2 --only Huber``
runs a part of it.
"""

import argparse
import sys
import warnings

import numpy as np
from distributed import Client, LocalCluster
from sklearn.base import clone
from tests.cluster import test_discriminants, test_linear, test_naive_bayes, test_neighbors, test_sgd, test_trees
from tests.cluster.test_linear import chunked

CASES = [(model, test_linear.X, y) for model, y in test_linear.CASES]
CASES += [(model, test_discriminants.X, test_discriminants.Y) for model in test_discriminants.LINEAR]
CASES += [(model, test_discriminants.X, test_discriminants.Y) for model in test_discriminants.QUADRATIC]
CASES += [(model, test_naive_bayes.COUNTS, test_naive_bayes.Y) for model in test_naive_bayes.DISCRETE]
CASES += [(model, test_sgd.X, y) for model, y in test_sgd.CASES]
CASES += [(model, test_neighbors.X, y) for model, y in test_neighbors.CASES.values()]
CASES += [(model, test_trees.X, y) for model, y in test_trees.CASES.values()]


def found(model, X, y, parts: int) -> tuple[bytes, str, float]:
    """Return the bits, the claims and the distance of a fit from that in memory; its certificate verifies on partitions and in memory."""
    fitted = clone(model).fit(chunked(X, parts), chunked(y, parts))
    fitted.verify(chunked(X, 2), chunked(y, 2))
    fitted.verify(X, y)
    memory = clone(model).fit(X, y)
    bits = b"".join(np.asarray(values).tobytes() for values in fitted.certificate_.model.values())
    return bits, repr(fitted.certificate_.claims), distance(fitted, memory)


def distance(fitted, memory) -> float:
    """Return by how much objectives differ beyond the gaps, or parameters that are given in closed form; both relative."""
    if hasattr(memory, "objective_"):
        excess = abs(memory.objective_ - fitted.objective_) - memory.dual_gap_ - fitted.dual_gap_
        return max(excess, 0.0) / abs(memory.objective_)
    if hasattr(memory, "n_samples_fit_"):
        return float(np.mean(fitted.predict(test_neighbors.Q) != memory.predict(test_neighbors.Q)))
    if hasattr(memory, "tree_"):
        same = np.array_equal(fitted.tree_.threshold, memory.tree_.threshold, equal_nan=True)
        return float(np.abs(fitted.tree_.values - memory.tree_.values).max()) if same else np.inf
    means = [np.asarray(m.means_ if hasattr(m, "means_") else m.feature_log_prob_) for m in (fitted, memory)]
    with np.errstate(invalid="ignore"):
        return float(np.nanmax(np.abs(means[0] - means[1])) / np.abs(means[1][np.isfinite(means[1])]).max())


def main() -> int:
    """Fit everything on clusters of each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--parts", type=int, nargs="+", default=[1, 3, 7])
    parser.add_argument("--only", default="", help="part of the name of an estimator")
    options = parser.parse_args()
    cases = [case for case in CASES if options.only in str(case[0])]
    results: dict[tuple[int, int], list] = {}
    for workers in options.workers:
        settings = {
            "n_workers": workers,
            "threads_per_worker": 1,
            "dashboard_address": "127.0.0.1:0",
            "host": "127.0.0.1",
        }
        with LocalCluster(**settings) as cluster, Client(cluster), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for i, case in enumerate(cases):
                for parts in options.parts:
                    results.setdefault((i, parts), []).append(found(*case, parts))
    faults = 0
    for i, (model, _, _) in enumerate(cases):
        same = all(len({(bits, claims) for bits, claims, _ in results[i, parts]}) == 1 for parts in options.parts)
        worst = max(excess for parts in options.parts for _, _, excess in results[i, parts])
        wrong = not same or worst > 1e-9
        faults += wrong
        print(f"{'FAULT' if wrong else 'ok':6}{model}: same bits {same}, beyond the fit in memory {worst:.1e}")
    return faults


if __name__ == "__main__":
    sys.exit(main())
