"""Items C01 to C33: support vector machines, networks, partitions, neighbors, splits."""

import numpy as np
import pytest
from scipy import stats

import surefit as sf

approx = pytest.approx
LINE, SIGNS = np.array([[0.0], [1.0], [3.0], [5.0]]), np.array([-1, -1, 1, 1])


def machine(X, y, C=np.inf, tol=1e-10, **options):
    return sf.SVC(kernel="linear", C=C, tol=tol, **options).fit(X, y)


def test_C01():
    report = sf.margins(([1.0], -2.0), LINE, SIGNS)
    assert report.separates and report.margin == approx(1) and report.half_width == approx(1)
    assert sf.margins(([3.0], -6.0), LINE, SIGNS).margin == approx(1)
    assert (
        sf.separability(LINE, SIGNS).separable and sf.separability([[0.0], [1.0], [2.0]], [1, -1, 1]).separable is False
    )


def test_C02():
    model = machine(LINE, SIGNS, tol=1e-9)
    best = sf.maximal_margin(LINE, SIGNS)
    assert 1 / np.linalg.norm(best.w) == approx(1) and 1 / np.linalg.norm(best.w) == approx(model.margin_[0], abs=1e-6)
    run = sf.Perceptron(tol=None).fit(LINE, SIGNS)
    assert sf.margins(run, LINE, SIGNS).margin <= best.bracket.up


def test_C03():
    program, x, multiplier = sf.duality.nearest_to_origin(3.0)
    report = sf.kkt_report(program, x, multiplier)
    assert report.residuals == approx((0, 0, 0, 0), abs=1e-12) and report.gap == approx(0, abs=1e-12)
    assert sf.weak_duality(program, [3.0], [1.0]).gap >= 0


def test_C04():
    for a, point, multiplier in ((3.0, 2.0, 2.0), (0.5, 0.0, 0.0), (1.0, 0.0, 0.0)):
        program, x, found = sf.duality.nearest_to_origin(a)
        assert (x[0], found[0]) == approx((point, multiplier)) and program.objective(x) == approx(point**2)


def test_C05():
    model = machine(LINE, SIGNS, tol=1e-9)
    total = np.abs(model.dual_coef_).sum()
    assert total == approx(model.coef_[0] @ model.coef_[0], rel=1e-6) and total == approx(
        1 / model.margin_[0] ** 2, rel=1e-6
    )
    X, y = [[1.0, 0.0], [1.0, 1.0], [1.0, -1.0], [-1.0, 0.0]], [1, 1, 1, -1]
    tied = machine(X, y, tol=1e-9)
    assert len(tied.on_margin_) == 4 and tied.margin_[0] == approx(1, abs=1e-6)
    bracket = sf.margin_bracket(X, y, w=[1.0, 0.1], alpha=[0.5, 0, 0, 0.5])
    assert bracket.low <= 1 <= bracket.up * (1 + 1e-12)


def test_C06():
    model = machine(LINE, SIGNS, tol=1e-9)
    assert (model.coef_[0, 0], model.intercept_[0]) == approx((1, -2), abs=1e-6) and model.objective_ == approx(
        0.5, abs=1e-6
    )
    assert model.support_.tolist() == [1, 2] and np.abs(model.dual_coef_[0]) == approx([0.5, 0.5], abs=1e-6)


def test_C07():
    x1, x2 = np.array([1.0, 2.0, 0.0]), np.array([3.0, -1.0, 1.0])
    z = x2 - x1
    model = machine([x1, x2], [-1, 1], tol=1e-9)
    assert model.coef_[0] == approx(2 * z / (z @ z), abs=1e-6) and model.decision_function([(x1 + x2) / 2])[
        0
    ] == approx(0, abs=1e-6)
    soft = machine([x1, x2], [-1, 1], C=0.05)
    low, high = soft.intercept_interval_[0]
    assert high - low == approx(2 - 0.05 * (z @ z), abs=1e-6)


def test_C08():
    model = sf.SVC(kernel="linear", budget=3.0, tol=1e-6).fit([[0.0], [2.0], [1.0], [3.0]], [-1, -1, 1, 1])
    assert model.budget_min_ == approx(8 / 3, abs=1e-6) and model.slack_.sum() <= 3.0 + 1e-3
    assert np.sum(model.slack_ >= 1) <= model.slack_.sum()


@pytest.mark.parametrize(("C", "a", "value"), [(0.1, 0.4, 0.20), (0.2, 0.4, 0.32), (0.3, 0.6, 0.42), (0.7, 1.0, 0.5)])
def test_C09(C, a, value):
    model = machine(LINE, SIGNS, C=C)
    assert model.coef_[0, 0] == approx(a, abs=1e-5) and model.objective_ == approx(value, abs=1e-6)
    alpha = np.abs(model.dual_coef_).sum()
    assert alpha - model.coef_[0] @ model.coef_[0] == approx(C * model.slack_.sum(), abs=1e-5)
    if C == 0.3:
        assert model.intercept_interval_[0] == approx([-1.6, -1.0], abs=1e-5)


def test_C10():
    X, y, _ = sf.data.make_two_gaussians(60, random_state=0)
    model = machine(X, y, C=1.0, tol=1e-8)
    alpha = np.zeros(60)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    assert alpha[model.points_ == "misclassified"] == approx(1) and alpha[model.points_ == "outside"] == approx(0)
    assert np.sum(model.points_ == "misclassified") <= model.slack_.sum()


def test_C11():
    u = np.array([-2.0, 0.5, 1.0, 3.0])
    assert sf.losses.value(sf.losses.Hinge(), 1.0, u) == approx([3, 0.5, 0, 0])
    assert sf.losses.subgradients(sf.losses.Hinge(), 1.0, 1.0) == (-1.0, 0.0)
    model = machine(LINE, SIGNS, C=0.2)
    lam = 1 / (2 * 4 * 0.2)
    mean = np.maximum(0, 1 - SIGNS * model.decision_function(LINE)).mean() + lam * model.coef_[0] @ model.coef_[0]
    assert model.objective_ == approx(4 * 0.2 * mean, abs=1e-6)


def test_C12():
    X, y, _ = sf.data.make_two_gaussians(30, random_state=0)
    linear, kernel = machine(X, y, C=1.0), sf.SVC(kernel=sf.kernels.Linear(), C=1.0, tol=1e-10).fit(X, y)
    assert kernel.decision_function(X) == approx(linear.decision_function(X), abs=1e-4)
    assert kernel.rkhs_norm_[0] == approx(np.linalg.norm(linear.coef_), rel=1e-4)


def test_C13():
    for C in (0.7, 5.0):
        model = sf.SVR(kernel="linear", C=C, epsilon=0.5, fit_intercept=False, tol=1e-10).fit([[1.0]], [2.0])
        assert model.coef_[0, 0] == approx(min(C, 1.5), abs=1e-6)
    flat = sf.SVR(kernel="linear", epsilon=2.0).fit([[0.0], [1.0]], [1.0, 4.0])
    assert flat.coef_[0, 0] == approx(0, abs=1e-9)


def test_C14():
    X, y, _ = sf.data.make_two_gaussians(40, random_state=1)
    lam = 0.02
    model = sf.SVC(kernel="rbf", gamma=0.5, C=1 / (2 * 40 * lam), fit_intercept=False, tol=1e-6).fit(X, y)
    hinge = np.maximum(0, 1 - y * model.decision_function(X)).mean()
    assert sf.training_error(model, X, y) <= hinge and model.rkhs_norm_[0] ** 2 <= 1 / lam


def test_C15():
    c, offset = np.array([1.0, -2.0]), 0.25
    X = np.array([[0.0, 0.0], [-0.25, 0.0], [1.0, 2.0], [3.0, 1.0]])
    psi = sf.network_output(X, [c[:, None]], [np.array([offset + 0.5])]).ravel()
    assert np.array_equal(psi > 0.5, X @ c + sf.sign_intercept(offset + 0.5) > 0) and psi[1] == 0.5
    model = sf.LeastSquaresClassifier(ties="first").fit([[-1.0], [1.0]], [0, 1])
    assert (
        model.predict([[0.0]])[0] == 0
        and sf.LeastSquaresClassifier().fit([[-1.0], [1.0]], [0, 1]).predict([[0.0]])[0] == 1
    )


def test_C16():
    for d, k in ((3, 4), (256, 12)):
        assert sf.MLPRegressor(hidden_layer_sizes=(k,)).architecture(d, 1).n_parameters == k * (d + 2) + 1


def test_C17():
    z = np.linspace(-4, 4, 17)[:, None]
    unit = [np.eye(1), np.eye(1)], [np.zeros(1), np.zeros(1)]
    assert sf.network_output(z, *unit, "standard").ravel() == approx(np.tanh(z.ravel() / 2))
    assert sf.network_output(z, *unit, "gaussian").ravel() == approx(2 * stats.norm.cdf(z.ravel()) - 1)
    coefs, intercepts, twin = sf.exchange_sigmoid(*unit, "standard")
    assert sf.network_output(z, coefs, intercepts, twin) == approx(sf.network_output(z, *unit, "standard"))


def test_C18():
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    zero_one = sf.LinearRegression().fit(X, y).predict(X) > 0.5
    signs = sf.LinearRegression().fit(X, 2 * y - 1).predict(X) > 0
    assert np.array_equal(zero_one, signs) and np.array_equal(sf.LeastSquaresClassifier().fit(X, y).predict(X), y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_C19():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    y = (X[:, 0] + rng.logistic(size=60) > 0).astype(int)
    net = sf.MLPClassifier(
        hidden_layer_sizes=(), solver="lbfgs", alpha=1.0, tol=1e-9, max_iter=2000, random_state=0
    ).fit(X, y)
    logistic = sf.LogisticRegression(C=1.0, tol=1e-12).fit(X, y)
    assert net.coefs_[0].ravel() == approx(logistic.coef_[0], abs=1e-3)


def test_C20():
    d, k, m = 5, 4, 3
    count = sf.MLPRegressor(hidden_layer_sizes=(k, m)).architecture(d, 1).n_parameters
    assert count == k * (d + 1) + m * (k + 1) + (m + 1)


def test_C21():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2))
    y = np.argmax(X @ rng.standard_normal((2, 3)) + 0.5 * rng.standard_normal((30, 3)), axis=1)
    model = sf.LogisticRegression().fit(X, y)
    P = model.predict_proba(X)
    assert P.sum(axis=1) == approx(np.ones(30)) and np.array_equal(
        P.argmax(axis=1), model.decision_function(X).argmax(axis=1)
    )


def test_C22():
    m, d, K = 6, 4, 3
    assert sf.MLPClassifier(hidden_layer_sizes=(m,)).architecture(d, K).n_parameters == m * (d + 1) + K * (m + 1)


def test_C23():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 2))
    y = np.argmax(X @ rng.standard_normal((2, 3)) + rng.gumbel(size=(80, 3)), axis=1)
    model = sf.LogisticRegression(C=np.inf, reference=0, tol=1e-12).fit(X, y)
    assert model.predict_proba(X).mean(axis=0) == approx(np.bincount(y) / 80, abs=1e-5)
    assert np.all(model.coef_[0] == 0) and model.intercept_[0] == 0


def test_C24():
    counts = [(2570, 2570), (3214, 3214), (1226, 1226), (2266, 1132), (5194, 1060)]
    assert [(n.n_links, n.n_parameters) for n in (sf.zip_net(k).architecture(256, 10) for k in range(1, 6))] == counts
    assert sf.bounds.hoeffding(n=160, delta=0.05).radius == approx(0.107, abs=5e-4)
    X, y, X_test, y_test, _ = sf.data.load_small_digits(320, 160)
    assert X.shape == (320, 256) and len(y_test) == 160
    for k in range(1, 6):  # squared error from the weights that the log loss found: no training row is wrong
        net = sf.zip_net(k, alpha=0.01, loss="log_loss", warm_start=True, random_state=0).fit(X, y)
        net.set_params(loss="squared_error").fit(X, y)
        assert net.score(X, y) == 1.0 and net.score(X_test, y_test) > 0.8
        assert net.verify(X, y)


def test_C25():
    X, y = np.array([[0.1], [0.2], [0.6], [0.7], [0.8]]), [1, 0, 1, 1, 0]
    model = sf.HistogramClassifier(0.5, empty="first").fit(X, y)
    assert model.predict([[0.3], [0.9], [5.2]]).tolist() == [0, 1, 0]  # a tie, a majority, an empty cell
    assert model.predict_proba([[0.9]])[0, 1] == approx(2 / 3)


def test_C26():
    model = sf.LabelModel(lambda x: 0.1 + 0.8 * (np.abs(x[:, 0] - 0.5) < 0.3))
    assert model.bayes_risk().value == approx(0.1)
    study = sf.consistency_study(lambda n: sf.HistogramClassifier(n ** (-1 / 3)), model, [30, 1000], repeats=4)
    assert np.all(study.excess >= 0) and study.mean_excess[1] < study.mean_excess[0]


def test_C27():
    model = sf.LabelModel(lambda x: x[:, 0], sf.FiniteDistribution([0.1, 0.4, 0.9], [0.3, 0.3, 0.4]))

    def rule(x):
        return (x[:, 0] > 0.3).astype(int)

    identity = 0.3 * 2 * abs(0.4 - 0.5)
    assert model.excess_risk(rule).value == approx(identity) and model.excess_risk(rule).value == approx(
        model.risk(rule).value - model.bayes_risk().value
    )
    bound = model.plug_in_bound(lambda x: x[:, 0] + 0.2)
    assert bound.value == approx(0.4) and model.excess_risk(lambda x: x[:, 0] + 0.2 > 0.5).value <= bound.value


def test_C28():
    for (m, q), values in {
        (1, 0.5): (0.5, 0.5),
        (4, 0.5): (0.1875, 0.25),
        (10, 0.3): (0.1121, 0.1449),
        (100, 0.5): (0.0398, 0.05),
    }.items():
        assert sf.binomial_deviation(m, q) == approx(values, abs=5e-5)
    model = sf.HistogramClassifier(0.5).fit([[0.1], [0.2], [0.6]], [0, 1, 1])
    assert model.stochastic_error([[0.3], [0.9]]) == approx((1 / (2 * np.sqrt(2)) + 1 / 2) / 2)


def test_C29():
    assert sf.cell_count_bound(1000, 2, 100) == approx(0.8) and sf.cell_count_bound(10_000, 2, 100) == approx(0.08)
    assert stats.binom.cdf(2, 1000, 0.01) == approx(0.00268, abs=1e-5)
    assert sf.cells_meeting_ball(1.0, 0.5, 2) == approx(36)


def test_C30():
    X, y = np.array([[0.0], [2.0], [1.0], [5.0]]), [1, 0, 0, 1]
    assert sf.KNeighborsClassifier(1).fit(X, y).score(X, y) == 1
    assert sf.KNeighborsClassifier(4).fit(X, y).predict([[9.0]])[0] == 0  # a tie of labels
    assert (
        sf.KNeighborsClassifier(1).fit([[0.0], [2.0]], [1, 0]).predict([[1.0]])[0] == 1
    )  # equal distances: lower index


def test_C31():
    X, y = np.array([[0.1], [0.2], [0.7]]), np.array([1.0, 3.0, 5.0])
    model = sf.Regressogram(side=0.5).fit(X, y)
    cells = np.array([[1.0, 0], [1, 0], [0, 1]])
    assert model.predict(X) == approx(sf.LinearRegression(fit_intercept=False).fit(cells, y).predict(cells))


def test_C32():
    rng = np.random.default_rng(0)
    x, y = rng.random(20), rng.standard_normal(20)
    curve = sf.split_curve(x, y, criterion="squared_error")
    brute = [sum(g.var() * len(g) for g in (y[x <= s], y[x > s])) for s in curve.thresholds]
    assert curve.impurity == approx(brute)
    tree = sf.DecisionTreeRegressor(max_depth=1).fit(x[:, None], y)
    assert tree.tree_.threshold[0] == curve.best_threshold == curve.thresholds[int(np.argmin(brute))]


def test_C33():
    for split, error, impurity in (([[300, 100], [100, 300]], 200, 300), ([[200, 400], [200, 0]], 200, 266.67)):
        sizes = np.sum(split, axis=1)
        assert sizes @ sf.misclassification(split) == approx(error) and sizes @ sf.gini(split) == approx(
            impurity, abs=5e-3
        )
    assert sf.entropy([1, 1], unit="nats") == approx(np.log(2)) and sf.gini([1, 1]) == 0.5
    x, y = np.arange(6.0), [0, 1, 0, 0, 1, 1]
    assert sf.split_curve(x, y).impurity == approx(2 * sf.split_curve(x, y, criterion="squared_error").impurity)
