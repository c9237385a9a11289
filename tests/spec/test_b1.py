"""Items B01 to B21: clustering, Bayes rules, perceptrons, discriminants, kernelization."""

import numpy as np
import pytest
from scipy import stats

import surefit as sf

approx = pytest.approx


def test_B01(tmp_path):
    rows = np.hstack([[[3.0], [5.0]], np.random.default_rng(0).random((2, 256))])
    np.savetxt(tmp_path / "zip.train", rows)
    np.savetxt(tmp_path / "zip.test", rows[:1])
    data = sf.data.load_usps(tmp_path / "zip.train", tmp_path / "zip.test")
    assert 16 * 16 == 256 and np.shape(data[0])[1] == 256
    with pytest.raises(sf.InvalidData, match="downloads nothing"):
        sf.data.load_usps(tmp_path / "no", tmp_path / "no")


def test_B02(tmp_path):
    np.savetxt(tmp_path / "genes", np.random.default_rng(0).uniform(-6, 6, (30, 4)))
    assert sf.data.load_microarray(tmp_path / "genes").X.shape == (4, 30)
    table, clusters, _ = sf.data.cluster_table([0, 0, 1, 1], ["a", "a", "a", "b"])
    assert table.sum(axis=1).tolist() == [2, 2] and len(clusters) == 2


def test_B03():
    X = np.random.default_rng(0).standard_normal((9, 2))
    labels = [0, 0, 0, 1, 1, 2, 2, 2, 2]
    found = sf.scatter(X, labels)
    assert found.total == approx(found.within + found.between)
    assert found.total == approx(9 * np.sum((X - X.mean(axis=0)) ** 2))


def test_B04():
    assert sf.partition_count(10, 4) == 34105 and sf.partition_count(19, 4) == 11_259_666_950
    assert (sf.partition_count(4, 2), sf.partition_count(5, 3)) == (7, 25)
    X = np.array([[0.0], [1.0], [2.0], [4.0]])
    assert sf.ExhaustiveClustering(2).fit(X).labels_.tolist() == [0, 0, 0, 1]


def test_B05():
    X = np.array([[0.0], [7.0], [8.0], [9.0], [14.0]])
    before, after = sf.scatter(X, [0, 0, 1, 1, 1]), sf.scatter(X, [0, 1, 1, 1, 1])
    assert (before.within, after.within) == (approx(111), approx(116)) and before.inertia == approx(45.1667, abs=1e-4)
    model = sf.KMeans(2, init=np.array([[3.5], [31 / 3]]), tol=0, single_moves=False).fit(X)
    assert model.inertia_ == approx(29)
    points = np.array([[0.0], [1.0], [2.0], [4.0]])
    assert sf.ExhaustiveClustering(2, criterion="scatter").fit(points).labels_.tolist() == [0, 0, 1, 1]


def test_B06():
    world = sf.ClassDistribution([0.7, 0.3], [stats.norm(0), stats.norm(1.5)])

    def rule(x):
        return (x[:, 0] > 1).astype(int)

    first, second = world.errors(rule)
    assert (first, second) == approx((stats.norm.sf(1), stats.norm.cdf(-0.5)), abs=1e-12)
    assert world.risk(rule).value == approx(0.7 * first + 0.3 * second) and world.risk(rule).how == "quadrature"
    X, y = world.sample(1000, 0)
    assert X.shape == (1000, 1) and np.mean(y) == approx(0.3, abs=0.05)


def test_B07():
    world = sf.ClassDistribution([0.5, 0.5], [stats.norm(-1), stats.norm(1)])
    assert world.bayes_risk().value == approx(stats.norm.cdf(-1))
    assert world.excess_risk(world.predict).value == 0 and world.predict([[0.0]])[0] == 0
    x = np.linspace(-3, 3, 31)[:, None]
    assert np.array_equal(world.predict(x) == 1, world.posterior(x)[:, 1] > 0.5)
    apart = sf.ClassDistribution([0.5, 0.5], [stats.uniform(0, 1), stats.uniform(2, 1)])
    assert apart.bayes_risk().value == approx(0, abs=1e-9)


def test_B08():
    world = sf.ClassDistribution(
        [0.2, 0.3, 0.5], [sf.FiniteDistribution([0, 1], p) for p in ([0.5, 0.5], [0.9, 0.1], [0.2, 0.8])]
    )
    assert world.posterior([[0.0], [1.0]]).sum(axis=1) == approx([1, 1])
    assert world.bayes_risk().value == approx(1 - (0.27 + 0.4))


def test_B09():
    X, y, truth = sf.data.make_four_points("line")
    assert (truth["farkas"] * y) @ X == approx([0]) and truth["farkas"] @ y == 0
    assert sf.separability(X, y).separable is False
    rule, points = (np.array([2.0]), -1.0), [[1.0], [0.0]]
    one, ten = sf.margins(rule, points, [1, -1]), sf.margins((10 * rule[0], -10.0), points, [1, -1])
    assert one.geometric == approx(ten.geometric)


@pytest.mark.parametrize(("epsilon", "k", "w"), [(0.1, 6, (-18 / 5, np.sqrt(3))), (0.2, 2, (-56 / 15, 2 / np.sqrt(3)))])
def test_B10(epsilon, k, w):
    X, y, _ = sf.data.make_two_triangles(epsilon)
    for eta in (0.3, 1.0):
        model = sf.Perceptron(bias="r_squared", order="cyclic", eta0=eta, tol=None).fit(X, y)
        assert model.n_updates_ == k and model.coef_[0] / eta == approx(w)
    if epsilon == 0.1:
        assert model.mistake_counts_.tolist() == [1, 1, 1, 1, 2, 0]


def test_B11():
    for epsilon, bound in ((0.1, 49744 / 27), (0.2, 13744 / 27)):
        _, _, truth = sf.data.make_two_triangles(epsilon)
        R = np.sqrt(truth["radius_square"])
        assert sf.novikoff_bound(R, truth["margin"], constant=R) == approx(bound)
        assert sf.novikoff_bound(R, truth["margin"], constant=R, intercept=0.0) == approx(bound / 2)


def test_B12():
    X, y = np.array([[1.0, 2.0], [-1.0, 0.5]]), np.array([1.0, -1.0])
    w = np.array([-0.3, 0.2])
    losses = sf.losses.value(sf.losses.PerceptronLoss(), y, X @ w)
    assert losses.sum() == approx(sum(max(0, -t * s) for t, s in zip(y, X @ w, strict=True)))
    doubled = sf.losses.value(sf.losses.PerceptronLoss(), y, X @ (2 * w))
    assert doubled == approx(2 * losses)


def test_B13():
    X, y, truth = sf.data.make_four_points("line")

    def J(b):
        return sf.losses.value(sf.losses.PerceptronLoss(), y, X[:, 0] + b).mean()

    assert [J(b) for b in (-2, -1.5, -1, 0, 1, 1.5, 2)] == approx([0.75, 0.625, 0.5, 0.5, 0.5, 0.625, 0.75])
    assert truth["best_cut_error"] == 0.25
    model = sf.Perceptron(bias="r_squared", order="cyclic", tol=None, max_iter=50).fit(X, y)
    assert not model.converged_  # the run cycles: the state after pass 3 is that after pass 1


def test_B14():
    S = np.array([[2.0, 0.6], [0.6, 1.0]])
    world = sf.ClassDistribution.gaussian([[0.0, 0.0], [1.0, 2.0]], S)
    delta = np.sqrt(np.array([1.0, 2.0]) @ np.linalg.solve(S, [1.0, 2.0]))
    assert world.bayes_risk().value == approx(stats.norm.cdf(-delta / 2))


def test_B15():
    X, y, _ = sf.data.make_two_gaussians(40, random_state=0)
    model = sf.FisherDiscriminant().fit(X, y)
    groups = [X[y == k] for k in (-1, 1)]
    pooled = sum((len(g) - 1) * np.cov(g.T) for g in groups) / (len(X) - 2)
    w = np.linalg.solve(pooled, groups[1].mean(axis=0) - groups[0].mean(axis=0))
    assert model.coef_[0] / np.linalg.norm(model.coef_) == approx(w / np.linalg.norm(w))
    moved = sf.FisherDiscriminant().fit(X @ [[2.0, 1.0], [0.0, 3.0]] + 5, y)
    assert np.array_equal(moved.predict(X @ [[2.0, 1.0], [0.0, 3.0]] + 5), model.predict(X))


def test_B16():
    X, y, _ = sf.data.make_two_gaussians(40, random_state=1)
    model = sf.FisherDiscriminant().fit(X, y)
    m0, m1 = X[y == -1].mean(axis=0), X[y == 1].mean(axis=0)
    S = sum(np.cov(X[y == k].T) * (np.sum(y == k) - 1) for k in (-1, 1)) / 38
    nearest = np.array([(x - m1) @ np.linalg.solve(S, x - m1) < (x - m0) @ np.linalg.solve(S, x - m0) for x in X])
    assert np.array_equal(model.predict(X) == 1, nearest)


def test_B17():
    X, y, truth = sf.data.make_two_triangles(0.1)
    assert sf.FisherDiscriminant().fit(X, y).score(X, y) == approx(2 / 3)
    assert np.min(y * (X @ truth["coef"])) == approx(truth["margin"]) and np.min(y * (X @ truth["coef"])) == approx(
        np.sqrt(3) / 20
    )
    assert sf.Perceptron(bias="r_squared", tol=None).fit(X, y).score(X, y) == 1


def test_B18():
    X, y, truth = sf.data.make_ellipse(60, random_state=0)
    kernel = sf.kernels.Polynomial(2, coef0=0.0)
    F = kernel.feature_map(X)
    assert F @ F.T == approx((X @ X.T) ** 2) and sf.separability(F, y).separable
    from math import comb

    assert (comb(56, 4), comb(59, 4)) == (367290, 455126) and truth["bayes_risk"] == 0


def test_B19():
    X = (np.arange(200)[:, None] + 0.5) / 200
    pairs = sf.kernels.mercer(sf.kernels.Min(), X, count=3)
    assert pairs.values == approx(sf.kernels.Min().eigenpairs(3).values, rel=1e-3)
    assert sf.check_kernel(sf.kernels.Min(), X[::20]).holds


def test_B20():
    X, y, _ = sf.data.make_ellipse(30, random_state=2)
    kernel = sf.kernels.Polynomial(2, coef0=0.0)
    gram = sf.KernelFisherDiscriminant(kernel, ridge=0).fit(X, y)
    explicit = sf.FisherDiscriminant().fit(kernel.feature_map(X), y)
    a, b = gram.decision_function(X), explicit.decision_function(kernel.feature_map(X))
    assert a / np.abs(a).max() == approx(b / np.abs(b).max(), abs=1e-6)


def test_B21():
    X, y, _ = sf.data.make_two_triangles(0.2)
    plain = sf.Perceptron(bias="r_squared", order="cyclic", tol=None).fit(X, y)
    kernel = sf.KernelPerceptron(kernel="linear", order="cyclic").fit(X, y)
    assert kernel.n_updates_ == plain.n_updates_ == 2
    assert kernel.decision_function(X) == approx(plain.decision_function(X))
