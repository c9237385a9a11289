"""Data that break careless solvers: constant, empty, huge, tiny, duplicated, very long, very wide."""

import tracemalloc

import numpy as np
import pytest
from scipy import optimize, sparse

from surefit.core.budget import Budget, Reason
from surefit.core.errors import InvalidData
from surefit.operators import as_design, correlations
from surefit.penalties import L1, L2, ElasticNetPenalty, Positive, Weighted
from surefit.solvers.coordinate_descent import alpha_max, descent, free_columns, prepare, solve, solve_path
from surefit.solvers.coordinate_descent.correlations import LazyCorrelations
from surefit.solvers.coordinate_descent.duality import duality_gap
from surefit.solvers.coordinate_descent.gram import WorkingSet

STORAGES = {"columns": np.asfortranarray, "rows": np.ascontiguousarray, "csc": sparse.csc_array}
each_storage = pytest.mark.parametrize("store", STORAGES.values(), ids=STORAGES)


def fit(X, y, penalty, weights=None, intercept=True, tol=1e-10, **options):
    options = {"budget": Budget(), **options}
    return solve(prepare(as_design(X), y, weights, intercept), penalty, tol=tol, **options)


def problem(n=60, p=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, : min(p, 5)] @ np.arange(1.0, min(p, 5) + 1) + rng.normal(size=n)


@each_storage
@pytest.mark.parametrize("penalty", [L1(0.1), L2(0.1), L1(0.0), ElasticNetPenalty(0.1, 0.1)])
def test_constant_target_and_empty_data(store, penalty):
    X, y = problem()
    constant = fit(store(X), np.full(60, 0.1), penalty)
    assert not constant.coef.any() and constant.gap == 0.0 and constant.intercept == 0.1
    assert constant.reason == Reason.CONVERGED and constant.null_objective == 0.0
    started = fit(store(X), np.full(60, 0.1), penalty, start=np.ones(30))
    assert not started.coef.any() and started.gap == 0.0
    empty = fit(store(np.zeros((60, 30))), y, penalty)
    assert not empty.coef.any() and empty.gap == 0.0 and empty.inactive.all()
    assert empty.intercept == pytest.approx(y.mean())


@each_storage
def test_constant_columns_never_move_and_are_proved_inactive(store):
    X, y = problem()
    X[:, 7], X[:, 8] = 0.1, 1e6
    for penalty in (L1(0.01), L2(0.1), Weighted(L1(0.1), np.zeros(30))):
        solution = fit(store(X), y, penalty)
        assert not solution.coef[[7, 8]].any() and solution.inactive[[7, 8]].all()
        assert solution.gap <= 1e-10 * solution.null_objective
    without = fit(store(X), y, L1(0.01), intercept=False)  # without a constant they are ordinary columns
    assert without.gap <= 1e-8 * without.null_objective  # slope 1e-8 for unit length: rounding costs eight digits


@pytest.mark.parametrize("penalty", [L1(0.05), ElasticNetPenalty(0.05, 0.1)])
def test_many_identical_columns(penalty):
    X, y = problem(p=4)
    solution = fit(np.tile(X, 10), y, penalty, tol=1e-12)
    assert solution.gap <= 1e-12 * solution.null_objective
    assert np.tile(X, 10) @ solution.coef == pytest.approx(X @ solution.coef.reshape(10, 4).sum(axis=0))
    negated = fit(np.hstack([X, -X]), y, penalty, tol=1e-12)
    assert negated.gap <= 1e-12 * negated.null_objective


def test_unpenalized_duplicates_have_a_finite_gap():
    X, y = problem(p=6)
    Z = np.hstack([X, X[:, :2]])
    factors = np.r_[0.0, 0.0, np.ones(4), 0.0, 0.0]
    solution = fit(Z, y, Weighted(L1(0.1), factors))
    expected = fit(X, y, Weighted(L1(0.1), factors[:6]), tol=1e-13)
    assert solution.objective == pytest.approx(expected.objective, rel=1e-9)
    assert solution.reason == Reason.CONVERGED


@pytest.mark.parametrize("shape", [(60, 30), (20, 30)])
def test_non_negative_least_squares(shape):
    X, y = problem(*shape)
    expected = optimize.nnls(X, y - 2.0)[0]
    solution = fit(X, y - 2.0, Positive(L1(0.0)), intercept=False)
    assert solution.objective == pytest.approx(0.5 * np.mean((y - 2.0 - X @ expected) ** 2), rel=1e-8, abs=1e-12)
    assert solution.gap <= 1e-10 * solution.null_objective and solution.coef.min() >= 0.0
    early = fit(X, y - 2.0, Positive(L1(0.0)), intercept=False, tol=0.0, budget=Budget(max_iter=1))
    assert early.objective - solution.objective <= early.gap + 1e-12


def test_all_weight_on_one_row():
    X, y = problem()
    weights = np.zeros(60)
    weights[3] = 2.0
    solution = fit(X, y, L1(0.1), weights)
    assert not solution.coef.any() and solution.gap == 0.0 and solution.intercept == y[3]


def test_one_row_and_one_column():
    assert fit(np.ones((1, 1)), np.ones(1), L1(0.1)).gap == 0.0
    assert fit(np.full((1, 1), 2.0), np.ones(1), L1(0.1), intercept=False).coef == pytest.approx([0.475])
    # 1/2 (1 - 2w)^2 + w / 10: 2 (1 - 2w) = 1/10


def test_overflow_is_named():
    X, y = problem()
    X[5, 4] = 1e200
    with pytest.raises(InvalidData, match=r"X: the squares of column 4 overflow .*divide the column"):
        prepare(as_design(X), y, None, True)
    X[5, 4] = 0.0
    assert not np.isfinite(prepare(as_design(X), np.where(y > 0, 1e200, -1e200), None, True).null_objective)


def test_very_long_data_in_linear_memory():
    n = 1_000_000
    x = np.linspace(-1.0, 1.0, n).reshape(-1, 1)
    y = 3.0 * x.ravel() + 2.0
    fit(x[:100], y[:100], L1(0.1))  # compiled
    tracemalloc.start()
    solution = fit(x, y, L1(0.1))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    variance = np.mean(x**2)
    assert solution.coef == pytest.approx([3.0 - 0.1 / variance], rel=1e-9)
    assert peak < 12 * x.nbytes


@each_storage
def test_more_columns_than_the_gram_matrix_may_have(store, monkeypatch):
    X, y = problem(n=40, p=80)
    cases = [L1(0.02), ElasticNetPenalty(0.001, 0.2), L2(0.3), Weighted(L1(0.05), np.r_[0.0, np.ones(79)])]
    expected = [fit(X, y, penalty, tol=1e-9) for penalty in cases]
    monkeypatch.setattr(descent, "LARGEST_GRAM", 10)
    for penalty, exact in zip(cases, expected, strict=True):
        for weights in (None, np.ones(40)):
            solution = fit(store(X), y, penalty, weights, tol=1e-9)
            assert solution.reason == Reason.CONVERGED
            assert solution.objective == pytest.approx(exact.objective, rel=1e-7)


def test_working_set_drops_what_it_no_longer_uses(monkeypatch):
    monkeypatch.setattr(descent, "LARGEST_GRAM", 60)
    monkeypatch.setattr(descent, "FIRST_COLUMNS", 5)
    X, y = problem(n=100, p=300)
    prepared = prepare(as_design(X), y, None, True)
    state = descent.Descent(prepared)
    for alpha in alpha_max(prepared, L1(1.0)) * np.logspace(0, -1.2, 15):
        assert state.solve(L1(float(alpha)), 1e-9, Budget()).reason == Reason.CONVERGED
        assert len(state._set) <= 60 and isinstance(state._set, descent.WorkingSet)


def test_too_many_unpenalized_columns_prove_nothing(monkeypatch):
    monkeypatch.setattr(free_columns, "MOST_FREE", 10)
    X, y = problem()
    solution = fit(X, y, L1(0.0))
    assert solution.gap == np.inf and solution.reason == Reason.STALLED
    assert not solution.inactive.any()
    assert solution.objective == pytest.approx(fit(X, y, L1(1e-12)).objective, rel=1e-6)


def test_interruption_while_the_gram_matrix_is_built():
    X, y = problem(n=500, p=300)

    class Impatient(Budget):
        def spent(self, n_iter=0, gap=float("nan")):
            self.stopped = Reason.INTERRUPTED
            return self.stopped

    solution = fit(X, y, L1(0.01), tol=1e-10, budget=Impatient())
    assert solution.reason == Reason.INTERRUPTED
    assert solution.gap <= solution.null_objective and np.isfinite(solution.gap)


def test_progress_is_reported():
    X, y = problem(n=100, p=400)
    seen = []

    def report(n_iter, gap):
        seen.append((n_iter, gap))
        return False

    solution = fit(X, y, L1(0.01), budget=Budget(on_progress=report))
    assert [n for n, _ in seen] == sorted(n for n, _ in seen)
    assert seen[-1][0] == solution.n_iter and np.isfinite(seen[-1][1])


@each_storage
@pytest.mark.parametrize("positive", [False, True])
def test_lazy_correlations_answer_like_full_passes(store, positive):
    X, y = problem(n=80, p=400, seed=9)
    prepared = prepare(as_design(store(X)), y, None, True)
    lazy = LazyCorrelations(prepared)
    rng = np.random.default_rng(10)
    theta, skip = prepared.y.copy(), np.zeros(400, dtype=bool)
    skip[:3] = True
    for step in (0.0, 1e-3, 1e-2, 0.1, 1.0, 1e-3):
        theta = theta + step * rng.normal(size=80)
        theta -= theta.mean()
        exact = np.empty(400)
        correlations(prepared.design, theta / 80, prepared.means, prepared.scales, np.arange(400), exact)
        sizes = exact if positive else np.abs(exact)
        thresholds = np.full(400, 0.15)
        found = lazy.above(theta, thresholds, positive, skip)
        surely = np.flatnonzero((sizes >= thresholds) & ~skip)
        assert set(surely) <= set(found)
        assert lazy.values[found] == pytest.approx(exact[found], rel=1e-10)
        assert np.all(lazy.bounds(positive) >= sizes - 1e-12)


def test_gap_terms_in_exact_numbers():
    def gap(v, u, a, b, positive=False, squares=1.0):
        arrays = [np.atleast_1d(np.asarray(z, dtype=float)) for z in (v, u, a, b)]
        return duality_gap(*arrays, positive, squares, 0.0)

    assert gap(0.5, 0.0, 1.0, 0.0) == (0.0, 1.0)  # zero is optimal
    assert gap(2.0, 0.0, 1.0, 0.0) == (0.125, 0.5)  # shrunk by 1/2: (1 - 1/2)^2 / 2
    assert gap(-2.0, 0.0, 1.0, 0.0, positive=True) == (0.0, 1.0)  # no constraint from below
    assert gap(1.0, 1.0, 1.0, 0.0) == (0.0, 1.0)  # on the support: a |u| = u v, best scale 2 is out of reach
    assert gap(2.0, 0.5, 1.0, 2.0) == (0.0, 1.0)  # elastic net: u = (v - a) / b
    assert gap(2.0, 1.0, 1.0, 2.0)[0] == 0.25  # b (u - 1/2)^2 / 2
    assert gap(3.0, -1.0, 1.0, 2.0)[0] <= 1.0 + 1.0 + 1.0 + 3.0  # wrong sign: a|u| + b u^2/2 + (v - a)^2/(2b) - u v


@each_storage
def test_same_bits_every_time(store):
    X, y = problem(n=90, p=200)
    first, second = (fit(store(X), y, L1(0.05)) for _ in range(2))
    assert np.array_equal(first.coef, second.coef) and first.gap == second.gap


def test_threads_may_share_a_prepared_problem():
    from concurrent.futures import ThreadPoolExecutor

    X, y = problem(n=90, p=200)
    prepared = prepare(as_design(X), y, None, True)
    alphas = [0.2, 0.1, 0.05, 0.02]

    def objective(alpha):
        return solve(prepared, L1(alpha), tol=1e-9, budget=Budget()).objective

    alone = [objective(alpha) for alpha in alphas]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(objective, alphas)) == alone


def test_path_is_lazy():
    X, y = problem()
    prepared = prepare(as_design(X), y, None, True)

    def endless():
        while True:
            yield L1(0.1)

    path = solve_path(prepared, endless(), tol=1e-9, budget=Budget())
    assert next(path).objective == pytest.approx(next(path).objective)


def test_a_newton_step_that_is_too_long_removes_a_quarter_of_the_coefficients_that_cross_zero():
    rng = np.random.default_rng(0)
    X = 2 * rng.normal(size=(120, 1)) + rng.normal(size=(120, 60))
    working = WorkingSet(prepare(as_design(X), X[:, :5] @ rng.normal(size=5) + rng.normal(size=120), None, True))
    working.extend(np.arange(60), lambda: None)
    working.coefs[:] = old = 0.3 * rng.normal(size=60)
    slopes, curvatures, free = np.full(60, 0.05), np.zeros(60), np.zeros(60, dtype=bool)
    gradient = working._gradient()
    before, _ = working._status(gradient, slopes, curvatures, False)
    step = np.linalg.solve(working._gram[:60, :60], gradient - slopes * np.sign(old))
    crossing = (old + step) * np.sign(old) < 0
    working._newton_step(np.arange(60), slopes, curvatures, free, gradient)
    after, _ = working._status(gradient, slopes, curvatures, False)
    assert after < before
    assert np.count_nonzero(crossing) == 47 and np.count_nonzero(working.coefs == 0) == 12
    assert np.all(working.coefs * old >= 0)
    assert gradient == pytest.approx(working._gradient(), abs=1e-12)
