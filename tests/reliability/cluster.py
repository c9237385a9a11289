"""The full matrix of fits on a cluster: every estimator on 1, 3 and 7 partitions, with 1, 2 and 4 processes, bit for bit.

``python -m tests.reliability.cluster`` prints one line per estimator and returns the number of faults; ``--workers 1 2 --only Huber``
runs a part of it.
"""

import argparse
import sys
import warnings
from contextlib import contextmanager

import dask
import numpy as np
from distributed import Client, LocalCluster
from sklearn.base import clone
from tests.cluster import (
    test_boosted_trees,
    test_discriminants,
    test_forests,
    test_held_out,
    test_linear,
    test_naive_bayes,
    test_neighbors,
    test_nystroem,
    test_perceptrons,
    test_searches,
    test_sgd,
    test_trees,
)
from tests.cluster.test_linear import chunked
from tests.reliability.results import write

from surefit import PCA, GaussianMixture, GaussianNB, KMeans
from surefit.cluster.training import boosted_trees

CASES = [(model, test_linear.X, y) for model, y in test_linear.CASES]
CASES += [(model, test_discriminants.X, test_discriminants.Y) for model in test_discriminants.LINEAR]
CASES += [(model, test_discriminants.X, test_discriminants.Y) for model in test_discriminants.QUADRATIC]
CASES += [(model, test_naive_bayes.COUNTS, test_naive_bayes.Y) for model in test_naive_bayes.DISCRETE]
CASES += [(model, test_nystroem.X, y) for model, y in test_nystroem.CASES]
CASES += [(model, test_sgd.X, y) for model, y in test_sgd.CASES]
CASES += [(model, test_neighbors.X, y) for model, y in test_neighbors.CASES.values()]
CASES += [(model, test_trees.X, y) for model, y in test_trees.CASES.values()]
CASES += [(model, test_forests.X, y) for model, y in (*test_forests.CASES.values(), *test_forests.SAME.values())]
CASES += [(model, test_perceptrons.X, y) for model, y in test_perceptrons.CASES]
CASES += [(model, test_boosted_trees.X, y) for model, y in test_boosted_trees.CASES.values()]
CASES += [(GaussianMixture(2, random_state=0), test_sgd.X, None), (KMeans(3, random_state=0), test_sgd.X, None)]
CASES += [(PCA(2), test_sgd.X, None), (GaussianNB(), test_sgd.X, test_sgd.THREE)]
CASES += [(clone(model).set_params(random_state=1), test_held_out.X, y) for model, y in test_held_out.CASES]
CASES += [(model, test_searches.X, test_searches.LABELS) for model in test_searches.SEARCHES]


def found(model, X, y, parts: int) -> tuple[bytes, str, float]:
    """Return the bits, the claims and the distance of a fit from that in memory; its certificate verifies on partitions and in memory."""
    fitted = clone(model).fit(*(chunked(values, parts) for values in (X, y) if values is not None))
    fitted.verify(*(chunked(values, 2) for values in (X, y) if values is not None))
    fitted.verify(X, y)
    bits = b"".join(np.asarray(values).tobytes() for values in fitted.certificate_.model.values())
    return bits, repr(fitted.certificate_.claims), distance(*compared(fitted, X, y))


def compared(fitted, X, y):
    """Return the model to compare, and the fit in memory to the same rows; what tests models on other rows is compared by its model."""
    rows = np.arange(len(X))
    if hasattr(fitted, "best_estimator_"):
        fitted = fitted.best_estimator_
    elif hasattr(fitted, "split_seed_"):
        held = getattr(fitted, "test_rows_", getattr(fitted, "calibration_rows_", None))
        fitted, rows = getattr(fitted, "twin_", fitted.estimator_), np.setdiff1d(rows, held)
    memory = clone(fitted)
    if "order" in memory.get_params():
        memory.set_params(order="cyclic")
    return fitted, memory.fit(X[rows], None if y is None else y[rows]), X[rows]


def distance(fitted, memory, X) -> float:
    """Return by how much objectives differ beyond the gaps, or parameters, or else predictions; all relative."""
    if hasattr(memory, "objective_"):
        excess = abs(memory.objective_ - fitted.objective_) - memory.dual_gap_ - fitted.dual_gap_
        return max(excess, 0.0) / abs(memory.objective_)
    if hasattr(memory, "n_samples_fit_"):
        return float(np.mean(fitted.predict(test_neighbors.Q) != memory.predict(test_neighbors.Q)))
    if hasattr(memory, "tree_"):
        same = np.array_equal(fitted.tree_.threshold, memory.tree_.threshold, equal_nan=True)
        return float(np.abs(fitted.tree_.values - memory.tree_.values).max()) if same else np.inf
    if hasattr(memory, "trees_") and (memory.bootstrap or memory._random_cuts or memory.max_features is not None):
        return 0.0  # other draws give other trees
    if hasattr(memory, "inertia_") or hasattr(memory, "weights_"):
        return 0.0  # other starts give other clusters; each certificate has its own bound
    for name in ("means_", "feature_log_prob_", "explained_variance_", "theta_", "coef_"):
        if hasattr(memory, name):
            values = [np.asarray(getattr(m, name)) for m in (fitted, memory)]
            break
    else:
        values = [m.predict_proba(X) if hasattr(m, "predict_proba") else m.predict(X) for m in (fitted, memory)]
    with np.errstate(invalid="ignore"):
        return float(np.nanmax(np.abs(values[0] - values[1])) / np.abs(values[1][np.isfinite(values[1])]).max())


def main() -> int:
    """Fit everything on clusters of each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--parts", type=int, nargs="+", default=[1, 3, 7])
    parser.add_argument("--threads", action="store_true", help="threads of this process instead of processes: quicker")
    parser.add_argument("--only", default="", help="part of the name of an estimator")
    parser.add_argument("--joined", action="store_true", help="join small partitions for boosting, as in a fit")
    options = parser.parse_args()
    boosted_trees.CELLS = boosted_trees.CELLS if options.joined else 0
    cases = [case for case in CASES if options.only in str(case[0])]
    results: dict[tuple[int, int], list] = {}
    for workers in options.workers:
        with processes(workers, options.threads), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for i, case in enumerate(cases):
                for parts in options.parts:
                    results.setdefault((i, parts), []).append(tried(*case, parts))
                print(f"fitted with {workers} workers: {i + 1} of {len(cases)}", file=sys.stderr, flush=True)
    faults = 0
    for i, (model, _, _) in enumerate(cases):
        same = all(len({(bits, claims) for bits, claims, _ in results[i, parts]}) == 1 for parts in options.parts)
        worst = max(excess for parts in options.parts for _, _, excess in results[i, parts])
        wrong = not same or not worst <= 1e-9
        faults += wrong
        print(
            f"{'FAULT' if wrong else 'ok':6}{model}: same bits {same}, beyond the fit in memory {worst:.1e}", flush=True
        )
    if not options.only:
        name = "cluster of threads" if options.threads else "cluster of processes"
        what = f"estimators on {_listed(options.parts)} partitions with {_listed(options.workers)} workers: bits, fit in memory, verify"
        write(name, what, len(cases), faults, fits=len(cases) * len(options.parts) * len(options.workers))
    return faults


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))


@contextmanager
def processes(workers: int, threads: bool):
    """Let Dask use so many processes, or threads."""
    if threads:
        with dask.config.set(scheduler="threads", num_workers=workers):
            yield
        return
    settings = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "host": "127.0.0.1"}
    with LocalCluster(**settings) as cluster, Client(cluster):
        yield


def tried(model, X, y, parts: int) -> tuple[bytes, str, float]:
    """Return what :func:`found` does; an error is a fault, and the others go on."""
    try:
        return found(model, X, y, parts)
    except Exception as error:
        print(f"FAULT {model} on {parts} partitions: {type(error).__name__}: {error}", flush=True)
        return b"", str(error), np.inf


if __name__ == "__main__":
    sys.exit(main())
