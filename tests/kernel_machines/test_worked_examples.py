"""Examples of the theory with numbers that are known: margins, prices, budgets, and what other forms of a machine give."""

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit import (
    SVC,
    InvalidData,
    KernelRidge,
    kkt_report,
)
from surefit.data import make_alternating
from surefit.duality import QuadraticProgram
from surefit.kernels import RBF, Constant, Linear, Min, Polynomial


def machine(C, **options) -> SVC:
    return SVC(kernel="linear", C=C, tol=1e-12, **options)


def overlapping(seed, n=40):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    y = np.where(X[:, 0] + 0.8 * rng.standard_normal(n) > 0, 1, -1)
    y[:2] = [1, -1]
    return X, y


def multipliers(model, n) -> np.ndarray:
    alpha = np.zeros(n)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    return alpha


# --- hard margins -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1.0, 10.0])
def test_widest_margin_through_the_origin(scale):
    X, y = scale * np.array([[1.0, 2.0], [2.0, 1.0], [-1.0, -1.0], [1.0, -2.0]]), [1, 1, -1, -1]
    model = machine(np.inf, fit_intercept=False).fit(X, y)
    assert model.coef_[0] * scale == pytest.approx([1 / 3, 2 / 3])
    assert model.margin_[0] == pytest.approx(scale * 3 / np.sqrt(5))
    assert multipliers(model, 4).sum() == pytest.approx(5 / 9 / scale**2)  # the squared norm
    assert model.intercept_[0] == 0.0


def test_three_points_and_a_shift():
    X, y, v = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]]), [-1, 1, 1], np.array([7.0, -3.0])
    model = machine(np.inf).fit(X, y)
    assert model.coef_ == pytest.approx(np.array([[1.0, 1.0]])) and model.intercept_ == pytest.approx([-1.0])
    assert multipliers(model, 3) == pytest.approx([1.0, 0.5, 0.5]) and model.objective_ == pytest.approx(1.0)
    moved = machine(np.inf).fit(X + v, y)
    assert moved.coef_ == pytest.approx(model.coef_)
    assert moved.intercept_ == pytest.approx(model.intercept_ - model.coef_ @ v)
    with_one = np.column_stack([X + v, np.ones(3)])  # a penalized offset does not move along
    assert machine(np.inf, fit_intercept=False).fit(with_one, y).coef_[0, :2] != pytest.approx([1.0, 1.0], abs=0.01)


@pytest.mark.parametrize("low, high", [(-0.5, 2.0), (-3.0, 0.4)])
def test_points_on_both_sides_of_the_origin(low, high):
    model = machine(np.inf, fit_intercept=False).fit([[low], [high]], [-1, 1])
    assert model.coef_[0, 0] == pytest.approx(max(1 / high, 1 / -low))


def test_a_penalized_offset_has_a_narrower_margin():
    X, y = np.array([[3.0, 0.0], [0.0, 1.0]]), [1, -1]
    augmented = machine(np.inf, fit_intercept=False).fit(np.column_stack([X, np.ones(2)]), y)
    w = augmented.coef_[0]
    assert np.min([1, -1] * (X @ w[:2] + w[2])) / np.linalg.norm(w[:2]) == pytest.approx(1.33684, abs=5e-6)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(-50, 50), min_size=2, max_size=9, unique=True), st.data())
def test_split_of_a_line_in_closed_form(points, data):
    x = np.sort(np.array(points, dtype=float))
    m = data.draw(st.integers(1, len(x) - 1))
    gap = x[m] - x[m - 1]
    model = machine(np.inf).fit(x[:, None], np.where(np.arange(len(x)) < m, -1, 1))
    assert model.coef_[0, 0] == pytest.approx(2 / gap) and model.margin_[0] == pytest.approx(gap / 2)
    assert model.intercept_[0] == pytest.approx(-(x[m] + x[m - 1]) / gap)
    expected = np.zeros(len(x))
    expected[m - 1 : m + 1] = 2 / gap**2
    assert multipliers(model, len(x)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("kernel", [Linear(), RBF(gamma=0.3), Polynomial(2)], ids=repr)
@pytest.mark.parametrize("share", [0.3, 1.0, 5.0])
def test_two_points_in_any_space(kernel, share):
    X = np.array([[0.3, -1.0, 2.0], [1.1, 0.4, -0.7]])
    K = kernel(X)
    z = K[0, 0] + K[1, 1] - 2 * K[0, 1]  # squared distance of the features
    C = share * 2 / z
    model = SVC(kernel=kernel, C=C, tol=1e-13).fit(X, [-1, 1])
    a = min(C, 2 / z)
    assert multipliers(model, 2) == pytest.approx([a, a]) and model.rkhs_norm_[0] ** 2 == pytest.approx(a**2 * z)
    middle = -0.5 * a * (K[1, 1] - K[0, 0])
    assert model.intercept_[0] == pytest.approx(middle, abs=1e-7)
    room = max(2 - C * z, 0.0)
    assert model.intercept_interval_[0] == pytest.approx([middle - room / 2, middle + room / 2], abs=1e-7)
    assert model.objective_ == pytest.approx(2 * a - a**2 * z / 2)


@pytest.mark.parametrize("n", [2, 4, 6])
def test_alternating_labels_with_the_kernel_of_brownian_motion(n):
    sample = make_alternating(n)
    X = np.asarray(sample.X, dtype=float).reshape(-1, 1) / (2 * n - 1)
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    free = SVC(kernel=Min(), C=np.inf, tol=1e-12).fit(X, y)
    assert free.rkhs_norm_[0] ** 2 == pytest.approx(2 * (n - 1) * (2 * n - 1))
    assert free.margin_[0] == pytest.approx((2 * (n - 1) * (2 * n - 1)) ** -0.5)
    bound = SVC(kernel=Min(), C=np.inf, fit_intercept=False, tol=1e-12).fit(X, y)
    assert bound.rkhs_norm_[0] ** 2 == pytest.approx((2 * n - 1) ** 2)


def test_distinct_points_take_any_labels():
    X, y = np.random.default_rng(0).standard_normal((20, 2)), np.where(np.arange(20) % 3 == 0, 1, -1)
    assert SVC(kernel=RBF(gamma=2.0), C=np.inf).fit(X, y).score(X, y) == 1.0
    assert KernelRidge(1e-10, kernel=RBF(gamma=2.0)).fit(X, y).predict(X) == pytest.approx(y, abs=1e-5)
    with pytest.raises(InvalidData, match="not separable"):
        machine(np.inf).fit(X, y)


# --- soft margins -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("C, value", [(0.1, 0.18), (0.25, 0.375), (0.5, 0.5), (3.0, 0.5)])
def test_two_unit_points_at_every_price(C, value):
    model = machine(C).fit([[-1.0], [1.0]], [-1, 1])
    assert model.objective_ == pytest.approx(value) and model.coef_[0, 0] == pytest.approx(min(2 * C, 1.0))
    room = max(1 - 2 * C, 0.0)
    assert model.intercept_interval_[0] == pytest.approx([-room, room], abs=1e-9)


def test_slack_falls_and_norm_rises_with_the_price():
    X, y = overlapping(1)
    models = [SVC(C=C, gamma=0.5, tol=1e-10).fit(X, y) for C in (0.01, 0.1, 1.0, 10.0, 100.0)]
    assert np.all(np.diff([model.slack_.sum() for model in models]) <= 1e-6)
    assert np.all(np.diff([model.rkhs_norm_[0] for model in models]) >= -1e-6)
    for model in models:
        n, lam = len(y), 1 / (2 * len(y) * model.C)  # the mean of the losses plus lam |f|^2
        mean = model.slack_.mean() + lam * model.rkhs_norm_[0] ** 2
        assert mean == pytest.approx(model.objective_ / (n * model.C)) and mean <= 1 + 1e-9
        assert model.rkhs_norm_[0] ** 2 <= 1 / lam and np.mean(model.predict(X) != y) <= model.slack_.mean()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_smallest_budget_is_at_most_two_a_row_of_the_rarer_class(seed):
    X, y = overlapping(seed)
    few = min(np.sum(y > 0), np.sum(y < 0))
    model = machine(1.0).set_params(budget=2.0 * few - 0.5, tol=1e-7).fit(X, y)
    assert 0 < model.budget_min_ <= 2 * few and model.slack_.sum() <= 2.0 * few - 0.5 + 1e-6


def test_conditions_of_kuhn_and_tucker():
    X, y = np.array([[1.0, 2.0], [2.0, 1.0], [-1.0, -1.0], [1.0, -2.0]]), np.array([1, 1, -1, -1])
    hard = machine(np.inf, fit_intercept=False).fit(X, y)
    program = QuadraticProgram(np.eye(2), y[:, None] * X, np.ones(4))
    report = kkt_report(program, hard.coef_[0], multipliers(hard, 4), tol=1e-9)
    assert max(report.residuals) < 1e-9 and abs(report.gap) < 1e-9
    worse = kkt_report(program, hard.coef_[0] + [0.1, 0.0], multipliers(hard, 4))
    assert max(worse.residuals) > 0.01
    X, y = overlapping(12)
    soft = machine(0.7).fit(X, y)
    alpha, margins = multipliers(soft, len(y)), y * soft.decision_function(X)
    assert soft.coef_[0] == pytest.approx((alpha * y) @ X) and alpha @ y == pytest.approx(0.0, abs=1e-12)
    assert np.all((alpha >= 0) & (alpha <= 0.7)) and np.all(margins >= 1 - soft.slack_ - 1e-9)
    assert alpha * (margins - 1 + soft.slack_) == pytest.approx(np.zeros(len(y)), abs=1e-6)
    assert (0.7 - alpha) * soft.slack_ == pytest.approx(np.zeros(len(y)), abs=1e-6)
    assert alpha.sum() - soft.rkhs_norm_[0] ** 2 == pytest.approx(0.7 * soft.slack_.sum(), abs=1e-6)  # no gap


def test_order_of_rows_does_not_matter():
    X, y = overlapping(2)
    order = np.random.default_rng(2).permutation(len(y))
    ours, again = SVC(gamma=0.5, tol=1e-12).fit(X, y), SVC(gamma=0.5, tol=1e-12).fit(X[order], y[order])
    assert again.decision_function(X) == pytest.approx(ours.decision_function(X), abs=1e-6)
    assert again.objective_ == pytest.approx(ours.objective_, rel=1e-11)


def test_a_row_on_the_margin_can_go_where_multipliers_are_not_unique():
    X, y = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]), np.array([1, 1, -1, -1])
    model = machine(np.inf).fit(X, y)
    assert model.coef_ == pytest.approx(np.array([[1.0, 0.0]]), abs=1e-9) and len(model.on_margin_) == 4
    for i in range(4):
        rest = np.delete(np.arange(4), i)
        again = machine(np.inf).fit(X[rest], y[rest])
        assert again.coef_ == pytest.approx(np.array([[1.0, 0.0]]), abs=1e-9)
        assert again.intercept_ == pytest.approx([0.0], abs=1e-9)


def test_rows_left_out_err_no_more_often_than_there_are_support_vectors():
    X, y = overlapping(3, n=24)
    model = SVC(gamma=0.5, C=2.0, tol=1e-11).fit(X, y)
    errors = 0
    for i in range(24):
        rest = np.delete(np.arange(24), i)
        errors += int(SVC(gamma=0.5, C=2.0, tol=1e-11).fit(X[rest], y[rest]).predict(X[[i]])[0] != y[i])
    assert errors / 24 <= model.loo_error_bound_ == len(model.support_) / 24


@pytest.mark.parametrize("C", [0.5, 20.0])
def test_explicit_features_and_kernel_are_one_machine(C):
    X, y = overlapping(4)
    kernel = Polynomial(2, 1.0, 1.0)
    Z = kernel.feature_map(X)
    by_kernel, by_features = SVC(kernel=kernel, C=C, tol=1e-11).fit(X, y), machine(C).fit(Z, y)
    assert by_kernel.objective_ == pytest.approx(by_features.objective_, rel=1e-9)
    assert by_kernel.decision_function(X) == pytest.approx(by_features.decision_function(Z), abs=1e-5)
    w = by_kernel.dual_coef_[0] @ Z[by_kernel.support_]  # weight form
    assert Z @ w + by_kernel.intercept_ == pytest.approx(by_kernel.decision_function(X))


def test_a_large_constant_in_the_kernel_stands_for_the_offset():
    X, y = overlapping(5)
    free = SVC(kernel=RBF(gamma=0.5), tol=1e-10).fit(X, y).decision_function(X)
    far = []
    for c in (1.0, 1e2, 1e4):
        model = SVC(kernel=RBF(gamma=0.5) + Constant(c), fit_intercept=False, tol=1e-10).fit(X, y)
        far.append(float(np.max(np.abs(model.decision_function(X) - free))))
    assert far[0] > far[1] > far[2] and far[2] < 1e-3


def test_limits_of_the_width():
    X, y = overlapping(6)
    narrow = SVC(kernel=RBF(gamma=1e6), C=10.0).fit(X, y)
    assert len(narrow.support_) == len(y) and narrow.score(X, y) == 1.0  # it remembers
    wide = SVC(kernel=RBF(gamma=1e-14), C=10.0).fit(X, y)
    assert np.ptp(wide.decision_function(X)) < 1e-6  # it is constant


# --- ellipses ---------------------------------------------------------------------------------------------------------


def test_an_ellipse_is_a_plane_in_the_features_of_the_quadratic_kernel():
    kernel = Polynomial(2, 1.0, 0.0)
    X = np.random.default_rng(7).uniform(-2, 2, (60, 2))
    A = np.array([[2.0, 0.5], [0.5, 1.0]])
    form = np.einsum("ij,jk,ik->i", X, A, X)
    keep = np.abs(form - 2.0) > 0.3
    X, form = X[keep], form[keep]
    weights = np.array([A[0, 0], np.sqrt(2) * A[0, 1], A[1, 1]])
    assert kernel.feature_map(X) @ weights == pytest.approx(form)
    y = np.where(form > 2.0, 1, -1)
    assert SVC(kernel=kernel, C=np.inf).fit(X, y).score(X, y) == 1.0
    with pytest.raises(InvalidData, match="not separable"):
        machine(np.inf).fit(X, y)
    assert (comb(56, 4), comb(59, 4)) == (367290, 455126)  # square-free and all monomials of degree 4 in 56 variables
