"""Newton's method for losses of a score: models, smoothing, starts, and the dual ascent."""

import numpy as np
import pytest
from scipy import sparse

from surefit.core.budget import Budget, Reason
from surefit.losses import Logistic, Poisson, SquaredEpsilonInsensitive, SquaredHinge, Tweedie
from surefit.solvers.dual_start import dual_start
from surefit.solvers.newton import (
    ExponentialScores,
    LogisticScores,
    Rows,
    ScalarScores,
    SoftmaxScores,
    first_model,
    minimize,
    subsample_start,
)
from surefit.solvers.newton.few_rows import MOST_STEPS, fit_few_rows
from surefit.solvers.newton.model import build
from surefit.solvers.newton.quadratic import minimize_quadratic
from surefit.solvers.newton.rounding import rounding_by_magnitudes
from surefit.solvers.newton.terms import SmoothedHinge, SmoothedTube, score_terms, young

LOSSES = [
    Logistic(),
    SquaredHinge(),
    SquaredEpsilonInsensitive(0.2),
    SmoothedHinge(0.5),
    SmoothedTube(0.2, 0.3),
    SmoothedTube(0.0, 0.3),
]


def problem(n=60, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 0.5
    return X, np.where(X[:, 0] + rng.standard_normal(n) > 0.5, 1.0, -1.0)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_slopes_and_curvatures_are_derivatives(loss):
    h = 1e-5
    for y in (-1.0, 1.0):
        for z in np.linspace(-3.03, 3.01, 61):
            low, mid, high = (score_terms(loss, y, z + s) for s in (-h, 0.0, h))
            assert mid[1] == pytest.approx((high[0] - low[0]) / (2 * h), abs=1e-4)
            assert low[1] - 1e-12 <= mid[1] <= high[1] + 1e-12  # convex
            assert young(loss, y, z, mid[1]) <= (0.2 if hasattr(loss, "width") else 1e-12)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("K", [1, 3])
def test_the_model_is_the_second_derivative_with_intercepts_solved_for(intercept, K):
    X, y = problem(30, 3)
    codes = np.random.default_rng(0).integers(0, 3, 30)
    scores = ScalarScores(Logistic(), y, np.ones(30)) if K == 1 else SoftmaxScores(codes, 3, np.ones(30))
    W = 0.1 * np.arange(3.0 * K).reshape(K, 3)
    Z = X @ W.T
    state = scores.evaluate(Z)[2]
    model = build(Rows(X), scores, state, np.arange(3 * K), intercept)
    step = np.random.default_rng(1).standard_normal(3 * K)
    db = -model.back @ step if intercept else np.zeros(K)
    V = X @ step.reshape(K, 3).T + db
    direct = np.vdot(V, scores.hessian_times(state, V))  # the curvature along the step, intercepts included
    assert step @ model.H @ step == pytest.approx(direct, rel=1e-8)
    thin = build(Rows(sparse.csr_array(X)), scores, state, np.arange(3 * K), intercept)
    np.testing.assert_allclose(thin.H, model.H, atol=1e-8)
    part = model.restricted(np.array([0, 2]))
    np.testing.assert_array_equal(part.H, model.H[np.ix_([0, 2], [0, 2])])
    assert model.restricted(np.array([99])) is None


def test_quadratic_with_l1_meets_its_optimality_conditions():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((20, 12))
    H, g, w = A.T @ A, 5 * rng.standard_normal(12), rng.standard_normal(12)
    for l2 in (0.0, 0.7):
        u = w + minimize_quadratic(H, g, w, 2.0, l2, 1e-10)
        slope = g + H @ (u - w) + l2 * u
        assert np.all(np.abs(slope[u == 0]) <= 2.0 + 1e-9) and (u == 0).any()
        np.testing.assert_allclose(slope[u != 0], -2.0 * np.sign(u[u != 0]), atol=1e-8)


def test_the_band_costs_a_gap_that_falls_with_the_square_of_its_width():
    margins = np.linspace(-3, 5, 80_001)[:, None]  # evenly spread: the cost is the integral of p (1 - p) over the band
    costs = []
    for width in (0.4, 0.2, 0.1):
        scores = ScalarScores(SmoothedHinge(width), np.ones(80_001), np.full(80_001, 1e-4))
        costs.append(scores.young(margins, scores.evaluate(margins)[1]))
    assert costs[0] == pytest.approx(0.4**2 / 24, rel=1e-2)  # 2 * integral of s (1/2 - s/h) over 0 < s < h/2
    assert costs[0] / costs[1] == pytest.approx(4.0, rel=1e-2) and costs[1] / costs[2] == pytest.approx(4.0, rel=1e-2)


def test_flat_intercepts_are_put_in_the_middle():
    scores = ScalarScores(SmoothedHinge(0.1), np.array([-1.0, 1.0]), np.ones(2))
    assert scores.best_shift(np.array([[-3.0], [5.0]]))[0] == pytest.approx(-1.0, abs=1e-2)


def test_a_start_from_few_rows_is_near_and_not_taken_when_rows_are_few():
    X, y = problem(40_000, 3)
    scores = ScalarScores(Logistic(), y, np.ones(40_000))
    start = subsample_start(Rows(X), scores, 0.0, 1.0, True, Budget())
    full = minimize(Rows(X), scores, 0.0, 1.0, intercept=True, tolerance=1e-6, budget=Budget(50))
    assert start is not None and np.abs(start.coef - full.coef).max() < 0.2
    assert (
        subsample_start(Rows(X[:500]), ScalarScores(Logistic(), y[:500], np.ones(500)), 0.0, 1.0, True, Budget())
        is None
    )


def test_dual_ascent_reaches_the_optimum_of_the_primal():
    X, y = problem(80, 200)
    rows = Rows(sparse.csr_array(X))
    scores = ScalarScores(SmoothedHinge(4.0), y, np.ones(80))
    dual = dual_start(rows, scores, False, 1e-3, Budget())
    primal = minimize(rows, scores, 0.0, 1.0, intercept=False, tolerance=1e-5, budget=Budget(500))
    assert dual.dual is not None and dual.objective - primal.objective <= 1e-3
    assert np.all(dual.dual * y >= 0) and np.all(np.abs(dual.dual) <= 1)
    start = dual_start(rows, scores, True, 1e-3, Budget())
    assert start.dual is None and start.width > 0
    assert dual_start(rows, ScalarScores(SquaredHinge(), y, np.ones(80)), False, 1e-3, Budget()) is None


def test_conjugate_gradients_and_the_formed_matrix_agree(monkeypatch):
    import sys

    module = sys.modules["surefit.solvers.newton.minimize"]
    X, y = problem(100, 6)
    for scores in (
        ScalarScores(Logistic(), y, np.ones(100)),
        SoftmaxScores((y > 0).astype(int) + (X[:, 1] > 1), 3, np.ones(100)),
    ):
        formed = minimize(Rows(X), scores, 0.0, 1.0, intercept=True, tolerance=1e-10, budget=Budget(50))
        monkeypatch.setattr(module, "LARGEST_MODEL", 0)
        for container in (np.asarray, sparse.csr_array):
            free = minimize(Rows(container(X)), scores, 0.0, 1.0, intercept=True, tolerance=1e-10, budget=Budget(50))
            np.testing.assert_allclose(free.coef, formed.coef, atol=1e-4)
        monkeypatch.undo()


@pytest.mark.parametrize(("n", "formed"), [(40, False), (400, True)])
@pytest.mark.parametrize("l2", [1e-4, 1.0])
def test_the_matrix_is_formed_only_if_there_are_as_many_rows_as_columns(monkeypatch, n, formed, l2):
    import sys

    calls = []
    module = sys.modules["surefit.solvers.newton.minimize"]
    monkeypatch.setattr(module, "build", lambda *args: calls.append(1) or build(*args))
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 20)) @ rng.normal(size=(20, 320)) + 0.01 * rng.normal(size=(n, 320))  # correlated columns
    y = np.where(X[:, 0] + rng.normal(size=n) > 0.0, 1.0, -1.0)
    scores = ScalarScores(Logistic(), y, np.full(n, 1.0 / n))
    fit = minimize(Rows(X), scores, 0.0, l2, intercept=True, tolerance=1e-9, budget=Budget(200))
    assert fit.reason is Reason.CONVERGED and fit.gap <= 1e-9
    assert bool(calls) == formed


def test_peaks_of_columns_are_the_same_in_any_storage():
    X = np.random.default_rng(0).standard_normal((30, 6))
    X[np.abs(X) < 0.5], X[:, 4] = 0.0, 0.0
    for store in (np.asarray, sparse.csr_array, sparse.csc_array):
        np.testing.assert_array_equal(Rows(store(X)).peaks, np.abs(X).max(axis=0))


@pytest.mark.parametrize(("l1", "l2"), [(0.0, 1.0), (2.0, 0.0), (1.0, 0.5)])
@pytest.mark.parametrize("size", [1.0, 1e4])
def test_magnitudes_bound_the_rounding_of_the_gap(l1, l2, size):
    X, y = problem(300, 5)
    X, scores = size * X, ScalarScores(Logistic(), y, np.full(300, 0.7))
    rows = Rows(X)
    fit = minimize(rows, scores, l1, l2, intercept=False, tolerance=1e-6, budget=Budget(100, None))
    z = X.astype(np.longdouble) @ fit.coef[0].astype(np.longdouble)  # the same gap in more digits
    theta = 0.7 * y / (1 + np.exp(y * z))
    v = X.T.astype(np.longdouble) @ theta
    scale = 1.0 if l2 > 0 else min(1.0, l1 / np.abs(v).max())
    p, w = scale * np.abs(theta) / 0.7, fit.coef[0]
    gap = 0.7 * np.sum(np.logaddexp(0, -y * z) + p * np.log(p) + (1 - p) * np.log1p(-p) + p * y * z)
    gap += np.sum(l1 * np.abs(w) + 0.5 * l2 * w**2 - scale * w * v)
    if l2 > 0:
        gap += np.sum(np.maximum(np.abs(v) - l1, 0) ** 2) / (2 * l2)
    assert abs(gap - fit.gap) <= rounding_by_magnitudes(rows, scores, fit, l1, l2) + 1e-15 * fit.objective


@pytest.mark.parametrize("size", [1.0, 1e4])
def test_magnitudes_bound_the_rounding_of_the_gap_of_a_smoothed_loss(size):
    X, y = problem(300, 5)
    X, scores = size * X, ScalarScores(SmoothedHinge(0.01 * size), y, np.full(300, 0.7))
    rows = Rows(X)
    fit = fit_few_rows(rows, scores, 1.0, False, 1e-4 * 300, Budget(100, None))
    A, w = X.astype(np.longdouble), fit.coef[0].astype(np.longdouble)
    slack = 1 - y * (A @ w)
    p = np.clip(slack / scores.width + 0.5, 0, 1)
    gap = 0.7 * np.sum(np.where(slack > 0, (1 - p) * slack, -p * slack)) + np.sum((w - A.T @ (0.7 * p * y)) ** 2) / 2
    most = rounding_by_magnitudes(rows, scores, fit, 0.0, 1.0)
    assert 0 < abs(gap - fit.gap) <= most < 1e-3 * fit.objective


@pytest.mark.parametrize("loss", [Poisson(), Tweedie(1.0), Tweedie(1.3), Tweedie(2.0)], ids=str)
def test_exponential_scores_are_the_loss_and_its_derivatives(loss):
    rng = np.random.default_rng(0)
    z, c = rng.uniform(-3, 3, size=50), rng.uniform(0.1, 2.0, size=50)
    y = rng.gamma(1.0, np.exp(z)) + 1e-3
    y[:10] = 0.0 if loss != Tweedie(2.0) else y[:10]
    scores, h = ExponentialScores(loss, y, c), 1e-5
    total, derivatives, curvatures = scores.evaluate(z[:, None])
    assert total == pytest.approx(float(c @ loss(y, z)), rel=1e-12) == scores.value(z[:, None])
    np.testing.assert_allclose(derivatives[:, 0], c * loss.gradient(y, z), rtol=1e-12, atol=1e-12)
    ends = [loss.gradient(y, z + s) for s in (-h, h)]
    np.testing.assert_allclose(curvatures, c * (ends[1] - ends[0]) / (2 * h), rtol=1e-6)
    shift = float(scores.best_shift(z[:, None])[0])
    assert abs(c @ loss.gradient(y, z + shift)) <= 1e-12 * c @ np.abs(loss.gradient(y, z + shift))
    assert scores.part(2).value(z[::2, None]) == pytest.approx(2 * float(c[::2] @ loss(y[::2], z[::2])), rel=1e-12)


def test_best_shift_of_exponentials_without_a_minimum_is_not_a_number():
    assert np.isnan(ExponentialScores(Poisson(), np.zeros(3), np.ones(3)).best_shift(np.zeros((3, 1)))).all()


@pytest.mark.parametrize(
    "loss", [*LOSSES[:3], SmoothedHinge(4.0), SmoothedTube(0.2, 1.0), SmoothedTube(0.0, 1.0)], ids=str
)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C", [0.01, 1.0, 1e3])
def test_compiled_newton_reaches_the_gap_that_the_general_solver_confirms(loss, intercept, C):
    X, y = problem(80, 5, seed=3)
    weights = C * np.random.default_rng(4).integers(0, 3, 80)
    scores = ScalarScores(loss, y, weights)
    limit = 1e-7 * scores.value(np.zeros((80, 1)))
    fit = fit_few_rows(Rows(X), scores, 1.0, intercept, limit, Budget(1000))
    assert fit.reason is Reason.CONVERGED and fit.gap <= limit and fit.n_iter <= MOST_STEPS
    if fit.width:
        scores.sharpen(fit.width)
    again = minimize(
        Rows(X), scores, 0.0, 1.0, intercept=intercept, tolerance=1.001 * limit, budget=Budget(0), coef=fit.coef,
        offset=fit.intercept,
    )  # fmt: skip
    assert again.n_iter == 0 and again.gap <= limit  # after a step of the intercept alone
    assert fit.objective - limit <= again.objective <= fit.objective * (1 + 1e-12)


def test_compiled_newton_leaves_hard_and_large_problems_to_others():
    X, y = problem(60, 4)
    scores = ScalarScores(SmoothedHinge(4.0), y, np.ones(60))
    assert fit_few_rows(Rows(sparse.csr_array(X)), scores, 1.0, True, 1e-6, Budget()) is None
    assert fit_few_rows(Rows(np.ones((600, 30))), scores, 1.0, True, 1e-6, Budget()) is None
    assert fit_few_rows(Rows(X), scores, 1.0, True, 0.0, Budget()) is None and scores.width == 4.0
    one = fit_few_rows(Rows(X), scores, 1.0, True, 1e-9, Budget(1))
    assert one.reason is Reason.MAX_ITER and one.n_iter == 1
    seen = []
    stopped = fit_few_rows(Rows(X), scores, 1.0, True, 1e-9, Budget(100, None, lambda n, gap: seen.append(n) or n >= 3))
    assert stopped.reason is Reason.CALLBACK and max(seen) == 3


@pytest.mark.parametrize("spread", [0.0, 1.0, 300.0])
def test_array_operations_of_the_logistic_loss_agree_with_its_loops(spread):
    rng = np.random.default_rng(0)
    n = 20_000
    y, c, Z = np.where(rng.random(n) > 0.3, 1.0, -1.0), rng.random(n) + 0.1, spread * rng.standard_normal((n, 1))
    arrays, loops = LogisticScores(y, c), ScalarScores(Logistic(), y, c)
    for found, expected in zip(arrays.evaluate(Z), loops.evaluate(Z), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)
    assert arrays.value(Z) == pytest.approx(loops.value(Z), rel=1e-12)
    derivatives = 0.9 * arrays.evaluate(Z)[1]
    assert arrays.young(Z, derivatives) == pytest.approx(loops.young(Z, derivatives), rel=1e-9)
    assert arrays.best_shift(Z)[0] == pytest.approx(loops.best_shift(Z)[0], abs=1e-9)
    part = arrays.part(3)
    assert isinstance(part, LogisticScores) and part.value(Z[::3]) == pytest.approx(loops.part(3).value(Z[::3]))


def test_products_with_narrow_rows_agree_with_blas():
    rng = np.random.default_rng(0)
    X, w, v = rng.standard_normal((40_000, 7)), rng.standard_normal((1, 7)), rng.standard_normal((40_000, 1))
    for rows in (Rows(X), Rows(np.asfortranarray(X))):
        np.testing.assert_allclose(rows.times(w), X @ w.T, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(rows.transposed(v), v.T @ X, rtol=1e-10, atol=1e-9)


def test_the_start_from_subsamples_survives_a_small_one_with_a_single_class():
    X, y = problem(40_000, 2)
    y[:] = 1.0
    y[20::40] = -1.0  # every eighth row of the larger subsample
    start = subsample_start(Rows(X), LogisticScores(y, np.ones(len(y))), 0.0, 1.0, True, Budget())
    assert start is not None and start.model is not None


def exponential_problem(n=4000, d=5, power=2.0, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = rng.gamma(2.0, 0.5 * np.exp(X @ rng.uniform(-0.5, 0.5, d)))
    return Rows(X), ExponentialScores(Poisson() if power == 1.0 else Tweedie(power), y, np.full(n, 1.0 / n))


@pytest.mark.parametrize("power", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_positive_targets_start_near_the_optimum(power, intercept):
    """Least squares of the logarithms leaves few steps; a start elsewhere ends at the same point."""
    rows, scores = exponential_problem(power=power)
    offset = scores.best_shift(np.zeros((4000, 1))) if intercept else np.zeros(1)
    terms = {"intercept": intercept, "tolerance": 1e-12, "budget": Budget(100)}
    coef, b, model = first_model(rows, scores, 0.01, np.zeros((1, 5)), offset, intercept, np.inf)
    assert coef.any() and scores.value(rows.times(coef) + b) < scores.value(np.tile(offset, (4000, 1)))
    near = minimize(rows, scores, 0.0, 0.01, coef=coef, offset=b, model=model, **terms)
    far = minimize(rows, scores, 0.0, 0.01, coef=np.zeros((1, 5)), offset=offset, **terms)
    assert near.reason is far.reason is Reason.CONVERGED and near.history[0][2] < 0.05 * far.history[0][2]
    np.testing.assert_allclose(near.coef, far.coef, atol=1e-6)


def test_the_first_model_is_the_hessian_up_to_single_precision():
    rows, scores = exponential_problem()
    scores.y[0] = 0.0  # without positive targets the point is unchanged
    coef, offset = np.full((1, 5), 0.1), np.array([0.3])
    *point, model = first_model(rows, scores, 0.01, coef, offset, True, np.inf)
    exact = build(rows, scores, scores.evaluate(rows.times(coef) + offset)[2], np.arange(5), True)
    assert point[0] is coef and point[1] is offset
    np.testing.assert_allclose(model.H, exact.H, atol=1e-5 * np.abs(exact.H).max())
    np.testing.assert_allclose(model.back, exact.back, atol=1e-5)


def test_a_bad_logarithm_keeps_the_start_and_overflow_gives_no_model():
    rows, scores = exponential_problem(power=2.0)
    extreme = np.where(rows.X[:, 0] > 1.5, 1e-300, scores.y)  # far outliers of the logarithms
    scores = ExponentialScores(Tweedie(2.0), extreme, scores.weights)
    zero, offset = np.zeros((1, 5)), scores.best_shift(np.zeros((4000, 1)))
    null = scores.value(np.tile(offset, (4000, 1)))
    coef, b, model = first_model(rows, scores, 0.01, zero, offset, True, null)
    assert coef is zero and b is offset and model is not None
    fit = minimize(
        rows, scores, 0.0, 0.01, intercept=True, tolerance=1e-9, budget=Budget(100), coef=coef, offset=b, model=model
    )
    assert fit.reason is Reason.CONVERGED
    assert first_model(Rows(1e30 * rows.X), scores, 0.01, zero, offset, True, null)[2] is None
    assert first_model(Rows(rows.X[:100]), scores.part(40), 0.01, zero, offset, True, null) == (zero, offset, None)


def test_many_rows_give_the_first_model_of_some_of_them():
    rows, scores = exponential_problem(n=60_000, d=2)
    zero, offset = np.zeros((1, 2)), scores.best_shift(np.zeros((60_000, 1)))
    _, _, model = first_model(rows, scores, 0.01, zero, offset, True, np.inf)
    _, _, part = first_model(rows.part(3), scores.part(3), 0.01, zero, offset, True, np.inf)
    np.testing.assert_array_equal(model.H, part.H)


def test_the_last_step_need_not_be_evaluated():
    """The returned gap is that before the step; the point itself meets the tolerance."""
    rows, scores = exponential_problem()
    zero, offset = np.zeros((1, 5)), scores.best_shift(np.zeros((4000, 1)))
    terms = {"intercept": True, "tolerance": 1e-9, "coef": zero, "offset": offset}
    seen = minimize(rows, scores, 0.0, 0.01, budget=Budget(100), **terms)
    unseen = minimize(rows, scores, 0.0, 0.01, budget=Budget(100), unseen=1e-3, **terms)
    assert unseen.reason is Reason.CONVERGED and len(unseen.history) < len(seen.history)
    assert 1e-9 < unseen.gap == unseen.history[-1][2] <= 1e-3 and unseen.n_iter == len(unseen.history)
    after = minimize(
        rows, scores, 0.0, 0.01, budget=Budget(100), **{**terms, "coef": unseen.coef, "offset": unseen.intercept}
    )
    assert after.n_iter == 0 and after.gap <= 1e-9


def test_products_with_dense_rows_have_the_same_bits_for_any_number_of_threads(monkeypatch):
    rng = np.random.default_rng(4)
    X, w, weights = rng.standard_normal((70_000, 8)), rng.standard_normal(8), rng.random(70_000)
    scores, few = ScalarScores(SmoothedHinge(0.1), np.sign(X @ w), weights), np.where(weights < 0.2, weights, 0.0)
    monkeypatch.setattr("surefit.core.threads.THREADED", 1)  # share even these few rows
    found = []
    for threads in (1, 2, 3):
        for module in ("core.threads", "solvers.newton.rows", "solvers.newton.scalar_scores"):
            monkeypatch.setattr(f"surefit.{module}.blas_threads", lambda threads=threads: threads)
        rows = Rows(X)
        Z = rows.times(w[None, :])
        gram, of_few = (rows.gram(np.arange(8), some, np.zeros(8)) for some in (weights, few))
        loss, derivatives, curvatures = scores.evaluate(Z)
        parts = (Z, rows.transposed(derivatives), gram, of_few, rows.peaks, derivatives, curvatures, np.array(loss))
        found.append([part.tobytes() for part in parts])
        assert np.array_equal(rows.peaks, np.abs(X).max(axis=0))
        assert gram == pytest.approx(X.T @ (weights[:, None] * X), rel=1e-11)
        assert of_few == pytest.approx(X.T @ (few[:, None] * X), rel=1e-11)
    assert found[0] == found[1] == found[2]
