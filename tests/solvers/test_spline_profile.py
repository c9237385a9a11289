"""Squares and trace by one sweep and its derivative agree with two sweeps, for any number of lambdas."""

import numpy as np
import pytest

from surefit.solvers import spline
from surefit.solvers.spline import profile
from surefit.solvers.spline.search import squares_and_trace


@pytest.mark.parametrize("degree", [1, 3])
@pytest.mark.parametrize("origin", [None, 0.0])
@pytest.mark.parametrize("close", [0.0, 1e-3, 1e-9])
def test_one_sweep_and_its_derivative_are_two_sweeps(degree, origin, close):
    rng = np.random.default_rng(0)
    x = rng.random(60)
    x[:20] = x[20:40] + close
    problem = spline.fold(x, np.sin(7 * x) + 0.3 * rng.standard_normal(60), rng.uniform(0.5, 2, 60), degree, origin)
    lams = np.geomspace(1e-9, 1e3, 11)
    squares, degrees_of_freedom = profile.squares_and_trace(problem, lams)
    for k, lam in enumerate(lams):
        expected, left = squares_and_trace(problem, spline.trace(problem, lam))
        assert squares[k] == pytest.approx(expected, rel=1e-10)
        assert problem.total - degrees_of_freedom[k] == pytest.approx(left, rel=1e-10)
        alone = profile.squares_and_trace(problem, lams[k : k + 1])
        assert alone[0][0] == squares[k] and alone[1][0] == degrees_of_freedom[k]


def test_the_chosen_lambda_is_the_best_of_a_fine_grid():
    rng = np.random.default_rng(3)
    x = np.sort(rng.random(300))
    problem = spline.fold(x, np.sin(9 * x) + 0.2 * rng.standard_normal(300), None, 3, None)
    found = spline.choose(problem, "gcv")
    fine = np.geomspace(found.lams[0], found.lams[-1], 2000)
    squares, degrees_of_freedom = profile.squares_and_trace(problem, fine)
    values = 300 * squares / (300 - degrees_of_freedom) ** 2
    assert found.value <= values.min() * (1 + 1e-9) and not found.edge
    assert abs(np.log(found.lam / fine[np.argmin(values)])) < 0.03
    assert spline.score(problem, found.lam, "gcv") == pytest.approx(found.value, rel=1e-12)
