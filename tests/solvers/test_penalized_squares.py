"""Penalized least squares: worked numbers, identities, independent oracles, and a gap that is always a bound."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, sparse
from sklearn.linear_model import ElasticNet as SklearnElasticNet
from sklearn.linear_model import Lasso as SklearnLasso

from surefit.core.budget import Budget, Reason
from surefit.core.errors import MissingVerb
from surefit.operators import as_design
from surefit.penalties import L1, L2, ElasticNetPenalty, L1Ball, Positive, Weighted, elastic_terms, penalty_value
from surefit.solvers.coordinate_descent import alpha_max, prepare, solve, solve_path

STORAGES = {"columns": np.asfortranarray, "rows": np.ascontiguousarray, "csc": sparse.csc_array}


def fit(X, y, penalty, weights=None, intercept=True, tol=1e-10, **options):
    options = {"budget": Budget(), **options}
    return solve(prepare(as_design(X), y, weights, intercept), penalty, tol=tol, **options)


def objective(X, y, penalty, w, b, weights=None):
    s = np.ones(len(y)) if weights is None else weights
    return 0.5 * np.average((y - X @ w - b) ** 2, weights=s) + penalty_value(penalty, w)


def problem(n=60, p=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=(n, 1))  # correlated columns
    w = np.where(rng.random(p) < 0.3, rng.normal(size=p), 0.0)
    return X, X @ w + rng.normal(size=n) + 5.0


def penalties(p, alpha=0.1):
    factors = np.where(np.arange(p) % 5 == 0, 0.5, 1.0)
    factors[1], factors[2] = 0.0, np.inf
    return [
        L1(alpha),
        ElasticNetPenalty(alpha, 0.2),
        L2(0.3),
        Positive(L1(alpha)),
        Positive(ElasticNetPenalty(alpha, 0.05)),
        Weighted(L1(alpha), factors),
        Weighted(ElasticNetPenalty(alpha, 0.2), factors),
        Positive(Weighted(L1(alpha), factors)),
    ]


each_penalty = pytest.mark.parametrize("penalty", penalties(30), ids=lambda penalty: repr(penalty)[:40])


# The mathematics


def test_spec_f38_one_feature():
    X, y = np.array([[-1.0], [0.0], [1.0]]), np.array([-2.0, 0.0, 2.0])
    prepared = prepare(as_design(X), y, None, True)
    assert alpha_max(prepared, L1(1.0)) == pytest.approx(8 / 6, rel=1e-15)  # lambda_max = 8, alpha = lambda / (2 n)
    solution = solve(prepared, L1(2 / 6), tol=1e-14, budget=Budget())
    assert solution.coef == pytest.approx([1.5], rel=1e-14)
    assert solution.intercept == pytest.approx(0.0, abs=1e-15)
    assert solution.objective == pytest.approx(3.5 / 6, rel=1e-14)
    assert solution.null_objective == pytest.approx(8 / 6, rel=1e-15)


def test_spec_d17_lasso_and_ridge_on_the_identity():
    X, y = np.eye(2), np.array([3.0, 0.4])
    assert fit(X, y, L1(1 / 4), intercept=False, tol=1e-15).coef == pytest.approx([2.5, 0.0], abs=1e-15)
    assert fit(X, y, L2(1 / 2), intercept=False, tol=1e-15).coef == pytest.approx([1.5, 0.2], rel=1e-14)


def test_orthonormal_columns_give_soft_thresholds():
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.normal(size=(40, 8)))[0]
    y, lam = rng.normal(size=40), 0.6
    z = Q.T @ y
    expected = np.sign(z) * np.maximum(np.abs(z) - lam / 2, 0)
    assert fit(Q, y, L1(lam / 80), intercept=False, tol=1e-14).coef == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("alpha", [0.02, 0.1, 0.5])
def test_optimality_conditions(alpha):
    X, y = problem()
    solution = fit(X, y, L1(alpha), tol=1e-14)
    residual = y - X @ solution.coef - solution.intercept
    correlations = X.T @ residual / len(y)
    used = solution.coef != 0
    assert residual.sum() == pytest.approx(0.0, abs=1e-9)
    assert correlations[used] == pytest.approx(alpha * np.sign(solution.coef[used]), abs=1e-8)
    assert np.all(np.abs(correlations) <= alpha + 1e-8)
    assert solution.n_support == used.sum()


def test_null_model_from_alpha_max_on_with_gap_exactly_zero():
    X, y = problem()
    prepared = prepare(as_design(X), y, None, True)
    largest = alpha_max(prepared, L1(1.0))
    assert largest == pytest.approx(np.max(np.abs((X - X.mean(0)).T @ (y - y.mean()))) / len(y), rel=1e-12)
    for factor in (1 + 1e-9, 2.0, 1e6):
        solution = solve(prepared, L1(largest * factor), tol=0.0, budget=Budget())
        assert not solution.coef.any() and solution.gap == 0.0 and solution.reason == Reason.CONVERGED
        assert solution.intercept == pytest.approx(y.mean(), rel=1e-15)
    assert solution.inactive.all()
    assert solve(prepared, L1(largest * 0.999), tol=1e-12, budget=Budget()).n_support == 1


def test_null_model_with_unpenalized_features():
    X, y = problem()
    factors = np.r_[0.0, 0.0, np.ones(28)]
    prepared = prepare(as_design(X), y, None, True)
    largest = alpha_max(prepared, Weighted(L1(1.0), factors))
    above = solve(prepared, Weighted(L1(largest * 1.0001), factors), tol=1e-14, budget=Budget())
    below = solve(prepared, Weighted(L1(largest * 0.999), factors), tol=1e-12, budget=Budget())
    assert np.flatnonzero(above.coef).tolist() == [0, 1] and below.n_support == 3
    free = np.linalg.lstsq(np.c_[X[:, :2], np.ones(len(y))], y, rcond=None)[0]
    assert above.coef[:2] == pytest.approx(free[:2], rel=1e-6)


def test_spec_f40_inactive_features_are_zero_and_duplicates_share_the_fit():
    X, y = problem(n=40, p=60)
    doubled = np.hstack([X, X])
    one, two = fit(X, y, L1(0.3), tol=1e-13), fit(doubled, y, L1(0.3), tol=1e-13)
    assert doubled @ two.coef + two.intercept == pytest.approx(X @ one.coef + one.intercept, abs=1e-6)
    assert np.abs(two.coef).sum() == pytest.approx(np.abs(one.coef).sum(), rel=1e-6)
    assert not one.coef[one.inactive].any() and one.inactive.sum() == 60 - one.n_support
    assert not np.any(two.inactive[:60] & (one.coef != 0))  # either copy may carry the weight


def test_inactive_features_proved_early_stay_inactive():
    X, y = problem(n=50, p=200)
    exact = fit(X, y, L1(0.5), tol=1e-14)
    for n_iter in (1, 2, 3):
        early = fit(X, y, L1(0.5), tol=0.0, budget=Budget(max_iter=n_iter))
        assert not exact.coef[early.inactive].any()
    assert exact.inactive.sum() > 100


def test_spec_f41_quadratic_program_with_split_variables():
    X, y = problem(n=30, p=8)
    Z, target, alpha = X - X.mean(0), y - y.mean(), 0.2

    def value(split):
        r = target - Z @ (split[:8] - split[8:])
        slope = -Z.T @ r / 30
        return r @ r / 60 + alpha * split.sum(), np.r_[slope + alpha, -slope + alpha]

    oracle = optimize.minimize(value, np.zeros(16), jac=True, bounds=[(0, None)] * 16, method="L-BFGS-B", tol=1e-15)
    solution = fit(X, y, L1(alpha), tol=1e-14)
    assert solution.objective == pytest.approx(oracle.fun, rel=1e-8)
    assert np.all(np.minimum(oracle.x[:8], oracle.x[8:]) < 1e-6)  # complementarity


# Independent oracles


@each_penalty
@pytest.mark.parametrize("weighted", [False, True])
def test_agrees_with_a_conic_solver(penalty, weighted):
    X, y = problem()
    s = np.random.default_rng(2).integers(0, 4, len(y)).astype(float) if weighted else np.ones(len(y))
    terms = elastic_terms(penalty, 30)
    w, b = cp.Variable(30), cp.Variable()
    excluded = np.isinf(terms.slopes)
    slopes = np.where(excluded, 0.0, terms.slopes)
    loss = cp.sum(cp.multiply(s / s.sum(), cp.square(y - X @ w - b))) / 2
    penalized = loss + slopes @ cp.abs(w) + terms.curvatures @ cp.square(w) / 2
    constraints = [w[excluded] == 0] if excluded.any() else []
    constraints += [w >= 0] if terms.positive else []
    oracle = cp.Problem(cp.Minimize(penalized), constraints).solve(
        solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12
    )
    solution = fit(X, y, penalty, s if weighted else None, tol=1e-12)
    own = objective(X, y, penalty, solution.coef, solution.intercept, s)
    assert solution.objective == pytest.approx(own, rel=1e-12)
    assert own == pytest.approx(oracle, rel=1e-7)
    assert own - oracle <= solution.gap + 1e-7 * oracle
    assert not solution.coef[excluded].any() and (not terms.positive or solution.coef.min() >= 0)


@pytest.mark.parametrize("shape", [(60, 30), (30, 80), (400, 5)])
@pytest.mark.parametrize("intercept", [True, False])
def test_agrees_with_scikit_learn(shape, intercept):
    X, y = problem(*shape, seed=3)
    theirs = SklearnLasso(alpha=0.1, tol=1e-12, max_iter=10**5, fit_intercept=intercept).fit(X, y)
    assert fit(X, y, L1(0.1), intercept=intercept, tol=1e-13).coef == pytest.approx(theirs.coef_, abs=1e-5)
    theirs = SklearnElasticNet(alpha=0.3, l1_ratio=0.4, tol=1e-12, max_iter=10**5, fit_intercept=intercept).fit(X, y)
    ours = fit(X, y, ElasticNetPenalty(0.12, 0.18), intercept=intercept, tol=1e-13)
    assert ours.coef == pytest.approx(theirs.coef_, abs=1e-6)
    assert ours.intercept == pytest.approx(theirs.intercept_, abs=1e-6)


def test_least_squares_without_penalty():
    X, y = problem()
    solution = fit(X, y, L1(0.0))
    expected = np.linalg.lstsq(np.c_[X, np.ones(60)], y, rcond=None)[0]
    assert solution.coef == pytest.approx(expected[:30], rel=1e-7)
    assert solution.gap <= 1e-10 * solution.null_objective and solution.reason == Reason.CONVERGED
    wide = fit(X[:20], y[:20], L1(0.0))  # more columns than rows: the fit is perfect, the gap still honest
    assert wide.objective <= wide.gap + 1e-12 and wide.objective < 1e-6


# The gap is a bound, wherever the solver stops


@each_penalty
@pytest.mark.parametrize("shape", [(60, 30), (25, 30)])
def test_gap_bounds_suboptimality_at_every_early_stop(penalty, shape):
    X, y = problem(*shape, seed=4)
    best = fit(X, y, penalty, tol=1e-14)
    for n_iter in range(1, 6):
        solution = fit(X, y, penalty, tol=0.0, budget=Budget(max_iter=n_iter))
        excess = objective(X, y, penalty, solution.coef, solution.intercept) - best.objective
        assert excess <= solution.gap + 1e-12 * best.null_objective
        assert solution.gap >= 0.0 and solution.n_iter <= n_iter


@each_penalty
def test_gap_bounds_suboptimality_of_any_start(penalty):
    X, y = problem(seed=5)
    best = fit(X, y, penalty, tol=1e-14)
    rng = np.random.default_rng(6)
    for scale in (1e-3, 1.0, 100.0):
        start = scale * rng.normal(size=30)
        budget = Budget(on_progress=lambda n_iter, gap: True)
        solution = fit(X, y, penalty, tol=0.0, budget=budget, start=start)
        assert solution.reason == Reason.CALLBACK
        assert solution.objective - best.objective <= solution.gap * (1 + 1e-9) + 1e-12
        assert fit(X, y, penalty, start=start).objective == pytest.approx(best.objective, rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(1, 15), st.floats(-4, 1), st.booleans(), st.booleans())
def test_gap_bounds_suboptimality_of_random_problems(seed, n, p, exponent, integer, intercept):
    rng = np.random.default_rng(seed)
    X = (
        rng.integers(-2, 3, (n, p)).astype(float) if integer else rng.normal(size=(n, p))
    )  # ties and duplicates, or none
    y = rng.integers(-3, 4, n).astype(float) if integer else rng.normal(size=n)
    penalty = L1(10.0**exponent)
    exact = fit(X, y, penalty, intercept=intercept, tol=1e-13)
    early = fit(X, y, penalty, intercept=intercept, tol=0.0, budget=Budget(max_iter=1))
    assert exact.gap <= 1e-9 * exact.null_objective
    assert early.objective - exact.objective <= early.gap + 1e-12 * exact.null_objective
    assert not exact.coef[early.inactive & exact.inactive].any()


def test_history_ends_with_the_gap_and_time_runs_forward():
    X, y = problem(n=80, p=300)
    solution = fit(X, y, L1(0.05), tol=1e-8)
    seconds, n_iters, gaps = zip(*solution.history, strict=True)
    assert list(seconds) == sorted(seconds) and list(n_iters) == sorted(n_iters)
    assert min(gaps) <= solution.gap <= min(gaps) + 1e-12 * solution.null_objective  # rounding is added at the end
    assert solution.gap <= 1e-8 * solution.null_objective


def test_zero_tolerance_ends_where_rounding_does():
    X, y = problem()
    solution = fit(X, y, L1(0.1), tol=0.0)
    assert solution.reason in (Reason.STALLED, Reason.CONVERGED)
    assert solution.gap <= 1e-12 * solution.null_objective


# Symmetries of the problem


@each_penalty
@pytest.mark.parametrize("store", STORAGES.values(), ids=STORAGES)
def test_storage_does_not_matter(penalty, store):
    X, y = problem(seed=7)
    X[np.abs(X) < 0.8] = 0.0
    expected = fit(X, y, penalty, tol=1e-13)
    solution = fit(store(X), y, penalty, tol=1e-13)
    assert solution.coef == pytest.approx(expected.coef, abs=1e-6)
    assert solution.objective == pytest.approx(expected.objective, rel=1e-12)
    single = fit(store(X.astype(np.float32)), y, penalty, tol=1e-13)
    assert single.coef == pytest.approx(fit(X.astype(np.float32).astype(float), y, penalty, tol=1e-13).coef, abs=1e-6)


def test_weight_is_repetition_and_zero_is_absence():
    X, y = problem()
    s = np.random.default_rng(8).integers(0, 4, len(y))
    weighted = fit(X, y, L1(0.1), s.astype(float), tol=1e-13)
    repeated = fit(np.repeat(X, s, axis=0), np.repeat(y, s), L1(0.1), tol=1e-13)
    assert weighted.coef == pytest.approx(repeated.coef, abs=1e-7)
    assert weighted.intercept == pytest.approx(repeated.intercept, abs=1e-7)
    scaled = fit(X, y, L1(0.1), s * 1e150, tol=1e-13)
    assert scaled.coef == pytest.approx(weighted.coef, abs=1e-8)


@pytest.mark.parametrize("store", STORAGES.values(), ids=STORAGES)
def test_columns_far_from_the_origin(store):
    X, y = problem()
    near, far = fit(X, y, L1(0.1), tol=1e-13), fit(store(X + 1e6), y, L1(0.1), tol=1e-13)
    assert far.coef == pytest.approx(near.coef, abs=1e-8 * np.abs(near.coef).max())
    residual = y - (X + 1e6) @ far.coef - far.intercept
    assert np.std(residual) == pytest.approx(np.std(y - X @ near.coef), rel=1e-7)


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e8, 1e150])
def test_scale_of_a_feature_is_absorbed_by_its_coefficient(scale):
    X, y = problem()
    factors = np.ones(30)
    factors[3] = scale
    Z = X * factors
    expected = fit(X, y, L1(0.1), tol=1e-13)
    solution = fit(Z, y, Weighted(L1(0.1), factors), tol=1e-13)
    assert solution.coef * factors == pytest.approx(expected.coef, abs=1e-7)
    assert np.isfinite(solution.gap)


def test_target_scales_with_the_penalty():
    X, y = problem()
    small, large = fit(X, 1e-100 * y, L1(1e-101)), fit(X, 1e100 * y, L1(1e99))
    assert small.coef * 1e100 == pytest.approx(large.coef * 1e-100, abs=1e-6)


# Paths


def test_path_is_its_solutions():
    X, y = problem(n=50, p=120)
    prepared = prepare(as_design(X), y, None, True)
    alphas = alpha_max(prepared, L1(1.0)) * np.logspace(0.1, -3, 12)
    path = list(solve_path(prepared, [L1(float(a)) for a in alphas], tol=1e-11, budget=Budget()))
    for alpha, solution in zip(alphas, path, strict=True):
        alone = solve(prepared, L1(float(alpha)), tol=1e-11, budget=Budget())
        assert solution.objective == pytest.approx(alone.objective, rel=1e-10)
        assert solution.reason == alone.reason == Reason.CONVERGED
    backwards = list(solve_path(prepared, [L1(float(a)) for a in alphas[::-1]], tol=1e-11, budget=Budget()))
    assert [s.objective for s in backwards[::-1]] == pytest.approx([s.objective for s in path], rel=1e-9)


def test_path_ends_when_time_is_up():
    X, y = problem()
    prepared = prepare(as_design(X), y, None, True)
    budget = Budget(max_time=0.0)
    path = list(solve_path(prepared, [L1(0.5), L1(0.1), L1(0.01)], tol=0.0, budget=budget))
    assert len(path) == 1 and path[0].reason == Reason.MAX_TIME and np.isfinite(path[0].gap)


def test_path_may_change_the_kind_of_penalty():
    X, y = problem()
    prepared = prepare(as_design(X), y, None, True)
    kinds = penalties(30)
    for penalty, solution in zip(kinds, solve_path(prepared, kinds, tol=1e-11, budget=Budget()), strict=True):
        alone = solve(prepared, penalty, tol=1e-11, budget=Budget())
        assert solution.objective == pytest.approx(alone.objective, rel=1e-9)
        assert solution.reason == Reason.CONVERGED


def test_penalty_without_terms_is_refused_by_name():
    X, y = problem()
    with pytest.raises(MissingVerb, match="L1Ball: 'elastic_terms' is not defined"):
        fit(X, y, L1Ball(1.0))
