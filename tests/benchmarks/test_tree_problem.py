"""The tree workloads: labels that can be learned, an error rate that is counted, and our tree among the answers."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from benchmarks.problems import prediction
from benchmarks.problems.tree import make, measure
from benchmarks.workload import OURS
from benchmarks.workloads import l1_tree_full, l3_tree_depth_8


class Constant:
    def predict(self, X):
        return np.ones(len(X))


def test_error_rate_of_a_constant_is_the_share_of_the_other_class():
    data = make(500, 8)
    assert data.X.shape == (500, 8) and set(data.y) == {0, 1}
    assert measure(data, Constant()).objective == pytest.approx(1 - data.y_test.mean())


@pytest.mark.parametrize("workload", [l1_tree_full.workload, l3_tree_depth_8.workload], ids=lambda w: w.name)
def test_our_tree_beats_a_constant(workload):
    data = workload.make(**workload.sizes["warm"])
    model = workload.solvers[OURS].run(data)
    assert workload.measure(data, model).objective < 0.8 * measure(data, Constant()).objective
    depth = model.get_depth()
    assert depth <= 8 if workload is l3_tree_depth_8.workload else model.score(data.X, data.y) == 1.0


def test_predictions_reuse_the_model_of_the_warm_up():
    made = []

    def build():
        made.append(DecisionTreeClassifier(max_depth=2))
        return made[-1]

    model = prediction.fitted(build, 50)
    assert prediction.fitted(build, 50) is model and made == [model]
    rows = prediction.queries(30)
    assert rows.X.shape == (30, prediction.COLUMNS)
    assert prediction.measure(rows, rows.y).objective == 0 and prediction.measure(rows, 1 - rows.y).objective == 1
