"""Items D01 to D34: linear regression, bases, regularization, gradient descent, likelihood, bias and variance."""

import numpy as np
import pytest
from scipy import stats
from sklearn.pipeline import make_pipeline

import surefit as sf

approx = pytest.approx
THREE, LEVELS = np.array([[1.0], [2.0], [3.0]]), np.array([2.0, 2.0, 4.0])


def test_D01():
    plain = sf.LinearRegression().fit(THREE, LEVELS)
    lifted = sf.LinearRegression(fit_intercept=False).fit(sf.augment(THREE), LEVELS)
    coef, intercept = sf.split_augmented(lifted.coef_)
    assert (coef[0], intercept) == approx((plain.coef_[0], plain.intercept_))
    assert (
        sf.describe(sf.SVC())[2] == "hinge" and sf.describe(sf.LinearRegression).hypothesis_class == "affine functions"
    )


def test_D02():
    model = sf.LinearRegression().fit(THREE, LEVELS)
    x, z, a = np.array([[0.3]]), np.array([[2.2]]), 0.4
    assert model.predict(a * x + (1 - a) * z) == approx(a * model.predict(x) + (1 - a) * model.predict(z))


def test_D03():
    ones, y = np.ones((3, 1)), np.array([0.0, 0.0, 10.0])
    squares = sf.LinearRegression(fit_intercept=False).fit(ones, y)
    assert squares.coef_[0] == approx(10 / 3) and np.mean((y - squares.predict(ones)) ** 2) == approx(200 / 9)
    for far in (10.0, 1000.0):
        lad = sf.LeastAbsoluteDeviations(fit_intercept=False).fit(ones, [0.0, 0.0, far])
        assert lad.coef_[0] == approx(0, abs=1e-9)


def test_D04():
    model = sf.LinearRegression().fit(THREE, LEVELS)
    assert (model.coef_[0], model.intercept_) == approx((1, 2 / 3))
    Z, w = sf.augment(THREE), np.array([0.4, 1.0])
    best = np.append(model.coef_, model.intercept_)
    rss = [np.sum((LEVELS - Z @ v) ** 2) for v in (w, best)]
    assert rss[0] - rss[1] == approx(np.sum((Z @ (w - best)) ** 2))


def test_D05():
    x = THREE[:, 0]
    slope = np.sum((x - x.mean()) * (LEVELS - LEVELS.mean())) / np.sum((x - x.mean()) ** 2)
    assert sf.LinearRegression().fit(THREE, LEVELS).coef_[0] == approx(slope)
    with pytest.warns(sf.DataWarning, match="constant"):
        model = sf.LinearRegression().fit(np.ones((3, 1)), LEVELS)
    assert (model.coef_[0], model.intercept_) == approx((0, LEVELS.mean()))


def test_D06():
    x = np.linspace(-1, 1, 9)[:, None]
    y = 1 - 2 * x[:, 0] + 3 * x[:, 0] ** 2
    path = sf.degree_path(x, y, 3)
    assert path.training_errors[2] == approx(0, abs=1e-20) and path.training_errors[1] > 0.1
    assert np.all(np.diff(path.training_errors) <= 1e-15)


def test_D07():
    radial = sf.RadialBasis(np.array([[0.0]]), widths=2.0).fit_transform([[0.0], [2.0]])
    assert radial.ravel()[:2] == approx([1, np.exp(-1)])
    x = np.arange(8)[:, None] / 8
    F = np.column_stack([np.ones(8), sf.FourierBasis(2, period=1.0).fit_transform(x)])
    assert F.T @ F == approx(np.diag([8, 4, 4, 4, 4]), abs=1e-12)
    assert sf.HingeBasis([0.5]).fit_transform([[0.2], [0.9]])[:, -1] == approx([0, 0.4])


def test_D08():
    split = sf.three_way_split(100, random_state=0)
    rows = np.concatenate([split.train, split.dev, split.use_test("final error")])
    assert sorted(rows) == list(range(100)) and split.test_uses == ["final error"]
    _, high = split.interval(np.full(split.n_test, 0.3), upper=1.0, delta=0.05)[:2]
    assert high - 0.3 == approx(np.sqrt(np.log(2 / 0.05) / (2 * split.n_test)))


def test_D09():
    assert sf.bounds.random_search(n=60, fraction=0.05).delta == approx(0.95**60)
    assert 1 - 0.95**60 == approx(0.954, abs=5e-4)


def test_D10():
    x = np.linspace(-1, 1, 8)[:, None]
    y = x[:, 0] + 0.1 * np.cos(40 * x[:, 0])
    path = sf.degree_path(x, y, 7)
    assert path.training_errors[7] == approx(0, abs=1e-16) and path.training_errors[1] > 0


def test_D11():
    X, y, truth = sf.data.make_degree10()
    grid = np.linspace(-5, 5, 2001)[:, None]
    row = truth["moved_row"]
    assert (X[row, 0], y[row], sf.data.make_degree10(moved=True).y[row]) == (0, 13, 8)
    curve = sf.hat_matrix(make_pipeline(sf.PolynomialBasis(10, scale=True), sf.LinearRegression()), X, at=grid)[:, row]
    line = sf.hat_matrix(sf.LinearRegression(), X)[:, row]
    assert np.abs(curve).max() == approx(6.146, abs=1e-3) and 5 * np.abs(line).max() == approx(0.4545, abs=5e-5)
    before, after = (sf.degree_path(X, sf.data.make_degree10(moved=m).y, 10).predict(grid, degree=10) for m in (0, 1))
    assert np.abs(before - after).max() == approx(30.73, abs=0.01)  # the datum moved by 5
    ends = sf.hat_matrix(sf.LinearRegression(), np.arange(11.0)[:, None])[:, 0]
    assert np.abs(ends).max() == approx(0.318, abs=5e-4)  # nodes 0..10: 0 is an end


def test_D12():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (30, 1))
    y = np.sin(3 * x[:, 0])
    path = sf.degree_path(x, y, 5)
    for k in (1, 4):
        refit = make_pipeline(sf.PolynomialBasis(k), sf.LinearRegression()).fit(x, y)
        assert path.predict(x, degree=k) == approx(refit.predict(x), abs=1e-9)


def test_D13():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 3)), rng.standard_normal(20)
    for model in (sf.Ridge(), sf.Lasso(tol=1e-10)):
        path = sf.penalty_path(model, X, y, np.geomspace(1e-3, 10, 6))
        assert path.monotone
    assert sf.Ridge(1e9).fit(X, y).predict(X) == approx(np.full(20, y.mean()), abs=1e-5)


def test_D14():
    rng = np.random.default_rng(1)
    X, y, lam = rng.standard_normal((10, 3)), rng.standard_normal(10), 0.7
    model = sf.Ridge(lam, fit_intercept=False).fit(X, y)
    assert model.coef_ == approx(X.T @ np.linalg.solve(X @ X.T + lam * np.eye(10), y))
    ball = sf.Ridge(radius=np.linalg.norm(model.coef_), fit_intercept=False).fit(X, y)
    assert ball.coef_ == approx(model.coef_, abs=1e-6)
    value = np.sum((y - X @ model.coef_) ** 2) + lam * model.coef_ @ model.coef_
    assert value == approx(lam * y @ np.linalg.solve(X @ X.T + lam * np.eye(10), y))


def test_D15():
    X = np.column_stack([np.arange(5.0), np.arange(5.0)])
    report = sf.design_report(X, fit_intercept=False, alpha=0.3)
    assert report.eigenvalues[0] >= 0.3 and report.condition_number <= report.condition_bound * (1 + 1e-12)
    w = sf.Ridge(0.3, fit_intercept=False).fit(X, [1.0, 2, 2, 4, 5]).coef_
    assert w[0] == approx(w[1])


def test_D16():
    rng = np.random.default_rng(0)
    X, y, lam = rng.standard_normal((15, 3)), rng.standard_normal(15), 4.0
    descent = sf.Lasso(alpha=lam / 30, tol=1e-12).fit(X, y)
    proximal = sf.proximal_lasso(X, y, lam / 30)
    program = sf.duality.lasso_program(X, y, lam)
    x = program.solve().x
    assert proximal.coef == approx(descent.coef_, abs=1e-5) and x[:3] - x[3:6] == approx(descent.coef_, abs=1e-5)
    plain = sf.proximal_lasso(X, y, lam / 30, accelerated=False)
    assert np.all(np.diff(plain.history) <= 1e-12) and proximal.gap <= 1e-9
    assert sf.kkt_report(descent, X, y).optimal(1e-6)
    largest = 2 * np.abs(X.T @ (y - y.mean())).max()  # lambda_max; the intercept is free
    assert not np.any(sf.Lasso(largest / 30 * (1 + 1e-9)).fit(X, y).coef_)
    assert np.any(sf.Lasso(largest / 30 * 0.99).fit(X, y).coef_)
    Q = np.linalg.qr(X)[0]
    soft = np.sign(Q.T @ y) * np.maximum(np.abs(Q.T @ y) - 0.15, 0)  # orthonormal columns: threshold lambda / 2
    assert sf.Lasso(0.3 / 30, fit_intercept=False, tol=1e-12).fit(Q, y).coef_ == approx(soft, abs=1e-7)


def test_D17():
    lasso = sf.Lasso(alpha=1 / 4, fit_intercept=False, tol=1e-12).fit(np.eye(2), [3.0, 0.4])
    ridge = sf.Ridge(1.0, fit_intercept=False).fit(np.eye(2), [3.0, 0.4])
    assert lasso.coef_ == approx([2.5, 0]) and ridge.coef_ == approx([1.5, 0.2])


def test_D18():
    outcome = sf.GradientDescent(step=0.1).minimize(sf.optimizers.Quadratic([[2.0]], [1.0]), np.zeros(1))
    steps = np.linalg.norm(np.diff(outcome.path, axis=0), axis=1)
    assert steps == approx(0.1 * outcome.history[:-1, 2], abs=1e-12)


def test_D19():
    problem = sf.optimizers.Quadratic([[2.0, 0.0], [0.0, 1.0]], [1.0, 1.0])
    outcome = sf.GradientDescent(step=0.4).minimize(problem, np.zeros(2))
    best = problem.value(np.array([0.5, 1.0]))
    assert outcome.converged and outcome.value - best <= outcome.gap + 1e-15
    assert outcome.gap == approx(outcome.gradient_norm**2 / 2)
    short = sf.GradientDescent(step=1e-4, max_iter=3)
    with pytest.warns(Warning):
        assert not short.minimize(problem, np.zeros(2)).converged


def test_D20():
    mse = sf.optimizers.LinearScores([[1.0]], [1.0], sf.losses.Lp(2.0), fit_intercept=False)
    assert mse.smoothness == 2.0
    one = sf.GradientDescent(step=0.5).minimize(mse, np.zeros(1))
    assert one.w == approx([1]) and one.n_iter <= 2
    design = sf.design_report(THREE)
    assert design.eigenvalues == approx([0.36059, 16.63941], abs=5e-6)
    slow = sf.optimizers.LinearScores(THREE, LEVELS, sf.losses.Lp(2.0))
    assert 2 / (slow.smoothness + slow.strong_convexity) == approx(0.176471, abs=5e-7)


def test_D21():
    X = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    problem = sf.optimizers.LinearScores(X, LEVELS, sf.losses.Lp(2.0), fit_intercept=False)
    outcome = sf.GradientDescent(stopping=sf.optimizers.GradientNorm(1e-10)).minimize(problem, np.zeros(2))
    assert outcome.w == approx(np.linalg.pinv(X) @ LEVELS, abs=1e-9) and np.isfinite(outcome.gap)
    limit = sf.optimizers.LinearScores(THREE, LEVELS, sf.losses.Lp(2.0))
    assert 2 / limit.smoothness == approx(0.180295, abs=5e-7)


def test_D22():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((8, 2)), rng.standard_normal(8)
    f = sf.optimizers.LinearScores(X, y, sf.losses.Squared())
    w = rng.standard_normal(3)
    rows = [f.batch_gradient(w, np.array([i])) for i in range(8)]
    assert np.mean(rows, axis=0) == approx(f.gradient(w))
    batch = sf.StochasticGradientDescent(step=0.1, batch_size=8, max_iter=5, stopping=sf.optimizers.GradientNorm(0.0))
    full = sf.GradientDescent(step=0.1, max_iter=5, stopping=sf.optimizers.GradientNorm(0.0))
    with pytest.warns(Warning):
        assert batch.minimize(f, np.zeros(3)).w == approx(full.minimize(f, np.zeros(3)).w)


def test_D23():
    model = sf.LinearRegression().fit(THREE, LEVELS)
    r = LEVELS - model.predict(THREE)
    assert model.sigma2_ == approx(r @ r / 3)
    assert model.log_likelihood_ == approx(stats.norm.logpdf(r, scale=np.sqrt(model.sigma2_)).sum())


def test_D24():
    fit = sf.MaximumLikelihood("bernoulli").fit([1, 1, 0]).fit_
    assert fit.parameters["probability"] == approx(2 / 3) and fit.score == approx([0], abs=1e-12)
    assert sf.MaximumLikelihood("bernoulli").fit([1, 1]).fit_.inside is False


def test_D25():
    model = sf.FiniteMLE([[0.6, 0.4], [0.4, 0.6]]).fit([1, 1, 0])
    assert np.exp(model.log_likelihoods_) == approx([0.096, 0.144]) and model.index_ == 1


def test_D26():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((15, 1)), rng.standard_normal(15)
    own = sf.MaximumLikelihood(
        lambda i, t: stats.norm.logpdf(y[i.astype(int)], t[0] + t[1] * X[i.astype(int), 0]), start=[0.0, 0.0]
    )
    found = own.fit(np.arange(15.0)).fit_.parameters
    model = sf.LinearRegression().fit(X, y)
    assert (found["theta0"], found["theta1"]) == approx((model.intercept_, model.coef_[0]), abs=1e-6)
    laplace = sf.MaximumLikelihood("laplace").fit(y).fit_.parameters
    assert laplace["location"] == approx(np.median(y)) and laplace["scale"] == approx(np.mean(np.abs(y - np.median(y))))


def test_D27():
    after = sf.Posterior(lambda t: 2 * np.log(t) + np.log1p(-t), stats.beta(2, 2), support=(0, 1))
    flat = sf.Posterior(lambda t: 2 * np.log(t) + np.log1p(-t), support=(0, 1))
    assert after.mode().value == approx(0.6, abs=1e-6) and flat.mode().value == approx(2 / 3, abs=1e-6)
    grid = np.linspace(0, 1, 2001)[1:-1]
    assert np.trapezoid(after.density(grid), grid) == approx(1, abs=1e-5)


def test_D28():
    coin = sf.conjugate.BetaBernoulli(2, 2)
    after = coin.update([1, 1, 0])
    assert (after.alpha, after.beta) == (4, 3) and after == coin.update([0]).update([1]).update([1])
    assert after.mean == approx(4 / 7)


def test_D29():
    x = np.array([0.3, -1.0, 2.0])
    normal = sf.conjugate.NormalNormal(1.0, 2.0, 0.5).update(x)
    precision = 1 / 2 + 3 / 0.5
    assert normal.variance == approx(1 / precision) and normal.location == approx((1 / 2 + x.sum() / 0.5) / precision)
    scale = sf.conjugate.InverseGammaNormal(2.0, 1.5, 0.5).update(x)
    assert (scale.shape, scale.scale) == approx((3.5, 1.5 + 0.5 * np.sum((x - 0.5) ** 2)))
    assert sf.conjugate.DirichletMultinomial((1.0, 2.0)).update([0, 1, 1]).alpha == (2.0, 4.0)


def test_D30():
    prior = sf.conjugate.BetaBernoulli(2, 2)
    assert prior.update([1, 1, 0]).mode.value == approx(0.6)
    many = prior.update([1] * 2000 + [0] * 1000).mode.value
    assert many == approx(0.66656, abs=5e-6) and abs(many - 2 / 3) <= prior.map_mle_bound(3000)
    assert sf.conjugate.BetaBernoulli(0.5, 0.5).mode == (0.0, False, False)


def test_D31():
    rng = np.random.default_rng(0)
    X, y, sigma2, prior = rng.standard_normal((12, 2)), rng.standard_normal(12), 0.5, 3.0
    ridge = sf.Ridge(sigma2 * prior, fit_intercept=False).fit(X, y).coef_
    bayes = sf.BayesianLinearRegression(noise_variance=sigma2, prior_variance=1 / prior, fit_intercept=False).fit(X, y)
    assert bayes.coef_ == approx(ridge)
    mode = sf.Posterior(
        lambda w: -0.5 / sigma2 * np.sum((y - X @ w) ** 2),
        lambda w: -0.5 * prior * np.sum(np.square(w)),
        start=[0.0, 0.0],
    ).mode()
    assert mode.value == approx(ridge, abs=1e-6)


@pytest.mark.parametrize(
    ("lam", "bias", "variance"), [(1e-12, 0.0, 1.1), (1.0, -0.712121, 0.882691), (10.0, -3.666667, 0.247222)]
)
def test_D32(lam, bias, variance):
    X = np.arange(-2.0, 3.0)[:, None]
    parts = sf.bias_variance(
        sf.Ridge(lam, penalize_intercept=True), X, lambda x: 1 + 2 * x[:, 0], noise=1.0, at=[[3.0]], exact=True
    )
    assert parts.bias[0] == approx(bias, abs=1e-6) and parts.variance[0] == approx(variance, abs=1e-6)


def test_D33():
    X = np.arange(-2.0, 3.0)[:, None]
    parts = sf.bias_variance(
        sf.Ridge(1.0, penalize_intercept=True), X, lambda x: 1 + 2 * x[:, 0], noise=1.0, at=[[3.0]], exact=True
    )
    assert parts.error[0] == approx(2.389808, abs=1e-6) and parts.error[0] == approx(
        parts.noise[0] + parts.variance[0] + parts.squared_bias[0]
    )


def test_D34():
    X = np.arange(-2.0, 3.0)[:, None]
    models = {lam: sf.Ridge(lam, penalize_intercept=True) for lam in (0.1, 1.0, 10.0)}
    sweep = sf.bias_variance_sweep(models, X, lambda x: 1 + 2 * x[:, 0], noise=1.0, exact=True)
    assert np.all(np.diff(sweep.variance) < 0) and np.all(np.diff(sweep.squared_bias) > 0)
    risk = sf.ridge_risk(sf.augment(X), [0.1, 1, 10], truth=[2.0, 1.0], sigma2=1.0)
    assert np.all(np.diff(risk.variance) <= 0) and np.all(np.diff(risk.squared_bias) >= 0)
    assert sf.BiasVarianceDisplay.from_risk(sweep).plot().best_line_ is not None
