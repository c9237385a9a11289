"""Filter factors: exact numbers of the notes, eigenvalues of the hat matrix, the limit, and the sharp cut-off."""

import numpy as np
import pytest

from surefit import (
    InvalidData,
    InvalidParameter,
    SmoothingSpline,
    filter_factors,
    sine_filter_factors,
    truncated_series,
)


def fitted(x, **options):
    return SmoothingSpline(**options).fit(x, np.sin(5 * x))


def test_eigenvalues_of_the_min_kernel_on_equal_steps():
    n, lam = 50, 1e-3
    x = np.arange(1, n + 1) / n
    gamma = 1 / (4 * n * np.sin((2 * np.arange(1, n + 1) - 1) * np.pi / (4 * n + 2)) ** 2)
    assert gamma[:3] == pytest.approx([20.6732, 2.29851, 0.82853], rel=1e-5)
    factors = filter_factors(fitted(x, degree=1, lam=lam, form="special"))
    assert factors == pytest.approx(1 / (1 + lam * n / gamma), rel=1e-12)
    assert factors[[0, 1, 4]] == pytest.approx([0.99759, 0.97871, 0.83707], abs=5e-6)
    assert sine_filter_factors(lam, 5)[[0, 1, 4]] == pytest.approx([0.99754, 0.97828, 0.83343], abs=5e-6)


def test_factors_tend_to_the_limit():
    errors = []
    for n in (50, 200, 800):
        x = np.arange(1, n + 1) / n
        found = filter_factors(fitted(x, degree=1, lam=1e-3, form="special"))[:5]
        errors.append(np.max(np.abs(found - sine_filter_factors(1e-3, 5))))
    assert errors[0] > 3 * errors[1] > 9 * errors[2]


@pytest.mark.parametrize("degree", [1, 3])
@pytest.mark.parametrize("form", ["general", "special"])
def test_factors_are_the_eigenvalues_of_the_hat_matrix_and_sum_to_the_degrees_of_freedom(degree, form):
    rng = np.random.default_rng(0)
    x, s = np.sort(rng.random(20)), rng.uniform(0.5, 2, 20)
    options = dict(degree=degree, lam=1e-4, form=form)
    hat = SmoothingSpline(**options).fit(x, np.eye(20), s).fitted_values_
    model = SmoothingSpline(**options).fit(x, np.sin(x), s)
    factors = filter_factors(model)
    assert factors == pytest.approx(np.sort(np.linalg.eigvals(hat).real)[::-1], abs=1e-10)
    assert factors.sum() == pytest.approx(model.edof_, abs=1e-10)
    whole = {"special": 0, "general": (degree + 1) // 2}[form]
    assert np.sum(factors > 1 - 1e-11) == whole


def test_series_projects():
    rng = np.random.default_rng(1)
    x, y = np.sort(rng.random(40)), rng.standard_normal(40)
    series = truncated_series(x, y, 6)
    again = truncated_series(x, series.predict(x), 6)
    assert again.coef == pytest.approx(series.coef)
    functions = np.sqrt(2) * np.sin(np.outer(x, np.pi * (np.arange(1, 7) - 0.5)))
    assert functions.T @ (y - series.predict(x)) == pytest.approx(np.zeros(6), abs=1e-10)
    equal = np.arange(1, 1001) / 1000
    plain = np.mean(y[0] * np.sqrt(2) * np.sin(0.5 * np.pi * equal))
    assert truncated_series(equal, np.full(1000, y[0]), 3).coef[0] == pytest.approx(plain, rel=5e-3)


def test_refusals():
    x = np.linspace(0.1, 1, 10)
    with pytest.raises(InvalidData, match="one target"):
        filter_factors(SmoothingSpline(lam=1.0).fit(x, np.eye(10)))
    with pytest.raises(InvalidData, match="rescale x"):
        truncated_series(2 * x, x, 3)
    with pytest.raises(InvalidParameter, match="at most the number of distinct x, 10"):
        truncated_series(x, x, 11)
    with pytest.raises(InvalidParameter, match="lam must be a finite number > 0"):
        sine_filter_factors(0.0, 3)


@pytest.mark.parametrize("size", [1e150, 1e-150, 1e-300])
def test_spans_whose_powers_overflow_are_refused_and_long_ones_are_not(size):
    x, y = np.linspace(0, 1, 20), np.sin(np.arange(20.0))
    with pytest.raises(InvalidData, match="overflow or underflow; multiply x by a constant"):
        SmoothingSpline().fit(x * size, y)
    near = size ** (1 / 6)
    assert SmoothingSpline().fit(x * near, y).verify(x * near, y)
