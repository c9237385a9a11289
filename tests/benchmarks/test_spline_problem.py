"""The judge of the spline workloads."""

import numpy as np
import pytest

from benchmarks.problems import spline, spline_solvers
from benchmarks.workloads import h1_spline, h2_spline_large, h3_spline_equal


def test_the_truth_costs_the_noise_and_an_error_adds_its_square():
    data = spline.make(50)
    assert spline.measure(data, data.truth).objective == pytest.approx(0.3)
    assert spline.measure(data, data.truth + 0.4).objective == pytest.approx(0.5)


def test_points_are_sorted_and_equal_on_request():
    assert np.all(np.diff(spline.make(50).x) > 0)
    assert np.allclose(np.diff(spline.make(50, equal=True).x), 1 / 49)


def test_surefit_passes_the_gate_where_scipy_answers():
    data = spline.make(**h3_spline_equal.workload.sizes["quick"])
    ours, theirs = (
        spline.measure(data, solver(data)).objective for solver in (spline_solvers.surefit, spline_solvers.scipy)
    )
    assert ours <= theirs * 1.01


def test_the_three_workloads_name_the_same_solvers():
    names = [list(module.workload.solvers) for module in (h1_spline, h2_spline_large, h3_spline_equal)]
    assert names[0] == names[1] == names[2] and "surefit" in names[0]
