"""Old Faithful in five clusters: moves of single rows reach the best known partition from starts where Lloyd's algorithm stops early."""

import numpy as np
import pytest

from surefit import KMeans
from surefit.data import load_old_faithful

BEST = 34.262317023548  # inertia of the best partition of the standardized rows that any start has found


def test_the_data():
    X, names = load_old_faithful()
    assert X.shape == (272, 2) and names == ("duration", "waiting")
    assert X.mean(axis=0) == pytest.approx([3.487783, 70.89706], abs=1e-5)
    assert X.std(axis=0, ddof=1) == pytest.approx([1.141371, 13.59497], abs=1e-5)


def test_single_moves_reach_the_optimum_from_many_starts():
    X = load_old_faithful().X
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    found = {}
    for single in (False, True):
        fits = [
            KMeans(5, n_init=1, random_state=seed, single_moves=single, lower_bound=None).fit(X) for seed in range(68)
        ]
        found[single] = np.array([fit.inertia_ for fit in fits])
        fits[0].verify(X)
    assert np.all(found[True] <= found[False] * (1 + 1e-12))  # start by start
    assert min(found[True]) == pytest.approx(BEST, rel=1e-12)
    reached = [int(np.sum(found[single] <= BEST * (1 + 1e-9))) for single in (False, True)]
    assert reached[0] <= 1 and reached[1] >= 20  # of 68 starts; of 408: 1 and 165
