"""Other ways than working sets: linear kernels by columns, interior points, and what rounding forbids."""

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

from surefit.core.budget import Budget, Reason
from surefit.core.threads import one_blas_thread
from surefit.kernels import RBF, Linear, Precomputed
from surefit.solvers.smo import minimize as module
from surefit.solvers.smo.evaluation import combine, evaluate
from surefit.solvers.smo.interior import interior_points
from surefit.solvers.smo.linear import dual_points
from surefit.solvers.smo.minimize import WHOLE_MATRIX, WORKING_SETS, minimize
from surefit.solvers.smo.problem import balanced, classification, regression
from surefit.solvers.smo.rows import solver_rows


def sample(seed=0, n=600, d=4):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.6)
    score = X @ rng.standard_normal(d) + 0.7 * rng.standard_normal(n)
    return X, score, np.where(score > 0.2, 1.0, -1.0), rng.uniform(0.2, 3.0, n)


def solve(X, problem, kernel=None, **options):
    gram, rows32 = solver_rows(kernel or Linear(), X)
    with one_blas_thread():
        return minimize(gram, rows32, problem, **{"tol": 1e-9, "budget": Budget(), "megabytes": 50.0, **options})


def two_problems(offset, C=1.0):
    X, score, labels, weights = sample()
    return X, classification(labels, C * weights, offset), regression(score, C * weights, 0.3, offset)


@pytest.mark.parametrize("offset", [True, False])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("C", [1e-3, 10.0])
def test_columns_and_working_sets_meet(monkeypatch, offset, kind, C):
    X, *problems = two_problems(offset, C)
    for problem in problems:
        fast = solve(kind(X), problem)
        monkeypatch.setattr(module, "other_strategies", lambda *_: [])
        slow = solve(kind(X), problem)
        monkeypatch.undo()
        assert fast.routes[0].startswith("Newton") and slow.routes == (WORKING_SETS,)
        assert fast.reason is slow.reason is Reason.CONVERGED
        assert fast.point.gap <= 1e-9 * fast.point.primal
        assert fast.point.dual == pytest.approx(slow.point.dual, rel=2e-9)
        beta = fast.point.beta
        assert np.all((beta >= problem.low) & (beta <= problem.high))
        assert fast.point.scores == pytest.approx(X @ (X.T @ beta), abs=1e-9 * (1 + np.abs(fast.point.scores).max()))
        if offset:
            assert abs(beta.sum()) <= 1e-12 * np.abs(beta).sum()


def text(n=900, d=3000, words=25, seed=7):
    """Sparse rows of unit length, more columns than rows."""
    rng = np.random.default_rng(seed)
    places = (d * rng.random((n, words)) ** 3).astype(np.int32)
    X = sparse.csr_array(
        (np.full(n * words, words**-0.5), places.ravel(), np.arange(0, n * words + 1, words)), shape=(n, d)
    )
    score = X @ rng.standard_normal(d)
    return X, np.where(score > np.quantile(score, 0.7), 1.0, -1.0), rng.uniform(0.5, 2.0, n)


@pytest.mark.parametrize("C", [0.1, 1.0, 20.0])
def test_rows_of_text_and_working_sets_meet(monkeypatch, C):
    X, labels, weights = text()
    problem = classification(labels, C * weights, True)
    fast = solve(X, problem, tol=1e-6)
    monkeypatch.setattr(module, "other_strategies", lambda *_: [])
    slow = solve(X, problem, tol=1e-6)
    assert fast.routes[0] == "coordinate ascent on the dual" and slow.routes == (WORKING_SETS,)
    assert fast.reason is slow.reason is Reason.CONVERGED and fast.point.gap <= 1e-6 * fast.point.primal
    assert fast.point.dual == pytest.approx(slow.point.dual, rel=2e-6)
    assert fast.point.b == pytest.approx(slow.point.b, abs=0.01)
    assert abs(fast.point.beta.sum()) <= 1e-12 * np.abs(fast.point.beta).sum()
    rows = [np.count_nonzero(fit.point.beta) for fit in (fast, slow)]
    assert abs(rows[0] - rows[1]) <= 0.02 * rows[1]


def test_a_sum_is_made_zero_without_new_support():
    problem = classification(np.array([1.0, 1.0, 1.0, -1.0, -1.0]), np.ones(5), True)
    after = balanced(problem, np.array([0.2, 0.3, 0.0, -1.0, 0.0]))
    assert abs(after.sum()) <= 1e-16 and after[2] == after[4] == 0.0 and np.all(after[:2] > [0.2, 0.3])


def test_few_rows_stay_free():
    # a basic solution: no more free rows than columns and one, as the data are in general position
    X, _, labels, _ = sample(1, n=900, d=3)
    X = X + 1e-3 * np.random.default_rng(0).standard_normal(X.shape)
    fit = solve(X, classification(labels, np.ones(900), True), tol=1e-10)
    free = np.flatnonzero((fit.point.beta != 0.0) & (np.abs(fit.point.beta) < 1.0))
    assert 0 < len(free) <= 4
    margins = labels[free] * (fit.point.scores[free] + fit.point.b)
    assert margins == pytest.approx(np.ones(len(free)), abs=1e-6)


def test_gaps_fall_while_bands_narrow():
    X, problem, _ = two_problems(True)
    gram, _ = solver_rows(Linear(), X)
    gaps = []
    for beta, _ in dual_points(gram, problem, 1e-3, Budget()):
        beta = balanced(problem, beta)
        gaps.append(evaluate(problem, beta, combine(gram, beta)).gap)
    assert len(gaps) > 1 and min(gaps) < 1e-3 * gaps[0]


@pytest.mark.parametrize("epsilon", [0.0, 0.5])
@pytest.mark.parametrize("C", [0.3, 1e6])
def test_interior_points_of_the_identity_in_closed_form(epsilon, C):
    # K = I without an offset: every row by itself, beta_i = clip(soft(y_i, epsilon), -C, C)
    y = np.array([-3.0, -1.0, -0.2, 0.1, 0.6, 2.5])
    gram, _ = solver_rows(Precomputed(), np.eye(6))
    (near, onto), steps = interior_points(gram, regression(y, np.full(6, C), epsilon, False), Budget())
    exact = np.clip(np.sign(y) * np.maximum(np.abs(y) - epsilon, 0.0), -C, C)
    assert near == pytest.approx(exact, abs=1e-5) and onto == pytest.approx(exact, abs=1e-5) and 0 < steps < 60
    assert np.all(onto[exact == 0.0] == 0.0) and np.all(np.abs(onto[np.abs(exact) == C]) == C)


@pytest.mark.parametrize("offset", [True, False])
@pytest.mark.parametrize("C", [0.1, 10.0, 1e3])
def test_interior_points_against_clarabel(offset, C):
    X, score, labels, weights = sample(2, n=40)
    kernel = RBF(gamma=0.3)
    gram, _ = solver_rows(kernel, X)
    root = np.linalg.cholesky(kernel(X) + 1e-12 * np.eye(40))
    for problem in (classification(labels, C * weights, offset), regression(score, C * weights, 0.2, offset)):
        b = cp.Variable(40)
        value = problem.y @ b - problem.epsilon * cp.norm1(b) - 0.5 * cp.sum_squares(root.T @ b)
        rules = [b >= problem.low, b <= problem.high] + ([cp.sum(b) == 0] if offset else [])
        best = cp.Problem(cp.Maximize(value), rules).solve(solver=cp.CLARABEL)
        feasible = [
            balanced(problem, np.clip(b, problem.low, problem.high))
            for b in interior_points(gram, problem, Budget())[0]
        ]
        reached = max(evaluate(problem, beta, combine(gram, beta)).dual for beta in feasible)
        assert reached == pytest.approx(best, rel=1e-5)


def test_interior_points_where_working_sets_are_worn_out(monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((250, 3))
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.standard_normal(250)
    problem = regression(y, np.full(250, 1e5), 0.1, True)
    monkeypatch.setattr(module, "exhausted", lambda n: 20_000)
    fit = solve(X, problem, RBF(gamma=0.1), tol=1e-6)
    assert fit.routes[:2] == (WHOLE_MATRIX, "interior points")
    assert fit.reason is Reason.CONVERGED and fit.point.gap <= 1e-6 * fit.point.primal


def test_kernels_that_are_none_have_no_interior_path():
    rng = np.random.default_rng(4)
    A = rng.standard_normal((60, 60))
    gram, rows32 = solver_rows(Precomputed(), A + A.T)
    problem = classification(np.where(np.arange(60) % 2, 1.0, -1.0), np.full(60, 1e6), True)
    fit = minimize(gram, rows32, problem, tol=1e-3, budget=Budget(), megabytes=50.0)
    assert np.isfinite(fit.point.gap) and fit.reason in (Reason.STALLED, Reason.CONVERGED)


@pytest.mark.parametrize("n", [300, 700])
@pytest.mark.parametrize("offset", [True, False])
def test_features_beyond_rounding_end_at_once_with_a_function_that_serves(n, offset):
    X, _, labels, _ = sample(5, n=n)
    plain = solve(X, classification(labels, np.ones(n), offset), tol=1e-3)
    huge = solve(1e8 * X, classification(labels, np.ones(n), offset), tol=1e-3)
    assert huge.reason is Reason.STALLED and np.isfinite(huge.point.gap) and huge.n_iter < 10**6
    if n > 500:
        slack = np.maximum(1 - labels * (huge.point.scores + huge.point.b), 0.0).sum()
        assert slack <= 1.001 * np.maximum(1 - labels * (plain.point.scores + plain.point.b), 0.0).sum()
    assert huge.point.gap <= 2 * min(np.sum(labels > 0), np.sum(labels < 0)) if offset else n  # that of zero


@pytest.mark.parametrize("n", [300, 700])
def test_scaling_features_is_scaling_prices(n):
    # kernel values times s^2 and prices over s^2: the same scores
    X, score, labels, weights = sample(6, n=n)
    for make in (lambda c: classification(labels, c, True), lambda c: regression(score, c, 0.1, True)):
        one, other = solve(X, make(100 * weights), tol=1e-7), solve(1e4 * X, make(1e-6 * weights), tol=1e-7)
        assert other.reason is Reason.CONVERGED
        assert 1e8 * other.point.primal == pytest.approx(one.point.primal, rel=1e-6)
        assert other.point.scores + other.point.b == pytest.approx(one.point.scores + one.point.b, abs=1e-2)


def test_a_clock_that_ran_out_still_gives_a_point():
    X, problem, _ = two_problems(True)
    budget = Budget(max_time=1e-9)
    fit = solve(X, problem, budget=budget)
    assert fit.reason is Reason.MAX_TIME and np.isfinite(fit.point.gap)
    steps = solve(X, problem, budget=Budget(max_iter=3))
    assert steps.reason is Reason.MAX_ITER and steps.n_iter <= 3 and steps.point.gap <= fit.point.gap
