"""Known laws: the best rule, its risk in closed form, by sums and by simulation; fitted laws and their likelihood."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.naive_bayes import BernoulliNB, GaussianNB

from surefit import CertificateError, ClassDistribution, FiniteDistribution, InvalidData, MAPClassifier


def test_two_gaussians_of_the_notes():
    risk = ClassDistribution.gaussian([[-2.0], [2.0]], 1.0).bayes_risk()
    assert risk.how == "exact"
    assert risk.value == pytest.approx(0.0227501, abs=5e-8)
    assert risk.value == pytest.approx(stats.norm.cdf(-2), rel=1e-14)


@pytest.mark.parametrize("prior", [0.5, 0.2, 0.95])
def test_common_covariance_in_the_plane(prior):
    S = np.array([[2.0, 0.6], [0.6, 1.0]])
    world = ClassDistribution.gaussian([[0.0, 0.0], [1.0, 2.0]], S, [1 - prior, prior])
    exact = world.bayes_risk()
    simulated = world.risk(world.predict, random_state=1)
    assert exact.how == "exact"
    assert simulated.low <= exact.value <= simulated.high
    # The three forms of the rule: Mahalanobis distances, linear score, posterior.
    X = np.random.default_rng(0).standard_normal((200, 2)) * 3
    P, m0, m1 = np.linalg.inv(S), np.zeros(2), np.array([1.0, 2.0])
    odds = math.log(prior / (1 - prior))
    nearer = [(x - m0) @ P @ (x - m0) - (x - m1) @ P @ (x - m1) + 2 * odds > 0 for x in X]
    linear = X @ P @ (m1 - m0) > 0.5 * (m1 @ P @ m1 - m0 @ P @ m0) - odds
    assert np.array_equal(world.predict(X) == 1, nearer)
    assert np.array_equal(world.predict(X) == 1, linear)
    assert np.array_equal(world.predict(X) == 1, world.posterior(X)[:, 1] > 0.5)


def test_regression_function_is_a_hyperbolic_tangent():
    m0, m1 = np.array([0.5, -1.0]), np.array([1.0, 1.5])
    world = ClassDistribution.gaussian([m0, m1], 1.0)
    X = np.random.default_rng(1).standard_normal((50, 2))
    t = 0.5 * (X @ (m1 - m0) + 0.5 * (m0 @ m0 - m1 @ m1))
    r = 2 * world.posterior(X)[:, 1] - 1
    assert r == pytest.approx(np.tanh(t), abs=1e-14)
    assert np.all(np.abs(r - t) <= np.abs(t) ** 3 / 3 + 1e-15)


@pytest.mark.parametrize(
    ("m1", "v1", "prior"), [(0.0, 4.0, 0.5), (3.0, 0.25, 0.3), (1.0, 9.0, 0.9), (0.0, 1.0001, 0.999)]
)
def test_two_normals_with_different_variances_on_a_line(m1, v1, prior):
    world = ClassDistribution.gaussian([[0.0], [m1]], [1.0, v1], [1 - prior, prior])
    grid = np.linspace(-60, 60, 1_200_001)
    smaller = np.minimum((1 - prior) * stats.norm.pdf(grid), prior * stats.norm.pdf(grid, m1, math.sqrt(v1)))
    assert world.bayes_risk().value == pytest.approx(np.trapezoid(smaller, grid), abs=1e-9)


def test_quadrature_and_disjoint_supports():
    world = ClassDistribution([0.5, 0.5], [stats.expon(), stats.expon(scale=3)])
    risk = world.bayes_risk()
    cut = math.log(3) * 1.5  # where the two densities meet
    exact = 0.5 * math.exp(-cut) + 0.5 * (1 - math.exp(-cut / 3))
    assert risk.how == "quadrature"
    assert risk.low <= exact <= risk.high
    assert risk.value == pytest.approx(exact, abs=1e-9)
    apart = ClassDistribution([0.5, 0.5], [stats.uniform(0, 1), stats.uniform(2, 1)])
    assert apart.bayes_risk().value == pytest.approx(0, abs=1e-9)
    assert apart.posterior([[5.0]]).tolist() == [[0.5, 0.5]]  # where neither has mass the priors are left


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10**6), classes=st.integers(2, 3), points=st.integers(2, 4))
def test_no_rule_on_finitely_many_points_beats_the_best_one(seed, classes, points):
    rng = np.random.default_rng(seed)
    distributions = [FiniteDistribution(np.arange(points), rng.dirichlet(np.ones(points))) for _ in range(classes)]
    world = ClassDistribution(rng.dirichlet(np.ones(classes)), distributions)
    best = world.bayes_risk()
    assert best.how == "exact"
    for labels in itertools.product(range(classes), repeat=points):
        rule = np.array(labels)
        assert world.risk(lambda x, rule=rule: rule[x[:, 0].astype(int)]).value >= best.value - 1e-12
    joint = np.exp(world.log_joint(np.arange(points)))
    assert best.value == pytest.approx(1 - joint.max(axis=1).sum())
    assert world.posterior(np.arange(points)).sum(axis=1) == pytest.approx(np.ones(points))


def test_errors_of_both_kinds_recombine():
    world = ClassDistribution.gaussian([[0.0], [1.5]], 1.0, [0.7, 0.3])
    X, y = world.sample(100_000, 3)
    wrong = world.predict(X) != y
    first, second = wrong[y == 0].mean(), wrong[y == 1].mean()
    assert 0.7 * first + 0.3 * second == pytest.approx(world.bayes_risk().value, abs=0.004)
    assert np.mean(y) == pytest.approx(0.3, abs=0.006)


def test_no_fitted_classifier_beats_the_best_rule():
    world = ClassDistribution.gaussian([[0.0, 0.0], [1.0, 0.0], [0.0, 1.5]], np.eye(2))
    X, y = world.sample(300, 0)
    best = world.bayes_risk()
    fitted = MAPClassifier("full").fit(X, y)
    risk = world.risk(fitted.predict, random_state=7)
    assert best.how == "simulation"
    assert risk.high >= best.low
    assert risk.value < best.value + 0.03


@pytest.mark.parametrize(
    ("distributions", "peer"), [("diagonal", GaussianNB()), ("bernoulli", BernoulliNB(alpha=0.5, binarize=None))]
)
def test_naive_bayes_of_scikit_learn(distributions, peer):
    X, y = load_iris(return_X_y=True)
    X = (X > X.mean(axis=0)).astype(float) if distributions == "bernoulli" else X
    weights = np.random.default_rng(0).integers(0, 3, 150)
    smoothing = 0.5 if distributions == "bernoulli" else 1e-9
    ours = MAPClassifier(distributions, var_smoothing=smoothing).fit(X, y, sample_weight=weights)
    repeated = peer.fit(X.repeat(weights, axis=0), y.repeat(weights))
    assert ours.predict_proba(X) == pytest.approx(repeated.predict_proba(X), abs=1e-6)
    assert ours.verify(X, y, sample_weight=weights)["map.likelihood"].ok


@pytest.mark.parametrize("distributions", ["diagonal", "full", "common"])
def test_likelihood_is_largest(distributions):
    X, y = load_iris(return_X_y=True)
    model = MAPClassifier(distributions, var_smoothing=0.0).fit(X, y)
    rng = np.random.default_rng(0)
    assert model.verify(X, y)
    for _ in range(20):
        moved = MAPClassifier(distributions, var_smoothing=0.0).fit(X, y)
        moved.means_ = moved.means_ + 0.05 * rng.standard_normal(moved.means_.shape)
        moved.spreads_ = moved.spreads_ * math.exp(0.1 * rng.standard_normal())
        joint = moved._log_joint(X)
        assert joint[np.arange(150), y].sum() < model.log_likelihood_


def test_given_laws_are_the_best_rule():
    world = ClassDistribution.gaussian([[-1.0], [1.0]], 1.0)
    X, y = world.sample(200, 0)
    model = MAPClassifier(world.distributions, priors=[0.5, 0.5]).fit(X, y)
    assert np.array_equal(model.predict(X), world.predict(X))
    assert model.certificate_.claims[0].kind == "no_claim"
    # Equal priors: the rule of maximum likelihood.
    assert np.array_equal(model.predict(X), (X[:, 0] > 0).astype(int))


def test_tampering_and_errors():
    X, y = load_iris(return_X_y=True)
    model = MAPClassifier().fit(X, y)
    model.certificate_.model["means_"][0, 0] += 1e-3
    with pytest.raises(CertificateError):
        model.verify(X, y)
    with pytest.raises(InvalidData, match="column 1 is constant"):
        MAPClassifier(var_smoothing=0.0).fit(np.c_[X[:, 0], np.ones(150)], y)
    with pytest.raises(InvalidData, match="singular"):
        MAPClassifier("full", var_smoothing=0.0).fit(np.c_[X, X[:, 0]], y)
    with pytest.raises(InvalidData, match="zeros and ones"):
        MAPClassifier("bernoulli").fit(X, y)
    with pytest.raises(InvalidData, match="priors"):
        MAPClassifier(priors=[1.0]).fit(X, y)
    with pytest.raises(InvalidData, match="distributions"):
        MAPClassifier([stats.norm()]).fit(X, y)
    with pytest.raises(InvalidData, match="sum to one"):
        ClassDistribution([0.5, 0.6], [stats.norm(), stats.norm()])
    with pytest.raises(InvalidData, match="different points"):
        FiniteDistribution([0, 0], [0.5, 0.5])
