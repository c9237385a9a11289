"""Every bound is put to the test on laws with known truth: it may fail in a fraction delta of the trials, no more.

A correct bound fails one of these tests with probability at most 1e-4; seeds are fixed.
"""

import math

import numpy as np
import pytest
from scipy.special import ndtr
from tests.slow.worlds import Gaussians, Lattice, Wave, allowed, centroid_rule, errors

from surefit.bounds import (
    conformal_quantile,
    empirical_bernstein,
    finite_class,
    holdout,
    holdout_loss,
    k_fold,
    kernel_ridge_mse,
    labelings,
    margin,
    occam,
    online_mistakes,
    out_of_bag_bounds,
    pac_bayes_hybrid,
    pac_bayes_linear,
    pick_to_learn,
    pilot_rate,
    pilot_rate_bernstein,
    progressive_errors,
    progressive_losses,
    sample_compression,
    set_class,
    stable_compression,
    transfer,
    vc,
)

DELTA = 0.1
DESIGNS = [(Gaussians(10, 1.0), 200), (Gaussians(20, 0.5), 60)]


def test_limits_of_the_protocol():
    table = {500: (45, 77, 134), 2000: (138, 252, 468), 10_000: (583, 1113, 2150)}
    for trials, counts in table.items():
        assert tuple(allowed(trials, delta) for delta in (0.05, 0.1, 0.2)) == pytest.approx(counts, abs=1)


@pytest.mark.parametrize(("world", "n"), DESIGNS)
def test_holdout_holds_and_is_not_lazy(world, n):
    rng, bad, trials = np.random.default_rng(1), 0, 1500
    for _ in range(trials):
        w, b = centroid_rule(*world.draw(rng, n))
        bad += world.below(w, b) > holdout(errors(w, b, *world.draw(rng, 80)), 80, DELTA).value
    assert 0.3 * DELTA * trials <= bad <= allowed(trials, DELTA)


@pytest.mark.parametrize(("world", "n"), DESIGNS)
def test_transfer_folds_and_progressive(world, n):
    rng, trials = np.random.default_rng(2), 500
    bad = dict.fromkeys(["transfer", "folds", "pilot", "mixture"], 0)
    for _ in range(trials):
        X, t = world.draw(rng, n)
        U = world.draw(rng, 300)[0]
        half, cut = n // 2, 4 * n // 5
        full, twin = centroid_rule(X, t), centroid_rule(X[:cut], t[:cut])
        differ = int(np.sum(np.sign(U @ full[0] + full[1]) != np.sign(U @ twin[0] + twin[1])))
        bound = transfer(errors(*twin, X[cut:], t[cut:]), n - cut, differ, len(U), DELTA)
        bad["transfer"] += world.below(*full) > bound.value

        folds = [(slice(half, n), slice(0, half)), (slice(0, half), slice(half, n))]
        rules = [centroid_rule(X[train], t[train]) for train, _ in folds]
        wrong = [errors(*rule, X[test], t[test]) for rule, (_, test) in zip(rules, folds, strict=True)]
        mean = float(np.mean([world.below(*rule) for rule in rules]))
        bad["folds"] += mean > k_fold(wrong, [half, n - half], DELTA).value

        blocks = np.array_split(np.arange(half, n), 10)
        models = [centroid_rule(X[: block[0]], t[: block[0]]) for block in blocks]
        k = sum(errors(*model, X[block], t[block]) for model, block in zip(models, blocks, strict=True))
        mean = sum(world.below(*model) * len(block) for model, block in zip(models, blocks, strict=True)) / (n - half)
        quarter = slice(3 * half // 4, half)
        early = centroid_rule(X[: quarter.start], t[: quarter.start])
        rate = pilot_rate(errors(*early, X[quarter], t[quarter]), half - quarter.start, n - half, DELTA)
        bad["pilot"] += mean > progressive_errors(k, n - half, DELTA, rate=rate).value
        bad["mixture"] += mean > progressive_errors(k, n - half, DELTA).value
    assert all(count <= allowed(trials, DELTA) for count in bad.values()), bad


def test_perceptron_mistakes():
    world, rng, bad, trials, n = Gaussians(5, 1.0), np.random.default_rng(3), 0, 200, 150
    for _ in range(trials):
        X, t = world.draw(rng, n)
        w, mistakes, risks = np.zeros(5), 0, []
        for x, label in zip(X, t, strict=True):
            risks.append(world.below(w, 0.0) if w.any() else 1.0)  # a score of zero is a mistake
            if label * (x @ w) <= 0:
                w, mistakes = w + label * x, mistakes + 1
        bad += np.mean(risks) > online_mistakes(mistakes, n, DELTA).value
    assert bad <= allowed(trials, DELTA)


def test_progressive_losses_and_their_average():
    world, rng, trials, n = Wave(), np.random.default_rng(4), 300, 400
    bad = dict.fromkeys(["pilot", "mixture"], 0)

    def fit(x, y):
        return np.polynomial.Polynomial.fit(x, y, 5, domain=[0, 1])

    for _ in range(trials):
        x, y = world.draw(rng, n)
        losses, average = [], np.zeros(len(world.nodes))
        for block in np.array_split(np.arange(200, n), 5):
            model = fit(x[: block[0]], y[: block[0]])
            losses.append((np.clip(model(x[block]), 0, 1) - y[block]) ** 2)
            average += np.clip(model(world.nodes), 0, 1) * len(block) / 200
        pilot = (np.clip(fit(x[:150], y[:150])(x[150:200]), 0, 1) - y[150:200]) ** 2
        rate = pilot_rate_bernstein(pilot, 200, DELTA)
        bad["pilot"] += world.mse(average) > progressive_losses(np.concatenate(losses), DELTA, rate=rate).value
        bad["mixture"] += world.mse(average) > progressive_losses(np.concatenate(losses), DELTA).value
    assert all(count <= allowed(trials, DELTA) for count in bad.values()), bad


def test_bounded_means():
    rng, trials, n = np.random.default_rng(5), 1500, 60
    bad = dict.fromkeys(["kl", "bernstein", "progressive"], 0)
    for _ in range(trials):
        losses = rng.beta(0.5, 4.5, size=n)  # mean 0.1
        bad["kl"] += holdout_loss(losses, DELTA).value < 0.1
        bad["bernstein"] += empirical_bernstein(losses, DELTA).value < 0.1
        bad["progressive"] += progressive_losses(losses, DELTA, rate=0.4).value < 0.1
    assert all(count <= allowed(trials, DELTA) for count in bad.values()), bad


def test_class_bounds_on_a_lattice():
    world, rng, trials, n = Lattice(40, 2, 6), np.random.default_rng(6), 300, 400
    stumps = labelings(world.points, "stumps")
    scores = np.where(stumps.labels, 1.0, -1.0)
    risks = np.array([world.risk(row) for row in scores])
    bad = dict.fromkeys(["finite", "excess", "vc", "occam"], 0)
    finite = finite_class(len(scores), n=n, delta=DELTA)
    growth = vc(set_class("half_spaces", d=2), n=n, delta=DELTA, theorem="rademacher")
    for _ in range(trials):
        index, _, t = world.draw(rng, n)
        wrong = np.sum(scores[:, index] * t <= 0, axis=1)
        best = int(np.argmin(wrong))
        bad["finite"] += np.max(np.abs(risks - wrong / n)) > finite.radius
        bad["excess"] += risks[best] - risks.min() > finite.erm_excess().radius
        bad["vc"] += np.max(risks - wrong / n) > growth.radius
        bad["occam"] += risks[best] > occam(int(wrong[best]), n, math.log2(len(scores)), DELTA).value
    assert all(count <= allowed(trials, DELTA) for count in bad.values()), bad


def test_margins_and_pac_bayes_on_a_lattice():
    world, rng, trials, n = Lattice(60, 4, 7), np.random.default_rng(7), 150, 300
    bad = dict.fromkeys(["margin", "gibbs", "deterministic", "hybrid"], 0)
    for _ in range(trials):
        _, X, t = world.draw(rng, n)
        H1 = X[:200].T @ X[:200] + np.eye(4)
        w1 = np.linalg.solve(H1, X[:200].T @ t[:200])
        w = np.linalg.solve(X.T @ X + np.eye(4), X.T @ t)
        unit = w / np.linalg.norm(w)
        z, truth = t * (X @ unit), world.risk(world.points @ w)
        bad["margin"] += truth > margin(z, 1.0, DELTA).value
        gibbs = pac_bayes_linear(z, DELTA)
        noise = gibbs.inputs["mu"] * (world.points @ unit)
        bad["gibbs"] += world.mean(ndtr(-noise), ndtr(noise)) > gibbs.value
        bad["deterministic"] += truth > pac_bayes_linear(z, DELTA, deterministic=True).value
        rest, labels = X[200:], t[200:]
        spread = np.sqrt(np.einsum("ij,ij->i", rest @ np.linalg.inv(H1), rest))
        right = labels * (rest @ w1) > 0
        moved = math.sqrt((w - w1) @ H1 @ (w - w1))
        bound = pac_bayes_hybrid(int(np.sum(~right)), labels * (rest @ w) / spread, right, moved, DELTA)
        bad["hybrid"] += truth > bound.value
    assert all(count <= allowed(trials, DELTA) for count in bad.values()), bad


@pytest.mark.parametrize(("world", "n"), DESIGNS)
def test_compression_of_support_vector_machines(world, n):
    from sklearn.svm import SVC

    rng, trials = np.random.default_rng(8), 400
    bad = dict.fromkeys(["stable", "classical"], 0)
    for _ in range(trials):
        X, t = world.draw(rng, n)
        model = SVC(kernel="linear", C=0.05, tol=1e-6).fit(X, t)
        w, b, size = model.coef_[0], float(model.intercept_[0]), len(model.support_)
        others = np.setdiff1d(np.arange(n), model.support_)
        bad["stable"] += world.below(w, b, 1.0) > stable_compression(size, n, DELTA).value
        bad["classical"] += (
            world.below(w, b) > sample_compression(size, errors(w, b, X[others], t[others]), n, DELTA).value
        )
    assert all(count <= allowed(trials, DELTA) for count in bad.values()), bad


def test_pick_to_learn():
    world, rng, bad, trials = Gaussians(10, 1.0), np.random.default_rng(9), 0, 400
    for _ in range(trials):
        X, t = world.draw(rng, 80)
        rest, labels = world.draw(rng, 120)
        chosen = np.zeros(120, dtype=bool)
        for _ in range(8):
            w, b = centroid_rule(np.vstack([X, rest[chosen]]), np.concatenate([t, labels[chosen]]))
            margins = np.where(chosen, np.inf, labels * (rest @ w + b))
            if margins.min() > 0:
                break
            chosen[np.argmin(margins)] = True
        w, b = centroid_rule(np.vstack([X, rest[chosen]]), np.concatenate([t, labels[chosen]]))
        left = errors(w, b, rest[~chosen], labels[~chosen])
        bad += world.below(w, b) > pick_to_learn(int(chosen.sum()), left, 120, DELTA).value
    assert bad <= allowed(trials, DELTA)


def test_votes_out_of_bag():
    world, rng, trials, n, members = Lattice(30, 3, 10), np.random.default_rng(10), 150, 200, 9
    bad = dict.fromkeys(["first_order", "tandem"], 0)
    for _ in range(trials):
        _, X, t = world.draw(rng, n)
        bags = rng.integers(0, n, size=(members, n))
        rules = [centroid_rule(X[bag], t[bag]) for bag in bags]
        outside = np.array([~np.isin(np.arange(n), bag) for bag in bags])
        wrong = np.array([t * (X @ w + b) <= 0 for w, b in rules])
        votes = np.mean([np.sign(world.points @ w + b) for w, b in rules], axis=0)
        for name, bound in out_of_bag_bounds(wrong, outside, DELTA).items():
            bad[name] += world.risk(votes) > bound.value
    assert all(count <= allowed(trials, DELTA) for count in bad.values()), bad


def test_kernel_ridge():
    world, rng, bad, trials, n = Wave(), np.random.default_rng(11), 0, 100, 60

    def gram(a, b):
        return np.exp(-8 * (a[:, None] - b[None, :]) ** 2)

    for _ in range(trials):
        x, y = world.draw(rng, n)
        c = np.linalg.solve(gram(x, x) + 0.5 * np.eye(n), y)
        if c @ gram(x, x) @ c <= 1.0:  # in the ball declared beforehand
            fitted = np.mean((gram(x, x) @ c - y) ** 2)
            bound = kernel_ridge_mse(float(fitted), n, kernel_radius=1.0, ball_radius=1.0, delta=DELTA, trace=float(n))
            bad += world.mse(gram(world.nodes, x) @ c) > bound.value
    assert bad <= allowed(trials, DELTA)


def test_conformal_coverage():
    rng, trials, m, alpha = np.random.default_rng(12), 2000, 49, 0.1
    coverage, broken = [], 0
    for _ in range(trials):
        found = conformal_quantile(np.abs(rng.uniform(-0.1, 0.1, size=m)), alpha)
        coverage.append(found.value / 0.1)  # the score is uniform on [0, 0.1]
        broken += coverage[-1] < found.conditional_coverage(DELTA)
    error = 4 * np.std(coverage) / math.sqrt(trials)
    assert 1 - alpha - error <= np.mean(coverage) <= 1 - alpha + 1 / (m + 1) + error
    assert 0.3 * DELTA * trials <= broken <= allowed(trials, DELTA)
