"""The judge of the kernel ridge workload: numbers by hand, and both solvers pass its gate."""

import numpy as np
import pytest

from benchmarks.workloads import f_kernel_ridge as f


def test_two_equal_rows_by_hand():
    # K is all ones: with c = (1, 0) the values are (1, 1), the objective (2-1)^2 + (0-1)^2 + 1 and the gap 0 + 1
    found = f.measure(f.KernelRidgeData(np.zeros((2, 1)), np.array([2.0, 0.0]), 1.0), np.array([1.0, 0.0]))
    assert found.objective == pytest.approx(3.0) and found.gap == pytest.approx(1 / 3)


@pytest.mark.parametrize("solver", [f.surefit, f.scikit_learn])
def test_solvers_pass_the_gate(solver):
    data = f.make(300, 5)
    found = f.measure(data, solver(data))
    assert found.gap is not None and found.gap <= f.workload.gate.limit
