"""Every program in the three states a user can be in: solved, feasible but not solved, and not feasible."""

import math

import numpy as np
import pytest

from surefit.core.errors import InvalidData
from surefit.duality import (
    DeterminantCompletion,
    LinearProgram,
    QuadraticProgram,
    WaterFilling,
    kkt_report,
    nearest_to_origin,
    weak_duality,
)


def one_variable():
    program, x, multiplier = nearest_to_origin(3.0)
    return program, (x, multiplier, None)


def solved(program):
    return program, tuple(program.solve())


BAND = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]])
PROGRAMS = {
    "linear": lambda: solved(LinearProgram([1.0, 2.0, 1.5], [[1.0, 1.0, 1.0]], [1.0])),
    "quadratic": lambda: solved(QuadraticProgram([[2.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [1.0, -1.0]], [2.0, -1.0])),
    "determinant": lambda: solved(DeterminantCompletion(BAND, 1)),
    "water": lambda: solved(WaterFilling(np.diag([1.0, 2.0, 4.0]), power=2.0)),
    "one variable": one_variable,
}
#: A point that breaks a constraint.
OUTSIDE = {
    "linear": [2.0, -1.0, 0.0],
    "quadratic": [0.0, 0.0],
    "determinant": np.eye(3),
    "water": np.eye(3),
    "one variable": [0.0],
}
each = pytest.mark.parametrize("name", PROGRAMS)


@each
def test_solved(name):
    program, (x, multipliers, free) = PROGRAMS[name]()
    report = kkt_report(program, x, multipliers, free)
    assert report.optimal() and abs(report.gap) < 1e-9 and report.slater_point is not None
    assert report.values.primal == pytest.approx(report.values.dual, abs=1e-9)
    assert "strong duality holds" in repr(report)


@each
@pytest.mark.parametrize("share", [0.9, 0.3])
def test_not_solved_the_gap_bounds_the_excess(name, share):
    program, (x, multipliers, free) = PROGRAMS[name]()
    best = program.objective(x)
    strict = np.asarray(program.slater_point(), dtype=float)
    point = share * np.asarray(x, dtype=float) + (1 - share) * strict  # feasible: the set is convex
    report = kkt_report(program, point, multipliers, free)
    excess = program.objective(point) - best
    assert report.primal_infeasibility <= 1e-12
    if name != "determinant" or not np.allclose(strict, x):
        assert excess > 0 and not report.optimal() and excess <= report.gap + 1e-9
        assert max(report.residuals) > 1e-6
    assert weak_duality(program, point, multipliers, free, tol=1e-9).dual <= best + 1e-9


@each
def test_not_feasible(name):
    program, (_, multipliers, free) = PROGRAMS[name]()
    report = kkt_report(program, np.asarray(OUTSIDE[name], dtype=float), multipliers, free)
    assert report.primal_infeasibility > 0.4 and not report.optimal()
    assert report.values.primal == math.inf and report.gap == math.inf and report.values.relative == math.inf


@pytest.mark.parametrize("name", ["linear", "quadratic", "one variable"])
def test_multipliers_of_the_wrong_sign_prove_nothing(name):
    program, (x, multipliers, free) = PROGRAMS[name]()
    wrong = np.array(multipliers, dtype=float)
    wrong[np.argmax(wrong)] *= -1
    report = kkt_report(program, x, wrong, free)
    assert report.dual_infeasibility > 0 and report.values.dual == -math.inf and not report.optimal()


def test_a_program_without_a_feasible_point_has_dual_values_without_end():
    # x >= 2 and -x >= -1 exclude each other, and so do x_1 + x_2 = -1 and x >= 0: the rays are the proof.
    quadratic = QuadraticProgram([[1.0]], [[1.0], [-1.0]], [2.0, -1.0])
    linear = LinearProgram([1.0, 1.0], [[1.0, 1.0]], [-1.0])
    assert quadratic.slater_point() is None and linear.slater_point() is None
    for height in (1.0, 1e3, 1e6):
        assert weak_duality(quadratic, [1.5], [height, height]).dual == pytest.approx(height)
        assert weak_duality(linear, [0.0, 0.0], [1 + height] * 2, [height]).dual == pytest.approx(height)
        assert weak_duality(quadratic, [1.5], [height, height]).primal == math.inf
    for program in (quadratic, linear):
        with pytest.raises(InvalidData, match="feasible"):
            program.solve()


def test_a_program_without_a_lower_bound_has_no_dual_point():
    falling = LinearProgram([-1.0, 0.0], [[0.0, 1.0]], [1.0])
    for nu in (-2.0, 0.0, 2.0):
        assert weak_duality(falling, [5.0, 1.0], [0.0, max(nu, 0.0)], [nu]).dual == -math.inf
    assert falling.objective([1e9, 1.0]) == -1e9 and falling.infeasibility([1e9, 1.0]) == 0.0
