"""Weak duality for random pairs, strong duality at optima, agreement with cvxpy, and the residuals as detectors."""

import cvxpy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefit import InvalidData, InvalidParameter, kkt_report, weak_duality
from surefit.duality import (
    Constraint,
    ConvexProgram,
    DeterminantCompletion,
    LinearProgram,
    QuadraticProgram,
    WaterFilling,
    convexity_check,
)

SEEDS = st.integers(0, 10**6)


def quadratic(rng, n=3, m=5):
    B = rng.standard_normal((n, n))
    inside = rng.standard_normal(n)
    A = rng.standard_normal((m, n))
    return QuadraticProgram(B @ B.T + np.eye(n), A, A @ inside - rng.random(m), rng.standard_normal(n)), inside


@settings(deadline=None, max_examples=40)
@given(seed=SEEDS)
def test_any_multipliers_bound_any_feasible_point(seed):
    rng = np.random.default_rng(seed)
    program, inside = quadratic(rng)
    assert weak_duality(program, inside, rng.exponential(size=5)).gap >= 0
    c, A = rng.exponential(size=4), rng.standard_normal((2, 4))
    x, nu = rng.exponential(size=4), rng.standard_normal(2)
    nu *= min(1.0, 0.99 / max(float(np.max(-(A.T @ nu) / c)), 1e-9))  # shrink until c + A'nu > 0
    assert weak_duality(LinearProgram(c, A, A @ x), x, c + A.T @ nu, nu, tol=1e-12).gap >= -1e-12


@settings(deadline=None, max_examples=40)
@given(seed=SEEDS, m=st.integers(1, 8))
def test_quadratic_optimum(seed, m):
    program, _ = quadratic(np.random.default_rng(seed), m=m)
    report = kkt_report(program, *program.solve())
    assert report.optimal(1e-9)
    assert abs(report.values.relative) < 1e-9
    assert report.slater_point is not None


def test_quadratic_agrees_with_clarabel():
    for seed in range(5):
        program, _ = quadratic(np.random.default_rng(seed), n=4, m=9)
        x = cvxpy.Variable(4)
        objective = cvxpy.Minimize(0.5 * cvxpy.quad_form(x, cvxpy.psd_wrap(program.H)) + program.c @ x)
        value = cvxpy.Problem(objective, [program.A @ x >= program.b]).solve(solver="CLARABEL")
        assert program.objective(program.solve().x) == pytest.approx(value, rel=1e-7, abs=1e-7)


def test_completion_and_water_filling_agree_with_clarabel():
    rng = np.random.default_rng(1)
    B = rng.standard_normal((5, 5))
    S = B @ B.T + np.eye(5)
    program = DeterminantCompletion(S, 2)
    K = cvxpy.Variable((5, 5), symmetric=True)
    given_band = [K[i, j] == S[i, j] for i in range(5) for j in range(i, 5) if j - i <= 2]
    value = cvxpy.Problem(cvxpy.Minimize(-cvxpy.log_det(K)), given_band).solve(solver="CLARABEL")
    assert program.objective(program.solve().x) == pytest.approx(value, abs=1e-6)
    X = cvxpy.Variable((5, 5), PSD=True)
    value = cvxpy.Problem(cvxpy.Minimize(-cvxpy.log_det(X + S)), [cvxpy.trace(X) <= 3]).solve(solver="CLARABEL")
    filled = WaterFilling(S, 3.0)
    assert filled.objective(filled.solve().x) == pytest.approx(value, abs=1e-6)


@settings(deadline=None, max_examples=25)
@given(seed=SEEDS, n=st.integers(1, 6))
def test_every_completion_has_a_smaller_determinant(seed, n):
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((n, n))
    S = B @ B.T + 0.1 * np.eye(n)
    for width in range(n):
        program = DeterminantCompletion(S, width)
        optimum = program.solve()
        assert program.objective(S) >= program.objective(optimum.x) - 1e-9
        assert abs(kkt_report(program, *optimum, tol=1e-6).gap) < 1e-7


@settings(deadline=None, max_examples=25)
@given(seed=SEEDS, n=st.integers(1, 6), power=st.floats(1e-3, 1e3))
def test_water_filling_is_optimal(seed, n, power):
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((n, n))
    program = WaterFilling(B @ B.T + 0.1 * np.eye(n), power)
    optimum = program.solve()
    assert kkt_report(program, *optimum, tol=1e-8).optimal(1e-8 * max(1.0, power))
    other = rng.standard_normal((n, n))
    other = other @ other.T
    other *= power / np.trace(other)
    assert program.objective(other) >= program.objective(optimum.x) - 1e-9


@settings(deadline=None, max_examples=25)
@given(seed=SEEDS)
def test_a_moved_point_raises_a_residual(seed):
    rng = np.random.default_rng(seed)
    program, _ = quadratic(rng)
    optimum = program.solve()
    moved = optimum.x + 1e-3 * rng.standard_normal(3)
    assert max(kkt_report(program, moved, optimum.multipliers).residuals) > 1e-6


def test_without_slater_an_optimum_may_have_no_multiplier():
    flat = Constraint(lambda x: float(x[0] ** 2), lambda x: 2.0 * x)
    program = ConvexProgram(lambda x: float(x[0]), lambda x: np.ones(1), (flat,))
    for multiplier in (0.0, 1.0, 1e9):
        report = kkt_report(program, [0.0], [multiplier])
        assert report.stationarity == 1.0
        assert report.slater_point is None
    assert not report.optimal()


def test_equalities_have_free_multipliers():
    program = ConvexProgram(lambda x: float(x @ x) / 2, lambda x: x, equalities=([[1.0, 1.0]], [2.0]), curvature=1.0)
    report = kkt_report(program, [1.0, 1.0], equality_multipliers=[-1.0])
    assert report.residuals == (0.0, 0.0, 0.0, 0.0)
    assert report.gap == 0.0
    assert weak_duality(program, [2.0, 0.0], equality_multipliers=[-1.0]).gap == 1.0  # 2 against 1


def test_convexity_of_losses():
    losses = {
        "squared": lambda z: (1 - z[0]) ** 2,
        "hinge": lambda z: max(0.0, 1 - z[0]),
        "logistic": lambda z: float(np.logaddexp(0, -z[0])),
        "exponential": lambda z: float(np.exp(-z[0])),
        "absolute": lambda z: abs(1 - z[0]),
    }
    for loss in losses.values():
        assert not convexity_check(loss, [-4.0], [4.0]).disproved
    found = convexity_check(lambda z: float(z[0] <= 0), [-4.0], [4.0])
    middle = (found.x + found.other) / 2
    assert found.violated == "chord"
    assert found.excess > 0
    assert np.all(np.abs(middle) <= 4)


def test_convexity_by_tangent_and_hessian():
    saddle = dict(low=[-1.0, -1.0], high=[1.0, 1.0])
    assert convexity_check(lambda x: x[0] * x[1], **saddle).violated == "chord"
    assert convexity_check(lambda x: 0.0, gradient=lambda x: np.ones(2), **saddle).violated == "tangent"
    found = convexity_check(lambda x: 0.0, hessian=lambda x: np.array([[0, 1], [1, 0]]), **saddle)
    assert (found.violated, found.excess) == ("hessian", pytest.approx(1.0))
    assert not convexity_check(
        lambda x: x @ x, gradient=lambda x: 2 * x, hessian=lambda x: 2 * np.eye(2), **saddle
    ).disproved


@pytest.mark.parametrize(
    "build",
    [
        lambda: LinearProgram([1.0], [[1.0, 2.0]], [1.0]),
        lambda: QuadraticProgram([[1.0, 0.0], [1.0, 1.0]], np.eye(2), [0, 0]),
        lambda: QuadraticProgram([[0.0]], [[1.0]], [0.0]),
        lambda: QuadraticProgram(np.eye(2), [[1.0]], [0.0]),
        lambda: WaterFilling(np.zeros((2, 2)), 1.0),
        lambda: DeterminantCompletion(np.ones((2, 3)), 1),
        lambda: DeterminantCompletion([[1.0, 2.0], [0.0, 1.0]], 1),
    ],
)
def test_data_errors(build):
    with pytest.raises(InvalidData):
        build()


def test_parameter_errors():
    with pytest.raises(InvalidParameter, match="power"):
        WaterFilling(np.eye(2), -1.0)
    with pytest.raises(InvalidParameter, match="program"):
        weak_duality("no program", [0.0])
    with pytest.raises(InvalidParameter, match="low"):
        convexity_check(lambda x: 0.0, [1.0], [0.0])
    with pytest.raises(InvalidParameter, match="slater"):
        kkt_report(
            ConvexProgram(lambda x: 0.0, lambda x: 0 * x, (Constraint(lambda x: 1.0, lambda x: 0 * x),), slater=[0.0]),
            [0.0],
            [0.0],
        )


def test_report_reads():
    program, _ = quadratic(np.random.default_rng(0))
    report = kkt_report(program, *program.solve())
    assert "complementarity" in repr(report)
    assert "strong duality" in report._repr_html_()
