"""Rows within a radius, screened by products: the rows and bits of all distances."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from surefit.neighbors.radius import PRODUCTS, within
from surefit.neighbors.search import Tiles, prepare

RNG = np.random.default_rng(0)
PLAIN = RNG.normal(size=(150, 20))
SAMPLES = {
    "plain": PLAIN,
    "far from the origin": PLAIN + 1e7,
    "one large column": PLAIN * np.r_[1e9, np.ones(19)],
    "tiny": PLAIN * 1e-170,
    "overflowing squares": PLAIN * 1e160,
    "one huge row": np.concatenate([PLAIN, np.full((1, 20), 1e200)]),
    "single precision": PLAIN.astype(np.float32),
    "equal rows": np.repeat(PLAIN[:5], 30, axis=0),
    "integers, with ties": RNG.integers(-1, 2, (150, 9)).astype(float),
}


@pytest.mark.parametrize("kind", SAMPLES)
def test_finds_what_all_distances_say(kind):
    X = SAMPLES[kind]
    Q = np.concatenate([X[::7], X[::11] * (1 + 1e-3)]).astype(X.dtype)
    with np.errstate(over="ignore"):
        D = cdist(Q, X)
    finite = np.sort(D[np.isfinite(D)])
    for radius in (0.0, *finite[[len(finite) // 100, len(finite) // 3, -1]]):
        found = within(Tiles(prepare(X)), X, Q, radius)
        rows, columns = np.nonzero(radius >= D)
        np.testing.assert_array_equal(found.queries, rows)
        np.testing.assert_array_equal(found.indices, columns)
        np.testing.assert_array_equal(found.distances, D[rows, columns])


def test_several_blocks_of_queries_and_radii():
    X, Q = RNG.normal(size=(PRODUCTS // 4, 9)), RNG.normal(size=(10, 9))
    radius = np.linspace(0.5, 5.0, 10)
    found, D = within(Tiles(prepare(X)), X, Q, radius), cdist(Q, X)
    assert [len(part) for part in found.parts(found.indices)] == np.sum(radius[:, None] >= D, axis=1).tolist()
