"""Mistakes that these protocols must detect: a test suite that passes anything proves nothing.

Each control repeats a common misuse of a correct bound and must violate it far more often than allowed.
"""

import math

import numpy as np
import pytest
from tests.slow.worlds import Gaussians, allowed, centroid_rule, errors

from surefit.bounds import clopper_pearson, empirical_rademacher, k_fold, labelings, vc

DELTA = 0.1
DESIGNS = [(Gaussians(60, 0.7), 120), (Gaussians(20, 0.5), 60)]  # many features: the rules bend to their rows


@pytest.mark.parametrize(("world", "n"), DESIGNS)
def test_training_rows_are_no_test_set(world, n):
    rng, bad, trials = np.random.default_rng(1), 0, 1000
    for _ in range(trials):
        X, t = world.draw(rng, n)
        w, b = centroid_rule(X, t)
        bad += world.below(w, b) > clopper_pearson(errors(w, b, X, t), n, DELTA)
    assert bad > 1.5 * allowed(trials, DELTA)


def test_coins_have_risk_one_half():
    # World B: labels independent of the inputs; an interpolating rule has training error 0 and risk 1/2
    rng, trials, n = np.random.default_rng(2), 400, 30
    trained = tested = 0
    for _ in range(trials):
        X, t = rng.normal(size=(n, 60)), rng.integers(0, 2, size=n) * 2.0 - 1.0
        w = np.linalg.lstsq(X, t, rcond=None)[0]
        trained += clopper_pearson(errors(w, 0.0, X, t), n, DELTA) < 0.5
        U, s = rng.normal(size=(n, 60)), rng.integers(0, 2, size=n) * 2.0 - 1.0
        tested += clopper_pearson(errors(w, 0.0, U, s), n, DELTA) < 0.5
    assert trained == trials and tested <= allowed(trials, DELTA)


@pytest.mark.parametrize(("world", "n"), DESIGNS)
def test_hold_out_rows_with_the_refit_model(world, n):
    rng, bad, trials, cut = np.random.default_rng(3), 0, 1000, 4 * n // 5
    for _ in range(trials):
        X, t = world.draw(rng, n)
        w, b = centroid_rule(X, t)  # trained on the "hold-out" rows too
        bad += world.below(w, b) > clopper_pearson(errors(w, b, X[cut:], t[cut:]), n - cut, DELTA)
    assert bad > allowed(trials, DELTA)


def test_best_of_twenty_needs_the_union_bound():
    world, rng, trials = Gaussians(20, 0.5), np.random.default_rng(4), 600
    greedy = paid = 0
    for _ in range(trials):
        X, t = world.draw(rng, 80)
        rules = [centroid_rule(*world.draw(rng, 20)) for _ in range(20)]
        counts = [errors(*rule, X, t) for rule in rules]
        best = int(np.argmin(counts))
        truth = world.below(*rules[best])
        greedy += truth > clopper_pearson(counts[best], 80, DELTA)
        paid += truth > clopper_pearson(counts[best], 80, DELTA / 20)
    assert greedy > 1.5 * allowed(trials, DELTA) and paid <= allowed(trials, DELTA)


def test_leave_one_out_is_an_estimate():
    # The parity rule predicts the parity of its training labels: leave-one-out errors are all 0 or all 1, the risk is 1/2.
    rng, trials, n = np.random.default_rng(5), 400, 41
    as_tests = as_folds = 0
    for _ in range(trials):
        y = rng.integers(0, 2, size=n)
        wrong = ((y.sum() - y) % 2 != y).astype(int)
        assert wrong.sum() in (0, n)
        as_tests += clopper_pearson(int(wrong.sum()), n, DELTA) < 0.5
        as_folds += k_fold(wrong, np.ones(n, dtype=int), DELTA).value < 0.5
    assert as_tests > 3 * allowed(trials, DELTA) and as_folds == 0


def test_forgetting_a_factor_in_the_confidence_is_seen():
    # Clopper-Pearson at delta = 0.3 sold as 0.1: the count must exceed what a correct bound may show.
    rng, trials, n, p = np.random.default_rng(6), 1500, 200, 0.15
    sold = sum(p > clopper_pearson(int(rng.binomial(n, p)), n, 0.3) for _ in range(trials))
    honest = sum(p > clopper_pearson(int(rng.binomial(n, p)), n, DELTA) for _ in range(trials))
    assert sold > 1.5 * allowed(trials, DELTA) and honest <= allowed(trials, DELTA)


def test_symmetrisation_chain_link_by_link():
    # Stumps on 60 points with fair-coin labels: every risk is 1/2. Each link of the proof of the VC inequality holds.
    rng, trials, n, eps = np.random.default_rng(7), 1500, 60, 0.35
    predictions = labelings(np.arange(60.0), "stumps").labels
    ghost = first = signed = 0
    for _ in range(trials):
        index, labels = rng.integers(0, 60, size=(2, n)), rng.random((2, n)) < 0.5
        losses = [predictions[:, i] != label for i, label in zip(index, labels, strict=True)]
        risks = [loss.mean(axis=1) for loss in losses]
        first += np.max(np.abs(risks[0] - 0.5)) > eps / 2
        ghost += np.max(np.abs(risks[0] - risks[1])) > eps / 4
        signs = rng.integers(0, 2, size=n) * 2.0 - 1.0
        signed += np.max(np.abs(losses[0] @ signs)) / n > eps / 8
    noise = 4 * math.sqrt(trials)
    assert n * (eps / 2) ** 2 < 2  # the side condition of link 1 fails here, yet links 2 and 3 need none
    assert ghost <= 2 * signed + noise
    tail = vc(2, n=n, radius=eps / 2).delta
    assert first <= trials * tail + noise


def test_ghost_sample_link_with_its_side_condition():
    rng, trials, n, eps = np.random.default_rng(8), 1500, 120, 0.14
    predictions = labelings(np.arange(40.0), "stumps").labels
    assert n * eps**2 >= 2
    direct = ghost = 0
    for _ in range(trials):
        risks = []
        for _ in range(2):
            index = rng.integers(0, 40, size=n)
            risks.append((predictions[:, index] != (rng.random(n) < 0.5)).mean(axis=1))
        direct += np.max(np.abs(risks[0] - 0.5)) > eps
        ghost += np.max(np.abs(risks[0] - risks[1])) > eps / 2
    assert 0 < direct <= 2 * ghost + 4 * math.sqrt(trials)


def test_monte_carlo_complexity_covers_at_its_confidence():
    table = np.random.default_rng(9).normal(size=(15, 10))
    exact = empirical_rademacher(table).value
    bad = sum(
        empirical_rademacher(table, exact=False, draws=20, delta=DELTA, seed=s).upper < exact for s in range(1000)
    )
    assert bad <= allowed(1000, DELTA)
