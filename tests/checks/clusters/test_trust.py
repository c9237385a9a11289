"""Clusterings on hard data: honest certificates hold strictly, and no change of them or of their models is accepted."""

import numpy as np
import pytest
from scipy import sparse
from tests.forging import fitted, require_unforgeable, verified_strictly
from tests.hard_data import hard_data

from surefit import ExhaustiveClustering, GaussianMixture, KMeans

MODELS = [
    KMeans(2, random_state=0),
    KMeans(2, random_state=0, lower_bound="sdp"),
    *(GaussianMixture(2, covariance_type=kind, random_state=0) for kind in ("full", "tied", "diag", "spherical")),
    ExhaustiveClustering(2, max_partitions=2000),
]


@pytest.mark.parametrize("hard", hard_data(), ids=lambda hard: hard.name)
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_hard_data(model, hard):
    X = hard.X.toarray() if sparse.issparse(hard.X) and isinstance(model, GaussianMixture) else hard.X
    if isinstance(model, GaussianMixture) and hard.name in ("offset of X", "timestamps", "sparse timestamps", "wide"):
        model = model.__class__(**{**model.get_params(), "reg_covar": 1e-3})
    verified_strictly(fitted(model, X, None, hard.weights), X, None, hard.weights)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_unforgeable(model):
    X = np.random.default_rng(0).normal(size=(20, 2)) + 4 * (np.arange(20) % 7 < 2)[:, None]
    assert require_unforgeable(fitted(model, X), X) > 80
