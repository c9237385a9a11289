"""The working-set solver by itself: offsets, row gaps, the cache, rows set aside, refinement, and how it stops."""

import signal
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit.core.budget import Budget, Reason
from surefit.core.threads import one_blas_thread
from surefit.kernels import RBF, Linear, Polynomial
from surefit.solvers.smo import minimize as module
from surefit.solvers.smo import rows as rows_module
from surefit.solvers.smo.evaluation import combine, evaluate
from surefit.solvers.smo.minimize import minimize
from surefit.solvers.smo.problem import balanced, best_offsets, classification, regression, row_gaps
from surefit.solvers.smo.rows import RowCache, solver_rows
from surefit.solvers.smo.strategies import NO_LIMIT


def sample(seed=0, n=300, d=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(n) > 0, 1.0, -1.0)


def solve(X, problem, kernel=None, **options):
    gram, rows32 = solver_rows(kernel or RBF(gamma=0.5), X)
    options = {"tol": 1e-6, "budget": Budget(), "megabytes": 50.0, **options}
    with one_blas_thread():
        return minimize(gram, rows32, problem, **options)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3]))
def test_best_offsets_minimize_the_primal(seed, epsilon):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    c = rng.integers(1, 4, n).astype(float)
    g = rng.integers(-3, 4, n).astype(float)
    box = regression(g, c, epsilon, True) if epsilon else classification(np.where(np.arange(n) % 2, 1.0, -1.0), c, True)

    def loss(b):
        r = g - b
        return float(np.sum(np.maximum(r - epsilon, 0) * box.high - np.maximum(-r - epsilon, 0) * box.low))

    low, high = best_offsets(box, g)
    least = min(loss(b) for b in np.concatenate([g - epsilon, g + epsilon]))
    assert low <= high
    assert loss(low) == pytest.approx(least, abs=1e-9) and loss(high) == pytest.approx(least, abs=1e-9)
    assert loss(low - 1e-3) > least + 1e-9 or loss(high + 1e-3) > least + 1e-9


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_no_row_contributes_a_negative_gap(seed):
    rng = np.random.default_rng(seed)
    c, eps = rng.uniform(0.1, 2, 20), rng.uniform(0, 1)
    beta, r = rng.uniform(-1, 1, 20) * c, 3 * rng.standard_normal(20)
    terms = row_gaps(r, beta, -c, c, eps, 0.0)
    exact = c * np.maximum(np.abs(r) - eps, 0) + eps * np.abs(beta) - beta * r
    assert terms == pytest.approx(exact, abs=1e-12) and np.all(terms >= 0)


@pytest.mark.parametrize("kernel", [RBF(gamma=0.3), RBF(length_scale=[1.0, 2.0, 0.5]), Linear(), Polynomial(degree=2)])
def test_rows_are_the_kernel(kernel):
    X, _ = sample(n=40)
    for rows, error in zip(solver_rows(kernel, X), (1e-12, 1e-4), strict=True):
        assert rows.block(np.array([3, 7])) == pytest.approx(kernel(X)[[3, 7]], rel=error, abs=error)
        part = rows.take(np.array([5, 3, 9]))
        weights = np.where(np.arange(40) % 3, np.linspace(-1, 1, 40), 0.0)
        assert combine(rows, weights) == pytest.approx(kernel(X) @ weights, rel=error, abs=10 * error)
        assert part.block(np.array([1])) == pytest.approx(kernel(X)[[3]][:, [5, 3, 9]], rel=error, abs=error)


def test_cache_forgets_and_remembers():
    X, _ = sample(n=50)
    rows32 = solver_rows(RBF(gamma=0.5), X)[1]
    K = RBF(gamma=0.5)(X)
    cache = RowCache(rows32, 1e-9, 6)
    assert cache.rows.shape == (6, 50)
    for wanted in ([0, 1, 2], [2, 3, 4, 5], [0, 6, 7], [7, 49]):
        slots = cache.fetch(np.array(wanted))
        assert cache.rows[slots] == pytest.approx(K[wanted], abs=1e-6)
    assert cache.computed < 12 and np.sum(cache.slot >= 0) == 6
    kept = np.arange(0, 50, 7)
    known = set(np.flatnonzero(cache.slot >= 0)) & set(kept)
    cache.keep(rows32.take(kept), kept)
    assert np.sum(cache.slot >= 0) == len(known)
    slots = cache.fetch(np.arange(len(kept))[:4])
    assert cache.rows[slots] == pytest.approx(K[np.ix_(kept[:4], kept)], abs=1e-6)


@pytest.mark.parametrize("kernel", [RBF(gamma=0.5), Polynomial(degree=2)])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_subtracted_rows_are_those_of_the_kernel(kernel, n_jobs, monkeypatch):
    monkeypatch.setattr(rows_module, "COLUMNS", 7)
    monkeypatch.setattr(rows_module, "THREADED", 0)
    rng = np.random.default_rng(0)
    X, g = rng.standard_normal((30, 3)), rng.standard_normal(30)
    cache, K = RowCache(solver_rows(kernel, X)[1], 1e-9, 6, n_jobs), kernel(X, X)
    for some in ([3, 8, 20], [8, 9, 10, 29], [0, 3, 8, 9]):  # known, evicted and new rows
        change, before = rng.standard_normal(len(some)), g.copy()
        cache.subtract(np.array(some), change, g)
        assert np.allclose(g, before - change @ K[some], atol=1e-4)


def test_threads_share_computed_rows_from_fewer_values_on_than_stored_ones(monkeypatch):
    n, shared, map_blocks = 30, [], rows_module.map_blocks
    monkeypatch.setattr(rows_module, "THREADED", 2 * 4 * n)
    monkeypatch.setattr(rows_module, "map_blocks", lambda *given: shared.append(given[-1]) or map_blocks(*given))
    X = np.random.default_rng(0).standard_normal((n, 3))
    cache, some = RowCache(solver_rows(RBF(gamma=0.5), X)[1], 1e-9, 6, 2), np.array([3, 8, 20, 21])
    for _ in range(2):
        cache.subtract(some, np.ones(4), np.zeros(n))
    assert shared == [2, None]


@pytest.mark.parametrize("offset", [True, False])
def test_same_optimum_with_and_without_setting_rows_aside(offset):
    X, t = sample(1, n=1500)
    problem = classification(t, np.full(1500, 2.0), offset)
    values = [
        solve(X, problem, shrinking=shrinking, megabytes=mb, tol=1e-8) for shrinking, mb in ((True, 50), (False, 1))
    ]
    for fit in values:
        assert fit.reason is Reason.CONVERGED and fit.point.gap <= 1e-8 * fit.point.primal
    assert values[0].point.dual == pytest.approx(values[1].point.dual, rel=2e-8)


@pytest.mark.parametrize("C", [1.0, 1e2, 1e4])
def test_a_relative_gap_of_1e_9_is_reached(C):
    X, t = sample(2, n=700, d=2)
    fit = solve(X, classification(t, np.full(700, C), True), tol=1e-9)
    assert fit.reason is Reason.CONVERGED and 0 <= fit.point.gap <= 1e-9 * fit.point.primal
    assert (
        np.all((fit.point.beta * t >= 0) & (fit.point.beta * t <= C)) and abs(fit.point.beta.sum()) <= 1e-12 * C * 700
    )


def test_float32_alone_would_not_do(monkeypatch):
    # one round only: what float32 rows give is checked in float64, and is far from the gap that refinement reaches
    X, t = sample(3, n=700, d=2)
    problem = classification(t, np.full(700, 1e4), True)
    gram, rows32 = solver_rows(RBF(gamma=0.5), X)
    start = evaluate(problem, np.zeros(700), np.zeros(700))
    cache = module.RowCache(rows32, 50.0, 2 * module.BLOCKS[len(start.beta) > module.LONG])
    beta, _, _, _ = module._round(lambda: cache, True, problem, start, 2e-9, Budget(), 0, NO_LIMIT)
    once = evaluate(problem, balanced(problem, beta), combine(gram, balanced(problem, beta)))
    refined = solve(X, problem, tol=1e-9).point
    assert refined.gap < 1e-3 * once.gap


@pytest.mark.parametrize("n", [40, 149, 151, 400])
@pytest.mark.parametrize("offset", [True, False])
@pytest.mark.parametrize("C", [0.1, 10.0, 1e4])
def test_few_rows_on_the_whole_matrix_reach_what_working_sets_reach(monkeypatch, n, offset, C):
    X, t = sample(n, n=n)
    for problem in (
        classification(t, np.full(n, C), offset),
        regression(X[:, 0] + 0.3 * t, np.full(n, C), 0.1, offset),
    ):
        whole = solve(X, problem)
        assert whole.routes[0] == module.WHOLE_MATRIX and whole.point.gap <= 1e-9 * whole.point.primal
        with monkeypatch.context() as patch:
            patch.setattr(module, "SMALL", 0)
            blocks = solve(X, problem)
        assert blocks.routes[0] == module.WORKING_SETS
        assert whole.point.primal == pytest.approx(blocks.point.primal, rel=2e-6)
        assert whole.point.dual <= blocks.point.primal and blocks.point.dual <= whole.point.primal


def test_a_budget_of_steps_holds_on_the_whole_matrix():
    X, t = sample(5, n=100)
    fit = solve(X, classification(t, np.full(100, 10.0), True), budget=Budget(max_iter=7))
    assert fit.n_iter == 7 and fit.reason is Reason.MAX_ITER and np.isfinite(fit.point.gap)


def test_the_zero_function_has_its_best_intercept():
    X, _ = sample(6, n=50)
    fit = solve(X, regression(np.linspace(4.9, 5.1, 50), np.ones(50), 0.2, True))
    assert fit.point.gap == 0.0 and not fit.point.beta.any()
    assert fit.point.interval == pytest.approx((4.9, 5.1)) and fit.point.b == pytest.approx(5.0)


def test_dual_never_falls_along_the_history():
    X, t = sample(4, n=900)
    fit = solve(X, classification(t, np.full(900, 100.0), True), tol=1e-9)
    gaps = [gap for _, _, gap in fit.history]
    assert all(b <= a for a, b in pairwise(gaps)) and gaps[-1] == fit.point.gap


@pytest.mark.parametrize("rest", [1e-13, -0.25])
def test_sums_are_made_zero_inside_the_box(rest):
    problem = classification(np.array([1.0, 1.0, -1.0, -1.0]), np.ones(4), True)
    beta = np.array([0.5 + rest, 0.3, -0.4, -0.4])
    after = balanced(problem, beta)
    assert abs(after.sum()) <= 1e-16 and np.all((after >= problem.low) & (after <= problem.high))
    full = balanced(problem, np.array([1.0, 1.0, -1.0, 0.0]))
    assert abs(full.sum()) <= 1e-15 and np.all((full >= problem.low) & (full <= problem.high))


def test_ctrl_c_returns_the_best_point():
    X, t = sample(5, n=1200, d=2)
    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    reports = []

    def press(n_iter, gap):
        reports.append(gap)
        if len(reports) == 5:
            signal.raise_signal(signal.SIGINT)
        return False

    try:
        with Budget(on_progress=press) as budget:
            fit = solve(X, classification(t, np.full(1200, 1e4), True), tol=1e-9, budget=budget)
    finally:
        signal.signal(signal.SIGINT, old)
    assert fit.reason is Reason.INTERRUPTED and len(reports) == 5
    assert 0 < fit.point.gap <= reports[0]


def test_hard_margin_is_scaled_to_be_feasible():
    X, t = sample(6, n=80)
    fit = solve(X, classification(t, np.full(80, np.inf), True), tol=1e-8, kernel=RBF(gamma=2.0))
    margins = t * fit.point.scale * (fit.point.scores + fit.point.b)
    assert margins.min() == pytest.approx(1.0, abs=1e-12) and fit.point.gap <= 1e-8 * fit.point.primal
