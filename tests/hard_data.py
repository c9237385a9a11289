"""Data that honest fits must survive: every estimator fits them, and every certificate verifies strictly."""

from typing import NamedTuple

import numpy as np
from scipy import sparse


class Hard(NamedTuple):
    """One data set with both kinds of targets; weights are None where rows count once."""

    name: str
    X: object
    y: np.ndarray  # real target
    labels: np.ndarray  # class labels
    weights: np.ndarray | None = None


def hard_data(n: int = 40, d: int = 3, seed: int = 0) -> list[Hard]:
    """Return the matrix of hard data; the same for a seed."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X @ np.arange(1.0, d + 1) + 0.5 * rng.normal(size=n)
    labels = (y + rng.normal(size=n) > 0).astype(int)
    labels[:2] = 0, 1
    scales = np.array([1e6, 1e-6, 1.0] + [10.0] * d)[:d]
    wide = rng.normal(size=(8, 20))
    sparse_X = sparse.csr_array(np.where(rng.random((n, d)) < 0.4, X, 0.0))
    stamps = np.column_stack([X[:, :-1], 1.7e9 + 86400.0 * np.arange(n)])
    return [
        Hard("plain", X, y, labels),
        Hard("mixed scales", X * scales, y, labels),
        Hard("timestamps", stamps, y, labels),
        Hard("offset of X", X + 1e8, y, labels),
        Hard("offset of y", X, y + 1e8, labels),
        Hard("collinear", np.column_stack([X, X[:, 0] + 1e-9 * rng.normal(size=n)]), y, labels),
        Hard("duplicated column", np.column_stack([X, X[:, 0]]), y, labels),
        Hard("duplicated rows", np.vstack([X, X]), np.concatenate([y, y]), np.concatenate([labels, labels])),
        Hard("two rows", X[:2], y[:2], labels[:2]),
        Hard("wide", wide, wide[:, 0] + rng.normal(size=8), np.arange(8) % 2),
        Hard("sparse", sparse_X, y, labels),
        Hard("sparse timestamps", sparse.csr_array(stamps), y, labels),
        Hard("float32", X.astype(np.float32), y.astype(np.float32), labels),
        Hard("weights", X, y, labels, 10.0 ** rng.uniform(-12, 12, size=n)),
        Hard("zero weights", X, y, labels, np.where(np.arange(n) % 3 == 1, 0.0, 1.0)),
        Hard("three classes", X, y, np.digitize(y, np.quantile(y, [0.3, 0.7]))),
        Hard("text labels", X, y, np.array(["no", "yes"])[labels]),
        Hard("constant column", np.column_stack([X, np.ones(n)]), y, labels),
        Hard("constant target", X, np.full(n, 3.0), labels),
        Hard("one class", X, y, np.ones(n, dtype=int)),
    ]
