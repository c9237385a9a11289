"""LinearRegression: worked numbers and identities first, scikit-learn and rationals second, odd input last."""

import tracemalloc
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats
from sklearn import linear_model as theirs

from surefit import CertificateError, DataWarning, Invalidated, InvalidParameter, LinearRegression
from surefit.core import threads as threads_of_rows
from surefit.core.errors import InvalidData, SurefitError
from surefit.solvers.least_squares import moments


def problem(seed=0, n=60, d=4, offset=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + offset
    return X, X @ np.arange(1.0, d + 1) + 3 + rng.standard_normal(n)


def exact_solution(X, y):
    """Solve the normal equations of [1, X] in rationals."""
    rows = [[Fraction(1), *map(Fraction, row)] for row in X.tolist()]
    m = len(rows[0])
    A = [[sum(r[i] * r[j] for r in rows) for j in range(m)] for i in range(m)]
    c = [sum(r[i] * Fraction(t) for r, t in zip(rows, y.tolist(), strict=True)) for i in range(m)]
    for k in range(m):
        pivot = next(i for i in range(k, m) if A[i][k] != 0)
        A[k], A[pivot], c[k], c[pivot] = A[pivot], A[k], c[pivot], c[k]
        for i in range(m):
            if i != k:
                factor = A[i][k] / A[k][k]
                A[i] = [a - factor * b for a, b in zip(A[i], A[k], strict=True)]
                c[i] -= factor * c[k]
    return np.array([float(c[k] / A[k][k]) for k in range(m)])


# --- the numbers of the notes -----------------------------------------------------------------------------------------


def test_slope_and_intercept_of_three_points():
    x, y = np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 4.0])
    model = LinearRegression().fit(x[:, None], y)
    assert model.coef_[0] == pytest.approx(1.0, rel=1e-14) and model.intercept_ == pytest.approx(2 / 3, rel=1e-14)
    r = y - model.predict(x[:, None])
    assert abs(r.sum()) < 1e-14 and abs(r @ x) < 1e-14
    assert model.sigma2_ == pytest.approx(2 / 9) and model.residual_variance_ == pytest.approx(2 / 3)


def test_constant_model_is_the_mean():
    with pytest.warns(DataWarning, match="every column is constant"):
        model = LinearRegression().fit(np.ones((3, 1)), np.array([0.0, 0.0, 10.0]))
    assert model.coef_[0] == 0.0 and model.intercept_ == pytest.approx(10 / 3)
    assert model.sigma2_ == pytest.approx(200 / 9) and model.rank_ == 0


def test_minimum_norm_of_one_row():
    centered = LinearRegression().fit([[2.0]], [5.0])
    assert centered.coef_[0] == 0.0 and centered.intercept_ == 5.0
    plain = LinearRegression(fit_intercept=False).fit([[2.0, 1.0]], [5.0])
    np.testing.assert_allclose(plain.coef_, [2.0, 1.0])


def test_polynomial_fits_of_ten_points():
    # y = 4x^2 - 2x + 3 without noise; the line predicts 5.9185 at 1.8 with standard deviation 0.547, the parabola 12.36, 0.652
    x = np.linspace(-2, 2, 10)
    y = 4 * x**2 - 2 * x + 3
    for degree, mean, spread in ((1, 5.9185, 0.547), (2, 12.36, 0.652)):
        powers = x[:, None] ** np.arange(1, degree + 1)
        model = LinearRegression().fit(powers, y)
        at = 1.8 ** np.arange(1, degree + 1)[None, :]
        assert model.predict(at)[0] == pytest.approx(mean, abs=5e-5)
        assert np.sqrt(model.leverage(at)[0]) == pytest.approx(spread, abs=5e-4)
    assert model.coef_ == pytest.approx([-2.0, 4.0])


def test_degree_n_minus_one_interpolates_and_says_so():
    x = np.linspace(-2, 2, 10)
    y = np.sin(3 * x)
    with pytest.warns(DataWarning, match="all 10 rows"):
        model = LinearRegression().fit(x[:, None] ** np.arange(1, 10), y)
    assert model.interpolates_ and np.abs(model.predict(x[:, None] ** np.arange(1, 10)) - y).max() < 1e-9


def test_moving_one_point_moves_the_line_by_its_leverage():
    x = np.arange(-5.0, 6.0)[:, None]
    y = 2 * x[:, 0] + 10
    y[5] = 13.0
    before = LinearRegression().fit(x, y)
    y[5] = 8.0
    after = LinearRegression().fit(x, y)
    assert np.abs(after.predict(x) - before.predict(x)).max() == pytest.approx(5 / 11)


# --- identities -------------------------------------------------------------------------------------------------------


def test_likelihood_by_two_routes():
    X, y = problem()
    model = LinearRegression().fit(X, y)
    density = stats.norm.logpdf(y, model.predict(X), np.sqrt(model.sigma2_)).sum()
    assert model.log_likelihood_ == pytest.approx(density, rel=1e-12)
    for shift in (0.9, 1.1):  # the variance maximizes it too
        assert stats.norm.logpdf(y, model.predict(X), np.sqrt(shift * model.sigma2_)).sum() < model.log_likelihood_


def test_inference_is_the_textbook_formula():
    X, y = problem(1)
    table = LinearRegression().fit(X, y).inference(X, y, confidence=0.9)
    Z = np.column_stack([np.ones(60), X])
    r = y - Z @ np.linalg.solve(Z.T @ Z, Z.T @ y)
    covariance = r @ r / 55 * np.linalg.inv(Z.T @ Z)
    np.testing.assert_allclose(table.covariance, covariance, rtol=1e-9)
    np.testing.assert_allclose(
        table.high - table.low, 2 * stats.t.ppf(0.95, 55) * np.sqrt(np.diag(covariance)), rtol=1e-9
    )
    np.testing.assert_allclose(table.p_values, 2 * stats.t.sf(np.abs(table.t), 55))
    assert "intercept" in repr(table) and "55 degrees" in repr(table)


def test_intervals_cover_as_often_as_they_say():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 2))
    hits = 0
    for _ in range(200):
        y = X @ [1.0, -2.0] + 3 + rng.standard_normal(12)
        table = LinearRegression().fit(X, y).inference(X, y, confidence=0.8)
        hits += bool(table.low[1] <= 1.0 <= table.high[1])
    assert 160 - 23 <= hits <= 160 + 23  # four standard deviations of a binomial


def test_leverages_sum_to_the_number_of_coefficients_and_leave_one_out_is_exact():
    X, y = problem(2, n=15)
    model = LinearRegression().fit(X, y)
    assert model.leverage(X).sum() == pytest.approx(5, rel=1e-12)
    keep = [np.arange(15) != i for i in range(15)]
    refits = [y[i] - LinearRegression().fit(X[k], y[k]).predict(X[[i]])[0] for i, k in enumerate(keep)]
    np.testing.assert_allclose(model.leave_one_out(X, y), refits, rtol=1e-9)


def test_repeating_rows_is_weighting_them():
    X, y = problem(3, n=25)
    s = np.random.default_rng(0).integers(0, 4, 25)
    weighted = LinearRegression().fit(X, y, s)
    repeated = LinearRegression().fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-11)
    np.testing.assert_allclose(weighted.unscaled_covariance_, repeated.unscaled_covariance_, rtol=1e-9)
    assert weighted.residual_variance_ == pytest.approx(repeated.residual_variance_)
    assert weighted.log_likelihood_ == pytest.approx(repeated.log_likelihood_)
    np.testing.assert_allclose(weighted.leave_one_out(X, y, s)[s > 0], repeated.leave_one_out(
        np.repeat(X, s, axis=0), np.repeat(y, s))[np.cumsum(s)[s > 0] - 1], rtol=1e-9)  # fmt: skip


# --- other people's answers -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(60, 4), (12, 30)])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("positive", [True, False])
def test_agrees_with_scikit_learn(shape, fit_intercept, positive):
    rng = np.random.default_rng(0)
    X, s = rng.standard_normal(shape), rng.uniform(0.5, 2, shape[0])
    Y = rng.standard_normal((shape[0], 3)) + X[:, :3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        ours = LinearRegression(fit_intercept=fit_intercept, positive=positive).fit(X, Y, s)
    other = theirs.LinearRegression(fit_intercept=fit_intercept, positive=positive).fit(X, Y, s)
    np.testing.assert_allclose(ours.predict(X), other.predict(X), atol=1e-9)
    np.testing.assert_allclose(ours.coef_, other.coef_, atol=1e-9)
    ours.verify(X, Y, s)


def test_sparse_is_dense():
    X, y = problem(4)
    X[np.abs(X) < 0.7] = 0
    dense = LinearRegression().fit(X, y)
    for kind in (sparse.csr_array, sparse.csc_array):
        model = LinearRegression().fit(kind(X), y)
        np.testing.assert_allclose(model.coef_, dense.coef_, rtol=1e-11)
        np.testing.assert_allclose(model.leverage(kind(X)), dense.leverage(X), rtol=1e-9)
        assert model.verify(kind(X), y)["linear.gap"].level == "enclosed"


def test_collinear_columns_keep_seven_digits():
    # condition number about 1e7, as in Longley's data; the rationals are the judge
    rng = np.random.default_rng(5)
    common = np.round(rng.standard_normal(16) * 2**10)
    X = np.column_stack([common + np.round(rng.standard_normal(16) * 2**10) / 2**23 for _ in range(3)])
    X = np.column_stack([X, np.round(rng.standard_normal(16) * 2**10)])
    y = np.round(rng.standard_normal(16) * 2**12) / 2**4
    y = X @ np.array([1.0, 1.0, 1.0, 1.0]) + y * 2.0**-20
    assert np.linalg.cond(X - X.mean(axis=0)) > 1e6
    truth = exact_solution(X, y)
    model = LinearRegression().fit(X, y)
    np.testing.assert_allclose(np.append(model.intercept_, model.coef_), truth, rtol=1e-7)


def test_data_far_from_the_origin_keep_eight_digits():
    X, y = problem(6, n=40, d=3, offset=1e6)
    truth = exact_solution(X, y)
    model = LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_, truth[1:], rtol=1e-8)
    assert model.intercept_ == pytest.approx(truth[0], rel=1e-8)
    assert model.verify(X, y)["linear.gap"].level == "enclosed"


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(6, 12), st.integers(1, 3))
def test_small_integer_problems_are_solved_as_rationals_are(seed, n, d):
    rng = np.random.default_rng(seed)
    X = rng.integers(-9, 10, (n, d)).astype(float)
    y = rng.integers(-9, 10, n).astype(float)
    if np.linalg.matrix_rank(np.column_stack([np.ones(n), X])) <= d:
        return
    model = LinearRegression().fit(X, y)
    np.testing.assert_allclose(np.append(model.intercept_, model.coef_), exact_solution(X, y), rtol=1e-9, atol=1e-11)
    model.verify(X, y)


# --- what cannot be, and what is refused ------------------------------------------------------------------------------


def test_dependent_columns_are_reported_and_have_no_standard_errors():
    X, y = problem(7)
    X = np.column_stack([X, X[:, 0] - 2 * X[:, 1]])
    model = LinearRegression().fit(X, y)
    assert model.rank_ == 4 and model.certificate_["linear.rank"].value == 1.0
    assert model.verify(X, y)["linear.rank"].ok
    np.testing.assert_allclose(model.coef_, theirs.LinearRegression().fit(X, y).coef_, rtol=1e-9)
    with pytest.raises(SurefitError, match="not unique"):
        model.inference(X, y)


def test_a_changed_model_and_an_inflated_claim_are_found_out():
    X, y = problem(8)
    model = LinearRegression().fit(X, y)
    certificate = model.certificate_
    moved = LinearRegression().fit(X, y)
    moved.coef_[0] += 1e-3
    with pytest.raises(Invalidated):
        moved.verify(X, y)
    moved._issue("A", list(certificate.claims), problem=certificate.problem, model=("coef_", "intercept_"),
                 data=certificate.data)  # fmt: skip
    with pytest.raises(CertificateError, match=r"linear\.gap") as caught:
        moved.verify(X, y)
    Z = X - X.mean(axis=0)
    b = 1e-3 * X[:, 0].mean()
    assert caught.value.excess == pytest.approx(1e-6 * Z[:, 0] @ Z[:, 0] + 60 * b**2, rel=1e-6)


def test_refusals():
    X, y = problem(9)
    model = LinearRegression().fit(X, y)
    with pytest.raises(InvalidParameter, match="confidence"):
        model.inference(X, y, confidence=95)
    with pytest.raises(InvalidParameter, match="target"):
        model.inference(X, y, target=1)
    with pytest.raises(Invalidated):
        model.inference(X, y + 1)
    with pytest.raises(InvalidParameter, match="positive"):
        LinearRegression(positive="yes").fit(X, y)
    lone = np.vstack([np.eye(3), np.zeros((3, 3))])
    with pytest.raises(InvalidData, match="without row 0"):
        LinearRegression(fit_intercept=False).fit(lone, np.arange(6.0)).leave_one_out(lone, np.arange(6.0))


def test_names_of_a_table_are_used():
    X, y = problem(10)
    X = pd.DataFrame(X, columns=list("abcd"))
    model = LinearRegression().fit(X, y)
    assert model.inference(X, y).names == ["intercept", "a", "b", "c", "d"]


def test_input_is_not_copied_whole():
    X = np.random.default_rng(0).standard_normal((100_000, 80))
    y = X[:, 0].copy()
    LinearRegression().fit(X[:100], y[:100] + 1)  # compile the fingerprint
    tracemalloc.start()
    LinearRegression().fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * X.nbytes


@pytest.mark.parametrize("far", [0.0, 50.0])
def test_same_bits_for_any_number_of_threads(monkeypatch, far):
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(30_000, 80)) + far, rng.normal(size=(30_000, 2))
    weights = rng.random(30_000) if far else None
    assert X.size >= threads_of_rows.THREADED
    found = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(threads_of_rows, "blas_threads", lambda threads=threads: threads)
        m = moments.collect(X, Y, weights, True)
        found.append([*m, *moments.gradients(X, Y, weights, np.ones((80, 2)), m.x_mean, m.y_mean)])
    for other in found[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(found[0], other, strict=True))
