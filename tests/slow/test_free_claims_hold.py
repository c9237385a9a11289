"""Bounds that come with a fit, in worlds whose risks are known: they fail in a fraction delta of the trials, no more."""

import numpy as np
import pytest
from scipy.stats import randint
from tests.slow.rules import Centroid
from tests.slow.worlds import Gaussians, Lattice, allowed

from surefit import (
    SVC,
    BaggingClassifier,
    DecisionTreeClassifier,
    KernelPerceptron,
    Perceptron,
    RandomForestClassifier,
    RandomizedSearchCV,
    VotedPerceptron,
)

DELTA = 0.1


def counted(bad: dict, trials: int, delta: float) -> None:
    assert all(count <= allowed(trials, delta) for count in bad.values()), bad


def risk_of_labels(world, labels):
    return world.risk(np.asarray(labels, dtype=float))


def test_trees_on_declared_thresholds():
    world, rng, trials, n = Lattice(60, 3, 41), np.random.default_rng(41), 150, 200
    bad = {"pruned": 0, "grown": 0}
    thresholds = list(np.linspace(-1, 1, 9))
    for _ in range(trials):
        _, X, t = world.draw(rng, n)
        for name, options in (("pruned", {"ccp_alpha": 0.02}), ("grown", {"max_depth": 4})):
            model = DecisionTreeClassifier(thresholds=thresholds, delta=DELTA, **options).fit(X, t)
            claim = model.certificate_["tree.occam"]
            bad[name] += risk_of_labels(world, model.predict(world.points)) > claim.value
    counted(bad, trials, DELTA)


@pytest.mark.filterwarnings("ignore::surefit.core.errors.DataWarning")  # few trees: some rows are in every bag
def test_out_of_bag_votes_of_forests_and_bags():
    world, rng, trials, n = Lattice(40, 3, 42), np.random.default_rng(42), 40, 150
    names = ["forest.vote_first_order", "forest.vote_tandem"]
    bad = {(kind, name): 0 for kind in ("forest", "bag") for name in names}
    for seed in range(trials):
        _, X, t = world.draw(rng, n)
        forest = RandomForestClassifier(9, max_depth=3, oob_score=True, delta=DELTA, random_state=seed).fit(X, t)
        bag = BaggingClassifier(Centroid(), 9, oob_score=True, delta=DELTA, random_state=seed).fit(X, t)
        votes = {
            "forest": forest.vote(world.points),
            "bag": np.sign(sum(m.predict(world.points) for m in bag.estimators_)),
        }
        for kind, model in (("forest", forest), ("bag", bag)):
            for name in names:
                bad[kind, name] += risk_of_labels(world, votes[kind]) > model.certificate_[name].value
    counted(bad, trials, DELTA / 2)  # each of the two bounds has half of delta


def test_support_vectors_compress():
    world, rng, trials = Gaussians(5, 1.0), np.random.default_rng(43), 150
    bad = 0
    for _ in range(trials):
        X, t = world.draw(rng, 80)
        model = SVC(kernel="linear", C=0.05).fit(X, t)
        w, b = model.coef_[0], float(model.intercept_[0])
        bad += world.below(w, b) > model.certificate_["svc.compression"].value
    assert bad <= allowed(trials, 0.05)


def test_the_first_pass_of_perceptrons():
    world, rng, trials, n = Gaussians(4, 0.9), np.random.default_rng(44), 120, 80
    bad = dict.fromkeys(["perceptron", "kernel", "vote"], 0)
    options = {"max_iter": 1, "tol": None, "order": "cyclic"}
    fresh, labels = world.draw(rng, 20_000)
    for _ in range(trials):
        X, t = world.draw(rng, n)
        w, b, iterates = np.zeros(4), 0.0, []
        for x, label in zip(X, t, strict=True):
            iterates.append(world.below(w, b) if w.any() else 1.0)  # a score of zero is a mistake
            if label * (x @ w + b) <= 0:
                w, b = w + label * x, b + label
        mean = float(np.mean(iterates))
        plain = Perceptron(bias="plain", confidence=1 - DELTA, **options).fit(X, t)
        bad["perceptron"] += mean > plain.certificate_["perceptron.risk"].value
        kernel = KernelPerceptron(kernel="linear", bias="plain", **options).fit(X, t)
        bad["kernel"] += mean > kernel.certificate_["perceptron.kernel_risk"].value
        voted = VotedPerceptron(bias="plain", confidence=1 - DELTA, **options).fit(X, t)
        error = np.mean(voted.predict(fresh) != labels)  # known to 0.01, four standard errors
        bad["vote"] += error - 0.015 > voted.certificate_["perceptron.vote_risk"].value
    counted(bad, trials, DELTA)


def test_one_draw_of_a_random_search_is_among_the_best():
    # A thousand settings in an order fixed beforehand: which share of them is the best draw among?
    rng, trials, missed = np.random.default_rng(45), 150, 0
    world = Gaussians(3, 1.0)
    X, t = world.draw(rng, 60)
    for seed in range(trials):
        search = RandomizedSearchCV(
            Centroid(), {"keep": randint(0, 1000)}, n_iter=4, confidence=1 - 2 * DELTA, random_state=seed, refit=False
        ).fit(X, t)
        claim = search.certificate_["selection.random_draws"]
        drawn = [p["keep"] for p in search.cv_results_["params"]]
        assert claim.confidence == pytest.approx(1 - DELTA)
        missed += min(drawn) >= 1000 * claim.value
    assert 0.2 * DELTA * trials < missed <= allowed(trials, DELTA)
