"""Tail inequalities, bounds of whole classes and of votes, on laws with known truth: the share of failures is at most delta.

What can be exact is: an average of coin flips, the largest distance of a distribution function, a class of 40 points.
"""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm
from tests.bounds.confirmations import CONFIRM
from tests.slow.worlds import Lattice, Wave, allowed, centroid_rule

from surefit.bounds import (
    bernstein,
    chebyshev,
    clopper_pearson_interval,
    conformal_quantiles_by_class,
    cramer,
    dkw,
    empirical_rademacher,
    finite_class,
    hoeffding,
    interval_deviation,
    jackknife_plus,
    kernel_ridge_mse_grid,
    labelings,
    log_mgf_bernoulli,
    lp_lipschitz,
    markov,
    pac_bayes_kl,
    pseudo_dimension_deviation,
    rademacher_risk,
    random_search,
    ray_deviation,
    structural_risk,
    sub_gaussian,
    vc,
    vc_consistent,
    vote_c_bound,
    vote_first_order,
    vote_margin,
    vote_tandem,
)

DELTA = 0.1


def counted(bad: dict, trials: int, delta: float = DELTA) -> None:
    assert all(count <= allowed(trials, delta) for count in bad.values()), bad


def test_averages_of_coins_and_of_normal_numbers():
    rng, trials, n, p = np.random.default_rng(21), 20_000, 80, 0.2
    off = rng.binomial(n, p, size=trials) / n - p
    noise = rng.normal(size=trials) / math.sqrt(n)
    radius = {
        "hoeffding": (np.abs(off), hoeffding(n=n, delta=DELTA)),
        "hoeffding, one side": (off, hoeffding(n=n, delta=DELTA, sides=1)),
        "chebyshev": (np.abs(off), chebyshev(p * (1 - p), n=n, delta=DELTA)),
        "bernstein": (off, bernstein(p * (1 - p), n=n, delta=DELTA)),
        "cramer": (off, cramer(log_mgf_bernoulli(p), p, n=n, delta=DELTA)),
        "sub-gaussian": (np.abs(noise), sub_gaussian(1.0, n=n, delta=DELTA)),
    }
    bad = {name: int(np.sum(found > bound.radius + 1e-12)) for name, (found, bound) in radius.items()}
    counted(bad, trials)
    assert bad["cramer"] > bad["hoeffding, one side"]  # it knows the law, and is tighter
    draws = rng.exponential(size=trials)
    assert np.sum(draws >= markov(1.0, delta=DELTA).radius) <= allowed(trials, DELTA)


def test_both_ends_of_an_exact_interval():
    rng, trials, n = np.random.default_rng(22), 3000, 60
    for p in (0.03, 0.4):
        ends = [clopper_pearson_interval(k, n, DELTA) for k in range(n + 1)]
        counts = rng.binomial(n, p, size=trials)
        bad = sum(not ends[k][0] <= p <= ends[k][1] for k in counts)
        assert bad <= allowed(trials, DELTA)


def test_distribution_functions():
    rng, trials, n = np.random.default_rng(23), 1500, 50
    band = dkw(n=n, delta=DELTA).radius
    bad = {"rays": 0, "intervals": 0}
    for _ in range(trials):
        sample = rng.normal(size=n)
        bad["rays"] += ray_deviation(sample, norm.cdf) > band
        bad["intervals"] += interval_deviation(sample, norm.cdf) > 2 * band  # an interval is the difference of two rays
    counted(bad, trials)
    assert bad["rays"] > 0.5 * DELTA * trials  # the constant 2 is the best one


def test_random_search_hits_the_best_share():
    rng, trials = np.random.default_rng(24), 4000
    share = random_search(n=20, delta=DELTA).radius
    missed = np.sum(rng.random((trials, 20)).min(axis=1) > share)
    assert 0.7 * DELTA * trials <= missed <= allowed(trials, DELTA)


def test_consistent_members_of_a_class():
    # Thresholds on [0, 1], labels by the threshold 1/2: the worst consistent member reaches to the nearest positive row.
    rng, trials, n = np.random.default_rng(25), 2000, 60
    bound = vc_consistent(1, n=n, delta=DELTA).radius
    x = rng.random((trials, n))
    worst = np.maximum(
        np.min(np.where(x > 0.5, x, 1.0), axis=1) - 0.5, 0.5 - np.max(np.where(x <= 0.5, x, 0.0), axis=1)
    )
    assert np.sum(worst > bound) <= allowed(trials, DELTA)


def test_real_valued_classes():
    # 30 polynomials and targets on [0, 1]: every absolute error is known by quadrature.
    world, rng, trials, n = Wave(), np.random.default_rng(26), 200, 100
    curves = [np.polynomial.Polynomial(rng.uniform([0.1, -0.4, -0.4], [0.9, 0.4, 0.4])) for _ in range(30)]
    values = np.array([np.clip(curve(world.nodes), 0, 1) for curve in curves])
    inside = np.linspace(-world.noise, world.noise, 401)
    risks = np.array([
        world.weights @ np.mean(np.abs(v[:, None] - world.truth(world.nodes)[:, None] - inside), axis=1) for v in values
    ])  # fmt: skip
    bad = dict.fromkeys(["rademacher", "declared", "pseudo-dimension", "finite"], 0)
    pseudo = pseudo_dimension_deviation(4, n=n, delta=DELTA)  # 2^4 <= 30 < 2^5 patterns
    finite = finite_class(30, n=n, delta=DELTA, sides=1)
    for _ in range(trials):
        x, y = world.draw(rng, n)
        table = np.array([np.clip(curve(x), 0, 1) for curve in curves])
        found = np.mean(np.abs(table - y), axis=1)
        complexity = empirical_rademacher(table, exact=False, draws=200, delta=0.01, seed=int(rng.integers(2**31)))
        limits = [rademacher_risk(f, complexity, n, DELTA, lipschitz=lp_lipschitz(1, 1.0)).value for f in found]
        bad["rademacher"] += bool(np.any(risks > limits))
        massart = float(np.sqrt(2 * math.log(30) / n))  # of any 30 functions with values in [0, 1]
        bad["declared"] += bool(
            np.any(risks > [rademacher_risk(f, massart, n, DELTA, data_dependent=False).value for f in found])
        )
        bad["pseudo-dimension"] += np.max(risks - found) > pseudo.radius
        bad["finite"] += np.max(risks - found) > finite.radius
    counted(bad, trials, DELTA + 0.01)


def test_votes_and_gibbs_rules_of_members_fixed_beforehand():
    world, rng, trials, n, members = Lattice(40, 3, 27), np.random.default_rng(27), 200, 250, 7
    names = ["first order", "tandem", "disagreement", "margin", "gibbs"]
    bad = dict.fromkeys(names, 0)
    rules = [centroid_rule(*world.draw(rng, 12)[1:]) for _ in range(members)]
    said = np.array([np.where(world.points @ w + b > 0, 1.0, -1.0) for w, b in rules])
    risks = np.array([world.risk(row) for row in said])
    truth = world.risk(said.mean(axis=0))
    for _ in range(trials):
        index, _, t = world.draw(rng, n)
        wrong = said[:, index] != t
        bad["first order"] += truth > vote_first_order(float(wrong.mean()), n, DELTA).value
        tandem = float(np.mean((wrong @ wrong.T.astype(float)) / n))
        bad["tandem"] += truth > vote_tandem(tandem, n, DELTA).value
        differ = float(np.mean(said[:, None, index] != said[None, :, index]))
        bad["disagreement"] += truth > vote_c_bound(float(wrong.mean()), n, differ, n, DELTA).value
        weights = np.exp(-8.0 * wrong.mean(axis=1))  # chosen by looking at these rows
        weights /= weights.sum()
        chosen = world.risk(weights @ said)
        bad["margin"] += chosen > vote_margin(t * (weights @ said[:, index]), members, DELTA).value
        divergence = float(weights @ np.log(weights * members))
        bad["gibbs"] += weights @ risks > pac_bayes_kl(float(weights @ wrong.mean(axis=1)), divergence, n, DELTA).value
    counted(bad, trials)


def test_structures_and_the_inequality_of_the_notes():
    world, rng, trials, n = Lattice(40, 2, 28), np.random.default_rng(28), 200, 2000
    stumps = np.where(labelings(world.points, "stumps").labels, 1.0, -1.0)
    families = [stumps[:4], stumps[:20], stumps]
    risks = [np.array([world.risk(row) for row in family]) for family in families]
    bad = dict.fromkeys(["structure", "symmetrized"], 0)
    symmetrized = vc(4, n=n, delta=DELTA)  # at least the dimension of stumps in the plane
    for _ in range(trials):
        index, _, t = world.draw(rng, n)
        found = [np.mean(family[:, index] != t, axis=1) for family in families]
        best = [int(np.argmin(f)) for f in found]
        chosen = structural_risk(
            [float(f[k]) for f, k in zip(found, best, strict=True)],
            lambda k, delta: finite_class(len(families[k]), n=n, delta=delta, sides=1),
            DELTA,
        )
        k = chosen.best
        bad["structure"] += risks[k][best[k]] > chosen.bound.value
        bad["symmetrized"] += np.max(np.abs(risks[2] - found[2])) > symmetrized.radius
    counted(bad, trials)


def test_sets_by_class_and_the_jackknife():
    rng, trials, alpha = np.random.default_rng(29), 3000, 0.2
    kept, inside = np.zeros(2), 0
    for _ in range(trials):
        labels = np.arange(41) % 2
        scores = rng.random(41) * (1 + labels)  # one class is twice as hard
        limits = conformal_quantiles_by_class(scores, labels, alpha)
        kept += [min(limits[c].value / (1 + c), 1.0) for c in (0, 1)]
        y = rng.standard_t(3, size=21)
        past = y[:20]
        others = (past.sum() - past) / 19  # the mean without each row in turn
        low, high = jackknife_plus(others, np.abs(past - others), alpha)
        inside += low <= y[20] <= high
    assert np.all(kept / trials >= 1 - alpha - 4 * 0.1 / math.sqrt(trials))
    assert trials - inside <= allowed(trials, 2 * alpha)


def test_kernel_ridge_on_a_grid_of_balls():
    world, rng, bad, trials, n = Wave(), np.random.default_rng(30), 0, 100, 80

    def gram(a, b):
        return np.exp(-8 * (a[:, None] - b[None, :]) ** 2)

    for _ in range(trials):
        x, y = world.draw(rng, n)
        c = np.linalg.solve(gram(x, x) + 0.05 * np.eye(n), y)
        size = math.sqrt(c @ gram(x, x) @ c)  # whatever it is: the grid pays for it
        fitted = float(np.mean((gram(x, x) @ c - y) ** 2))
        bound = kernel_ridge_mse_grid(
            fitted, n, norm=size, kernel_radius=1.0, target_bound=1.0, delta=DELTA, trace=float(n)
        )
        bad += world.mse(gram(world.nodes, x) @ c) > bound.value
    assert bad <= allowed(trials, DELTA)


@pytest.mark.parametrize("name", sorted(CONFIRM))
def test_every_bound_that_a_certificate_can_state_is_put_to_the_test(name):
    text = "".join(file.read_text(encoding="utf-8") for file in Path(__file__).parent.glob("test_*_hold.py"))
    called = {"conformal": "conformal_quantile", "pseudo_dimension": "pseudo_dimension_deviation"}.get(name, name)
    assert re.search(rf"\b{called}\(", text), f"no simulation calls {called}"
