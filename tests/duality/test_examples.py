"""The worked programs of the notes: exact optima, multipliers, and the errata."""

import math

import numpy as np
import pytest

from surefit import InvalidData, InvalidParameter, kkt_report, weak_duality
from surefit.duality import DeterminantCompletion, LinearProgram, QuadraticProgram, WaterFilling, nearest_to_origin


@pytest.mark.parametrize(("a", "x", "value"), [(3.0, 2.0, 4.0), (0.5, 0.0, 0.0), (1.0, 0.0, 0.0), (1.25, 0.25, 0.0625)])
def test_one_variable(a, x, value):
    program, found, multiplier = nearest_to_origin(a)
    assert (found[0], multiplier[0], program.objective(found)) == (x, x, value)
    report = kkt_report(program, found, multiplier)
    assert report.residuals == (0.0, 0.0, 0.0, 0.0)
    assert report.gap == 0.0
    assert report.slater_point == [a]


def test_the_far_end_of_the_interval_fails_only_the_sign():
    program, *_ = nearest_to_origin(3.0)
    report = kkt_report(program, [4.0], [-4.0])  # the multiplier that stationarity asks for is -(1 + a)
    assert report.residuals == (0.0, 4.0, 0.0, 0.0)
    assert report.gap == math.inf
    assert not report.optimal()


def test_the_bound_by_curvature_is_the_dual_function_for_a_quadratic():
    program, *_ = nearest_to_origin(3.0)
    # With lambda = 1 the Lagrangian is 2 x^2 - 6 x + 8, least at 1.5 with value 3.5; curvature 2 alone gives a weaker bound.
    assert program.lower_bound([1.5], [1.0], None) == 3.5
    loose = type(program)(program.value, program.gradient, program.constraints, curvature=2.0)
    assert loose.lower_bound([1.5], [1.0], None) == 3.5
    assert loose.lower_bound([2.5], [1.0], None) == 5.5 - 16 / 4 < 3.5


def test_linear_program():
    program = LinearProgram([1.0, 2.0], [[1.0, 1.0]], [1.0])
    optimum = program.solve()
    assert list(optimum.x) == [1.0, 0.0]
    assert list(optimum.multipliers) == [0.0, 1.0]
    assert list(optimum.equality_multipliers) == [-1.0]
    report = kkt_report(program, *optimum)
    assert report.residuals == (0.0, 0.0, 0.0, 0.0)
    assert report.values.primal == report.values.dual == 1.0
    assert np.all(report.slater_point > 0)
    assert program.A @ report.slater_point == pytest.approx([1.0])


def test_other_multipliers_of_a_linear_program_prove_nothing():
    program = LinearProgram([1.0, 2.0], [[1.0, 1.0]], [1.0])
    assert weak_duality(program, [1.0, 0.0], [0.5, 1.0], [-1.0]).dual == -math.inf


@pytest.mark.parametrize(
    ("c", "A", "b", "reason"), [([1.0], [[1.0]], [-1.0], "feasible"), ([-1.0, 0.0], [[0.0, 1.0]], [1.0], "bound")]
)
def test_linear_programs_without_an_optimum(c, A, b, reason):
    with pytest.raises(InvalidData, match=reason):
        LinearProgram(c, A, b).solve()


def test_quadratic_program_and_the_erratum():
    program = QuadraticProgram([[2.0]], [[1.0]], [2.0])
    optimum = program.solve()
    assert optimum.x == pytest.approx([2.0], rel=1e-15)
    assert optimum.multipliers == pytest.approx([4.0], rel=1e-15)
    assert program.objective(optimum.x) == pytest.approx(4.0, rel=1e-15)
    m = optimum.multipliers[0]
    assert program.lower_bound(None, [4.0], None) == pytest.approx(4.0, rel=1e-15)
    assert 2 * m - 0.5 * m * 2.0 * m == pytest.approx(
        -8.0
    )  # with H for its inverse, as printed, the value is no optimum
    assert max(2 * m - 0.5 * m * 2.0 * m for m in np.linspace(0, 4, 401)) == pytest.approx(1.0)


def test_quadratic_program_without_a_feasible_point():
    with pytest.raises(InvalidData, match="no point is feasible"):
        QuadraticProgram(np.eye(1), [[1.0], [-1.0]], [1.0, 0.0]).solve()


def test_hard_margin_is_a_quadratic_program():
    # Two points (1, 1), (-1, -1) without intercept: w = (1/2, 1/2), sum of multipliers = |w|^2.
    signed = np.array([[1.0, 1.0], [1.0, 1.0]])
    optimum = QuadraticProgram(np.eye(2), signed, np.ones(2)).solve()
    assert optimum.x == pytest.approx([0.5, 0.5], rel=1e-14)
    assert optimum.multipliers.sum() == pytest.approx(optimum.x @ optimum.x, rel=1e-14)


@pytest.mark.parametrize("rho", [0.0, 0.5, -0.8])
def test_completion_of_three_by_three(rho):
    program = DeterminantCompletion.from_lags([1.0, rho], size=3)
    optimum = program.solve()
    assert optimum.x[0, 2] == pytest.approx(rho**2, abs=1e-15)
    assert np.linalg.inv(optimum.x)[0, 2] == pytest.approx(0.0, abs=1e-14)
    assert -program.objective(optimum.x) == pytest.approx(2 * math.log(1 - rho**2), abs=1e-14)
    report = kkt_report(program, *optimum, tol=1e-12)
    assert report.optimal(1e-12)
    assert abs(report.gap) < 1e-12


def test_completion_needs_the_main_diagonal():
    with pytest.raises(InvalidParameter, match="bandwidth"):
        DeterminantCompletion.from_lags([], size=3)


def test_completion_that_does_not_exist():
    with pytest.raises(InvalidData, match="rows 0 to 1"):
        DeterminantCompletion.from_lags([1.0, 1.5], size=3).solve()


@pytest.mark.parametrize(
    ("power", "X", "price", "Y", "value"),
    [(2.0, [1.5, 0.5], 0.4, [0.0, 0.0], math.log(6.25)), (0.5, [0.5, 0.0], 2 / 3, [0.0, 1 / 6], math.log(3))],
)
def test_water_filling(power, X, price, Y, value):
    program = WaterFilling(np.diag([1.0, 2.0]), power)
    optimum = program.solve()
    assert np.diag(optimum.x) == pytest.approx(X, abs=1e-15)
    assert optimum.multipliers[0] == pytest.approx(price)
    assert np.diag(optimum.multipliers[1]) == pytest.approx(Y, abs=1e-15)
    assert -program.objective(optimum.x) == pytest.approx(value)
    report = kkt_report(program, *optimum)
    assert report.optimal(1e-14)
    assert abs(report.gap) < 1e-14


def test_slater_point_of_the_notes_is_not_strict_beyond_one_dimension():
    for n in (2, 3):
        program = WaterFilling(np.eye(n), 2.0)
        assert np.trace(program.slater_point()) == pytest.approx(1.0)
        assert np.trace(program.power / 2 * np.eye(n)) >= program.power  # what the notes print
