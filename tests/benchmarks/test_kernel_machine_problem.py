"""The judge of kernel machines: the dual value by hand, and answers that are none."""

import numpy as np
import pytest

from benchmarks.problems import kernel_machine
from benchmarks.workloads import a1_svc_rbf, r_svr_rbf


def test_dual_value_by_hand():
    # two rows at distance 1, gamma = ln 2: K = [[1, 1/2], [1/2, 1]], beta = (1, -1): 1/2 b'Kb = 1/2, y'b = 2
    data = kernel_machine.KernelData(np.array([[0.0], [1.0]]), np.array([1.0, -1.0]), np.log(2))
    answer = kernel_machine.Answer(np.array([0, 1]), np.array([1.0, -1.0]))
    assert kernel_machine.measure(data, answer).objective == pytest.approx(0.5 - 2.0)
    tube = data._replace(epsilon=0.25)
    assert kernel_machine.measure(tube, answer).objective == pytest.approx(0.5 + 0.5 - 2.0)


def test_infeasible_coefficients_are_no_answer():
    data = kernel_machine.KernelData(np.array([[0.0], [1.0]]), np.array([1.0, -1.0]), 1.0)
    for beta in ([1.5, -1.5], [1.0, -0.5]):
        assert kernel_machine.measure(data, kernel_machine.Answer(np.array([0, 1]), np.array(beta))).objective is None


@pytest.mark.parametrize("module", [a1_svc_rbf, r_svr_rbf])
def test_two_packages_agree(module):
    data = module.make(**module.workload.sizes["warm"])
    ours = kernel_machine.measure(data, kernel_machine.surefit(data, 1e-6)).objective
    theirs = kernel_machine.measure(data, kernel_machine.scikit_learn(data, 200)).objective
    assert ours == pytest.approx(theirs, rel=1e-4)
