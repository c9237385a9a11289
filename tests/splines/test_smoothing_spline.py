"""The spline against exact arithmetic, its kernel forms, its limits, and scikit-learn's checks."""

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.splines import exact

from surefit import InvalidData, InvalidParameter, SmoothingSpline


def noisy(n, seed=0, tie=0.0, close=0.0):
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    if tie or close:
        x[: n // 3] = x[n // 3 : 2 * (n // 3)] + close
    return x, np.sin(7 * x) + 0.3 * rng.standard_normal(n), rng.uniform(0.5, 2.0, n)


def kernel(x, t, degree):
    low, high = np.minimum.outer(x, t), np.maximum.outer(x, t)
    return low if degree == 1 else high * low**2 / 2 - low**3 / 6


def bordered(x, y, degree, lam, general):
    """Kernel ridge with a null space: (alpha, c) of the bordered system."""
    n, m = len(x), (degree + 1) // 2 if general else 0
    T = np.vander(x, 2, increasing=True)[:, :m]
    A = np.block([[kernel(x, x, degree) + n * lam * np.eye(n), T], [T.T, np.zeros((m, m))]])
    return np.split(np.linalg.solve(A, np.concatenate([y, np.zeros(m)])), [n])


# --- exact arithmetic -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lam", [1e-2, 1e-5, 1e-8, 1e-12])
@pytest.mark.parametrize("close", [0.0, 1e-3, 1e-5, 1e-9, 1e-13])
def test_cubic_agrees_with_exact_arithmetic_however_close_the_points(close, lam):
    x, y, s = noisy(36, tie=1, close=close)
    knots, values, bend = exact.cubic(x, y, s, lam)
    model = SmoothingSpline(lam=lam).fit(x, y, s)
    assert np.array_equal(model.knots_, knots)
    assert np.max(np.abs(model.coef_[0] - values)) < 4e-15
    if close == 0.0 or close > 1e-6:
        assert np.max(np.abs(model.coef_[2] - bend)) < 1e-8 * np.max(np.abs(bend))


@pytest.mark.parametrize("form", ["general", "special"])
@pytest.mark.parametrize("close", [0.0, 1e-5, 1e-13])
def test_linear_agrees_with_exact_arithmetic(close, form):
    x, y, s = noisy(36, tie=1, close=close)
    origin = -0.1 if form == "special" else None
    for lam in (1e-1, 1e-4, 1e-9):
        knots, values = exact.linear(x, y, s, lam, origin)
        model = SmoothingSpline(1, lam=lam, form=form, origin=-0.1).fit(x, y, s)
        assert np.max(np.abs(model.predict(knots) - values)) < 4e-15


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_any_points_and_weights_agree_with_exact_arithmetic(data):
    n = data.draw(st.integers(3, 12))
    x = np.array(data.draw(st.lists(st.integers(0, 60), min_size=n, max_size=n))) / 16
    if len(np.unique(x)) < 2:
        return
    y = np.array(data.draw(st.lists(st.integers(-8, 8), min_size=n, max_size=n))) / 4
    s = np.array(data.draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))) / 2
    lam = 2.0 ** data.draw(st.integers(-20, 6))
    knots, values, _ = exact.cubic(x, y, s, lam)
    model = SmoothingSpline(lam=lam).fit(x, y, s)
    assert np.allclose(model.predict(knots), values, rtol=0, atol=1e-13)
    assert model.certificate_["smoothing_spline.values"].value >= np.max(np.abs(model.predict(knots) - values))
    model.verify(x, y, s)


# --- the identities of the notes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("degree", [1, 3])
@pytest.mark.parametrize("form", ["general", "special"])
def test_spline_is_kernel_ridge_with_a_null_space(degree, form):
    x, y, _ = noisy(25)
    lam, t = 1e-4, np.linspace(0.0, 1.2, 40)
    alpha, c = bordered(x, y, degree, lam, form == "general")
    model = SmoothingSpline(degree, lam=lam, form=form).fit(x, y)
    expected = kernel(t, x, degree) @ alpha + np.vander(t, 2, increasing=True)[:, : len(c)] @ c
    assert np.allclose(model.predict(t), expected, rtol=0, atol=1e-9)
    assert np.allclose(y - model.fitted_values_, 25 * lam * alpha, rtol=0, atol=1e-9)


@pytest.mark.parametrize("degree", [1, 3])
def test_spline_is_the_posterior_mean_under_a_brownian_prior_and_its_band_the_posterior_deviation(degree):
    x, y, _ = noisy(12, seed=3)
    sigma2, delta = 0.3, 2.0
    t = np.linspace(0.0, 1.3, 31)
    K, k = delta * kernel(x, x, degree), delta * kernel(t, x, degree)
    A = K + sigma2 * np.eye(12)
    model = SmoothingSpline(degree, lam=sigma2 / (12 * delta), form="special").fit(x, y)
    assert np.allclose(model.predict(t), k @ np.linalg.solve(A, y), rtol=0, atol=1e-12)
    variance = delta * np.diag(kernel(t, t, degree)) - np.sum(k * np.linalg.solve(A, k.T).T, axis=1)
    _, std = model.predict(t, return_std=True)
    assert np.allclose(std**2 / model.sigma2_ * sigma2, variance, rtol=0, atol=1e-12)


@pytest.mark.parametrize("degree", [1, 3])
def test_band_of_the_general_form_is_the_limit_of_a_diffuse_prior(degree):
    x, y, s = noisy(10, seed=5)
    lam, t = 1e-3, np.linspace(-0.3, 1.3, 17)
    delta, tau = 1 / (s.sum() * lam), 1e7
    T, Tt = (np.vander(points, 2, increasing=True)[:, : (degree + 1) // 2] for points in (x, t))
    shift = 1.0  # the kernel needs points right of its origin; the general form does not care where that is

    def prior(a, b, Ta, Tb):
        return delta * kernel(a + shift, b + shift, degree) + tau * Ta @ Tb.T

    A, k = prior(x, x, T, T) + np.diag(1 / s), prior(t, x, Tt, T)
    variance = np.diag(prior(t, t, Tt, Tt)) - np.sum(k * np.linalg.solve(A, k.T).T, axis=1)
    model = SmoothingSpline(degree, lam=lam).fit(x, y, s)
    _, std = model.predict(t, return_std=True)
    assert np.allclose(std**2 / model.sigma2_, variance, rtol=1e-3, atol=1e-4)


def test_determinant_inverse_and_factor_of_the_min_kernel():
    x = np.array([0.1, 0.25, 0.6, 0.9])
    d = np.diff(x, prepend=0.0)
    K = np.minimum.outer(x, x)
    L = np.tril(np.sqrt(d) * np.ones((4, 4)))
    assert np.allclose(L @ L.T, K)
    assert np.linalg.det(K) == pytest.approx(np.prod(d))
    inverse = np.diag(1 / d + np.append(1 / d[1:], 0)) - np.diag(1 / d[1:], 1) - np.diag(1 / d[1:], -1)
    assert np.allclose(inverse @ K, np.eye(4))
    equal = np.linalg.inv(np.minimum.outer(np.arange(1, 5) / 4, np.arange(1, 5) / 4))
    assert np.allclose(np.diag(equal), [8, 8, 8, 4]) and np.allclose(np.diag(equal, 1), -4)


def hat_matrix(x, **options):
    """Column j of the hat matrix is the spline of the j-th unit vector."""
    return SmoothingSpline(**options).fit(x, np.eye(len(x))).fitted_values_


def test_hat_matrix_of_the_special_linear_spline_by_four_roads():
    x, lam, n = np.sort(noisy(9)[0]), 0.02, 9
    K = np.minimum.outer(x, x)
    D = hat_matrix(x, degree=1, lam=lam, form="special")
    assert np.allclose(D, np.linalg.inv(np.eye(n) + lam * n * np.linalg.inv(K)), atol=1e-12)
    assert np.allclose(D, K @ np.linalg.inv(K + n * lam * np.eye(n)), atol=1e-12)
    values = np.linalg.eigvalsh(D)
    assert np.all((values > 0) & (values < 1))


def test_hat_matrix_of_the_general_linear_spline_has_projections_inside_the_inverse():
    x, lam, n = np.sort(noisy(9)[0]), 0.02, 9
    K, P = np.minimum.outer(x, x), np.full((n, n), 1 / n)
    Q = np.eye(n) - P
    D = hat_matrix(x, degree=1, lam=lam)
    assert np.allclose(D, P + Q @ np.linalg.inv(Q + lam * n * np.linalg.inv(K)) @ Q, atol=1e-12)
    assert not np.allclose(D, P + Q @ np.linalg.inv(np.eye(n) + lam * n * np.linalg.inv(K)) @ Q, atol=1e-3)
    assert np.allclose(D @ np.ones(n), 1) and np.allclose(D, D.T, atol=1e-14)
    assert np.sum(np.linalg.eigvalsh(D) > 1 - 1e-12) == 1


@pytest.mark.parametrize("degree", [1, 3])
@pytest.mark.parametrize("form", ["general", "special"])
def test_hat_diagonal_and_degrees_of_freedom(degree, form):
    x, y, _ = noisy(20)
    options = dict(degree=degree, lam=1e-4, form=form)
    D, model = hat_matrix(x, **options), SmoothingSpline(**options).fit(x, y)
    assert np.allclose(model.hat_diagonal_, np.diag(D), rtol=0, atol=1e-13)
    assert model.edof_ == pytest.approx(np.trace(D), abs=1e-12)
    assert np.allclose(D @ y, model.fitted_values_, atol=1e-12)


@pytest.mark.parametrize("degree", [1, 3])
@pytest.mark.parametrize("form", ["general", "special"])
def test_leave_one_out_errors_are_those_of_separate_fits(degree, form):
    x, y, s = noisy(15, tie=1)
    s = np.round(2 * s)
    model = SmoothingSpline(degree, lam=1e-3, form=form).fit(x, y, s)
    for i in range(15):
        fewer = s.copy()
        fewer[i] -= 1.0
        lam = 1e-3 * s.sum() / fewer.sum()  # the criterion divides by the total weight, which is one less
        other = SmoothingSpline(degree, lam=lam, form=form).fit(x, y, fewer)
        assert model.loo_residuals_[i] == pytest.approx(y[i] - other.predict(x[[i]])[0], abs=1e-11)


# --- shape of the solution --------------------------------------------------------------------------------------------


def test_limits_of_lambda():
    x, y, _ = noisy(30)
    assert np.allclose(SmoothingSpline(lam=1e9).fit(x, y).fitted_values_, np.polyval(np.polyfit(x, y, 1), x), atol=1e-8)
    assert np.allclose(SmoothingSpline(1, lam=1e9).fit(x, y).fitted_values_, y.mean(), atol=1e-8)
    assert np.allclose(SmoothingSpline(1, lam=1e9, form="special").fit(x, y).fitted_values_, 0, atol=1e-8)
    for degree in (1, 3):
        assert np.allclose(SmoothingSpline(degree, lam=1e-25).fit(x, y).fitted_values_, y, atol=1e-12)


def test_interpolation_limit_is_the_natural_spline():
    x, y, _ = noisy(12)
    order = np.argsort(x)
    other = CubicSpline(x[order], y[order], bc_type="natural")
    t = np.linspace(x.min(), x.max(), 101)
    model = SmoothingSpline(lam=1e-22).fit(x, y)
    assert np.allclose(model.predict(t), other(t), atol=1e-8)
    for order in (1, 2):
        size = np.max(np.abs(other(t, order)))
        assert np.allclose(model.derivative(t, order), other(t, order), atol=1e-6 * size)


def test_natural_extrapolation_and_derivatives():
    x, y, _ = noisy(40)
    model = SmoothingSpline(lam=1e-6).fit(x, y)
    t = np.array([-1.0, -0.5, 1.5, 2.0])
    assert np.allclose(model.derivative(t, 2), 0) and np.allclose(model.derivative(t, 3), 0)
    assert np.allclose(np.diff(model.predict(t))[[0, 2]] / 0.5, model.derivative(t, 1)[[0, 2]])
    inside, step = np.linspace(0.1, 0.9, 33), 1e-5
    for order in (0, 1, 2):
        ends = [model.derivative(inside + sign * step, order) for sign in (1, -1)]
        slope = model.derivative(inside, order + 1)
        rough = np.abs(model.derivative(inside + step, 3) - model.derivative(inside - step, 3)) > 0
        assert np.allclose(((ends[0] - ends[1]) / (2 * step))[~rough], slope[~rough], rtol=1e-4, atol=1e-4)
    assert np.all(model.derivative(inside, 4) == 0)


def test_linear_spline_is_flat_outside_and_special_form_starts_at_zero():
    x, y, _ = noisy(20)
    general, special = (SmoothingSpline(1, lam=1e-3, form=form).fit(x, y) for form in ("general", "special"))
    assert np.array_equal(general.predict([-3.0, 9.0]), general.predict([x.min(), x.max()]))
    assert np.allclose(special.predict([-1.0, 0.0]), 0) and special.predict([7.0]) == special.predict([x.max()])
    cubic = SmoothingSpline(lam=1e-3, form="special").fit(x, y)
    assert np.allclose(cubic.predict([-1.0, 0.0]), 0) and np.allclose(cubic.derivative([0.0], 1), 0)


def test_a_datum_at_the_origin_of_the_special_form_changes_nothing_but_the_count():
    x, y, _ = noisy(20)
    for degree in (1, 3):
        alone = SmoothingSpline(degree, lam=1e-3, form="special").fit(x, y)
        more = SmoothingSpline(degree, lam=1e-3 * 20 / 21, form="special").fit(np.append(x, 0.0), np.append(y, 5.0))
        assert np.allclose(alone.fitted_values_, more.fitted_values_[:-1], atol=1e-13)
        assert more.fitted_values_[-1] == 0 and more.hat_diagonal_[-1] == 0 and more.loo_residuals_[-1] == 5.0
        more.verify(np.append(x, 0.0), np.append(y, 5.0))


def test_equivariance():
    x, y, s = noisy(30)
    model = SmoothingSpline(lam=1e-5).fit(x, y, s)
    line = SmoothingSpline(lam=1e-5).fit(x, y + 3 - 2 * x, s)
    assert np.allclose(line.fitted_values_, model.fitted_values_ + 3 - 2 * x, atol=1e-13)
    scaled = SmoothingSpline(lam=1e-5 * 1000.0**3).fit(1000 * x + 7, y, s)
    assert np.allclose(scaled.fitted_values_, model.fitted_values_, atol=1e-10)
    heavier = SmoothingSpline(lam=1e-5).fit(x, y, 10 * s)
    assert np.allclose(heavier.fitted_values_, model.fitted_values_, atol=1e-13)


@pytest.mark.parametrize("criterion", ["gcv", "loo", "reml", 1e-4])
@pytest.mark.parametrize("degree", [1, 3])
def test_weights_are_repetitions_and_order_does_not_matter(criterion, degree):
    x, y, _ = noisy(30)
    times = np.arange(30) % 4
    once = SmoothingSpline(degree, lam=criterion).fit(x, y, times)
    often = SmoothingSpline(degree, lam=criterion).fit(np.repeat(x, times)[::-1], np.repeat(y, times)[::-1])
    assert once.lam_ == pytest.approx(often.lam_, rel=1e-6)
    assert np.allclose(once.predict(x), often.predict(x), atol=1e-7)
    assert once.edof_ == pytest.approx(often.edof_, rel=1e-6)
    assert np.allclose(once.fitted_values_, once.predict(x), atol=1e-12)


def test_several_targets_are_separate_fits():
    x, y, s = noisy(40)
    Y = np.column_stack([y, np.cos(20 * x)])
    both = SmoothingSpline().fit(x, Y, s)
    for k in range(2):
        one = SmoothingSpline().fit(x, Y[:, k], s)
        assert both.lam_[k] == one.lam_ and both.edof_[k] == one.edof_
        assert np.array_equal(both.predict(x)[:, k], one.predict(x))
        assert np.array_equal(both.predict(x, return_std=True)[1][:, k], one.predict(x, return_std=True)[1])
        assert np.array_equal(both.derivative(x, 2)[:, k], one.derivative(x, 2))
    both.verify(x, Y, s)


def test_band_widens_with_confidence_and_covers_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    x = np.sort(rng.random(200))
    truth, hits = np.sin(7 * x), 0.0
    for _ in range(20):
        low, high = SmoothingSpline(lam="reml").fit(x, truth + 0.3 * rng.standard_normal(200)).interval(x, 0.9)
        hits += np.mean((low <= truth) & (truth <= high)) / 20
    assert 0.82 < hits < 0.97  # across the curve, as Wahba and Nychka found; not at every point
    model = SmoothingSpline().fit(x, truth)
    narrow, wide = model.interval(x, 0.5), model.interval(x, 0.99)
    assert np.all(wide[0] <= narrow[0]) and np.all(narrow[1] <= wide[1])


# --- refusals and conventions -----------------------------------------------------------------------------------------


def test_refusals_say_what_to_do():
    x, y, _ = noisy(10)
    with pytest.raises(InvalidParameter, match="degree must be one of 1, 3; got 2"):
        SmoothingSpline(2).fit(x, y)
    with pytest.raises(InvalidParameter, match="lam must be one of 'gcv', 'loo', 'reml'"):
        SmoothingSpline(lam="aic").fit(x, y)
    with pytest.raises(InvalidParameter, match="lams must be finite numbers > 0"):
        SmoothingSpline(lams=[0.0]).fit(x, y)
    with pytest.raises(InvalidData, match="X must have one column; got 2"):
        SmoothingSpline().fit(np.column_stack([x, x]), y)
    with pytest.raises(InvalidData, match="at least 2 distinct x; got 1"):
        SmoothingSpline().fit(np.ones(10), y)
    with pytest.raises(InvalidData, match="needs x >= origin = 0.5; row"):
        SmoothingSpline(form="special", origin=0.5).fit(x, y)
    with pytest.raises(InvalidData, match="multiply them by a constant"):
        SmoothingSpline().fit(x, y, np.full(10, 0.1))
    with pytest.raises(InvalidData, match="X contains NaN at row 3"):
        SmoothingSpline().fit(np.where(np.arange(10) == 3, np.nan, x), y)
    with pytest.raises(InvalidParameter, match="order must be an integer >= 0"):
        SmoothingSpline().fit(x, y).derivative(x, -1)
    with pytest.raises(InvalidParameter, match="confidence must be between 0 and 1"):
        SmoothingSpline().fit(x, y).interval(x, 1.0)


def test_two_points_are_a_line_and_one_point_a_constant():
    model = SmoothingSpline(lam=1.0).fit([0.0, 1.0], [1.0, 3.0])
    assert np.allclose(model.predict([2.0, -1.0]), [5.0, -1.0]) and model.edof_ == pytest.approx(2)
    assert np.isnan(model.sigma2_) and np.all(np.isinf(model.loo_residuals_))
    assert SmoothingSpline(1, lam=1.0).fit([2.0], [4.0]).predict([0.0])[0] == 4.0
    model.verify([0.0, 1.0], [1.0, 3.0])


@pytest.mark.parametrize("criterion", ["gcv", "loo", "reml"])
def test_the_choice_among_many_knots_allows_for_as_many_roundings(criterion):
    x, y, _ = noisy(1_500_000)
    model = SmoothingSpline(1, lam=criterion).fit(x, y)
    scale = abs(model.criterion_values_.min()) + (len(x) if criterion == "reml" else 0.0)
    assert model.certificate_.holds
    assert model.certificate_["smoothing_spline.choice"].value < 1e-8 * scale


@pytest.mark.parametrize("criterion", ["gcv", "loo", "reml", 1e-3])
@pytest.mark.parametrize("degree", [1, 3])
@pytest.mark.parametrize(
    "x",
    [
        np.array([0.0, 5e-324, 1e-200, 0.5, 0.7, 1.0]),
        1e9 + np.arange(30) % 17,
        1 + np.arange(30) * 2.0**-52,
        1e-12 * np.arange(20.0),
    ],
    ids=["underflow", "far from zero", "neighboring floats", "tiny range"],
)
def test_extreme_points_fit_and_verify(x, degree, criterion):
    for y in (np.sin(np.linspace(0, 6, len(x))), np.ones(len(x)), 1e8 + np.linspace(0, 1, len(x)) ** 2):
        model = SmoothingSpline(degree, lam=criterion).fit(x, y)
        assert np.isfinite(model.predict(x)).all()
        assert model.certificate_.holds
        model.verify(x, y)


@pytest.mark.parametrize("degree", [1, 3])
def test_many_random_points_meet_the_banded_equations_up_to_both_ends(degree):
    rng = np.random.default_rng(0)
    x = rng.random(50_000)
    model = SmoothingSpline(degree, lam=1e-8).fit(x, np.sin(12 * x) + 0.3 * rng.standard_normal(50_000))
    assert model.certificate_["smoothing_spline.derivatives"].value < 1e-9
    assert model.certificate_["smoothing_spline.values"].value < 1e-7
    assert model.certificate_.holds


@pytest.mark.parametrize("criterion", ["gcv", "loo", "reml"])
def test_data_on_a_line_ask_for_the_largest_lambda(criterion):
    x = np.linspace(0, 1, 50)
    model = SmoothingSpline(lam=criterion).fit(x, 2 - 3 * x)
    assert model.lam_ == model.lams_[-1] and model.edof_ == pytest.approx(2, abs=1e-4)
    assert np.allclose(model.predict([5.0]), -13.0)


def test_a_strongly_shrunken_special_spline_keeps_its_relative_accuracy():
    x, y, s = noisy(20)
    knots, values = exact.linear(x, y, s, 1e12, 0.0)
    model = SmoothingSpline(1, lam=1e12, form="special").fit(x, y, s)
    assert np.allclose(model.predict(knots), values, rtol=1e-12, atol=0)


def test_vector_column_and_frame_are_the_same():
    x, y, _ = noisy(30)
    vector, column = SmoothingSpline().fit(x, y), SmoothingSpline().fit(x[:, None], y)
    frame = SmoothingSpline().fit(pandas.DataFrame({"time": x}), y)
    assert vector.lam_ == column.lam_ == frame.lam_
    assert list(frame.feature_names_in_) == ["time"]
    assert np.array_equal(vector.predict(x), column.predict(x[:, None]))


def test_grid_search_and_clone_work():
    x, y, _ = noisy(60)
    search = GridSearchCV(SmoothingSpline(), {"lam": [1e-7, 1e-5, 1e-3], "degree": [1, 3]}, cv=3).fit(x, y)
    assert search.best_score_ > 0.5
    assert clone(search.best_estimator_).get_params() == search.best_estimator_.get_params()


class FirstColumn(SmoothingSpline):
    """The spline of the first column of a table, so that scikit-learn can test it."""

    def __init__(self, degree=3, *, lam="gcv", lams=None, form="general", origin=0.0):
        super().__init__(degree, lam=lam, lams=lams, form=form, origin=origin)

    def _as_column(self, X):
        return X

    def _one_column(self, X):
        pass

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array, tags.input_tags.two_d_array = False, True
        tags.regressor_tags.poor_score = True  # the target depends on other columns too
        return tags


@parametrize_with_checks([FirstColumn(), FirstColumn(1, lam="reml")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
