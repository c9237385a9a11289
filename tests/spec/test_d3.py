"""Items D60 to D82: perceptron variants and bounds, support vector machines, kernels."""

import numpy as np
import pytest

import surefit as sf

approx = pytest.approx
FOUR, LABELS = np.array([[1.0, 2.0], [2.0, -1.0], [-1.0, 1.0], [-2.0, -1.0]]), np.array([1, 1, -1, -1])
PAIR, SIGNS = np.array([[-1.0], [1.0]]), np.array([-1, 1])


def test_D60():
    whole = sf.Perceptron(fit_intercept=False, order="cyclic", max_iter=1, tol=None).fit(FOUR, LABELS)
    stream = sf.Perceptron(fit_intercept=False)
    for x, y in zip(FOUR, LABELS, strict=True):
        stream.partial_fit([x], [y], classes=[-1, 1])
    assert np.array_equal(whole.coef_, stream.coef_)
    sure = int(np.argmax(LABELS * (FOUR @ stream.coef_[0])))
    before = stream.coef_.copy()
    stream.partial_fit([FOUR[sure]], [LABELS[sure]])
    assert np.array_equal(stream.coef_, before)  # a row that is right changes nothing
    sign = sf.Perceptron(fit_intercept=False, order="cyclic", mistake="sign").fit([[1.0], [1.0], [-1.0]], [1, 1, 1 - 2])
    assert (
        sign.predict([[0.0]])[0] == 1
        and sf.Perceptron(fit_intercept=False).fit(FOUR, LABELS).predict([[0.0, 0.0]])[0] == -1
    )


def test_D61():
    X = np.vstack([np.eye(9), -np.eye(9)[:1]])
    y = np.append(np.ones(9), -1).astype(int)
    rule_b = sf.Perceptron(fit_intercept=False, order="cyclic", tol=None).fit(X, y)
    rule_a = sf.Perceptron(fit_intercept=False, order="cyclic", tol=None, mistake="sign").fit(X, y)
    assert rule_b.n_updates_ == 9 and rule_a.n_updates_ < rule_b.n_updates_
    assert rule_b.coef_[0] == approx((rule_b.mistake_counts_ * y) @ X)


def test_D62():
    model = sf.AveragedPerceptron(fit_intercept=False, order="cyclic", max_iter=2, tol=None).fit(FOUR, LABELS)
    w, held = np.zeros(2), []
    for _ in range(model.n_iter_):
        for x, t in zip(FOUR, LABELS, strict=True):
            w = w + t * x if t * (w @ x) <= 0 else w
            held.append(w)
    assert model.coef_[0] == approx(np.mean(held, axis=0))


def test_D63():
    X, y, start = (
        np.array([[1.0, 0.0], [0.0, 1.0]]),
        np.array([1, -1]),
        [[-5.0, -1.0]],
    )  # the second row is right all along
    for mistake, updates in (("<=0", 6), ("sign", 5)):
        model = sf.Perceptron(fit_intercept=False, order="cyclic", mistake=mistake, tol=None)
        model.fit(X, y, coef_init=start)
        assert model.n_updates_ == updates and set(model.mistake_log_["row"]) == {0}
        path = sf.perceptron_path(model, X, y)
        assert np.diff(path[:, 0]) == approx(np.ones(updates))  # each update raises the margin by |x|^2 = 1
        assert path[0, 0] == -5 and path[-1, 0] == updates - 5


def test_D64():
    runs = [
        sf.Perceptron(fit_intercept=False, order="cyclic", eta0=eta, tol=None).fit(FOUR, LABELS)
        for eta in (0.1, 1.0, 7.0)
    ]
    assert all(np.array_equal(r.mistake_log_["row"], runs[1].mistake_log_["row"]) for r in runs)
    assert runs[2].coef_ == approx(7 * runs[1].coef_)


def test_D65():
    loss = sf.losses.PerceptronLoss()
    assert sf.losses.subgradients(loss, 1.0, 0.0) == (-1.0, 0.0)
    for z0, z in np.random.default_rng(0).normal(size=(50, 2)) * [[1.0, 1.0]] * np.array([[0, 1]] * 10 + [[1, 1]] * 40):
        for g in sf.losses.subgradients(loss, 1.0, z0):  # the subgradient inequality
            assert sf.losses.value(loss, 1.0, z) - sf.losses.value(loss, 1.0, z0) >= g * (z - z0) - 1e-15
    model = sf.SGDClassifier(
        loss="perceptron",
        alpha=0.0,
        penalty=None,
        learning_rate="constant",
        eta0=1.0,
        shuffle=False,
        fit_intercept=False,
        max_iter=1,
        tol=None,
    )
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(FOUR, LABELS)
    plain = sf.Perceptron(fit_intercept=False, order="cyclic", max_iter=1, tol=None).fit(FOUR, LABELS)
    assert model.coef_ == approx(plain.coef_)


def test_D66():
    w, b, x = np.array([3.0, 4.0]), -5.0, np.array([[3.0, 4.0]])
    distance, foot = sf.distances((w, b), x, feet=True)
    assert distance[0] == approx(4) and foot[0] @ w + b == approx(0) and np.linalg.norm(x[0] - foot[0]) == approx(4)
    assert sf.distances((10 * w, 10 * b), x)[0] == approx(4)


def test_D67():
    model = sf.Perceptron(fit_intercept=False, order="cyclic", tol=None).fit(FOUR, LABELS)
    path = sf.perceptron_path(model, FOUR, LABELS)[1:, :2]
    best = sf.maximal_margin(FOUR, LABELS, False).bracket
    upper = np.linalg.norm(path, axis=1) / np.arange(1, len(path) + 1)
    assert sf.margins((path[-1], 0.0), FOUR, LABELS).margin <= best.up and np.all(upper >= best.low)


def test_D68():
    for m in (4, 9):
        X = np.vstack([np.eye(m), -np.eye(m)])
        y = np.repeat([1, -1], m)
        model = sf.Perceptron(fit_intercept=False, order="cyclic", tol=None).fit(X, y)
        assert model.n_updates_ == m == approx(sf.novikoff_bound(1.0, 1 / np.sqrt(m)))
    assert sf.Perceptron(fit_intercept=False, order="cyclic", tol=None).fit(5 * X, y).n_updates_ == 9


def test_D69():
    X, y, _ = sf.data.make_two_triangles(0.3)
    study = sf.shuffle_study(sf.Perceptron(fit_intercept=False, order="cyclic", tol=None), X, y, n_runs=8)
    assert np.all(study.margins <= study.best_margin) and study.margin_spread > 0 and study.largest_angle > 0


def test_D70():
    model = sf.SVC(kernel="linear", C=np.inf, tol=1e-9).fit(FOUR, LABELS)
    scores = LABELS * model.decision_function(FOUR)
    assert scores.min() == approx(1, abs=1e-6) and scores[LABELS == 1].min() == approx(
        scores[LABELS == -1].min(), abs=1e-6
    )
    assert model.margin_width_ == approx(2 * model.margin_)


def test_D71():
    model = sf.SVC(kernel="linear", C=np.inf, tol=1e-9).fit([[2.0, 2.0], [0.0, 0.0]], [1, -1])
    assert model.coef_[0] == approx([0.5, 0.5], abs=1e-6) and model.intercept_[0] == approx(-1, abs=1e-6)
    assert model.margin_[0] == approx(np.sqrt(2), abs=1e-6) and np.abs(model.dual_coef_[0]) == approx(
        [0.25, 0.25], abs=1e-6
    )
    with pytest.raises(sf.InvalidData):
        sf.SVC(kernel="linear", C=np.inf).fit([[0.0], [1.0], [2.0]], [1, -1, 1])


@pytest.mark.parametrize(("C", "w", "value"), [(0.1, 0.2, 0.18), (0.25, 0.5, 0.375), (0.5, 1.0, 0.5), (3.0, 1.0, 0.5)])
def test_D72(C, w, value):
    model = sf.SVC(kernel="linear", C=C, tol=1e-10).fit(PAIR, SIGNS)
    assert model.coef_[0, 0] == approx(w, abs=1e-5) and model.objective_ == approx(value, abs=1e-6)
    if C < 0.5:
        assert model.intercept_interval_[0] == approx([-(1 - 2 * C), 1 - 2 * C], abs=1e-5)


def test_D73():
    X, y, _ = sf.data.make_two_gaussians(50, random_state=0)
    fits = [sf.SVC(kernel="linear", C=C, tol=1e-8).fit(X, y) for C in (0.01, 0.1, 1.0)]
    assert fits[0].margin_[0] > fits[1].margin_[0] > fits[2].margin_[0]
    assert fits[0].slack_.sum() >= fits[1].slack_.sum() >= fits[2].slack_.sum()
    square = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    model = sf.SVC(kernel="linear", C=np.inf, tol=1e-9).fit(square, [1, 1, -1, -1])
    assert model.coef_[0] == approx([1, 0], abs=1e-6) and len(model.on_margin_) == 4


def test_D74():
    program = sf.duality.QuadraticProgram(np.eye(2), FOUR * LABELS[:, None], np.ones(4))
    optimum = program.solve()
    report = sf.kkt_report(program, *optimum)
    assert report.optimal(1e-8) and report.gap == approx(0, abs=1e-8)
    assert sf.weak_duality(program, 3 * optimum.x, np.ones(4)).gap >= 0


def test_D75():
    model = sf.SVC(kernel="linear", C=0.3, tol=1e-10).fit(FOUR, LABELS)
    w = model.coef_[0]
    total = np.abs(model.dual_coef_).sum()
    assert w @ w == approx(total - 0.3 * model.slack_.sum(), abs=1e-6) and model.dual_coef_.sum() == approx(0, abs=1e-9)


def test_D76():
    X, y, _ = sf.data.make_two_gaussians(40, random_state=0)
    for model in (sf.SVC(kernel="rbf", gamma=0.5, C=1.0, tol=1e-9), sf.SVC(kernel="linear", C=1.0, tol=1e-9)):
        report = sf.kkt_report(model.fit(X, y), X, y)
        assert report.optimal(1e-3) and report.stationarity < 1e-6 and report.relative_gap < 1e-6
    again = sf.SVC(kernel="linear", C=1.0, tol=1e-9).fit(X[model.support_], y[model.support_])
    assert again.coef_ == approx(model.coef_, abs=1e-4) and again.intercept_ == approx(model.intercept_, abs=1e-4)


def test_D77():
    model = sf.SVC(kernel="linear", C=1.0, tol=1e-8).fit(FOUR, LABELS)
    dual = FOUR @ model.support_vectors_.T @ model.dual_coef_[0] + model.intercept_[0]
    assert dual == approx(model.decision_function(FOUR)) and dual == approx(FOUR @ model.coef_[0] + model.intercept_[0])


def test_D78():
    kernel = sf.kernels.Polynomial(2, coef0=0.0)
    F = kernel.feature_map([[1.0, 2.0], [3.0, 4.0]])
    assert F[0] @ F[1] == approx(121) and F[0] @ F[1] == approx(kernel([[1.0, 2.0]], [[3.0, 4.0]])[0, 0])
    X, y, _ = sf.data.make_xor()
    explicit = sf.SVC(kernel="linear", C=1.0, tol=1e-9).fit(kernel.feature_map(X), y)
    implicit = sf.SVC(kernel=kernel, C=1.0, tol=1e-9).fit(X, y)
    assert implicit.decision_function(X) == approx(explicit.decision_function(kernel.feature_map(X)), abs=1e-5)


def test_D79():
    M = np.array([[1.0, 1, 0], [1, 1, 1], [0, 1, 1]])
    report = sf.check_kernel(sf.kernels.Precomputed(), M)
    assert report.holds is False and sorted(report.eigenvalues) == approx([-0.4142, 1, 2.4142], abs=5e-5)
    F = sf.kernels.empirical_features(sf.kernels.RBF(), FOUR)
    assert F @ F.T == approx(sf.kernels.RBF()(FOUR))


def test_D80():
    X = np.random.default_rng(0).standard_normal((8, 2))
    one, two = sf.kernels.RBF(), sf.kernels.Polynomial(2)
    assert all(sf.check_kernel(k, X).holds for k in (one + two, one * two, 3.0 * one))
    assert not sf.check_kernel(sf.kernels.Precomputed(), sf.kernels.Linear()(X) - 2 * sf.kernels.Linear()(X)).holds


def test_D81():
    kernel = sf.kernels.Polynomial(2)
    F = kernel.feature_map(FOUR)
    assert F.shape[1] == 6 and F @ F.T == approx((FOUR @ FOUR.T + 1) ** 2)
    assert sf.kernels.Polynomial(2, coef0=0.0).feature_map(FOUR).shape[1] == 3
    assert not sf.check_kernel(sf.kernels.Polynomial(3, coef0=-1.0), [[0.0]]).holds


def test_D82():
    K = [sf.kernels.RBF(gamma=1 / s**2)([[0.0], [1.0]])[0, 1] for s in (0.1, 10.0)]
    assert K[0] == approx(3.7e-44, rel=0.01) and K[1] == approx(0.990050, abs=5e-7)
