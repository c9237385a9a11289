"""Items A37 to A72: kernels, SVM duality, model selection, VC theory, Bayesian scores, convex optimization."""

import numpy as np
import pytest
from scipy import stats

import surefit as sf

approx = pytest.approx
XOR, LABELS = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]]), np.array([-1, 1, 1, -1])


def test_A37():
    design = sf.ActiveDesign([[-3.0], [-2.0]], criterion="variance")
    assert design.scores([[-6.0], [0.0]]) == approx([25, 13])
    assert sf.ActiveDesign([[-3.0], [-2.0]]).scores([[-6.0], [0.0]]) == approx([13.0, 13.857], abs=5e-4)


def test_A38():
    counts = {(2, 2): 6, (2, 3): 10, (2, 4): 15, (2, 5): 21, (3, 2): 10, (3, 3): 20, (3, 4): 35, (3, 5): 56}
    for (d, p), count in counts.items():
        assert sf.KernelPolynomialFeatures(p).fit(np.ones((1, d))).n_output_features_ == count
    phi = sf.KernelPolynomialFeatures(4).fit_transform([[2.0], [3.0]])
    assert phi[0] == approx([1, np.sqrt(4) * 2, np.sqrt(6) * 4, np.sqrt(4) * 8, 16]) and phi[0] @ phi[1] == approx(7**4)


def test_A39():
    X, y, _ = sf.data.make_degree10()
    with pytest.warns(sf.DataWarning, match="all 11 rows"):
        model = sf.LinearRegression().fit(sf.PolynomialBasis(10, scale=True).fit_transform(X), y)
    assert model.interpolates_ and model.predict(sf.PolynomialBasis(10, scale=True).fit_transform(X)) == approx(y)


def test_A40():
    X = np.random.default_rng(0).standard_normal((8, 2))
    assert sf.check_kernel(sf.kernels.Polynomial(3), X).holds
    report = sf.check_kernel(sf.kernels.Precomputed(), np.array([[1.0, 1, 0], [1, 1, 1], [0, 1, 1]]))
    assert not report.holds and report.witness["value"] < 0


def test_A41():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((8, 2)), rng.standard_normal(8)
    model = sf.KernelRidge(0.7, kernel=sf.kernels.Polynomial(1)).fit(X, y)
    ridge = sf.Ridge(0.7, penalize_intercept=True).fit(X, y)
    assert model.predict(X) == approx(ridge.predict(X), abs=1e-10)
    alpha = 0.7 * np.linalg.solve(0.7 * np.eye(8) + X @ X.T + 1, y)
    assert y - model.predict(X) == approx(alpha) and model.objective_ == approx(y @ alpha)


def test_A42():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6, 2))
    one, two = sf.kernels.Linear(), sf.kernels.Polynomial(2)
    for kernel in (one + two, one * two, 3.0 * one):
        F = kernel.feature_map(X)
        assert F @ F.T == approx(kernel(X)) and sf.check_kernel(kernel, X).holds
    warped = sf.kernels.Warped(one, lambda A: A[:, 0])
    assert warped(X) == approx(np.outer(X[:, 0], X[:, 0]) * one(X))


def test_A43():
    assert sf.kernels.gaussian_density_product([0.3], [-0.9], gamma=0.85) == approx(0.2940516, abs=5e-8)
    K = sf.kernels.RBF(gamma=0.85)(np.array([[0.3], [-0.9]]))
    assert K[0, 1] == approx(0.2940516, abs=5e-8) and np.all(np.diag(K) == 1)


def test_A44():
    lam = 0.5
    kernel = sf.kernels.StringSubsequence(2, decay=lam, normalized=False)
    K = kernel(["car", "cat", "bar"])
    assert K[0, 1] == approx(lam**4) and K[0, 0] == approx(2 * lam**4 + lam**6) and K[1, 2] == 0
    assert sf.kernels.StringSubsequence(2, decay=lam)(["car", "cat"])[0, 1] == approx(4 / 9)


def test_A45():
    kernel = sf.kernels.StringSubsequence(3, decay=0.5, normalized=False)
    assert kernel(["segmentation"], ["set"])[0, 0] == approx(0.5**3 * 0.01953125)  # set is once in "set", with span 3


def test_A46():
    for lam, values in ((0.5, (3.75, 0.4813127518, 0.0855846405)), (1.0, (15, 50, 64))):
        found = [
            sf.kernels.StringSubsequence(n, decay=lam, normalized=False)(["segmentation"], ["statement"])[0, 0]
            for n in (1, 2, 3)
        ]
        assert found == approx(values, rel=1e-9)
    for n, value in zip(range(2, 7), (0.57981, 0.47845, 0.43887, 0.40575, 0.36916), strict=True):
        kernel = sf.kernels.StringSubsequence(n, decay=0.5)
        assert kernel(["science is organized knowledge"], ["wisdom is organized life"])[0, 0] == approx(value, abs=5e-6)


def test_A47():
    B = np.array([[0.0, 1.0], [1.0, 0.0]])
    nodes = np.array([[0], [1]])
    for lam in (0.7, -0.7):
        K = sf.kernels.Diffusion(B, lam)(nodes)
        assert K == approx(np.array([[np.cosh(lam), np.sinh(lam)], [np.sinh(lam), np.cosh(lam)]]))
    assert sf.kernels.Diffusion(B, 0.7)(nodes) @ sf.kernels.Diffusion(B, -0.7)(nodes) == approx(np.eye(2))


def test_A48():
    X, y, _ = sf.data.make_two_gaussians(60, random_state=1)
    model = sf.SVC(kernel="rbf", gamma=0.5, C=2.0, tol=1e-6).fit(X, y)
    report = sf.kkt_report(model, X, y)
    assert report.gap == approx(model.sample_gap_.sum(), abs=1e-6) and report.gap >= 0
    assert report.relative_gap <= 1e-5 and max(report.worst.values()) < 1e-2
    assert set(map(len, report.conditions.values())) == {60, 1}


def test_A49():
    X, y, _ = sf.data.make_four_points()
    model = sf.SVC(kernel="linear", C=4.0, tol=1e-10).fit(X, y)
    alpha = np.zeros(4)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    assert alpha == approx([0.8, 0, 3.2, 4], abs=1e-5)
    assert model.bound_support_.tolist() == [3] and set(model.free_support_) == {0, 2}


def test_A50():
    kernel = sf.kernels.Polynomial(2)
    X, y, _ = sf.data.make_ellipse(40, random_state=0)
    model = sf.SVC(kernel=kernel, C=1.0, tol=1e-8).fit(X, y)
    F, S = kernel.feature_map(X), kernel.feature_map(model.support_vectors_)
    w = model.dual_coef_[0] @ S
    assert F @ w + model.intercept_[0] == approx(model.decision_function(X), abs=1e-9)


def test_A51():
    model = sf.SVC(kernel="poly", degree=2, gamma=1.0, coef0=1.0, C=1.0, tol=1e-10).fit(XOR, LABELS)
    assert np.abs(model.dual_coef_[0]) == approx([1 / 8] * 4, abs=1e-7) and model.objective_ == approx(0.25, abs=1e-7)
    assert model.decision_function(XOR) == approx(-XOR[:, 0] * XOR[:, 1], abs=1e-6) and model.margin_[0] == approx(
        np.sqrt(2), abs=1e-6
    )
    small = sf.SVC(kernel="poly", degree=2, gamma=1.0, coef0=1.0, C=0.05, tol=1e-10).fit(XOR, LABELS)
    assert small.intercept_interval_[0] == approx([-0.6, 0.6], abs=1e-6)
    assert small.objective_ == approx(4 * 0.05 - 16 * 0.05**2, abs=1e-8)


def test_A52():
    X, y, _ = sf.data.make_xor(80, random_state=0)
    labels = sf.bounds.labelings(X[:6, :1], "stumps")
    assert sf.bounds.empirical_risk_minimum(labels, (y[:6] > 0).astype(int))[0] <= 0.5
    line, quadratic = (
        sf.SVC(kernel="poly", degree=p, gamma=1.0, coef0=1.0, C=100.0).fit(X, y).score(X, y) for p in (1, 2)
    )
    assert quadratic > line


def test_A53():
    assert sf.bounds.hoeffding(n=1000, delta=0.05).radius == approx(0.04295, abs=5e-6)
    n = sf.bounds.hoeffding(radius=0.05, delta=0.05).n
    assert n == int(np.ceil(np.log(2 / 0.05) / (2 * 0.05**2)))
    for mu in (0.2, 0.5):
        tail = stats.binom.sf(int(100 * (mu + 0.1)), 100, mu) + stats.binom.cdf(
            int(np.ceil(100 * (mu - 0.1))) - 1, 100, mu
        )
        assert tail <= sf.bounds.hoeffding(n=100, radius=0.1).delta


def test_A54():
    assert sf.bounds.finite_class(100, n=1000, delta=0.05).radius == approx(0.064397, abs=5e-7)
    assert sf.bounds.finite_class(1, n=1000, delta=0.05).radius == approx(
        sf.bounds.hoeffding(n=1000, delta=0.05).radius
    )


def test_A55():
    def deviation(k, delta):
        return sf.bounds.finite_class(10 ** (k + 1), n=1000, delta=delta)

    plain = sf.bounds.structural_risk([0.3, 0.2, 0.199], deviation, 0.05, "none")
    union = sf.bounds.structural_risk([0.3, 0.2, 0.199], deviation, 0.05, "union")
    assert plain.best == union.best == 1 and union.bound.value > plain.bound.value


def test_A56():
    for n in range(1, 7):
        assert len(sf.bounds.labelings(np.arange(n)[:, None], "stumps").labels) == 2 * n


def test_A57():
    assert [sf.bounds.sauer(n, 2) for n in range(1, 7)] == [2, 4, 7, 11, 16, 22]
    assert sf.bounds.vc_dimension("stumps") == 2 and sf.bounds.vc_dimension("half_spaces", d=2) == 3
    assert np.exp(sf.bounds.log_growth(10, 2, "euler")) == approx((np.e * 10 / 2) ** 2)


def test_A58():
    stumps = sf.bounds.set_class("stumps")
    radii = [sf.bounds.vc(stumps, n=n, delta=0.05).radius for n in (10**3, 10**4, 10**5, 10**6)]
    assert radii == approx([0.6369, 0.2189, 0.07436, 0.02503], abs=5e-5)
    assert sf.bounds.vc(2, n=1000, delta=0.05, form="euler").radius == approx(0.7900, abs=5e-5)


def test_A59():
    wrong = (np.random.default_rng(0).random((8, 10)) < 0.4).astype(float)
    complexity = sf.bounds.empirical_rademacher(wrong, absolute=True)
    assert complexity.exact and 0 <= complexity.value <= 1
    assert 2 * 2 * 2 * np.exp(-1000 * 0.5**2 / 32) == approx(sf.bounds.vc(0, n=1000, radius=0.5).delta, rel=1e-6)


def test_A60():
    points = sf.FiniteDistribution([0, 1, 2], [0.5, 0.3, 0.2]), sf.FiniteDistribution([0, 1, 2], [0.1, 0.2, 0.7])
    world = sf.ClassDistribution([0.6, 0.4], points)
    best = world.bayes_risk()
    assert best.how == "exact" and best.value == approx(1 - (0.3 + 0.18 + 0.28))
    from itertools import product

    risks = [
        world.risk(lambda x, rule=rule: np.array(rule)[x[:, 0].astype(int)]).value for rule in product((0, 1), repeat=3)
    ]
    assert min(risks) == approx(best.value)
    assert sf.ClassDistribution.gaussian([[1.0, 1.0], [-1.0, -1.0]], 0.5).bayes_risk().value == approx(
        0.0227501319, abs=1e-9
    )


def test_A61():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((9, 2)), rng.standard_normal(9)
    model = sf.BayesianLinearRegression(noise_variance=0.5, prior_variance=2.0, fit_intercept=False).fit(X, y)
    A = np.linalg.inv(X.T @ X + 0.25 * np.eye(2))
    assert model.coef_ == approx(A @ X.T @ y)
    assert model.coef_ == approx(sf.Ridge(0.25, fit_intercept=False).fit(X, y).coef_)
    _, std = model.predict([[1.0, 2.0]], return_std=True)
    assert std[0] ** 2 == approx(0.5 + 0.5 * np.array([1, 2]) @ A @ [1, 2])


def test_A62():
    hand = sf.BayesianLinearRegression(noise_variance=1.0, prior_variance=1.0, fit_intercept=False).fit([[1.0]], [2.0])
    assert hand.log_evidence_ == approx(-2.265512, abs=5e-7)
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((7, 3)), rng.standard_normal(7)
    model = sf.BayesianLinearRegression(noise_variance=0.7, prior_variance=1.3, fit_intercept=False).fit(X, y)
    exact = stats.multivariate_normal(np.zeros(7), 0.7 * np.eye(7) + 1.3 * X @ X.T).logpdf(y)
    assert model.log_evidence_ == approx(exact)


def test_A63():
    X, y, _ = sf.data.make_polynomial(30, random_state=0)
    degrees = {k: sf.PolynomialBasis(k) for k in (1, 2, 9)}
    selector = sf.EvidenceSelector(degrees, noise_variance=1.0, prior_variance=10.0).fit(X, y)
    assert selector.results_[selector.best_index_].name in (2, "2")


def test_A64():
    assert sf.bic(-50, 6, 100) > sf.bic(-100, 3, 100)
    n = np.exp(100 / 3)
    assert sf.bic(-50, 6, n) == approx(sf.bic(-100, 3, n)) and n == approx(2.9956e14, rel=1e-4)
    assert sf.bic(-50, 6, 100) == approx(-50 - 3 * np.log(100))


def test_A65():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((6, 2)), rng.standard_normal(6)

    def log_joint(w):
        return stats.norm.logpdf(y, X @ w, 1).sum() + stats.norm.logpdf(w).sum()

    model = sf.BayesianLinearRegression(noise_variance=1.0, prior_variance=1.0, fit_intercept=False).fit(X, y)
    assert sf.laplace_approximation(log_joint, [0.0, 0.0]).log_integral == approx(model.log_evidence_, abs=1e-5)


def test_A66():
    program = sf.duality.LinearProgram([1.0, 2.0], [[1.0, 1.0]], [1.0])
    gap = sf.weak_duality(program, [0.5, 0.5], multipliers=[0.0, 1.0], equality_multipliers=[-1.0])
    assert gap.primal == 1.5 and gap.dual == 1.0 and gap.gap == 0.5
    assert sf.weak_duality(program, [2.0, 2.0], [0.0, 1.0], [-1.0]).primal == np.inf


def test_A67():
    program = sf.duality.LinearProgram([1.0, 2.0], [[1.0, 1.0]], [1.0])
    assert sf.kkt_report(program, [1.0, 0.0], [0.0, 1.0], [-1.0]).optimal()


def test_A68():
    rho = 0.6
    program = sf.duality.DeterminantCompletion(np.array([[1, rho, 0], [rho, 1, rho], [0, rho, 1]]), 1)
    K = program.solve().x
    assert K[0, 2] == approx(rho**2) and np.linalg.inv(K)[0, 2] == approx(0, abs=1e-9)
    assert np.linalg.slogdet(K)[1] == approx(2 * np.log(1 - rho**2))


def test_A69():
    program = sf.duality.QuadraticProgram([[2.0]], [[1.0]], [2.0])
    optimum = program.solve()
    assert program.objective(optimum.x) == approx(4) and optimum.multipliers == approx([4])
    assert sf.kkt_report(program, *optimum).optimal()


def test_A70():
    X, y, _ = sf.data.make_four_points()
    model = sf.SVC(kernel="linear", C=np.inf, tol=1e-9).fit(X, y)
    total = np.abs(model.dual_coef_).sum()
    assert total == approx(model.coef_[0] @ model.coef_[0], rel=1e-6) and model.objective_ == approx(
        total / 2, rel=1e-6
    )
    assert sf.kkt_report(model, X, y).gap == approx(0, abs=1e-5)


def test_A71():
    program, x, multiplier = sf.duality.nearest_to_origin(3.0)
    report = sf.kkt_report(program, x, multiplier)
    assert report.optimal() and report.slater_point is not None
    assert not sf.kkt_report(program, [4.0], [-4.0]).optimal()


def test_A72():
    for power, diagonal, value in ((2.0, (1.5, 0.5), np.log(6.25)), (0.5, (0.5, 0.0), np.log(3))):
        program = sf.duality.WaterFilling(np.diag([1.0, 2.0]), power)
        optimum = program.solve()
        assert np.diag(optimum.x) == approx(diagonal) and -program.objective(optimum.x) == approx(value)
        assert sf.kkt_report(program, *optimum).optimal(1e-8)
