"""Margin bounds: the ramp loss, the formula with its grid, and what they need."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit.bounds import margin, rademacher_risk, ramp_loss, vote_margin
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.losses import Hinge, Logistic, value


@given(m=st.floats(-10, 10), rho=st.floats(1e-3, 10))
@settings(max_examples=100, deadline=None)
def test_ramp_dominates_the_error_and_is_lipschitz(m, rho):
    assert (m <= 0) <= ramp_loss([m], rho)[0] <= (m < rho)
    other = m + 0.37
    assert abs(ramp_loss([m], rho)[0] - ramp_loss([other], rho)[0]) <= abs(m - other) / rho * (1 + 1e-9)


@given(m=st.floats(-30, 30))
@settings(max_examples=100, deadline=None)
def test_surrogates_dominate_the_error(m):
    # so a mean surrogate bounds the training error: hinge, and the logistic loss divided by ln 2
    assert (m <= 0) <= value(Hinge(), 1.0, m) and (m <= 0) <= value(Logistic(), 1.0, m) / math.log(2) + 1e-15


def formula(m, rho, radius, n, J, delta):
    return (
        np.mean(np.clip(1 - m / rho, 0, 1))
        + 2 * radius / (rho * math.sqrt(n))
        + math.sqrt(math.log(J / delta) / (2 * n))
    )


def test_smallest_over_the_grid():
    m = np.random.default_rng(0).normal(0.4, 0.2, size=3000).clip(-1, 1)
    grid = [0.9, 0.5, 0.3, 0.1]
    bound = margin(m, radius=1.0, delta=0.05, thresholds=grid)
    assert bound.value == pytest.approx(min(formula(m, rho, 1.0, 3000, 4, 0.05) for rho in grid), rel=1e-8)
    assert bound.inputs["threshold"] in grid and bound.inputs["n_thresholds"] == 4
    default = margin(m, radius=1.0)
    assert default.value == pytest.approx(min(formula(m, 2.0**-j, 1.0, 3000, 12, 0.05) for j in range(12)), rel=1e-8)


def test_one_threshold_is_the_rademacher_bound_of_the_ramp():
    m = np.linspace(-0.1, 1, 500)
    twin = rademacher_risk(
        float(np.mean(ramp_loss(m, 0.4))), 1 / math.sqrt(500), 500, lipschitz=1 / 0.4, data_dependent=False
    )
    assert margin(m, 1.0, thresholds=0.4).value == pytest.approx(min(1.0, twin.value), rel=1e-8)
    measured = rademacher_risk(float(np.mean(ramp_loss(m, 0.4))), math.sqrt(100.0) / 500, 500, lipschitz=1 / 0.4)
    assert margin(m, 1.0, thresholds=0.4, trace=100.0).value == pytest.approx(min(1.0, measured.value), rel=1e-8)


def test_scale_does_not_matter():
    m = np.random.default_rng(1).normal(0.5, 0.2, size=800)
    assert margin(7 * m, radius=7 * 3.0).value == pytest.approx(margin(m, radius=3.0).value, rel=1e-12)


def test_votes():
    m = np.full(200_000, 0.5)
    expected = 2 / 0.5 * math.sqrt(2 * math.log(1000) / 200_000) + math.sqrt(math.log(12 / 0.05) / 400_000)
    assert vote_margin(m, 1000).value == pytest.approx(expected, rel=1e-8)
    assert vote_margin(m, 1).value < expected  # one base classifier: no complexity at all
    assert vote_margin(np.full(50, 0.1), 10**6).vacuous


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: margin([], 1.0), InvalidData, "non-empty"),
        (lambda: margin([0.1], 0.0), InvalidParameter, "radius"),
        (lambda: margin([0.1], 1.0, trace=2.0), InvalidParameter, "trace"),
        (lambda: margin([0.1], 1.0, thresholds=[-1.0]), InvalidParameter, "thresholds"),
        (lambda: vote_margin([1.5], 10), InvalidData, r"lie in \[-1, 1\]"),
        (lambda: vote_margin([0.5], 0), InvalidParameter, "n_base"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()
