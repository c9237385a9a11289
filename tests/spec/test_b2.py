"""Items B22 to B43: kernels, regularization, splines, Gaussian processes."""

import numpy as np
import pytest
from scipy import stats

import surefit as sf

approx = pytest.approx


def test_B22():
    X = np.random.default_rng(0).standard_normal((4, 3))
    kernel = sf.kernels.Polynomial(4, coef0=0.7)
    F = kernel.feature_map(X)
    assert F.shape[1] == 35 and F @ F.T == approx(kernel(X))
    with pytest.warns(sf.DataWarning, match="not positive semidefinite"):
        values = np.linalg.eigvalsh(sf.kernels.Sigmoid(1.0, 0.0)([[1.0], [2.0]]))
    assert values == approx([-0.0909, 1.8518], abs=5e-5)
    with pytest.warns(sf.DataWarning):
        assert not sf.check_kernel(sf.kernels.Sigmoid(1.0, 0.0), [[1.0], [2.0]]).holds


def test_B23():
    rng = np.random.default_rng(0)
    f = sf.RKHSFunction(sf.kernels.RBF(), rng.standard_normal((4, 2)), rng.standard_normal(4))
    x = np.array([0.3, -0.2])
    assert f.inner(sf.RKHSFunction.section(sf.kernels.RBF(), x)) == approx(f(x[None])[0])
    assert abs(f(x[None])[0]) <= f.norm()


def test_B24():
    pairs = sf.kernels.Min().eigenpairs(20)
    x = np.linspace(0, 1, 301)[:, None]
    worst = np.abs(sf.kernels.Min()(x) - pairs.kernel(x, x)).max()
    assert worst == approx(0.010130, abs=2e-6) and worst <= sf.kernels.brownian_truncation_bound(20)
    f = sf.RKHSFunction(sf.kernels.Min(), [[0.2], [0.7]], [1.0, -2.0])
    values = f([[0.2], [0.7]])
    assert f.norm() ** 2 == approx(values[0] ** 2 / 0.2 + (values[1] - values[0]) ** 2 / 0.5)


@pytest.mark.parametrize(
    ("n", "k", "bound"),
    [(2, 7, 24), (3, 19, 80), (4, 27, 168), (5, 55, 288), (6, 63, 440), (8, 117, 840), (10, 187, 1368)],
)
def test_B25(n, k, bound):
    X, y, truth = sf.data.make_alternating(n)
    model = sf.KernelPerceptron(kernel=lambda A, B: np.minimum(A, B.T), order="cyclic", tol=None).fit(X, y)
    assert model.n_updates_ == k and truth["novikoff_bound"] == bound
    assert truth["square_norm"] == (2 * n - 1) ** 2 and truth["square_norm_with_constant"] == 2 * (n - 1) * (2 * n - 1)


def test_B26():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 2)), np.where(rng.random(20) > 0.5, 1, -1)
    lam = 0.05
    model = sf.SVC(kernel="rbf", gamma=1.0, C=1 / (2 * 20 * lam), fit_intercept=False, tol=1e-8).fit(X, y)
    hinge = np.maximum(0, 1 - y * model.decision_function(X)).mean()
    assert hinge + lam * model.rkhs_norm_[0] ** 2 <= 1 and model.rkhs_norm_[0] ** 2 <= 1 / lam
    assert sf.kkt_report(model, X, y).relative_gap < 1e-6 and np.mean(y * model.decision_function(X) <= 0) <= hinge


def test_B27():
    rng = np.random.default_rng(0)
    X, y, lam = rng.standard_normal((6, 1)), rng.standard_normal(6), 0.3
    kernel = sf.kernels.RBF(gamma=1.0)
    extra = sf.RKHSFunction.section(kernel, [2.5])
    orthogonal = extra - sf.RKHSFunction.interpolating(kernel, X, extra(X))
    assert orthogonal(X) == approx(np.zeros(6), abs=1e-9)
    labels = np.where(y > 0, 1.0, -1.0)
    for loss, t in (("squared_error", y), ("absolute_error", y), ("hinge", labels), ("logistic", labels)):
        # mean loss + lam |h|^2 for any convex loss: alpha / 2 = lam
        model = sf.KernelModel(loss, kernel, alpha=2 * lam, fit_intercept=False, tol=1e-9).fit(X, t)
        best = sf.RKHSFunction(kernel, X, np.ravel(model.dual_coef_))
        risk = {
            "squared_error": lambda f: 0.5 * np.mean((y - f) ** 2),
            "absolute_error": lambda f: np.mean(np.abs(y - f)),
            "hinge": lambda f: np.mean(np.maximum(0, 1 - labels * f)),
            "logistic": lambda f: np.mean(np.log1p(np.exp(-labels * f))),
        }[loss]
        value = [risk(f(X)) + lam * f.norm() ** 2 for f in (best, best + orthogonal)]
        assert value[1] - value[0] == approx(lam * orthogonal.norm() ** 2, abs=1e-9)
        objective = model.certificate_["kernel_model.gap"].numbers["objective"]
        assert objective == approx(value[0]) and model.verify(X, t)["kernel_model.gap"].level == "enclosed"
    # with the kernel min(s, t) the solution is piecewise linear with knots at the rows only
    x = np.array([0.1, 0.3, 0.4, 0.8, 0.9])
    spline = sf.KernelModel("huber", sf.kernels.Min(), alpha=0.1, fit_intercept=False).fit(x[:, None], y[:5])
    grid = np.linspace(0, 1, 101)
    knots = np.r_[0, x, 1.0]
    assert spline.predict(grid[:, None]) == approx(np.interp(grid, knots, np.r_[0, spline.predict(knots[1:, None])]))


def test_B28():
    m0, m1 = np.array([0.5, -1.0]), np.array([1.0, 1.5])
    X = np.random.default_rng(0).standard_normal((20, 2))
    r = 2 * sf.ClassDistribution.gaussian([m0, m1], 1.0).posterior(X)[:, 1] - 1
    t = 0.5 * (X @ (m1 - m0) + 0.5 * (m0 @ m0 - m1 @ m1))
    assert r == approx(np.tanh(t)) and np.all(np.abs(r - t) <= np.abs(t) ** 3 / 3 + 1e-14)


def test_B29():
    rng = np.random.default_rng(0)
    x, y = np.sort(rng.random(9))[:, None], rng.standard_normal(9)
    model = sf.KernelRidge(9 * 0.01, kernel=sf.kernels.Min(), null_space="constant").fit(x, y)
    f = model.predict(x)
    assert model.dual_coef_ == approx((y - f) / (9 * 0.01)) and model.dual_coef_.sum() == approx(0, abs=1e-9)
    moved = sf.KernelRidge(9 * 0.01, kernel=sf.kernels.Min(), null_space="constant").fit(x, y + 4)
    assert moved.predict(x) == approx(f + 4)
    # linear functions are free: the bordered system of the item, and its optimal value lam alpha'y
    lam, K, T = 0.01, np.minimum.outer(x[:, 0], x[:, 0]), np.column_stack([np.ones(9), x])
    system = np.block([[K + 9 * lam * np.eye(9), T], [T.T, np.zeros((2, 2))]])
    alpha = np.linalg.solve(system, np.r_[y, 0, 0])[:9]
    free = sf.KernelRidge(9 * lam, kernel=sf.kernels.Min(), null_space="linear").fit(x, y)
    assert free.dual_coef_ == approx(alpha) and free.objective_ / 9 == approx(lam * alpha @ y)
    # the hinge: 0 <= beta <= 1/n and T'(beta y) = 0, with alpha = beta y / (2 lam)
    labels = np.where(y > 0, 1.0, -1.0)
    svm = sf.KernelModel("hinge", sf.kernels.Min(), alpha=2 * lam, null_space="linear", tol=1e-9).fit(x, labels)
    beta = 2 * lam * svm.dual_coef_[0] * labels
    assert np.all((beta >= -1e-9) & (beta <= 1 / 9 + 1e-9)) and T.T @ (beta * labels) == approx(np.zeros(2), abs=1e-9)
    primal = (
        np.mean(np.maximum(0, 1 - labels * svm.decision_function(x))) + lam * svm.dual_coef_[0] @ K @ svm.dual_coef_[0]
    )
    dual = np.sum(beta) - (beta * labels) @ K @ (beta * labels) / (4 * lam)
    assert primal == approx(dual, abs=1e-7) and svm.dual_gap_ <= 1e-8
    with pytest.raises(sf.InvalidData, match="linearly dependent"):  # linear functions need two distinct points
        sf.KernelModel("hinge", null_space="linear").fit([[0.5], [0.5], [0.5]], [0, 1, 1])


def test_B30():
    x, lam = np.array([0.1, 0.3, 0.4, 0.8, 0.9]), 0.02
    y = np.array([1.0, -1.0, 2.0, 0.5, 0.0])
    K = np.minimum.outer(x, x)
    spline = sf.SmoothingSpline(1, lam=lam, form="special").fit(x, y)
    ridge = sf.KernelRidge(5 * lam, kernel=sf.kernels.Min()).fit(x[:, None], y)
    dense = K @ np.linalg.solve(K + 5 * lam * np.eye(5), y)
    assert spline.fitted_values_ == approx(dense) and ridge.predict(x[:, None]) == approx(dense)
    assert np.linalg.det(K) == approx(np.prod(np.diff(np.append(0, x)))) and spline.predict([0.0]) == approx([0])


def test_B31():
    n, lam = 50, 1e-3
    x = np.arange(1, n + 1) / n
    model = sf.SmoothingSpline(1, lam=lam, form="special").fit(x, np.sin(x))
    factors = sf.filter_factors(model)
    assert factors[[0, 1, 4]] == approx([0.99759, 0.97871, 0.83707], abs=1e-5)
    limit = np.asarray(sf.sine_filter_factors(lam, 5)).ravel()
    assert limit[[0, 1, 4]] == approx([0.99754, 0.97828, 0.83343], abs=1e-5)


def test_B32():
    x = np.array([0.1, 0.3, 0.4, 0.8])
    H = sf.hat_matrix(sf.SmoothingSpline(1, lam=0.02), x[:, None])
    gaps = 1 / np.diff(x)
    L = np.diag(np.append(gaps, 0) + np.append(0, gaps)) - np.diag(gaps, 1) - np.diag(gaps, -1)
    assert H == approx(np.linalg.inv(np.eye(4) + 4 * 0.02 * L)) and H @ np.ones(4) == approx(np.ones(4))
    assert np.sum(np.isclose(np.linalg.eigvalsh(H), 1)) == 1


def test_B33():
    kernel = sf.kernels.IntegratedBrownian()
    assert kernel([[0.3]], [[0.7]])[0, 0] == approx(0.027) and kernel([[0.6]])[0, 0] == approx(0.6**3 / 3)
    from scipy.interpolate import make_smoothing_spline

    x = np.linspace(0, 1, 12)
    y = np.cos(5 * x)
    model = sf.SmoothingSpline(3, lam=1e-3).fit(x, y)
    assert model.fitted_values_ == approx(make_smoothing_spline(x, y, lam=12 * 1e-3)(x), abs=1e-10)


def test_B34():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    model = sf.LogisticRegression(C=np.inf, tol=1e-12).fit(X, y)
    p = model.predict_proba(X)[:, 1]
    assert (y - p).sum() == approx(0, abs=1e-6) and (y - p) @ X[:, 0] == approx(0, abs=1e-6)
    assert np.array_equal(model.predict(X) == 1, p > 0.5)


def test_B35():
    X, y, _ = sf.data.make_two_gaussians(60, random_state=0)
    model = sf.FisherDiscriminant().fit(X, y)
    form = model.to_logistic()
    u = X @ form.coef[0] + form.intercept[0]
    assert form.probabilities(X)[:, 1] == approx(0.5 * (np.tanh(u / 2) + 1)) and np.array_equal(
        u > 0, model.predict(X) == 1
    )


def test_B36():
    X, y, _ = sf.data.make_two_gaussians(40, random_state=0)
    lam = 0.8
    model = sf.KernelLogisticRegression(C=1 / (2 * lam), kernel="linear", fit_intercept=False, tol=1e-12).fit(X, y)
    linear = sf.LogisticRegression(C=1 / (2 * lam), fit_intercept=False, tol=1e-12).fit(X, y)
    assert model.decision_function(X) == approx(linear.decision_function(X), abs=1e-4)
    f = model.decision_function(X)
    assert f == approx(X @ X.T @ ((y == 1) - sf.sigmoid(f)) / (2 * lam), abs=1e-4)


def test_B37():
    t, w, truth = sf.data.make_brownian(10, n_paths=8000, terms=20, random_state=0)
    assert (
        np.abs(truth["covariance"] - np.minimum(t, t.T)).max()
        <= truth["truncation_bound"]
        == approx(2 / (np.pi**2 * 20))
    )
    assert np.cov(w, bias=True) == approx(truth["covariance"], abs=0.05)
    assert [sf.kernels.norm_tail_bound(m, 5) for m in (20, 50, 100)] == approx([0.1778, 0.0494, 0.0222], abs=5e-5)
    assert stats.chi2(20).cdf(5) == approx(0.000277, abs=5e-7)


def test_B38():
    rng = np.random.default_rng(0)
    x, y = np.sort(rng.random(8)), rng.standard_normal(8)
    process = sf.WienerProcessRegressor(1, variance=2.0, noise=0.3).fit(x, y)
    spline = sf.SmoothingSpline(1, lam=0.3 / (8 * 2.0), form="special").fit(x, y)
    assert process.predict(x) == approx(spline.predict(x), abs=1e-10)


def test_B39():
    rng = np.random.default_rng(1)
    x, y = np.sort(rng.random(8)), rng.standard_normal(8)
    process = sf.WienerProcessRegressor(2, variance=2.0, noise=0.3).fit(x, y)
    spline = sf.SmoothingSpline(3, lam=0.3 / (8 * 2.0), form="special").fit(x, y)
    assert process.predict(x) == approx(spline.predict(x), abs=1e-8)
    assert sf.kernels.IntegratedBrownian()([[1.0]])[0, 0] == approx(1 / 3)


def test_B40():
    X, y, _ = sf.data.make_two_gaussians(30, random_state=0)
    kernel = 2.0 * sf.kernels.RBF(np.sqrt(0.5))
    process = sf.GaussianProcessClassifier(kernel, optimizer=None).fit(X, y)
    machine = sf.KernelLogisticRegression(C=1.0, kernel=kernel, fit_intercept=False, tol=1e-12).fit(X, y)
    assert process.latent_mean_and_variance(X)[0].ravel() == approx(machine.decision_function(X), abs=1e-4)


def test_B41():
    assert sf.logistic_normal_mean(0.3, 4.0) > 0.5 > sf.logistic_normal_mean(-0.3, 4.0)
    X, y, _ = sf.data.make_two_gaussians(30, random_state=0)
    process = sf.GaussianProcessClassifier(sf.kernels.RBF(), optimizer=None).fit(X, y)
    far = process.predict_proba([[1000.0, 1000.0]])
    assert far == approx(np.array([[0.5, 0.5]]), abs=1e-6)


def test_B42():
    X = np.array([[1.0, 1.0], [2.0, 0.5], [0.5, 2.0]])
    X, y = np.vstack([X, -X]), np.repeat([1, 0], 3)
    laplace = sf.BayesianLogisticRegression().fit(X, y)
    grid = sf.BayesianLogisticRegression(method="grid").fit(X, y)
    assert laplace.posterior_mean_ == approx([0.84720, 0.84720], abs=1e-5)
    assert grid.posterior_mean_ == approx([0.9826, 0.9826], abs=1e-4)
    assert grid.predict_proba([[1.0, 0.0], [1.0, 1.0], [1.0, -1.0]])[:, 1] == approx([0.70568, 0.84761, 0.5], abs=1e-5)
    Z = np.array([[2, 0.2], [1, 0.5], [3, -0.5], [-0.3, -2], [-1, -3], [0.2, -1]])
    turned = sf.BayesianLogisticRegression(method="grid").fit(Z, [1, 1, 1, 0, 0, 0])
    mean = turned.posterior_mean_
    assert mean == approx([1.0365, 0.9449], abs=1e-4)
    base = np.arctan2(mean[1], mean[0]) + np.pi / 2
    for radius, angle in ((1, 0.07), (10, 0.40), (100, 0.4330)):
        ends = [
            radius * np.array([np.cos(base + a), np.sin(base + a)]) for a in np.radians([angle - 0.01, angle + 0.01])
        ]
        p = turned.predict_proba(ends)[:, 1]
        assert (p[0] - 0.5) * (p[1] - 0.5) < 0  # the boundary crosses within a hundredth of a degree


def test_B43():
    x = np.array([[0.2, 0.3], [0.6, 0.9]])
    values = [sf.kernels.RBF(np.sqrt(length))(x)[0, 1] for length in (0.1, 0.2, 0.3)]
    assert values[0] < values[1] < values[2]
    assert values[0] == approx(np.exp(-np.sum((x[0] - x[1]) ** 2) / 0.2))
