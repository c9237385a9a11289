"""Smoothing splines on hard data: strict certificates, refused changes."""

import numpy as np
import pytest
from scipy import sparse
from tests.forging import fitted, require_unforgeable, verified_strictly
from tests.hard_data import hard_data

from surefit import SmoothingSpline

HARD = [hard for hard in hard_data() if hard.name != "constant column"]


@pytest.mark.parametrize("hard", HARD, ids=lambda hard: hard.name)
@pytest.mark.parametrize("degree", [1, 3])
@pytest.mark.parametrize("lam", ["gcv", "loo", "reml", 1e-3])
def test_hard_data(lam, degree, hard):
    x = hard.X.toarray()[:, :1] if sparse.issparse(hard.X) else np.asarray(hard.X, dtype=float)[:, :1]
    if isinstance(lam, str) and hard.name == "two rows":
        lam = 0.1
    model = fitted(SmoothingSpline(degree, lam=lam), x, hard.y, hard.weights)
    verified_strictly(model, x, hard.y, hard.weights)


def test_unforgeable():
    rng = np.random.default_rng(0)
    x, s = rng.random((20, 1)), rng.uniform(0.5, 2.0, 20)
    y = np.sin(7 * x[:, 0]) + 0.1 * rng.normal(size=20)
    models = (SmoothingSpline(), SmoothingSpline(1, lam=1e-2), SmoothingSpline(lam="loo", lams=[1e-4, 1e-3, 1e-2]))
    assert sum(require_unforgeable(fitted(model, x, y, s), x, y, s) for model in models) > 400
