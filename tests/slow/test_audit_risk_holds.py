"""Bounds that come with audited models, put to the test where the risk is known: they may fail in a fraction delta of the trials."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.svm import SVC
from tests.slow.worlds import Gaussians, allowed

from surefit import certify

DELTA, TRIALS = 0.1, 200


@pytest.mark.parametrize(("world", "n"), [(Gaussians(5, 1.0), 120), (Gaussians(10, 0.5), 60)], ids=["easy", "hard"])
def test_support_vectors_and_hold_out_rows(world, n):
    rng, bad = np.random.default_rng(1), {"support": 0, "holdout": 0}
    for _ in range(TRIALS):
        X, t = world.draw(rng, n)
        fresh, labels = world.draw(rng, 60)
        model = SVC(kernel="linear", C=0.1, tol=1e-6).fit(X, t)
        risk = world.below(model.coef_[0], float(model.intercept_[0]))
        bad["support"] += risk > certify(model, X, t, confidence=1 - DELTA)["audit.svm_compression"].value
        tested = certify(model, X, t, X_holdout=fresh, y_holdout=labels, confidence=1 - DELTA)
        bad["holdout"] += risk > tested["audit.risk.holdout"].value
    assert all(count <= allowed(TRIALS, DELTA) for count in bad.values()), bad
    assert bad["holdout"] >= 0.2 * DELTA * TRIALS  # not lazy


def test_votes_out_of_bag():
    """Coins have the risk one half whatever the forest; where classes differ the risk is counted on many fresh rows."""
    rng, bad = np.random.default_rng(2), {"coins": 0, "classes": 0}
    world, trials = Gaussians(3, 1.5), 100
    for _ in range(trials):
        X, t = world.draw(rng, 150)
        forest = RandomForestClassifier(15, max_depth=3, random_state=int(rng.integers(2**31)))
        fresh, labels = world.draw(rng, 4000)
        bound = certify(forest.fit(X, t), X, t, confidence=1 - DELTA)["audit.forest.vote"].value
        bad["classes"] += np.mean(forest.predict(fresh) != labels) > bound
        coins = np.where(rng.random(150) < 0.5, 1, -1)
        bound = certify(forest.fit(X, coins), X, coins, confidence=1 - DELTA)["audit.forest.vote"].value
        bad["coins"] += bound < 0.5
    assert all(count <= allowed(trials, DELTA) for count in bad.values()), bad
