"""Items E01 to E34: tails, perceptrons, support vector machines, logistic and linear regression, kernels."""

from math import comb

import numpy as np
import pytest
from scipy import optimize, stats

import surefit as sf

approx = pytest.approx
FOUR, LABELS = np.array([[1.0, 2.0], [2.0, -1.0], [-1.0, 1.0], [-2.0, -1.0]]), np.array([1, 1, -1, -1])
LINE, LEVELS = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 2.0, 4.0])
PAIR, SIGNS = np.array([[-1.0], [1.0]]), np.array([-1, 1])


def test_E01():
    x = np.random.default_rng(0).exponential(size=50)
    for a in (0.5, 2.0):
        assert np.mean(x >= a) <= sf.bounds.markov(x.mean(), threshold=a).delta + 1e-12
        assert np.mean(np.abs(x - x.mean()) >= a) <= sf.bounds.chebyshev(x.var(), n=1, radius=a).delta + 1e-12


def test_E02():
    model = sf.Perceptron(fit_intercept=False, order="cyclic").fit(FOUR, LABELS)
    assert sf.training_error(model, FOUR, LABELS) == 1 - model.score(FOUR, LABELS) == 0
    assert sf.training_error(model, np.zeros((2, 2)), [1, -1]) == 1.0  # zero scores are mistakes


def test_E03():
    X, y, truth = sf.data.make_xor()
    report = sf.separability(X, y, intercept=False)
    assert report.separable is False and (truth["farkas"] / 4 * y) @ X == approx([0, 0])
    assert sf.separability(FOUR, LABELS, intercept=False).separable


def test_E04():
    path = sf.perceptron_path(sf.Perceptron(fit_intercept=False, order="cyclic").fit(FOUR, LABELS), FOUR, LABELS)[:, :2]
    for k, row in enumerate((0, 1)):
        gain = LABELS[row] * (path[k + 1] - path[k]) @ FOUR[row]
        assert gain == approx(FOUR[row] @ FOUR[row])


def test_E05():
    model = sf.Perceptron(fit_intercept=False, order="cyclic").fit(FOUR, LABELS)
    assert (model.n_updates_, model.n_iter_) == (2, 2) and model.coef_[0] == approx([3, 1])
    assert model.mistake_log_["row"].tolist() == [0, 1]


def test_E06():
    best = sf.maximal_margin(FOUR, LABELS, False)
    radius = np.linalg.norm(FOUR, axis=1).max()
    assert sf.novikoff_bound(radius, best.bracket.low) == approx(5, rel=1e-5)
    X, y = np.array([[1.0, 0.5], [1.0, -0.5]]), [1, -1]
    model = sf.Perceptron(fit_intercept=False, order="cyclic").fit(X, y)
    assert (
        model.n_updates_ == 2
        and model.coef_[0] == approx([0, 1])
        and sf.novikoff_bound(np.sqrt(1.25), 0.5) == approx(5)
    )


def test_E07():
    model = sf.Perceptron(fit_intercept=False, order="cyclic").fit(FOUR, LABELS)
    progress = sf.perceptron_progress(model, FOUR, LABELS, [1.0, 0.0])
    k = np.arange(len(progress.along))
    assert progress.holds and np.all(progress.along >= k * progress.margin)
    assert np.all(progress.cosines[1:] >= np.sqrt(k[1:]) * progress.margin / progress.radius - 1e-12)


def test_E08():
    X, y = np.array([[1.0], [2.0]]), [-1, 1]
    model = sf.Perceptron(bias="augmented", order="cyclic", tol=None).fit(X, y)
    assert (model.coef_[0, 0], model.intercept_[0], model.n_updates_, model.n_iter_) == (2, -3, 13, 9)
    assert sf.novikoff_bound(2.0, 0.5, constant=1.0, intercept=-1.5) == approx(65)


def test_E09():
    one, two = sf.margins(([3.0, 1.0], 0.0), FOUR, LABELS), sf.margins(([6.0, 2.0], 0.0), FOUR, LABELS)
    assert one.geometric == approx(two.geometric) and one.margin == approx(one.functional.min() / np.sqrt(10))


def test_E10():
    X, y = np.array([[1.0, 2.0], [2.0, 1.0], [-1.0, -1.0], [1.0, -2.0]]), np.array([1, 1, -1, -1])
    model = sf.SVC(kernel="linear", C=np.inf, fit_intercept=False, tol=1e-9).fit(X, y)
    assert model.coef_[0] == approx([1 / 3, 2 / 3], abs=1e-6) and model.margin_[0] == approx(3 / np.sqrt(5), abs=1e-6)
    alpha = np.abs(model.dual_coef_[0])
    assert alpha.sum() == approx(model.coef_[0] @ model.coef_[0]) and alpha.sum() == approx(1 / model.margin_[0] ** 2)
    dual = alpha.sum() - model.coef_[0] @ model.coef_[0] / 2  # a dual point bounds the best margin from above
    assert 1 / np.sqrt(2 * dual) == approx(3 / np.sqrt(5), abs=1e-6)
    with pytest.raises(sf.InvalidData) as caught:
        sf.SVC(kernel="linear", C=np.inf, fit_intercept=False).fit([[1.0], [3.0]], [-1, 1])
    assert (caught.value.witness * [-1, 1]) @ [[1.0], [3.0]] == approx([0], abs=1e-12)


def test_E11():
    model = sf.SVC(kernel="linear", C=np.inf, tol=1e-9).fit([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]], [-1, 1, 1])
    assert model.coef_[0] == approx([1, 1], abs=1e-6) and model.intercept_[0] == approx(-1, abs=1e-6)
    assert np.sort(np.abs(model.dual_coef_[0])) == approx([0.5, 0.5, 1], abs=1e-6) and model.objective_ == approx(
        1, abs=1e-6
    )
    moved = sf.SVC(kernel="linear", C=np.inf, tol=1e-9).fit([[3.0, 1.0], [5.0, 1.0], [3.0, 3.0]], [-1, 1, 1])
    assert moved.coef_[0] == approx([1, 1], abs=1e-6) and moved.intercept_[0] == approx(-5, abs=1e-5)


def test_E12():
    model = sf.SVC(kernel="linear", C=0.25, tol=1e-10).fit(PAIR, SIGNS)
    assert model.coef_[0, 0] == approx(0.5, abs=1e-6) and model.objective_ == approx(0.375, abs=1e-7)
    assert model.intercept_interval_[0] == approx([-0.5, 0.5], abs=1e-6)


def test_E13():
    X, y, _ = sf.data.make_two_gaussians(30, random_state=0)
    model = sf.SVC(kernel="linear", C=1.0, tol=1e-9).fit(X, y)
    again = sf.SVC(kernel="linear", C=1.0, tol=1e-9).fit(X[model.support_], y[model.support_])
    assert again.coef_ == approx(model.coef_, abs=1e-4)
    assert sf.svm_leave_one_out(model, X, y).error <= model.loo_error_bound_


def test_E14():
    z = np.linspace(-3, 3, 31)
    zero_one = sf.losses.value(sf.losses.ZeroOne(), 1.0, z)
    for loss, factor in (
        (sf.losses.Hinge(), 1),
        (sf.losses.Logistic(), 1 / np.log(2)),
        (sf.losses.ExponentialLoss(), 1),
    ):
        assert np.all(factor * sf.losses.value(loss, 1.0, z) >= zero_one)
        slope = (sf.losses.value(loss, 1.0, z + 1e-6) - sf.losses.value(loss, 1.0, z - 1e-6)) / 2e-6
        smooth = np.abs(z - 1) > 1e-3  # the kink of the hinge
        assert sf.losses.slope(loss, 1.0, z)[smooth] == approx(slope[smooth], abs=1e-6)
    assert sf.losses.value(sf.losses.Logistic(), 1.0, 0.0) == approx(np.log(2))


def test_E15():
    X, y, _ = sf.data.make_two_gaussians(30, random_state=0)
    model = sf.LogisticRegression().fit(X, y)
    p = model.predict_proba(X)
    assert p[:, 1] == approx(sf.sigmoid(model.decision_function(X))) and np.array_equal(
        model.predict(X) == 1, p[:, 1] > 0.5
    )


def test_E16():
    X, y, _ = sf.data.make_two_gaussians(30, random_state=0)
    model = sf.LogisticRegression(C=1.0, fit_intercept=False, tol=1e-12).fit(X, y)
    J = sf.losses.value(sf.losses.Logistic(), y, model.decision_function(X)).sum()
    p = model.predict_proba(X)[np.arange(30), (y == 1).astype(int)]
    assert np.exp(-J) == approx(np.prod(p)) and sf.kkt_report(model, X, y).stationarity < 1e-4


def test_E17():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 2)), np.where(rng.random(20) > 0.5, 1.0, -1.0)
    f = sf.optimizers.LinearScores(X, y, sf.losses.Logistic(), l2=0.1)
    Z = np.column_stack([X, np.ones(20)])
    assert f.smoothness == approx(0.25 * np.linalg.eigvalsh(Z.T @ Z / 20 + 0.4 * np.diag([1, 1, 0]))[-1])
    outcome = sf.GradientDescent().minimize(f, np.zeros(3))
    assert np.all(np.diff(outcome.history[:, 1]) <= 1e-15)


def test_E18():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((6, 2)), np.where(rng.random(6) > 0.5, 1.0, -1.0)
    f, w = sf.optimizers.LinearScores(X, y, sf.losses.Logistic()), rng.standard_normal(3)
    assert np.mean([f.batch_gradient(w, np.array([i])) for i in range(6)], axis=0) == approx(f.gradient(w))


@pytest.mark.parametrize(("lam", "theta", "value"), [(1.0, 0.67483161, 1.05091415), (0.1, 2.12803452, 0.45142447)])
def test_E19(lam, theta, value):
    model = sf.LogisticRegression(C=1 / lam, fit_intercept=False, tol=1e-14).fit(PAIR, SIGNS)
    objective = (
        sf.losses.value(sf.losses.Logistic(), SIGNS, model.decision_function(PAIR)).sum()
        + lam / 2 * model.coef_[0, 0] ** 2
    )
    assert model.coef_[0, 0] == approx(theta, abs=1e-5) and objective == approx(value, abs=1e-7)


def test_E20():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    y = np.argmax(X @ rng.standard_normal((2, 3)) + rng.gumbel(size=(60, 3)), axis=1)
    multinomial = sf.LogisticRegression(C=1.0).fit(X, y)
    rest = sf.LogisticRegression(C=1.0, multi_class="ovr", tol=1e-12).fit(X, y)
    alone = [sf.LogisticRegression(C=1.0, tol=1e-12).fit(X, y == k).decision_function(X) for k in range(3)]
    assert rest.decision_function(X) == approx(np.column_stack(alone), abs=1e-5)
    assert rest.verify(X, y)["linear.gap"].ok and np.all(rest.predict(X) == np.argmax(alone, axis=0))
    p = 1 / (1 + np.exp(-np.column_stack(alone)))
    assert rest.predict_proba(X) == approx(p / p.sum(axis=1, keepdims=True), abs=1e-5)
    assert multinomial.coef_.shape == (3, 2)
    # Two classes: softmax coefficients are plus and minus half the binary ones, so their penalty is half as large.
    t, lam = (y == 0).astype(int), 0.8
    binary = sf.LogisticRegression(C=2 / lam, fit_intercept=False, tol=1e-13).fit(X, t).coef_[0]
    half = np.array([-binary, binary]) / 2

    def softmax(W):
        Z = X @ W.reshape(2, 2).T
        return np.sum(np.logaddexp(Z[:, 0], Z[:, 1]) - Z[np.arange(60), t]) + lam / 2 * np.sum(W**2)

    assert optimize.approx_fprime(half.ravel(), softmax, 1e-7) == approx(np.zeros(4), abs=1e-4)


def test_E21():
    L, eta = 4.0, 0.1
    outcome = sf.GradientDescent(step=eta, max_iter=5, stopping=sf.optimizers.GradientNorm(0.0))
    with pytest.warns(Warning):
        path = outcome.minimize(sf.optimizers.Quadratic([[L]]), np.ones(1)).path.ravel()
    assert path == approx((1 - eta * L) ** np.arange(len(path)))


def test_E22():
    _, y, truth = sf.data.make_linear(5000, 3, intercept=1.0, noise=0.5, random_state=0)
    assert set(truth) >= {"coef", "intercept", "noise"} and len(y) == 5000
    grid = np.linspace(-8, 8, 4001)
    assert np.trapezoid(stats.norm.pdf(grid), grid) == approx(1)


def test_E23():
    model = sf.LinearRegression().fit(LINE, LEVELS)
    assert model.sigma2_ == approx(1 / 18) and model.log_likelihood_ == approx(0.07874204, abs=5e-9)
    perfect = sf.LinearRegression().fit(LINE, [1.0, 2.0, 3.0])
    assert perfect.sigma2_ == 0 and perfect.log_likelihood_ == np.inf


def test_E24():
    model = sf.LinearRegression().fit(LINE, LEVELS)
    assert (model.coef_[0], model.intercept_) == approx((1.5, 5 / 6)) and np.sum(
        (LEVELS - model.predict(LINE)) ** 2
    ) == approx(1 / 6)
    other = sf.LinearRegression().fit(LINE, [0.0, 1.0, 0.0])
    both = sf.LinearRegression().fit(LINE, LEVELS + np.array([0.0, 1.0, 0.0]))
    assert both.coef_ == approx(model.coef_ + other.coef_)


def test_E25():
    risk = sf.coefficient_risk(sf.Ridge(1.0), LINE, [2.0], noise=1.0, n_repeats=20, random_state=0)
    assert risk.mse == approx(np.mean(np.sum((risk.estimates - risk.truth) ** 2, axis=1)))
    exact = sf.coefficient_risk(sf.Ridge(1.0), LINE, [2.0], noise=1.0, exact=True)
    assert exact.mse == approx(exact.squared_bias + exact.variance)


def test_E26():
    report = sf.design_report(LINE)
    assert report.variance_trace == approx(4 / 3) and report.variance_trace == approx(np.sum(1 / report.eigenvalues))
    rng = np.random.default_rng(0)
    x = rng.standard_normal(20)
    X = np.column_stack([x, x + 1e-7 * rng.standard_normal(20)])
    y = rng.standard_normal(20)
    theta = sf.LinearRegression().fit(LINE, 3.0 + LINE @ [2.0])  # without noise: the truth
    assert (theta.intercept_, theta.coef_[0]) == approx((3, 2))
    with pytest.warns(sf.DataWarning, match="nearly"):
        sf.LinearRegression().fit(X, y).inference(X, y)


def test_E27():
    literal = sf.Ridge(2.0, penalize_intercept=True).fit(LINE, LEVELS)
    assert (literal.coef_[0], literal.intercept_) == approx((1.11538462, 0.73076923), abs=5e-9)
    free = sf.Ridge(2.0).fit(LINE, LEVELS)
    assert (free.coef_[0], free.intercept_) == approx((0.75, 1.58333333), abs=5e-9)
    half = sf.Ridge(1.0).fit(LINE, LEVELS)
    assert (half.coef_[0], half.intercept_) == approx((1, 4 / 3))


def test_E28():
    X, theta, lam = np.array([[1.0, 0.5], [0.2, 2.0], [1.0, 1.0]]), np.array([1.0, -2.0]), 0.4
    risk = sf.coefficient_risk(sf.Ridge(lam, fit_intercept=False), X, theta, noise=1.0, exact=True)
    assert risk.bias == approx(-lam * np.linalg.solve(X.T @ X + lam * np.eye(2), theta))
    curve = sf.ridge_risk(X, [0.0, 1 / (theta @ theta)], truth=theta, sigma2=1.0)
    assert curve.mse[1] < curve.mse[0]


def test_E29():
    assert sf.bounds.finite_class(20, n=500, delta=0.05).radius * 2 == approx(np.sqrt(2 / 500 * np.log(2 * 20 / 0.05)))
    X, y, _ = sf.data.make_two_gaussians(800, random_state=0)
    mixed = np.random.default_rng(0).permutation(800)
    X, y = X[mixed], y[mixed]
    strengths = np.logspace(3, -3, 20)  # the strongest penalty first: of equal errors it wins
    models = [sf.LogisticRegression(C=1 / lam).fit(X[:300], y[:300]) for lam in strengths]
    found = sf.finite_class_erm(models, X[300:], y[300:], delta=0.05)
    errors = [np.mean(model.predict(X[300:]) != y[300:]) for model in models]
    assert found.errors == approx(errors) and found.chosen == int(np.argmin(errors))
    assert found.excess_bound == approx(np.sqrt(2 / 500 * np.log(2 * 20 / 0.05)))
    assert found.risk_bound.value == approx(min(errors) + found.excess_bound / 2)


def test_E30():
    angle = np.arange(8) * np.pi / 4
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    X, y = np.vstack([ring, 3 * ring]) + np.array([1, 2]), np.repeat([0, 1], 8)
    for d, p in ((2, 3), (4, 2)):  # monomials of degree at most p; the constant is the intercept
        assert sf.PolynomialBasis(p).fit_transform(np.random.default_rng(0).random((3, d))).shape[1] + 1 == comb(
            d + p, p
        )
    basis = sf.CircleBasis().fit(X)
    F = basis.transform(X)
    assert not sf.separability(X, y).separable and sf.separability(F, y).separable
    rule = sf.SVC(kernel="linear", C=np.inf, tol=1e-10).fit(F, y)
    theta, theta0 = rule.coef_[0], rule.intercept_[0]
    circle = sf.quadric_of(basis, theta, theta0)
    assert circle.center == approx(-theta[:2] / (2 * theta[2]))
    assert circle.radius**2 == approx(theta[:2] @ theta[:2] / (4 * theta[2] ** 2) - theta0 / theta[2])


def test_E31():
    kernel = sf.kernels.Polynomial(2)
    F = kernel.feature_map(FOUR)
    assert np.abs(kernel(FOUR) - F @ F.T).max() < 1e-12


def test_E32():
    kernel = sf.kernels.Polynomial(3)
    F = kernel.feature_map([[2.0], [3.0]])
    assert F[0] == approx([1, np.sqrt(3) * 2, np.sqrt(3) * 4, 8]) and F[0] @ F[1] == approx(343)


def test_E33():
    kernel = sf.kernels.CommonWords()
    assert kernel(["the cat sat"], ["the dog sat"])[0, 0] == 2 and kernel(["a b a"])[0, 0] == 2


def test_E34():
    for M in ([[0.0, 0], [0, -1]], [[1.0, 1, 0], [1, 1, 0], [0, 0, -1]]):
        assert sf.check_kernel(sf.kernels.Precomputed(), np.array(M)).holds is False
