"""Workloads of several namesakes: both libraries run, pass the gate, and are measured from their answers."""

import numpy as np
import pytest

from benchmarks.problems import namesakes
from benchmarks.workload import discover

WORKLOADS = [workload for workload in discover() if workload.make is namesakes.make]


def test_every_new_name_is_timed():
    names = {name for workload in WORKLOADS for name in workload.title.replace(",", " ").split()}
    assert len(WORKLOADS) == 7 and {"NuSVC", "ComplementNB", "BayesianRidge", "Nystroem"} <= names


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
@pytest.mark.filterwarnings("ignore")
def test_both_libraries_answer_equally_well(workload):
    data = workload.make(n=300, d=5)
    found = [workload.measure(data, solver.run(data)).objective for solver in workload.solvers.values()]
    assert len(found) == 2 and np.all(np.isfinite(found))
    assert max(found) <= min(found) + 0.15 * abs(min(found))


def test_measures_by_hand():
    data = namesakes.make(20, 2)
    assert namesakes.wrong(data, data.labels) == 0 and namesakes.wrong(data, 1 - data.labels) == 1
    assert namesakes.squares(np.array([1.0, 2.0]), np.array([2.0])) == 1.0
    assert namesakes.scatter(np.array([[0.0], [2.0], [5.0]]), np.array([0, 0, 1])) == pytest.approx(2 / 3)
    assert namesakes.total(1.0, 2.0).objective == 3.0
