"""The widest margin: exact numbers of the notes, an independent quadratic program, and brackets that never lie."""

import math
from fractions import Fraction
from itertools import pairwise

import cvxpy as cp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse

from surefit import margin_bracket, maximal_margin
from surefit.core.budget import Budget, Reason
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.separation.hull import nearest_point
from surefit.separation.signed_rows import SignedRows

FOUR_POINTS = np.array([[0, 0], [0, 0.5], [1, 0.5], [1, 0]]), np.array([1, 1, 1, -1])


def triangles(eps):
    """Two triangles; the margin is sqrt(3) eps / 2. Class 0 (here -1) first."""
    r = math.sqrt(3)
    shifted = np.array([[5 / 3, -1 / r], [-1 / 3, -1 / r], [2 / 3, 2 / r]])
    shifted[:, 0] += eps
    return np.vstack([shifted, -shifted]), np.array([-1, -1, -1, 1, 1, 1])


def separable(rng, n, d, margin, intercept):
    X, w = rng.normal(size=(n, d)), rng.normal(size=d)
    w /= np.linalg.norm(w)
    t = np.where(X @ w + (0.2 if intercept else 0.0) > 0, 1, -1)
    t[:2] = 1, -1
    X[0], X[1] = (1 + margin) * w, -(1 + margin) * w
    return X + margin * t[:, None] * w, t


@pytest.mark.parametrize(("left", "right"), [(1.0, 3.0), (0.5, 0.75), (10.0, 100.0)])
def test_two_points_on_a_line(left, right):
    best = maximal_margin([[left], [right]], [-1, 1])
    gap = right - left
    assert best.w[0] == pytest.approx(2 / gap) and best.b == pytest.approx(-(left + right) / gap)
    assert best.alpha == pytest.approx([2 / gap**2] * 2)
    assert best.bracket.low <= gap / 2 <= best.bracket.up and best.bracket.relative_width < 1e-12
    with pytest.raises(InvalidData, match="separability"):
        maximal_margin([[left], [right]], [-1, 1], intercept=False)


def test_two_points_about_the_origin_need_no_offset():
    best = maximal_margin([[-4.0], [0.5]], [-1, 1], intercept=False)
    assert best.w[0] == pytest.approx(max(1 / 0.5, 1 / 4)) and best.b == 0.0


@pytest.mark.parametrize("eps", [0.5, 0.25, 2.0])
def test_four_points(eps):
    X, y = FOUR_POINTS[0] * [1.0, 2 * eps], FOUR_POINTS[1]
    best = maximal_margin(X, y)
    margin = eps / (2 * math.sqrt(1 + eps**2))
    assert best.w == pytest.approx([-2, 2 / eps]) and best.b == pytest.approx(1)
    assert best.alpha == pytest.approx([2, 0, 2 / eps**2, 2 + 2 / eps**2], abs=1e-9)
    assert 0.5 * best.w @ best.w == pytest.approx(2 + 2 / eps**2)  # objective of the notes, 10 at eps = 1/2
    assert best.bracket.low <= margin * (1 + 1e-15) and margin * (1 - 1e-15) <= best.bracket.up
    assert best.bracket.relative_width < 1e-12


@pytest.mark.parametrize(
    ("eps", "R2", "bound"), [(1 / 10, Fraction(3109, 900), 49744 / 27), (1 / 5, Fraction(859, 225), 13744 / 27)]
)
def test_two_triangles(eps, R2, bound):
    X, y = triangles(eps)
    best = maximal_margin(X, y)
    margin = math.sqrt(3) * eps / 2
    assert best.bracket.low == pytest.approx(margin, rel=1e-12) and best.bracket.up == pytest.approx(margin, rel=1e-12)
    assert best.w * margin == pytest.approx(np.array([-math.sqrt(3), 1]) / 2)
    assert np.max(np.sum(X**2, axis=1)) == pytest.approx(float(R2))
    assert 4 * np.max(np.sum(X**2, axis=1)) / best.bracket.low**2 == pytest.approx(bound)


@pytest.mark.parametrize(("eps", "counts"), [(1 / 10, [1, 1, 1, 1, 2, 0]), (1 / 5, [1, 0, 0, 1, 0, 0])])
def test_mistake_counts_of_a_perceptron_bound_the_margin(eps, counts):
    # The perceptron proves gamma <= sqrt(2) |w_k| / k <= 2 R / sqrt(k); here the hull points prove more.
    X, y = triangles(eps)
    R, k = math.sqrt(np.max(np.sum(X**2, axis=1))), sum(counts)
    bracket = margin_bracket(X, y, alpha=counts)
    length = np.linalg.norm((y * counts) @ np.column_stack([X, np.full(6, R)]))
    assert length**2 == pytest.approx({6: 15.96, 2: 15.271111111}[k])
    assert math.sqrt(3) * eps / 2 <= bracket.up < math.sqrt(2) * length / k
    assert math.sqrt(2) * length / k <= 2 * R / math.sqrt(k) * (1 + 1e-9)


def test_counts_without_offset_give_the_length_of_the_weight_vector():
    rng = np.random.default_rng(2)
    X, t = separable(rng, 40, 3, 0.3, intercept=False)
    w, counts = np.zeros(3), np.zeros(40)
    for _ in range(100):
        for i in range(40):
            if t[i] * (X[i] @ w) <= 0:
                w, counts[i] = w + t[i] * X[i], counts[i] + 1
    k = counts.sum()
    bracket = margin_bracket(X, t, w, alpha=counts, intercept=False)
    assert bracket.up == pytest.approx(np.linalg.norm(w) / k) and bracket.low == pytest.approx(
        np.min(t * (X @ w)) / np.linalg.norm(w)
    )
    best = maximal_margin(X, t, intercept=False)
    assert bracket.low <= best.bracket.up and best.bracket.low <= bracket.up <= np.max(
        np.linalg.norm(X, axis=1)
    ) / math.sqrt(k)


@pytest.mark.parametrize(("n", "d", "margin"), [(60, 2, 0.5), (80, 5, 0.01), (150, 20, 0.1), (30, 60, 0.0)])
@pytest.mark.parametrize("intercept", [True, False])
def test_agrees_with_an_interior_point_method(n, d, margin, intercept):
    X, t = separable(np.random.default_rng(n + d), n, d, margin, intercept)
    w, b = cp.Variable(d), cp.Variable() if intercept else 0.0
    problem = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2), [cp.multiply(t, X @ w + b) >= 1])
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    best = maximal_margin(X, t, intercept)
    assert best.reason is Reason.CONVERGED and best.bracket.relative_width <= 1e-6
    assert best.bracket.low * (1 - 1e-6) <= 1 / np.linalg.norm(w.value) <= best.bracket.up * (1 + 1e-6)
    assert best.w == pytest.approx(w.value, abs=1e-5 * np.linalg.norm(w.value))
    assert best.alpha @ (t[:, None] * X) == pytest.approx(best.w, abs=1e-6 * np.linalg.norm(best.w))


def test_widest_margin_attains_one_in_both_classes():
    X, t = separable(np.random.default_rng(4), 100, 4, 0.2, True)
    best = maximal_margin(X, t, tol=1e-10)
    functional = t * (X @ best.w + best.b)
    assert functional.min() == pytest.approx(1) and np.linalg.norm(best.w) == pytest.approx(1 / best.bracket.low)
    assert all(functional[t == side].min() == pytest.approx(1, abs=1e-7) for side in (-1, 1))
    assert np.all(functional[best.alpha > 0] == pytest.approx(1, abs=1e-7))


def test_only_support_rows_matter():
    X, t = separable(np.random.default_rng(12), 80, 3, 0.1, True)
    best = maximal_margin(X, t, tol=1e-10)
    kept = best.alpha > 0
    again = maximal_margin(X[kept], t[kept], tol=1e-10)
    assert (
        again.w == pytest.approx(best.w)
        and again.b == pytest.approx(best.b)
        and again.alpha == pytest.approx(best.alpha[kept])
    )
    for i in np.flatnonzero(~kept)[:20]:  # left out, a row without weight changes nothing and is classified correctly
        rest = np.arange(80) != i
        assert t[i] * (X[i] @ maximal_margin(X[rest], t[rest]).w + best.b) > 0


def test_more_rows_never_widen_the_margin():
    X, t = separable(np.random.default_rng(5), 60, 3, 0.3, True)
    ups = [maximal_margin(X[:n], t[:n]).bracket for n in (10, 20, 40, 60)]
    assert all(later.low <= earlier.up for earlier, later in pairwise(ups))


@pytest.mark.parametrize("factor", [1e-150, 1e-3, 1e150])
def test_scaling_the_data_scales_the_bracket(factor):
    X, t = FOUR_POINTS
    plain, scaled = margin_bracket(X, t, [-2, 4], 1.0), margin_bracket(X * factor, t, [-2, 4], factor)
    assert scaled.low == pytest.approx(plain.low * factor, rel=1e-12)
    assert scaled.up == pytest.approx(plain.up * factor, rel=1e-12)


def test_a_shift_far_away_keeps_the_bracket_tight():
    X, t = separable(np.random.default_rng(6), 200, 5, 0.2, True)
    near, far = maximal_margin(X, t), maximal_margin(X + 1e6, t)
    assert far.bracket.low == pytest.approx(near.bracket.low, rel=1e-6)
    assert far.bracket.relative_width < 1e-5


@given(st.lists(st.tuples(*[st.integers(-5, 5)] * 3), min_size=2, max_size=8), st.data())
@settings(max_examples=150, deadline=None)
def test_bracket_is_right_for_any_hyperplane_and_any_weights(points, data):
    # Exact arithmetic: the bounds must lie outside the rational values they enclose.
    X = np.array(points, dtype=float)[:, :2] / 10
    t = np.where(np.array(points)[:, 2] > 0, 1, -1)
    t[0], t[-1] = 1, -1
    numbers = st.integers(-9, 9)
    w = np.array(data.draw(st.tuples(numbers, numbers).filter(any))) / 7
    b, alpha = (
        data.draw(numbers) / 3,
        np.array(data.draw(st.lists(st.integers(0, 5), min_size=len(t), max_size=len(t)))),
    )
    bracket = margin_bracket(X, t, w, b, alpha)
    rows = [[Fraction(x) for x in row] for row in X.tolist()]
    exact_w, exact_b = [Fraction(x) for x in w.tolist()], Fraction(b)
    functional = min(
        int(s) * (sum(x * v for x, v in zip(row, exact_w, strict=True)) + exact_b)
        for s, row in zip(t, rows, strict=True)
    )
    squared_norm = sum(v * v for v in exact_w)
    low = Fraction(bracket.low)
    signed_square = low * abs(low) * squared_norm
    assert signed_square <= functional * abs(functional)
    if any(alpha[t > 0]) and any(alpha[t < 0]):
        means = []
        for side in (1, -1):
            total = int(alpha[t == side].sum())
            weighted = [(int(a), row) for a, s, row in zip(alpha, t, rows, strict=True) if s == side]
            means.append([sum(a * row[j] for a, row in weighted) / total for j in range(2)])
        distance = sum((p - q) ** 2 for p, q in zip(*means, strict=True)) / 4
        assert Fraction(bracket.up) ** 2 >= distance


def test_defaults_are_the_means_of_the_classes():
    X, t = FOUR_POINTS
    bracket = margin_bracket(X, t)
    difference = X[:3].mean(axis=0) - X[3]
    assert bracket.w == pytest.approx(difference) and bracket.up == pytest.approx(np.linalg.norm(difference) / 2)
    assert bracket.low <= 0.5 / (2 * math.sqrt(1.25)) <= bracket.up


def test_sparse_and_dense_agree():
    X, t = np.random.default_rng(7).normal(size=(60, 30)), np.tile([1, -1], 30)
    X[np.abs(X) < 0.7] = 0.0
    X[:, 0] += 5 * t
    dense, thin = maximal_margin(X, t), maximal_margin(sparse.csr_array(X), t)
    assert thin.bracket.low == pytest.approx(dense.bracket.low, rel=1e-6)
    assert thin.w == pytest.approx(dense.w, abs=1e-4 * np.linalg.norm(dense.w))
    noise = np.random.default_rng(0).normal(size=(25, 100))
    wide = sparse.csr_array(
        np.column_stack([X[:25], np.where(np.abs(noise) > 1.6, noise, 0.0)])
    )  # more columns than rows
    a, b = maximal_margin(wide, t[:25]), maximal_margin(wide.toarray(), t[:25])
    assert a.bracket.low == pytest.approx(b.bracket.low, rel=1e-6)


def test_stops_when_the_budget_is_spent_with_a_true_bracket():
    X, t = separable(np.random.default_rng(8), 3000, 10, 0.01, True)
    best = maximal_margin(X, t)
    rows = SignedRows(X, t.astype(float), True)
    rough = nearest_point(rows, X[0] - X[1], tol=0.0, budget=Budget(max_iter=2))
    assert (
        rough.reason is Reason.MAX_ITER
        and rough.n_iter == 2
        and rough.low <= best.bracket.up
        and rough.up >= best.bracket.low
    )
    exhausted = nearest_point(rows, X[0] - X[1], tol=0.0, budget=Budget(), work=1.0)
    assert exhausted.reason is Reason.MAX_ITER
    final = nearest_point(rows, X[0] - X[1], tol=0.0, budget=Budget(max_iter=500))
    assert final.reason in (Reason.STALLED, Reason.CONVERGED) and final.up - final.low < 1e-9 * final.up


def test_refuses_what_it_cannot_use():
    X, t = FOUR_POINTS
    with pytest.raises(InvalidParameter, match="margin_bracket: w must be one finite number per column"):
        margin_bracket(X, t, [1.0])
    with pytest.raises(InvalidParameter, match="alpha must be weights >= 0"):
        margin_bracket(X, t, alpha=[1, 1, -1, 1])
    with pytest.raises(InvalidParameter, match="b must be 0 when intercept=False"):
        margin_bracket(X, t, [1, 1], 2.0, intercept=False)
    with pytest.raises(InvalidParameter, match="b must be a finite number"):
        margin_bracket(X, t, [1, 1], math.nan)
    with pytest.raises(InvalidParameter, match="intercept must be True or False"):
        margin_bracket(X, t, intercept=3)
    with pytest.raises(InvalidParameter, match="tol must be"):
        maximal_margin(X, t, tol=-1)
    with pytest.raises(InvalidData, match="two classes; got 1 only"):
        margin_bracket(X[:3], t[:3])


def test_real_columns_of_very_different_sizes():
    # Unscaled measurements: rows of length 5,000, a margin of 4e-5. Rounding in the direction alone would cost three digits.
    from sklearn.datasets import load_breast_cancer

    best = maximal_margin(*load_breast_cancer(return_X_y=True), tol=1e-8)
    assert best.reason is Reason.CONVERGED and best.bracket.relative_width <= 1e-8
    assert best.bracket.low == pytest.approx(4.1371368e-5, rel=1e-7)
