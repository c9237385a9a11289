"""Risk certificates are put to the test in worlds whose risks are known: they may fail in a fraction delta of the trials, no more.

A correct certificate fails one of these tests with probability at most 1e-4; seeds are fixed.
"""

import numpy as np
import pytest
from tests.slow.rules import Centroid, Cubic, Nearest, Smooth
from tests.slow.worlds import Gaussians, Lattice, Wave, allowed

from surefit import (
    Certified,
    ConformalClassifier,
    ConformalRegressor,
    GridSearchCV,
    Ridge,
    StructuralRiskMinimizer,
    cross_validate,
    risk_certificate,
)
from surefit.bounds import holdout, progressive_errors

DELTA = 0.1
DESIGNS = [(Gaussians(10, 1.0), 200), (Gaussians(20, 0.5), 60)]


def risk(world, model):
    return world.below(model.w_, model.b_)


@pytest.mark.parametrize(("world", "n"), DESIGNS)
def test_holdout_holds_and_is_not_lazy(world, n):
    rng, bad, trials = np.random.default_rng(1), 0, 1500
    for _ in range(trials):
        X, t = world.draw(rng, n + 80)
        model = Certified(Centroid(), confidence=1 - DELTA, test_size=80, random_state=int(rng.integers(2**31))).fit(
            X, t
        )
        bad += risk(world, model.estimator_) > model.risk_bound_
    assert 0.3 * DELTA * trials <= bad <= allowed(trials, DELTA)


@pytest.mark.parametrize(("world", "n"), DESIGNS)
def test_transfer_pick_to_learn_and_progressive(world, n):
    rng, trials = np.random.default_rng(2), 400
    bad = dict.fromkeys(["transfer", "p2l", "progressive"], 0)
    for _ in range(trials):
        X, t = world.draw(rng, n)
        fresh, seed = world.draw(rng, 300)[0], int(rng.integers(2**31))
        common = {"confidence": 1 - DELTA, "random_state": seed}
        model = Certified(Centroid(), "transfer", **common).fit(X, t, X_unlabeled=fresh)
        bad["transfer"] += risk(world, model.estimator_) > model.risk_bound_
        model = Certified(Centroid(), "p2l", **common).fit(X, t)
        bad["p2l"] += risk(world, model.estimator_) > model.risk_bound_
        model = Certified(Centroid(), "progressive", n_blocks=5, **common).fit(X, t)
        mean = sum(w * risk(world, m) for w, m in zip(model.weights_, model.models_, strict=True))
        told = model.certificate_.claims[0].numbers  # the claim is about the vote: twice the bound of the mean risk
        limit = progressive_errors(told["errors"], told["n"], DELTA, rate=told["rate"]).value
        assert model.risk_bound_ == pytest.approx(min(1.0, 2 * limit))
        bad["progressive"] += mean > limit
    assert all(count <= allowed(trials, DELTA) for count in bad.values()), bad


def test_coins_are_never_beaten():
    # World B: labels are fair coins, so every risk is one half.
    rng, trials = np.random.default_rng(3), 400
    bad = dict.fromkeys(["holdout", "p2l"], 0)
    for _ in range(trials):
        X, t = rng.normal(size=(80, 40)), rng.integers(0, 2, size=80) * 2.0 - 1.0
        for by in bad:
            fitted = Certified(Centroid(), by, confidence=1 - DELTA, random_state=int(rng.integers(2**31))).fit(X, t)
            bad[by] += fitted.risk_bound_ < 0.5
    assert all(count <= allowed(trials, DELTA) for count in bad.values()), bad


def test_brier_score_of_the_average_and_risk_of_the_vote():
    # World C: finitely many inputs, drawn often, so equal rows are draws.
    world, rng, trials = Lattice(60, 4, 7), np.random.default_rng(4), 150
    bad = dict.fromkeys(["average", "vote", "holdout"], 0)
    for _ in range(trials):
        _, X, t = world.draw(rng, 200)
        common = {
            "confidence": 1 - DELTA,
            "random_state": int(rng.integers(2**31)),
            "assume": ("equal_rows_are_draws",),
        }
        model = Certified(Smooth(), "progressive", n_blocks=5, **common).fit(X, t)
        p = model.predict_proba(world.points)[:, 1]
        bad["average"] += world.mean((1 - p) ** 2, p**2) > model.risk_bound_
        model = Certified(Smooth(), loss="brier", **common).fit(X, t)
        p = model.predict_proba(world.points)[:, 1]
        bad["holdout"] += world.mean((1 - p) ** 2, p**2) > model.risk_bound_
        model = Certified(Centroid(), "progressive", n_blocks=5, **common).fit(X, t)
        bad["vote"] += world.risk(model.predict(world.points)) > model.risk_bound_
    assert all(count <= allowed(trials, DELTA) for count in bad.values()), bad


def test_squared_error_and_quantiles_of_a_wave():
    # World D: bounded noise, errors by quadrature.
    world, rng, trials = Wave(), np.random.default_rng(5), 200
    bad = dict.fromkeys(["average", "holdout", "quantile"], 0)
    nodes = world.nodes[:, None]
    for _ in range(trials):
        x, y = world.draw(rng, 240)
        X, common = x[:, None], {"confidence": 1 - DELTA, "random_state": int(rng.integers(2**31))}
        model = Certified(Cubic(), "progressive", n_blocks=5, y_range=(0, 1), **common).fit(X, y)
        bad["average"] += world.mse(model.predict(nodes)) > model.risk_bound_
        model = Certified(Cubic(), y_range=(0, 1), **common).fit(X, y)
        bad["holdout"] += world.mse(np.clip(model.predict(nodes), 0, 1)) > model.risk_bound_
        model = Certified(Cubic(), coverage=0.8, **common).fit(X, y)
        bad["quantile"] += covered(world, model.predict(nodes), model.risk_bound_) < 0.8
    assert all(count <= allowed(trials, DELTA) for count in bad.values()), bad
    assert bad["quantile"] >= 0.1 * DELTA * trials  # an order statistic is not lazy


def covered(world, prediction, reach):
    """Probability that the target lies within ``reach`` of the prediction, noise being uniform."""
    gap = prediction - world.truth(world.nodes)
    low, high = np.maximum(gap - reach, -world.noise), np.minimum(gap + reach, world.noise)
    return float(world.weights @ np.maximum(high - low, 0.0)) / (2 * world.noise)


def test_conformal_coverage_on_average_and_given_the_calibration_rows():
    world, rng, trials = Wave(), np.random.default_rng(6), 1000
    nodes, m, alpha = world.nodes[:, None], 49, 0.2
    coverage, bad = np.empty(trials), 0
    for k in range(trials):
        x, y = world.draw(rng, 50 + m)
        model = ConformalRegressor(
            Cubic(), coverage=1 - alpha, confidence=1 - DELTA, calibration_size=m, random_state=k
        )
        model.fit(x[:, None], y)
        coverage[k] = covered(world, model.predict(nodes), model.quantile_)
        bad += coverage[k] < model.conditional_coverage_
    error = coverage.std(ddof=1) / np.sqrt(trials)
    assert 1 - alpha - 4 * error <= coverage.mean() <= 1 - alpha + 1 / (m + 1) + 4 * error
    assert 0.3 * DELTA * trials <= bad <= allowed(trials, DELTA)


def test_jackknife_and_folds_cover_on_average():
    world, rng, trials = Gaussians(4, 1.0), np.random.default_rng(7), 250
    hits = dict.fromkeys(["jackknife+", "cv+"], 0)
    for k in range(trials):
        X, _ = world.draw(rng, 40)
        y = X @ np.array([1.0, -2.0, 0.5, 0.0]) + rng.standard_t(3, size=40)
        for method in hits:
            model = ConformalRegressor(Ridge(), method, coverage=0.8, n_folds=5, random_state=k).fit(X[:39], y[:39])
            low, high = model.predict_interval(X[39:])[0]
            hits[method] += low <= y[39] <= high
    # proved: misses at most 2 alpha (jackknife+); both come close to alpha in practice
    assert trials - hits["jackknife+"] <= allowed(trials, 0.4)
    assert all(0.7 < count / trials < 0.92 for count in hits.values()), hits


def test_classification_sets_cover_within_classes():
    world, rng, trials = Lattice(60, 4, 7), np.random.default_rng(8), 150
    kept = np.zeros((trials, 2))
    for k in range(trials):
        _, X, t = world.draw(rng, 160)
        model = ConformalClassifier(
            Smooth(),
            coverage=0.8,
            by_class=True,
            calibration_size=100,
            assume=("equal_rows_are_draws",),
            random_state=k,
        ).fit(X, t)
        inside = model.predict_set(world.points)
        for c, share in enumerate((1 - world.positive, world.positive)):
            kept[k, c] = np.average(inside[:, c], weights=share)
    error = kept.std(axis=0, ddof=1) / np.sqrt(trials)
    assert np.all(kept.mean(axis=0) >= 0.8 - 4 * error)


@pytest.mark.parametrize(("world", "n"), DESIGNS)
def test_cross_validation_interval_and_comparison(world, n):
    rng, trials = np.random.default_rng(9), 150
    bad = dict.fromkeys(["low", "high", "difference"], 0)
    for k in range(trials):
        X, t = world.draw(rng, n)
        models = {"one": Centroid(keep=0), "all": Centroid()}
        result = cross_validate(models, X, t, cv=2, confidence=1 - DELTA, random_state=k)
        truth = {name: np.mean([risk(world, model.fit(X[result.folds.fold != f], t[result.folds.fold != f])) for f in (0, 1)])
                 for name, model in models.items()}  # fmt: skip
        low, high = result.interval("all")
        bad["low"] += truth["all"] < low
        bad["high"] += truth["all"] > high
        compared = result.compare("one", "all")
        bad["difference"] += not compared.interval[0] <= truth["one"] - truth["all"] <= compared.interval[1]
    assert all(count <= allowed(trials, DELTA) for count in bad.values()), bad


def test_search_pays_for_its_candidates():
    world, rng, trials, d = Gaussians(8, 0.4), np.random.default_rng(10), 150, 8
    paid = free = 0
    for _ in range(trials):
        X, t = world.draw(rng, 100)
        split = [(np.arange(20), np.arange(20, 100))]
        search = GridSearchCV(Centroid(), {"keep": range(1, d)}, cv=split, confidence=1 - DELTA).fit(
            X, t
        )  # the good column is left out
        model = Centroid(**search.best_params_).fit(X[:20], t[:20])
        claim = search.certificate_["selection.search"]
        unpaid = holdout(
            claim.numbers["errors"], claim.numbers["n"], DELTA
        ).value  # as if the candidate had been the only one
        paid += risk(world, model) > claim.value
        free += risk(world, model) > unpaid
    assert paid <= allowed(trials, DELTA) < free, (paid, free)


def test_structural_risk_of_stumps_and_half_planes():
    world, rng, bad = Lattice(40, 2, 6), np.random.default_rng(11), 0
    for _ in range(100):
        _, X, t = world.draw(rng, 300)
        model = StructuralRiskMinimizer(
            [Centroid(keep=0), Centroid()], [2, 3], confidence=1 - DELTA, assume=("equal_rows_are_draws",)
        ).fit(X, t)
        bad += world.risk(model.estimator_.decision_function(world.points)) > model.risk_bound_
    assert bad <= allowed(100, DELTA)


# --- mistakes that must be seen ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("world", "n"), [(Gaussians(60, 0.7), 120), (Gaussians(20, 0.5), 60)])
def test_training_rows_and_refits_break_the_bound(world, n):
    rng, trials = np.random.default_rng(12), 300
    bad = dict.fromkeys(["training", "refit", "twin"], 0)
    for _ in range(trials):
        X, t = world.draw(rng, n)
        cut = 4 * n // 5
        full, twin = Centroid().fit(X, t), Centroid().fit(X[:cut], t[:cut])
        bounds = {
            "training": (full, risk_certificate(full, X, t, confidence=1 - DELTA)),
            "refit": (full, risk_certificate(full, X[cut:], t[cut:], confidence=1 - DELTA)),
            "twin": (twin, risk_certificate(twin, X[cut:], t[cut:], confidence=1 - DELTA)),
        }
        for name, (model, certificate) in bounds.items():
            bad[name] += risk(world, model) > certificate.claims[0].value
    assert bad["twin"] <= allowed(trials, DELTA) < min(bad["training"], bad["refit"]), bad


def test_best_of_twenty_needs_its_price():
    world, rng, trials = Gaussians(20, 0.5), np.random.default_rng(13), 200
    bad = dict.fromkeys([1, 20], 0)
    for _ in range(trials):
        X, t = world.draw(rng, 80)
        models = [Centroid().fit(*world.draw(rng, 20)) for _ in range(20)]
        best = models[int(np.argmax([np.mean(m.predict(X) == t) for m in models]))]
        for count in bad:
            certificate = risk_certificate(best, X, t, confidence=1 - DELTA, n_models=count)
            bad[count] += risk(world, best) > certificate.claims[0].value
    assert bad[20] <= allowed(trials, DELTA) < bad[1], bad


def test_copies_and_groups_break_the_bound_unless_they_are_kept_together():
    rng, trials = np.random.default_rng(14), 150
    bad = dict.fromkeys(["copies", "copies declared draws", "groups", "groups ignored"], 0)
    for k in range(trials):
        # labels are coins: the risk of every rule is one half
        X, t = rng.normal(size=(60, 3)), rng.integers(0, 2, size=60) * 2.0 - 1.0
        twice, labels = np.vstack([X, X]), np.concatenate([t, t])
        common = {"confidence": 1 - DELTA, "random_state": k}
        bad["copies"] += Certified(Nearest(), **common).fit(twice, labels).risk_bound_ < 0.5
        declared = Certified(Nearest(), assume=("equal_rows_are_draws",), **common).fit(twice, labels)
        bad["copies declared draws"] += declared.risk_bound_ < 0.5
        # rows of a group share their label and nearly their place
        groups = np.repeat(np.arange(60), 2)
        near = np.repeat(X, 2, axis=0) + 1e-3 * rng.normal(size=(120, 3))
        bad["groups"] += Certified(Nearest(), **common).fit(near, np.repeat(t, 2), groups=groups).risk_bound_ < 0.5
        bad["groups ignored"] += Certified(Nearest(), **common).fit(near, np.repeat(t, 2)).risk_bound_ < 0.5
    limit = allowed(trials, DELTA)
    assert max(bad["copies"], bad["groups"]) <= limit < min(bad["copies declared draws"], bad["groups ignored"]), bad
