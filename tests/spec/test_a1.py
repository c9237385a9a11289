"""Items A01 to A36: perceptrons, primal support vector machines, logistic and linear regression, active learning."""

import warnings

import numpy as np
import pytest
from scipy import stats

import surefit as sf

approx = pytest.approx
XOR = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])


def hard(X, y, **options):
    return sf.SVC(kernel="linear", C=np.inf, tol=1e-9, **options).fit(X, y)


def test_A01():
    X, y, _ = sf.data.make_two_gaussians(random_state=0)
    model = sf.Perceptron(fit_intercept=False, max_iter=3, tol=None, random_state=0)
    model.fit(X, y)
    error = sf.training_error(model, X, y)
    assert error * 100 == approx(round(error * 100))
    assert np.array_equal(np.sign(X @ (7 * model.coef_[0])), np.sign(X @ model.coef_[0]))


def test_A02():
    X, y = np.array([[1.0, 2.0], [2.0, 1.0], [-1.0, -1.0], [1.0, -2.0]]), [1, 1, -1, -1]
    report = sf.separability(X, y, intercept=False)
    gamma = report.bracket.low
    assert report.separable and 0 < gamma <= report.radius
    assert (report.radius / gamma) ** 2 >= 1
    none = sf.separability(XOR, [-1, 1, 1, -1])
    assert none.separable is False
    assert (none.alpha * [-1, 1, 1, -1]) @ XOR == approx([0, 0], abs=1e-12)


def test_A03():
    X, y = np.array([[3.0, 1.0], [1.0, 3.0], [-1.0, 2.0]]), np.array([1, 1, -1])
    for order, theta, updates in (((0, 1, 2), (3, 1), 1), ((2, 1, 0), (5, 0), 5), ((1, 0, 2), (5, 0), 5)):
        model = sf.Perceptron(fit_intercept=False, order=order).fit(X, y)
        assert (tuple(model.coef_[0]), model.n_updates_) == (theta, updates)
        path = sf.perceptron_path(model, X, y)
        assert len(path) == updates + 1 and tuple(path[-1, :2]) == theta
        assert model.mistake_log_["row"][0] == order[0]  # a zero score is a mistake, so the first row visited is one
        assert (model.mistake_counts_ * y) @ X == approx(theta) and model.verify(X, y)
    with pytest.raises(sf.InvalidParameter, match="permutation of the rows"):
        sf.Perceptron(order=[0, 0, 1]).fit(X, y)


@pytest.mark.parametrize(("start", "updates"), [(0.0, 1), (-8.0, 3), (-9.0, 3), (1.0, 0)])
def test_A04(start, updates):
    model = sf.Perceptron(fit_intercept=False, order="cyclic")
    model.fit(
        [[2.0], [2.0], [-2.0]], [1, 1, 0], coef_init=[[start / 2]]
    )  # |x|^2 = 4; the second class repeats the sample
    assert model.n_updates_ == updates == (0 if start > 0 else int(abs(start) // 4) + 1)


def test_A05():
    n = 9
    X, y = np.vstack([np.eye(n), -np.eye(n)]), np.repeat([1, -1], n)
    model = sf.Perceptron(fit_intercept=False, order="cyclic").fit(X, y)
    assert model.n_updates_ == n == approx(sf.novikoff_bound(1.0, 1 / np.sqrt(n)))
    progress = sf.perceptron_progress(model, X, y, np.ones(n))
    assert progress.holds and progress.bound == approx(n)
    assert np.all(progress.cosines[1:] <= 1 + 1e-12)
    assert sf.novikoff_bound(2.0, 1.0, start_norm=3.0, start_along=-3.0) > 4


def test_A06():
    w, b = np.array([3.0, 4.0]), -5.0
    X = np.array([[3.0, 4.0], [0.0, 0.0]])
    signed, feet = sf.distances((w, b), X, feet=True)
    assert signed == approx([4, -1]) and feet @ w + b == approx([0, 0], abs=1e-12)
    assert np.linalg.norm(X - feet, axis=1) == approx(np.abs(signed))
    assert sf.margins((w, b), X, [1, -1]).margin == approx(1)


def test_A07():
    values = {1.0: 1, 0.7: 3, 0.5: 8, 0.3: 26, 0.2: 61, 0.1: 249, 0.05: 1003, 0.01: 25127}
    for gamma, limit in values.items():
        bounds = sf.margin_perceptron_bounds(gamma)
        assert bounds.recursive == limit <= bounds.closed <= bounds.textbook
        assert bounds.closed == approx(8 / gamma**2 + 4 / gamma - 3)
    X, y, _ = sf.data.make_two_triangles(0.3)
    model = sf.MarginPerceptron(gamma=0.05, fit_intercept=False).fit(X, y)
    assert model.n_updates_ <= sf.margin_perceptron_bounds(0.05).recursive


def test_A08():
    for schedule, good in (("constant", True), ("linear", True), ("inverse", True), ("inverse_sqrt", True)):
        assert sf.check_schedule(schedule).admissible is good
    assert sf.check_schedule(sf.PowerSchedule(-2.0)).sum_diverges is False
    report = sf.check_schedule(sf.GeometricSchedule(2.0))
    assert report.ratio_vanishes is False and report.ratio_at_horizon == approx(1 / 3)
    X, y, _ = sf.data.make_two_triangles(0.3)
    plain = sf.Perceptron(fit_intercept=False, order="cyclic", tol=None).fit(X, y)
    same = sf.VariableIncrementPerceptron(schedule="constant", fit_intercept=False, order="cyclic", tol=None).fit(X, y)
    assert np.array_equal(plain.coef_, same.coef_)


def test_A09():
    X, y, _ = sf.data.make_two_triangles(0.3)
    one = sf.BatchPerceptron(schedule="constant", fit_intercept=False, max_iter=1)
    with pytest.warns(Warning):
        one.fit(X, y)
    assert one.coef_[0] == approx(y @ X)  # the first batch is the whole set
    whole = sf.BatchPerceptron(schedule="constant", fit_intercept=False, tol=None).fit(X, y)
    shuffled = sf.BatchPerceptron(schedule="constant", fit_intercept=False, tol=None).fit(X[::-1], y[::-1])
    assert whole.coef_ == approx(shuffled.coef_) and whole.score(X, y) == 1


def test_A10():
    X, y, truth = sf.data.make_two_gaussians(random_state=0)
    assert (
        X.shape == (100, 2)
        and truth["bayes_risk"] == approx(stats.norm.cdf(-2))
        and truth["bayes_risk"] == approx(0.02275, abs=5e-6)
    )
    assert sf.separability(X, y).separable in (True, False)


def test_A11():
    X, y = np.array([[1.0, 2.0], [2.0, 1.0], [-1.0, -1.0], [1.0, -2.0]]), np.array([1, 1, -1, -1])
    model = hard(X, y, fit_intercept=False)
    assert model.coef_[0] == approx([1 / 3, 2 / 3], abs=1e-6)
    assert np.abs(model.dual_coef_).sum() == approx(model.coef_[0] @ model.coef_[0], rel=1e-6)
    low_up = sf.margin_bracket(X, y, w=[1.0, 2.0], intercept=False)
    assert low_up.low <= 3 / np.sqrt(5) * (1 + 1e-12) and low_up.low == approx(1.3416408, abs=1e-6)
    triple = hard(3 * X, y, fit_intercept=False)
    assert triple.coef_[0] == approx([1 / 9, 2 / 9], abs=1e-6) and triple.margin_ == approx(3 * model.margin_, rel=1e-6)
    with pytest.raises(sf.InvalidData, match="separability") as caught:
        hard(XOR, [-1, 1, 1, -1])
    assert (caught.value.witness * [-1, 1, 1, -1]) @ XOR == approx([0, 0], abs=1e-12)


def test_A12():
    X, y = [[3.0, 0.0], [0.0, 1.0]], [1, -1]
    model = hard(X, y)
    assert model.coef_[0] == approx([0.6, -0.2], abs=1e-6) and model.intercept_[0] == approx(-0.8, abs=1e-6)
    assert model.margin_[0] == approx(np.sqrt(10) / 2, abs=1e-6)
    lifted = hard(sf.augment(X), y, fit_intercept=False)
    coef, intercept = sf.split_augmented(lifted.coef_[0])
    assert coef == approx([0.473684, -0.578947], abs=2e-6) and intercept == approx(-0.421053, abs=2e-6)


def test_A13():
    X, y, _ = sf.data.make_four_points()
    model = hard(X, y)
    left_out = sf.svm_leave_one_out(model, X, y)
    assert left_out.error == 0.75 == model.loo_error_bound_
    assert left_out.wrong.tolist() == [True, False, True, True]
    again = hard(X[model.support_], y[model.support_])
    assert again.coef_ == approx(model.coef_, abs=1e-6) and again.intercept_ == approx(model.intercept_, abs=1e-6)


def test_A14():
    X, y, _ = sf.data.make_four_points()
    model = sf.SVC(kernel="linear", C=4.0, tol=1e-10).fit(X, y)
    margins = np.where(y == 1, 1, -1) * model.decision_function(X)
    assert model.slack_ == approx(np.maximum(0, 1 - margins), abs=1e-6)
    assert np.sum(margins <= 0) <= model.slack_.sum() and model.points_[3] == "misclassified"


def test_A15():
    X, y, _ = sf.data.make_four_points()
    one, other = hard(X, y), hard(X[::-1], y[::-1])
    assert one.coef_ == approx(other.coef_, abs=1e-6)
    loose = sf.SVC(kernel="linear", C=3.0, tol=0.05).fit(X, y)
    best = sf.SVC(kernel="linear", C=3.0, tol=1e-10).fit(X, y)
    assert np.sum((loose.coef_ - best.coef_) ** 2) <= 2 * loose.dual_gap_ + 1e-8


def test_A16():
    model = hard([[1.0], [3.0]], [-1, 1])
    assert (model.coef_[0, 0], model.intercept_[0]) == approx((1, -2), abs=1e-6)
    assert np.abs(model.dual_coef_[0]) == approx([0.5, 0.5], abs=1e-6)
    with pytest.raises(sf.InvalidData):
        hard([[1.0], [3.0]], [-1, 1], fit_intercept=False)


@pytest.mark.parametrize(
    ("C", "theta", "value"),
    [
        (0.1, (-0.02, 0.04), 0.199),
        (1, (-0.2, 0.4), 1.9),
        (4, (-0.8, 1.6), 6.4),
        (5, (-1, 2), 7.5),
        (8, (-1.6, 3.2), 9.6),
        (20, (-2, 4), 10),
    ],
)
def test_A17(C, theta, value):
    X, y, _ = sf.data.make_four_points()
    model = sf.SVC(kernel="linear", C=float(C), tol=1e-10).fit(X, y)
    assert model.coef_[0] == approx(theta, abs=1e-5) and model.objective_ == approx(value, abs=1e-6)
    assert (model.decision_function(X)[3] > 1e-6) == (C < 5)


def test_A18():
    z = np.linspace(-3, 3, 61)
    hinge = sf.losses.value(sf.losses.Hinge(), 1.0, z)
    assert np.all(hinge >= sf.losses.value(sf.losses.ZeroOne(), 1.0, z))
    logistic = sf.losses.value(sf.losses.Logistic(), 1.0, z)
    assert np.all(logistic / np.log(2) >= sf.losses.value(sf.losses.ZeroOne(), 1.0, z))


def test_A19():
    z = np.linspace(-5, 5, 21)
    assert sf.sigmoid(-z) == approx(1 - sf.sigmoid(z)) and sf.sigmoid(0.0) == 0.5
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 1, 0, 1]
    model = sf.LogisticRegression(C=np.inf, tol=1e-12).fit(X, y)
    p = model.predict_proba(X)
    assert np.log(p[:, 1] / p[:, 0]) == approx(model.decision_function(X)) and p.sum(axis=1) == approx(np.ones(4))


def test_A20():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((12, 2)), np.where(rng.random(12) > 0.5, 1.0, -1.0)
    f = sf.optimizers.LinearScores(X, y, sf.losses.Logistic())
    w = rng.standard_normal(3)
    p = sf.sigmoid(y * f.scores(w))
    assert f.gradient(w)[:2] == approx(-(y * (1 - p)) @ X / 12) and f.gradient(w)[2] == approx(-np.mean(y * (1 - p)))
    assert np.linalg.eigvalsh(f.hessian(w))[0] >= 0


def test_A21():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    model = sf.LogisticRegression(C=np.inf, tol=1e-12).fit(X, y)
    assert (model.coef_[0, 0], model.intercept_[0]) == approx((0.908184, -1.362276), abs=1e-5)
    p = model.predict_proba(X)[:, 1]
    e = y - p
    assert e @ e == approx(0.831264, abs=1e-5) and p == approx([0.203871, 0.388388, 0.611612, 0.796129], abs=1e-5)
    assert -np.sum(np.log(np.where(y == 1, p, 1 - p))) == approx(2.347487, abs=1e-6)
    assert p.mean() == approx(0.5) and X[:, 0] @ e == approx(0, abs=1e-6)
    assert sf.kkt_report(model, X, y).stationarity == approx(0, abs=1e-6)
    brier = y - sf.sigmoid(0.724696 * X[:, 0] - 1.087045)
    assert brier @ brier == approx(0.822462, abs=1e-6) and X[:, 0] @ brier == approx(0.1669, abs=5e-5)


def test_A22():
    X, y = np.array([[-1.0], [1.0]]), [0, 1]
    with pytest.warns(sf.DataWarning):
        assert sf.LogisticRegression(C=np.inf).fit(X, y).no_finite_mle_
    norms = [abs(sf.LogisticRegression(C=C, fit_intercept=False).fit(X, y).coef_[0, 0]) for C in (10.0, 1.0, 0.1)]
    assert norms[0] > norms[1] > norms[2]


def test_A23():
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    pinned = sf.LogisticRegression(C=0.1, reference=0).fit(X, y)
    symmetric = sf.LogisticRegression(C=0.1, tol=1e-9).fit(X, y)
    assert np.all(pinned.coef_[0] == 0) and symmetric.coef_.sum(axis=0) == approx(np.zeros(4), abs=1e-4)
    scores = X @ symmetric.coef_.T + symmetric.intercept_
    shifted = np.exp(scores - 3.0)
    assert shifted / shifted.sum(axis=1, keepdims=True) == approx(symmetric.predict_proba(X))


def test_A24():
    assert sf.kl_divergence([0.5, 0.5], [0.5, 0.5]) == 0 and sf.kl_divergence([0.5, 0.5], [1.0, 0.0]) == np.inf
    x = np.random.default_rng(0).choice(2, 20_000, p=[0.7, 0.3])
    path = sf.likelihood_ratio_path(x, [0.7, 0.3], [0.4, 0.6])
    assert path.ratios[-1] == approx(path.limit, abs=0.02) and path.limit == -sf.kl_divergence([0.7, 0.3], [0.4, 0.6])


def test_A25():
    model = sf.FiniteMLE([[0.6, 0.4], [0.4, 0.6]])
    epsilon, width = model.separation, 2 * np.log(1.5)
    assert epsilon == approx(sf.kl_divergence([0.6, 0.4], [0.4, 0.6]))
    assert model.error_bound(500) == approx(min(1, 2 * np.exp(-500 * epsilon**2 / (2 * width**2))))
    assert model.error_bound(1) == 1.0


def test_A26():
    for family, x, information in (
        ("bernoulli", [0, 1, 1, 1], lambda p: 1 / (p * (1 - p))),
        ("exponential", [0.5, 1.5], lambda b: 1 / b**2),
    ):
        fit = sf.MaximumLikelihood(family).fit(x).fit_
        assert fit.information[0, 0] == approx(information(next(iter(fit.parameters.values()))))
        assert fit.score == approx([0], abs=1e-9)


def test_A27():
    X, y, truth = sf.data.make_linear(4000, 2, coef=[1.0, -2.0], intercept=0.5, noise=2.0, random_state=0)
    residual = y - X @ [1.0, -2.0] - 0.5
    assert residual.var() == approx(4, rel=0.06) and truth["noise"] == 2.0
    design = np.array([[0.0, 1.0], [2.0, 1.0], [1.0, -1.0]])
    fixed = sf.data.make_linear(X=design, coef=[1.0, -2.0], intercept=0.5, noise=0.0)
    assert np.array_equal(fixed.X, design) and fixed.y == approx(design @ [1.0, -2.0] + 0.5)


def test_A28():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 2.0, 4.0])
    model = sf.LinearRegression().fit(X, y)
    r = y - model.predict(X)
    assert r.sum() == approx(0, abs=1e-12) and r @ X == approx([0], abs=1e-12)
    assert r @ r == approx(y @ y - np.append(model.coef_, model.intercept_) @ [X[:, 0] @ y, y.sum()])
    assert model.log_likelihood_ == approx(-1.5 * (np.log(2 * np.pi * model.sigma2_) + 1))


def test_A29():
    X = np.array([[0.0], [1.0], [2.0], [5.0]])
    one = sf.LinearRegression().fit(X, [1.0, 0.0, 2.0, 3.0])
    twice = sf.LinearRegression().fit(np.vstack([X, X]), [1.0, 0.0, 2.0, 3.0] * 2)
    assert twice.unscaled_covariance_ == approx(one.unscaled_covariance_ / 2)
    risk = sf.coefficient_risk(sf.LinearRegression(), X, [2.0], noise=3.0, exact=True)
    Z = np.column_stack([X, np.ones(4)])
    assert risk.bias == approx([0, 0], abs=1e-12) and risk.covariance == approx(9 * np.linalg.inv(Z.T @ Z))


def test_A30():
    X = np.random.default_rng(0).standard_normal((10, 2))
    risk = sf.coefficient_risk(sf.Ridge(2.0), X, [1.0, 2.0], noise=1.0, n_repeats=30, random_state=0)
    assert risk.mse == approx(np.mean(np.sum((risk.estimates - risk.truth) ** 2, axis=1)))
    Z = np.column_stack([X, np.ones(10)])
    exact = sf.coefficient_risk(sf.LinearRegression(), X, [1.0, 2.0], noise=1.0, exact=True)
    assert exact.mse == approx(np.trace(np.linalg.inv(Z.T @ Z)))
    assert len(sf.DartboardDisplay({"ridge": risk}).plot().clouds_) == 1


def test_A31():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 2.0, 4.0])
    Z = np.column_stack([X, np.ones(3)])
    closed = np.linalg.solve(Z.T @ Z + 2 * np.eye(2), Z.T @ y)
    model = sf.Ridge(2.0, penalize_intercept=True).fit(X, y)
    assert np.append(model.coef_, model.intercept_) == approx(closed)
    stacked = sf.LinearRegression(fit_intercept=False).fit(np.vstack([Z, np.sqrt(2) * np.eye(2)]), np.append(y, [0, 0]))
    assert stacked.coef_ == approx(closed)


def test_A32():
    risk = sf.ridge_risk([[-1, 1], [1, 1]], [0, 0.5, 2, 4.8], truth=[1, 0.5], sigma2=3)
    assert risk.mse == approx([3, 1.97, 1.0625, 0.882353], abs=5e-7) and risk.best_alpha == 4.8
    at = sf.ridge_risk([[-1, 1], [1, 1]], [2.0], truth=[1, 0.5], sigma2=3, at=[1.5, 1])
    assert at.variance[0] == approx(6.5 * 3 / 16) and at.squared_bias[0] == approx(4 / 16 * 4)


def test_A33():
    X, y, _ = sf.data.make_polynomial(noise=0.0)
    path = sf.degree_path(X, y, 9)
    assert [path.predict([[1.8]], degree=k)[0] for k in (1, 2, 9)] == approx([5.9185, 12.36, 12.36], abs=5e-5)
    for degree, deviation in ((1, 0.5466), (2, 0.6517), (9, 6.6099)):
        from sklearn.pipeline import make_pipeline

        H = sf.hat_matrix(make_pipeline(sf.PolynomialBasis(degree), sf.LinearRegression()), X, at=[[1.8]])
        assert np.linalg.norm(H) == approx(deviation, abs=1e-3)
    line = sf.LinearRegression().fit(X, y)
    assert (line.intercept_, line.coef_[0]) == approx((9.5185, -2), abs=5e-5)
    for degree, condition in ((1, 1.28), (2, 3.71), (9, 1.87e4)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sf.DataWarning)  # order 9 is nearly dependent
            report = sf.design_report(sf.PolynomialBasis(degree).fit_transform(X))
        assert np.sqrt(report.condition_number) == approx(condition, rel=5e-3)


def test_A34():
    design = sf.ActiveDesign([[1.0], [-1.0]])
    assert design.trace == approx(1.0)
    choice = design.choose([[0.0], [1.0], [-1.0]])
    assert choice.gain == approx(0.25) and design.add([1.0]).trace == approx(0.75)
    assert design.history_ == approx([1.0, 0.75])


def test_A35():
    design = sf.ActiveDesign([[1.0], [-1.0]])
    choice = design.choose([[0.0], [1.0], [-1.0]])
    assert choice.gain <= 0.5  # the largest eigenvalue of the inverse
    assert choice.bound == approx(2 * 0.25 / (1 + 2 * 0.5)) and choice.efficiency == approx(1)


def test_A36():
    design = sf.ActiveDesign([[1.0], [-1.0], [1.0]])
    assert design.inverse_ == approx(np.array([[3, -1], [-1, 3]]) / 8)
    assert design.scores([[-1.0], [0.0], [1.0]]) == approx([0.25, 0.113636, 0.083333], abs=5e-7)
    assert design.add([-1.0]).trace == approx(0.5)
