"""Items E35 to E69: kernels, convex programs, boosting, concentration, PAC bounds, clustering, likelihood."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

import surefit as sf

approx = pytest.approx
SIX, TARGETS = np.arange(1.0, 7.0)[:, None], np.array([1, 1, -1, -1, 1, 1])
POINTS = np.random.default_rng(0).standard_normal((7, 2))


def test_E35():
    F = sf.kernels.empirical_features(sf.kernels.RBF(), POINTS)
    z = np.arange(7.0)
    K = sf.kernels.RBF()(POINTS)
    assert F @ F.T == approx(K) and z @ K @ z == approx(np.sum((F.T @ z) ** 2))


def test_E36():
    X = np.array([[0.0], [1.0], [3.0]])
    distance = sf.check_kernel(sf.kernels.Precomputed(), np.abs(X - X.T))
    negative = sf.check_kernel(sf.kernels.Precomputed(), -X @ X.T)
    skew = sf.check_kernel(sf.kernels.Precomputed(), X - X.T)
    assert [r.witness["kind"] for r in (distance, negative, skew)] == ["determinant", "diagonal", "asymmetry"]
    hidden = sf.check_kernel(sf.kernels.Precomputed(), np.array([[1, 0.9, 0], [0.9, 1, 0.9], [0, 0.9, 1]]))
    assert hidden.witness["kind"] == "vector" and min(hidden.eigenvalues) == approx(1 - 0.9 * np.sqrt(2))
    for make in (lambda: -1.0 * sf.kernels.Linear(), lambda: sf.kernels.RBF(gamma=-1.0)):
        with pytest.raises(sf.InvalidParameter, match="> 0"):  # what is no kernel on any sample is not built
            sf.check_kernel(make(), [[0.0], [0.0]])


def test_E37():
    one, two = sf.kernels.RBF(), sf.kernels.Polynomial(2)
    assert (one + two)(POINTS) == approx(one(POINTS) + two(POINTS)) and (one * two)(POINTS) == approx(
        one(POINTS) * two(POINTS)
    )
    scaled = sf.kernels.Normalized(two)(POINTS)
    assert np.diag(scaled) == approx(np.ones(7))
    assert not sf.check_kernel(sf.kernels.Precomputed(), np.full((2, 2), 1.0 - 2.0)).holds


def test_E38():
    X = POINTS[:, :1]
    F = sf.kernels.gaussian_features(X, 12)
    K = sf.kernels.RBF()(X)
    assert np.all(np.abs(F @ F.T - K) <= sf.kernels.gaussian_features_error(X, X, 12) + 1e-14)
    assert sf.kernels.gaussian_features([[0.7]], 3)[0] == approx(
        np.exp(-0.245) * np.array([1, 0.7, 0.49 / np.sqrt(2), 0.343 / np.sqrt(6)])
    )
    assert np.linalg.eigvalsh(K)[0] > 0


def test_E39():
    length = 2.5
    K = sf.kernels.RBF(gamma=1 / (2 * length))(POINTS)
    assert K == approx(np.exp(-np.sum((POINTS[:, None] - POINTS) ** 2, axis=2) / (2 * length)))
    assert sf.kernels.RBF(gamma=1e6)(POINTS) == approx(np.eye(7)) and sf.kernels.RBF(gamma=1e-12)(POINTS) == approx(
        np.ones((7, 7))
    )


def test_E40():
    y = np.array([0, 1, 1, 0, 1, 0, 1])
    plain = sf.KNeighborsClassifier(3).fit(POINTS, y)
    for kernel in ("linear", "rbf"):
        assert np.array_equal(
            sf.KNeighborsClassifier(3, kernel=kernel).fit(POINTS, y).predict(POINTS), plain.predict(POINTS)
        )
    X = [[0.0], [1.0]]
    assert sf.KNeighborsClassifier(2, ties="nearest").fit(X, [1, 0]).predict([[0.1]])[0] == 1
    assert sf.KNeighborsClassifier(2).fit(X, [1, 0]).predict([[0.1]])[0] == 0


def test_E41():
    y = np.arange(7.0)
    dual = sf.KernelRidge(0.3).fit(POINTS, y).predict(POINTS)
    primal = sf.Ridge(0.3, fit_intercept=False).fit(POINTS, y).predict(POINTS)
    assert dual == approx(primal)


def test_E42():
    for loss in (sf.losses.Hinge(), sf.losses.Logistic(), sf.losses.ExponentialLoss()):
        assert not sf.duality.convexity_check(
            lambda z, loss=loss: sf.losses.value(loss, 1.0, float(z[0])), [-3.0], [3.0]
        ).violated
    zero_one = sf.duality.convexity_check(
        lambda z: sf.losses.value(sf.losses.ZeroOne(), 1.0, float(z[0])), [-3.0], [3.0]
    )
    assert zero_one.violated


def test_E43():
    program = sf.duality.QuadraticProgram([[2.0]], [[1.0]], [2.0])
    for x, multiplier in (([3.0], [1.0]), ([2.5], [4.0])):
        assert sf.weak_duality(program, x, multiplier).gap >= 0
    assert sf.weak_duality(program, *program.solve()[:2]).gap == approx(0, abs=1e-12)


def test_E44():
    X, y, _ = sf.data.make_two_gaussians(30, random_state=0)
    model = sf.SVC(kernel="linear", C=1.0, tol=1e-9).fit(X, y)
    report = sf.kkt_report(model, X, y)
    assert report.optimal(1e-3)
    lasso = sf.Lasso(alpha=0.1, tol=1e-12).fit(X, y)
    assert sf.kkt_report(lasso, X, y).optimal(1e-6)
    lasso.coef_ = lasso.coef_ + 0.1
    assert not sf.kkt_report(lasso, X, y).optimal(1e-3)
    for other in (sf.LinearSVC(C=1.0, tol=1e-8), sf.LogisticRegression(tol=1e-12), sf.KernelRidge(0.5, kernel="rbf")):
        assert sf.kkt_report(other.fit(X, y), X, y).stationarity < 1e-2


def test_E45():
    model = sf.SVC(kernel="linear", C=np.inf, tol=1e-9).fit([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]], [-1, 1, 1])
    assert model.margin_[0] == approx(1 / np.sqrt(np.abs(model.dual_coef_).sum()), rel=1e-6)
    offsets = np.array([-1, 1, 1]) - np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]]) @ model.coef_[0]
    assert offsets == approx(np.full(3, model.intercept_[0]), abs=1e-5)


def test_E46():
    X, y, _ = sf.data.make_two_gaussians(40, random_state=0)
    primal, dual = sf.LinearSVC(C=1.0, tol=1e-9).fit(X, y), sf.SVC(kernel="linear", C=1.0, tol=1e-9).fit(X, y)
    assert primal.coef_ == approx(dual.coef_, abs=1e-3)


def test_E47():
    stump = sf.DecisionStump().fit(SIX, TARGETS)
    assert np.mean(stump.predict(SIX) != TARGETS) == approx(1 / 3)
    rng = np.random.default_rng(0)
    w = rng.random(6)
    error = w[sf.DecisionStump().fit(SIX, TARGETS, sample_weight=w).predict(SIX) != TARGETS].sum()
    assert error <= w.sum() / 2


def test_E48():
    model = sf.AdaBoostClassifier(n_estimators=5).fit(SIX, TARGETS)
    margins = model.margins(SIX, TARGETS)
    assert np.all(np.abs(margins) <= 1 + 1e-12)
    assert margins == approx(TARGETS * model.decision_function(SIX) / model.estimator_weights_.sum())


def test_E49():
    model = sf.AdaBoostClassifier(n_estimators=3).fit(SIX, TARGETS)
    trace = sf.adaboost_trace(model, SIX, TARGETS)
    assert trace.errors == approx([1 / 3, 0.25, 1 / 6]) and trace.alphas == approx(
        [0.34657359, 0.54930614, 0.80471896], abs=5e-9
    )
    assert trace.normalizers == approx([0.94280904, 0.86602540, 0.74535599], abs=5e-9)
    assert trace.weights[1] == approx([0.125, 0.125, 0.25, 0.25, 0.125, 0.125])
    assert trace.scores == approx([0.09116, 0.09116, -1.00745, -1.00745, 0.60199, 0.60199], abs=5e-6)
    assert model.bounds_[-1] == approx(0.60858062, abs=5e-9) and model.score(SIX, TARGETS) == 1
    assert np.exp(-2 * np.sum((0.5 - trace.errors) ** 2)) == approx(0.66846063, abs=5e-9)
    for error, alpha in ((0.01, 2.29756), (0.1, 1.09861), (0.25, 0.54931), (0.4, 0.20273)):
        x, n = np.zeros((100, 1)), round(100 * error)  # one constant stump that errs on n of 100 rows
        one = sf.AdaBoostClassifier(n_estimators=1).fit(x, np.repeat([-1, 1], [n, 100 - n]))
        found = sf.adaboost_trace(one, x, np.repeat([-1, 1], [n, 100 - n]))
        assert found.errors == approx([error]) and found.alphas == approx([alpha], abs=5e-6)


def test_E50():
    model = sf.AdaBoostClassifier(n_estimators=3).fit(SIX, TARGETS)
    trace = sf.adaboost_trace(model, SIX, TARGETS)
    bound = np.exp(-2 * np.sum((0.5 - trace.errors) ** 2))
    assert bound == approx(0.66846063, abs=5e-9) and model.bounds_[-1] == approx(0.60858062, abs=5e-9)
    assert model.training_errors_[-1] <= model.bounds_[-1] <= bound


def test_E51():
    trace = sf.adaboost_trace(sf.AdaBoostClassifier(n_estimators=3).fit(SIX, TARGETS), SIX, TARGETS)
    assert trace.exponential_loss == approx(np.prod(trace.normalizers)) and trace.exponential_loss == approx(
        0.60858062, abs=5e-9
    )
    assert trace.weights[-1] == approx(np.exp(-TARGETS * trace.scores) / (6 * trace.exponential_loss))
    assert trace.normalizers == approx(np.sqrt(1 - (1 - 2 * trace.errors) ** 2))
    for error, alpha, Z in zip(trace.errors, trace.alphas, trace.normalizers, strict=True):  # alpha minimizes Z
        for a in alpha + np.array([-0.3, -0.01, 0.0, 0.01, 0.3]):
            assert error * np.exp(a) + (1 - error) * np.exp(-a) >= Z - 1e-15
    assert np.all(trace.normalizers <= np.exp(-2 * (0.5 - trace.errors) ** 2))


def test_E52():
    model = sf.AdaBoostClassifier(n_estimators=3).fit(SIX, TARGETS)
    trace = sf.adaboost_trace(model, SIX, TARGETS)
    halves = [trace.weights[m + 1][h.predict(SIX) != TARGETS].sum() for m, h in enumerate(model.estimators_)]
    assert halves == approx([0.5, 0.5, 0.5])


def test_E53():
    model = sf.AdaBoostClassifier(n_estimators=20).fit(SIX, TARGETS)
    margins = [sf.AdaBoostClassifier(n_estimators=m).fit(SIX, TARGETS).margins(SIX, TARGETS).min() for m in (3, 20)]
    assert margins[1] > 0 and list(model.staged_score(SIX, TARGETS))[-1] == 1


def test_E54():
    n = 100
    for radius, exact, clt, hoeffding in ((0.1, 0.0568879, 0.0455003, 0.2706706), (0.2, 7.85e-5, 6.33e-5, 6.709e-4)):
        tail = stats.binom.sf(int(n * (0.5 + radius)) - 1, n, 0.5) + stats.binom.cdf(round(n * (0.5 - radius)), n, 0.5)
        assert tail == approx(exact, rel=1e-3)
        assert sf.bounds.gaussian_approximation(0.5, n, radius) == approx(clt, rel=1e-3)
        assert sf.bounds.hoeffding(n=n, radius=radius).delta == approx(hoeffding, rel=1e-3)
    assert sf.bounds.chebyshev(0.25, n=100, radius=0.1).delta == approx(0.25)


def test_E55():
    x = np.random.default_rng(0).random(40)
    bound = sf.bounds.chernoff(sf.bounds.log_mgf_sample(x), 0.8)
    assert np.mean(x >= 0.8) <= bound.delta + 1e-12 and bound.delta <= 1


def test_E56():
    t = 0.7
    assert sf.bounds.cramer_transform(sf.bounds.log_mgf_gaussian(2.0), t)[0] == approx(t**2 / 8)
    assert sf.bounds.cramer_transform(sf.bounds.log_mgf_bernoulli(0.5), t)[0] == approx(sf.bounds.binary_kl(t, 0.5))
    assert np.exp(-100 * sf.bounds.binary_kl(0.6, 0.5)) <= sf.bounds.hoeffding(n=100, radius=0.1, sides=1).delta


def test_E57():
    assert sf.bounds.hoeffding(n=100, radius=0.1).delta == approx(0.2706706, abs=5e-8)
    radius = sf.bounds.hoeffding(n=50, delta=0.1, loss_bound=3.0).radius
    assert radius == approx(3 * np.sqrt(np.log(2 / 0.1) / 100))


def test_E58():
    split = sf.bounds.risk_split(5, 100, 20, 100)
    assert split.test == approx(0.2) and split.train == approx(0.05) and split.gap[0] <= 0.15 <= split.gap[1]


def test_E59():
    world = sf.LabelModel(lambda x: 0.2 + 0.6 * (x[:, 0] > 0.5))
    cuts = [lambda x, t=t: (x[:, 0] > t).astype(int) for t in (0.1, 0.5, 0.9)]
    risks = np.array([world.risk(c).value for c in cuts])
    excess = []
    for seed in range(40):
        X, y = world.sample(100, seed)
        found = sf.finite_class_erm(cuts, X, y, delta=0.1)
        excess.append(risks[found.chosen] - risks.min() > found.excess_bound)
    assert np.mean(excess) <= 0.1 and sf.finite_class_erm([cuts[0], cuts[0]], X, y).chosen == 0


def test_E60():
    n = sf.bounds.finite_class(100, radius=0.05, delta=0.05).n
    assert n == 1659 and 2 * sf.bounds.finite_class(100, n=1000, delta=0.05).radius == approx(0.1287948, abs=5e-8)


def test_E61():
    deviation = sf.bounds.finite_class(100, n=1000, delta=0.05)
    assert deviation.radius == approx(
        np.sqrt(np.log(2 * 100 / 0.05) / 2000)
    ) and deviation.erm_excess().radius == approx(2 * deviation.radius)


def test_E62():
    triangle = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert sf.bounds.shatters(triangle, "half_spaces")
    square = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])
    assert not sf.bounds.shatters(square, "half_spaces") and sf.bounds.vc_dimension("rectangles", d=2) == 4


def test_E63():
    all_patterns = np.array(np.meshgrid(*[[0, 1]] * 3)).reshape(3, -1).T
    found = sf.bounds.vc_dimension_of(all_patterns)
    assert float(getattr(found, "dimension", found)) == 3 == np.log2(len(all_patterns))


def test_E64():
    assert sf.bounds.sauer(5, 2) == 16 <= 36 and [sf.bounds.sauer(n, 1) for n in (1, 4, 9)] == [2, 5, 10]


def test_E65():
    for n in (1000, 100_000):
        found = sf.bounds.vc(3, n=n, delta=0.05, theorem="rademacher", form="euler").radius
        assert found == approx(np.sqrt(2 * 3 * np.log(np.e * n / 3) / n) + np.sqrt(np.log(1 / 0.05) / (2 * n)))
    assert sf.bounds.vc(50, n=60, delta=0.05, theorem="rademacher").vacuous


def test_E66():
    assert type(sf.bounds.vc(np.inf, n=1000, delta=0.05)).__name__ == "NoBound"
    for k in (1, 3, 6):
        for labels in product([-1, 1], repeat=k):  # sines shatter 1/2, 1/4, ..., 2^-k
            a, x = sf.bounds.sine_witness(labels)
            assert x == approx(0.5 ** np.arange(1, k + 1)) and tuple(np.sign(np.sin(a * x))) == labels
            assert a == approx(np.pi * (1 + sum(2**i for i, label in enumerate(labels, 1) if label == -1)))


def test_E67():
    assert sf.bounds.affine_witness(3).holds and len(sf.bounds.affine_witness(3).points) == 4
    assert len(sf.bounds.affine_witness(3, intercept=False).points) == 3
    radon = sf.bounds.radon_partition([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    assert set(radon.positive) | set(radon.negative) <= {0, 1, 2, 3}


def test_E68():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [3.0, 1.0]])
    bad = sf.KMeans(2, init=np.array([[1.5, 0.0], [1.5, 1.0]]), single_moves=False).fit(X)
    good = sf.KMeans(2, random_state=0).fit(X)
    assert (bad.inertia_, good.inertia_) == (9.0, 1.0) and good.lower_bound_ == approx(1.0)
    assert np.all(np.diff(good.objective_history_[:, 1:].ravel()) <= 1e-12)


def test_E69():
    found = sf.MaximumLikelihood("normal").fit([1.0, 2.0, 3.0]).fit_
    assert (found.parameters["mean"], found.parameters["variance"]) == approx((2, 2 / 3))
    rows = sf.MaximumLikelihood("multivariate_normal").fit([[0.0, 10.0], [2.0, 10.5], [1.0, 9.0]]).fit_.parameters
    assert rows["mean"] == approx([1, 59 / 6])
    assert sf.MaximumLikelihood("multinomial").fit([0, 2, 2]).fit_.parameters["probabilities"] == approx(
        [1 / 3, 0, 2 / 3]
    )
    closed = {"poisson": ("rate", 3), "exponential": ("rate", 1 / 3), "uniform": ("end", 6)}
    for family, (name, estimate) in closed.items():
        assert sf.MaximumLikelihood(family).fit([1.0, 2.0, 6.0]).fit_.parameters[name] == approx(estimate)
    own = sf.MaximumLikelihood(lambda x, t: stats.norm.logpdf(x, t[0], np.exp(t[1])), start=[0.0, 0.0]).fit(
        [1.0, 2.0, 3.0]
    )
    assert own.fit_.score == approx([0, 0], abs=1e-4) and own.fit_.log_likelihood == approx(found.log_likelihood)
    with pytest.raises(sf.InvalidData, match="one column"):
        sf.MaximumLikelihood("normal").fit([[0.0, 10.0], [0.0, 10.0]])
