"""The judge of the Gaussian-process workloads."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from benchmarks.problems.gaussian_process import Hyperparameters, make_regression, measure_regression
from benchmarks.workloads import g1_gaussian_process, g2_gaussian_process_classifier
from surefit.kernels import RBF


def test_evidence_is_a_density():
    data = make_regression(12)
    distribution = multivariate_normal(np.zeros(12), 1.5 * RBF(0.7)(data.X) + (0.2 + 1e-10) * np.eye(12))
    assert measure_regression(data, Hyperparameters(1.5, 0.7, 0.2)).objective == pytest.approx(
        -distribution.logpdf(data.y) / 12
    )


@pytest.mark.parametrize("workload", [g1_gaussian_process.workload, g2_gaussian_process_classifier.workload])
def test_solvers_find_the_same_maximum(workload):
    data = workload.make(**workload.sizes["warm"])
    found = [workload.measure(data, workload.solvers[name].run(data)).objective for name in ("surefit", "scikit-learn")]
    assert found[0] == pytest.approx(found[1], rel=1e-4, abs=1e-5)
