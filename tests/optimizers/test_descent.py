"""Gradient descent: factors and thresholds worked by hand, rates, stopping rules, batches, and exact solutions as oracles."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import check_grad

from surefit import GradientDescent, InvalidData, InvalidParameter, LogisticRegression, Ridge, StochasticGradientDescent
from surefit.core.errors import ConvergenceWarning
from surefit.losses import Hinge, Huber, Logistic, ModifiedHuber, Squared, SquaredHinge
from surefit.optimizers import (
    DecayingStep,
    FiniteSum,
    GapBound,
    GradientNorm,
    IterateChange,
    LinearScores,
    LineSearch,
    ObjectiveChange,
    Quadratic,
    SmoothFunction,
    SmoothnessStep,
    StepTheory,
)

PARABOLA = Quadratic([[2.0]], [2.0])  # (1 - w)^2 - 1
LINE = np.array([[1.0, 1.0], [2.0, 1.0], [3.0, 1.0]])


def rows(seed=0, n=40, d=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] - X[:, 1] + rng.standard_normal(n) > 0, 1.0, -1.0)


# --- step theory ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("step", "factor"), [(0.01, 0.98), (0.5, 0.0), (0.9, -0.8), (1.0, -1.0), (1.1, -1.2)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_error_shrinks_by_one_minus_twice_the_step(step, factor):
    outcome = GradientDescent(step, max_iter=5, any_step=True, stopping=GradientNorm(0.0)).minimize(PARABOLA, [3.0])
    errors = outcome.path[:, 0] - 1.0
    np.testing.assert_allclose(errors[1:], factor * errors[:-1], atol=1e-14)
    if step == 1.0:
        np.testing.assert_allclose(outcome.path[:, 0], [3.0, -1.0, 3.0, -1.0, 3.0, -1.0], atol=1e-15)


def test_thresholds_of_the_mean_squared_error():
    # mean squared error is twice the mean of Squared(), so its Hessian is 2/3 X'X
    eigenvalues = np.linalg.eigvalsh(LINE.T @ LINE)
    np.testing.assert_allclose(eigenvalues, [0.36059, 16.63941], atol=5e-6)
    theory = StepTheory.of(Quadratic(2 / 3 * LINE.T @ LINE))
    assert theory.limit == pytest.approx(0.180295, abs=5e-7)
    assert theory.best == pytest.approx(0.176471, abs=5e-7)
    assert theory.rate(theory.best) == pytest.approx(0.957578, abs=5e-7)
    half = LinearScores([[1.0], [2.0], [3.0]], [1.0, 2.0, 2.0], Squared())
    assert 2 / half.smoothness == pytest.approx(2 * theory.limit, rel=1e-12)


@pytest.mark.parametrize("step", [1.0, 1.1, 50.0])
def test_a_divergent_step_is_refused_with_the_number(step):
    with pytest.raises(InvalidParameter, match=r"step must be below 2/L = 1;.*best: 0.5.*got"):
        GradientDescent(step).minimize(PARABOLA)
    with pytest.raises(InvalidParameter, match=r"below 2/L = 1"):
        StochasticGradientDescent(2 * step).minimize(LinearScores([[1.0]], [1.0], Huber(), fit_intercept=False, l2=1.0))


def test_divergence_is_told_apart_from_slowness():
    with pytest.warns(ConvergenceWarning, match=r"use a smaller step; steps below 2/L = 1 converge"):
        wild = GradientDescent(1.5, any_step=True).minimize(PARABOLA, [3.0])
    assert wild.reason == "diverged" and not wild.converged
    with pytest.warns(ConvergenceWarning, match="max_iter was reached"):
        slow = GradientDescent(1e-4, max_iter=10).minimize(PARABOLA, [3.0])
    assert slow.reason == "max_iter" and slow.n_iter == 10


def test_just_below_the_limit_converges_just_above_does_not():
    quadratic = Quadratic(np.diag([1.0, 7.0]), [1.0, 1.0])
    limit = StepTheory.of(quadratic).limit
    assert GradientDescent(0.99 * limit).minimize(quadratic, [5.0, 5.0]).converged
    with pytest.warns(ConvergenceWarning):
        beyond = GradientDescent(1.01 * limit, any_step=True).minimize(quadratic, [5.0, 5.0])
    assert beyond.reason == "diverged"


@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge(), ModifiedHuber()])
def test_one_over_L_never_rises_and_keeps_the_rate(loss):
    X, y = rows(1)
    function = LinearScores(X, y, loss, l2=0.1)
    best = GradientDescent(LineSearch(), stopping=GradientNorm(1e-10), max_iter=20_000).minimize(function)
    outcome = GradientDescent(stopping=GradientNorm(1e-5)).minimize(function)
    assert np.all(np.diff(outcome.history[:, 1]) <= 1e-15)
    distance, step = np.linalg.norm(best.w), 1 / function.smoothness
    for t in range(1, outcome.n_iter + 1):
        assert outcome.history[t, 1] - best.value <= outcome.theory.bound(step, distance, t) + 1e-12
    with pytest.raises(InvalidParameter, match="at most 1/L"):
        outcome.theory.bound(1.5 * step, distance, 3)


def test_smoothness_of_the_logistic_loss_is_a_quarter_of_the_largest_eigenvalue():
    X, y = rows(2)
    extended = np.column_stack([X, np.ones(40)])
    expected = np.linalg.eigvalsh(extended.T @ extended)[-1] / 4 / 40
    assert LinearScores(X, y, Logistic()).smoothness == pytest.approx(expected, rel=1e-12)
    penalized = LinearScores(X, y, Logistic(), l2=0.3, fit_intercept=False)
    assert penalized.strong_convexity == 0.3
    assert penalized.smoothness == pytest.approx(np.linalg.eigvalsh(X.T @ X)[-1] / 160 + 0.3, rel=1e-12)


# --- functions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge(), ModifiedHuber(), Squared(), Huber(0.7)])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_gradients_are_those_of_finite_differences(loss, container):
    X, y = rows(3)
    function = LinearScores(container(X), y, loss, l2=0.2, sample_weight=np.linspace(0.5, 2.0, 40))
    for w in np.random.default_rng(3).standard_normal((3, 4)):
        assert check_grad(function.value, function.gradient, w) < 1e-5


def test_the_mean_of_the_row_gradients_is_the_full_gradient():
    X, y = rows(4)
    function, w = LinearScores(X, y, Logistic()), np.array([0.3, -1.0, 2.0, 0.5])
    each = np.array([function.batch_gradient(w, np.array([i])) for i in range(40)])
    np.testing.assert_allclose(each.mean(axis=0), function.gradient(w), rtol=1e-12)
    pairs = np.array(
        [(each[i] + each[j]) / 2 for i in range(40) for j in range(40)]
    )  # all batches of two, with replacement
    np.testing.assert_allclose(pairs.var(axis=0), each.var(axis=0) / 2, rtol=1e-10)


def test_weights_are_repetitions():
    X, y = rows(5, 10)
    weights = np.array([1, 2, 0, 1, 3, 1, 1, 2, 0, 1])
    one = LinearScores(X, y, Logistic(), sample_weight=weights)
    many = LinearScores(np.repeat(X, weights, axis=0), np.repeat(y, weights), Logistic())
    w = np.array([1.0, 0.5, -0.2, 0.1])
    assert one.value(w) == pytest.approx(many.value(w), rel=1e-12)
    np.testing.assert_allclose(one.gradient(w), many.gradient(w), rtol=1e-12)
    assert one.smoothness == pytest.approx(many.smoothness, rel=1e-12)


def test_wide_data_have_an_upper_bound_of_the_smoothness():
    X = sparse.random(30, 2000, density=0.05, format="csr", random_state=0)
    function = LinearScores(X, np.ones(30), Squared(), l2=0.1, fit_intercept=False)
    exact = np.linalg.eigvalsh((X @ X.T).toarray())[-1] / 30 + 0.1
    assert function.smoothness == pytest.approx(exact, rel=1e-8) and function.strong_convexity == 0.1


def test_what_no_descent_can_use_is_refused():
    with pytest.raises(InvalidParameter, match="smooth loss"):
        LinearScores([[1.0]], [1.0], Hinge())
    with pytest.raises(InvalidData, match="labels -1 and 1"):
        LinearScores([[1.0]], [0.5], Logistic())
    with pytest.raises(InvalidData, match="symmetric"):
        Quadratic([[1.0, 2.0], [0.0, 1.0]])
    with pytest.raises(InvalidData, match="2 finite numbers"):
        GradientDescent().minimize(Quadratic(np.eye(2)), [1.0])
    with pytest.raises(InvalidData, match="FiniteSum"):
        StochasticGradientDescent().minimize(PARABOLA)
    with pytest.raises(InvalidParameter, match="LineSearch, which needs none"):
        GradientDescent().minimize(SmoothFunction(lambda w: float(w @ w), lambda w: 2 * w, 1))
    for wrong in ({"step": -1.0}, {"step": "fast"}, {"max_iter": 0}, {"stopping": (3,)}):
        with pytest.raises(InvalidParameter, match=next(iter(wrong))):
            GradientDescent(**wrong)
    for wrong in ({"order": "sorted"}, {"batch_size": 0}, {"step": LineSearch()}):
        with pytest.raises(InvalidParameter, match=next(iter(wrong))):
            StochasticGradientDescent(**wrong)


# --- stopping ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "word"),
    [
        (GradientNorm(1e-4), "gradient_norm"),
        (IterateChange(1e-5), "iterate_change"),
        (ObjectiveChange(1e-9), "objective_change"),
        (GapBound(1e-9), "gap_bound"),
    ],
)
def test_the_rule_that_is_met_is_the_reason(rule, word):
    quadratic = Quadratic(np.diag([1.0, 4.0]), [1.0, 1.0])
    outcome = GradientDescent(0.3, stopping=rule).minimize(quadratic, [3.0, 3.0])
    assert outcome.reason == word and outcome.converged and f"{rule.tol:g}" in outcome.sentence
    assert outcome.value - quadratic.value(np.array([1.0, 0.25])) <= outcome.gap + 1e-15
    before = GradientDescent(0.3, stopping=(), max_iter=outcome.n_iter - 1)
    with pytest.warns(ConvergenceWarning):
        earlier = before.minimize(quadratic, [3.0, 3.0])
    np.testing.assert_array_equal(earlier.path, outcome.path[:-1])


def test_a_fixed_step_ties_the_first_two_rules_together():
    outcome = GradientDescent(0.2).minimize(Quadratic(np.diag([1.0, 4.0]), [1.0, 1.0]), [3.0, 3.0])
    moves = np.linalg.norm(np.diff(outcome.path, axis=0), axis=1)
    np.testing.assert_allclose(moves, 0.2 * outcome.history[:-1, 2], rtol=1e-6, atol=1e-14)


def test_a_start_at_the_optimum_takes_no_step():
    outcome = GradientDescent().minimize(PARABOLA, [1.0])
    assert outcome.n_iter == 0 and outcome.converged and len(outcome.history) == 1


def test_time_is_a_budget():
    slow = SmoothFunction(lambda w: float(w[0]), lambda w: np.ones(1), 1, smoothness=0.0)
    with pytest.warns(ConvergenceWarning, match="max_time"):
        outcome = GradientDescent(1e-9, max_iter=10**9, max_time=0.05).minimize(slow)
    assert outcome.reason == "max_time"


# --- step rules -------------------------------------------------------------------------------------------------------


def test_line_search_needs_no_constants_and_always_falls():
    rosenbrock = SmoothFunction(
        lambda w: float((1 - w[0]) ** 2 + 5 * (w[1] - w[0] ** 2) ** 2),
        lambda w: np.array([-2 * (1 - w[0]) - 20 * w[0] * (w[1] - w[0] ** 2), 10 * (w[1] - w[0] ** 2)]),
        2,
    )
    outcome = GradientDescent(LineSearch(decrease=0.3), stopping=GradientNorm(1e-5)).minimize(rosenbrock, [-1.0, 1.0])
    np.testing.assert_allclose(outcome.w, [1.0, 1.0], atol=1e-4)
    assert np.all(np.diff(outcome.history[:, 1]) < 0)


def test_decaying_steps_have_the_stated_lengths():
    rule = DecayingStep(0.4, decay=0.5, power=1.0)
    outcome = GradientDescent(rule, stopping=GradientNorm(1e-3)).minimize(PARABOLA, [3.0])
    np.testing.assert_allclose(outcome.history[1:4, 3], [0.4, 0.4 / 1.5, 0.2])
    assert GradientDescent(SmoothnessStep(1.9)).minimize(PARABOLA, [3.0]).converged


# --- batches ----------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_batch_of_all_rows_is_gradient_descent():
    function = LinearScores(*rows(6), Logistic(), l2=0.1)
    full = GradientDescent(0.5, max_iter=20).minimize(function)
    for size in (None, 40, 100):
        batch = StochasticGradientDescent(0.5, batch_size=size, max_iter=20, random_state=3).minimize(function)
        np.testing.assert_array_equal(batch.path, full.path)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_one_row_a_step_in_the_order_of_the_rows():
    X, y = rows(7, 6)
    function = LinearScores(X, y, Logistic(), fit_intercept=False)
    outcome = StochasticGradientDescent(0.3, order="cyclic", max_iter=2).minimize(function)
    w = np.zeros(3)
    for x, t in 2 * list(zip(X, y, strict=True)):
        w = w + 0.3 * t * x / (1 + np.exp(t * (x @ w)))  # eta y x (1 - p)
    np.testing.assert_allclose(outcome.w, w, rtol=1e-12)


def test_a_fitted_row_does_not_stop_the_descent():
    # the second row has gradient zero at the start, the first has not
    function = LinearScores([[1.0], [1.0]], [2.0, 0.0], Squared(), fit_intercept=False)
    assert function.batch_gradient(np.zeros(1), np.array([1])) == 0.0
    outcome = StochasticGradientDescent(
        DecayingStep(0.5, 1.0, 0.7), random_state=0, stopping=GradientNorm(0.05)
    ).minimize(function)
    assert outcome.converged and outcome.w[0] == pytest.approx(1.0, abs=0.06)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_constant_steps_do_not_settle_and_their_mean_comes_closer():
    X, y = rows(8, 60)
    function = LinearScores(X, y, Squared(), l2=0.01)
    best = GradientDescent(stopping=GradientNorm(1e-10)).minimize(function).value
    settings = dict(max_iter=60, random_state=0, stopping=())
    last = StochasticGradientDescent(0.1, **settings).minimize(function)
    mean = StochasticGradientDescent(0.1, average=True, **settings).minimize(function)
    assert np.median(last.history[20:, 1]) - best > 5 * (mean.value - best) > 0


@pytest.mark.parametrize("order", ["shuffled", "random"])
def test_seeds_decide_the_path(order):
    function = LinearScores(*rows(9), Logistic(), l2=0.1)
    settings = dict(order=order, batch_size=8, stopping=GradientNorm(0.02))
    one, two, other = (StochasticGradientDescent(random_state=s, **settings).minimize(function) for s in (0, 0, 1))
    np.testing.assert_array_equal(one.path, two.path)
    assert one.path.shape != other.path.shape or np.any(one.path[1] != other.path[1])


# --- independent solutions --------------------------------------------------------------------------------------------


def test_least_squares_from_zero_ends_at_the_minimum_norm_solution():
    X = np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 1.0]])  # two rows, three columns
    y = np.array([2.0, 5.0])
    outcome = GradientDescent(stopping=GradientNorm(1e-12), max_iter=100_000).minimize(
        LinearScores(X, y, Squared(), fit_intercept=False)
    )
    np.testing.assert_allclose(outcome.w, np.linalg.pinv(X) @ y, atol=1e-9)


def test_agrees_with_exact_solvers():
    X, y = rows(10, 80)
    exact = LogisticRegression(C=1 / (80 * 0.1), tol=1e-12).fit(X, y)
    outcome = GradientDescent(stopping=GradientNorm(1e-9)).minimize(LinearScores(X, y, Logistic(), l2=0.1))
    np.testing.assert_allclose(outcome.w, np.append(exact.coef_, exact.intercept_), atol=1e-5)
    exact = Ridge(alpha=80 * 0.1, tol=1e-12).fit(X, y)
    outcome = GradientDescent(stopping=GapBound(1e-14)).minimize(LinearScores(X, y, Squared(), l2=0.1))
    np.testing.assert_allclose(outcome.w, np.append(exact.coef_, exact.intercept_), atol=1e-5)
    assert outcome.gap <= 1e-14


def test_on_separable_data_the_value_converges_and_the_point_does_not():
    function = LinearScores([[-1.0], [1.0]], [-1.0, 1.0], Logistic(), fit_intercept=False)
    with pytest.warns(ConvergenceWarning):
        outcome = GradientDescent(stopping=(), max_iter=500).minimize(function)
    assert np.all(np.diff(outcome.path[:, 0]) > 0) and outcome.value < 0.01


def test_a_sum_of_ones_own():
    points = np.random.default_rng(0).standard_normal((50, 2))
    center = FiniteSum(
        lambda w: 0.5 * float(np.mean(np.sum((w - points) ** 2, axis=1))),
        lambda w, chosen: w - points[chosen].mean(axis=0),
        50,
        2,
        smoothness=1.0,
        strong_convexity=1.0,
        exact=True,
    )
    # the step 1/(t + 1) makes every iterate the mean of the rows met so far
    outcome = StochasticGradientDescent(DecayingStep(1.0, 1.0, 1.0), stopping=GradientNorm(1e-12)).minimize(center)
    np.testing.assert_allclose(outcome.w, points.mean(axis=0), atol=1e-12)
    assert outcome.n_iter == 1 and outcome.gap <= 1e-24
