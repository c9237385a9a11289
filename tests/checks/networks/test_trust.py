"""Networks on hard data: strict certificates, refused changes."""

import numpy as np
import pytest
from tests.forging import fitted, require_unforgeable, verified_strictly
from tests.hard_data import hard_data

from surefit import MLPClassifier, MLPRegressor

GIVEN = {"hidden_layer_sizes": (4,), "random_state": 0, "max_iter": 5}


@pytest.mark.parametrize("hard", hard_data(), ids=lambda hard: hard.name)
@pytest.mark.parametrize(
    "options", [{}, {"solver": "lbfgs", "activation": "tanh"}, {"polish": True, "alpha": 0.1}], ids=str
)
def test_hard_data(options, hard):
    model = fitted(MLPClassifier(**GIVEN, **options), hard.X, hard.labels, hard.weights)
    verified_strictly(model, hard.X, hard.labels, hard.weights)
    model = fitted(MLPRegressor(**GIVEN, **options), hard.X, hard.y, hard.weights)
    verified_strictly(model, hard.X, hard.y, hard.weights)


def test_unforgeable():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    y, labels, mask = X[:, 0], np.array(["a", "b", "c"])[np.arange(20) % 3], np.eye(3, 4, dtype=bool)
    tried = require_unforgeable(fitted(MLPClassifier(**GIVEN, links=[mask, None], polish=True), X, labels), X, labels)
    tried += require_unforgeable(fitted(MLPRegressor(**GIVEN, solver="lbfgs"), X, y), X, y)
    tried += require_unforgeable(fitted(MLPClassifier(**GIVEN), X, labels == "a"), X, labels == "a")
    assert tried > 200
