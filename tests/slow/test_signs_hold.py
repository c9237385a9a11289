"""Hold-out bounds fail for noisy copies, which are seen, and for columns chosen with all rows, which the first line of the claim excludes.

Independent tables keep their claim.
"""

import warnings

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from tests.slow.worlds import allowed

from surefit import Certified
from surefit.core.errors import DataWarning

TRIALS = 60


def outcome(X, y, seed):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = Certified(KNeighborsClassifier(1), random_state=seed).fit(X, y)
    return model.certificate_.claims[0], [w for w in caught if issubclass(w.category, DataWarning)]


@pytest.mark.parametrize("noise", [1e-12, 1e-9, 1e-7])
def test_noisy_copies_are_seen_in_every_table(noise):
    for seed in range(TRIALS):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(100, 4)), rng.integers(0, 2, size=100)  # labels are noise: the risk of any rule is 1/2
        claim, said = outcome(np.vstack([X, X + noise * rng.normal(size=X.shape)]), np.tile(y, 2), seed)
        assert claim.name == "risk.void" and len(said) == 1


@pytest.mark.parametrize("kind", ["continuous", "discrete", "rounded"])
def test_independent_tables_keep_their_claim_without_a_word(kind):
    for seed in range(TRIALS):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 3, size=(300, 3)).astype(float) if kind == "discrete" else rng.normal(size=(300, 3))
        X = X.round(2) if kind == "rounded" else X
        claim, said = outcome(X, rng.integers(0, 2, size=300), seed)
        assert claim.name == "risk.holdout" and not said


def test_columns_chosen_outside_the_pipeline_break_the_bound_and_the_claim_says_so():
    """Nothing in the chosen columns shows how they were chosen; inside the pipeline the bound holds."""
    outside = inside = 0
    for seed in range(TRIALS):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(100, 1000)), rng.integers(0, 2, size=100)  # labels are noise, as above
        claim, _ = outcome(SelectKBest(k=20).fit_transform(X, y), y, seed)
        assert "tested rows were not used for training or for choosing columns" in claim.statement
        outside += claim.value < 0.5
        pipeline = make_pipeline(SelectKBest(k=20), KNeighborsClassifier(1))
        inside += Certified(pipeline, random_state=seed).fit(X, y).risk_bound_ < 0.5
    assert inside <= allowed(TRIALS, 0.05) < outside
