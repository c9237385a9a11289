"""Long fits can be watched, stopped and interrupted, and leave a model whose certificate still holds up."""

import signal
import threading

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from surefit import ExhaustiveClustering, GaussianMixture, KMeans

ROWS = np.random.default_rng(0).standard_normal((4000, 6))


class Recorder:
    """A callback that notes every report and stops the fit after some of them."""

    max_propagation_depth = 1

    def __init__(self, stop_after=10**9):
        self.stop_after = stop_after
        self.seen = []

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, metadata=None):
        if metadata:
            self.seen.append(metadata["n_iter"])
        return len(self.seen) >= self.stop_after

    def teardown(self, estimator, context):
        pass


@pytest.mark.parametrize("model", [KMeans(30, random_state=0, tol=0.0), GaussianMixture(4, random_state=0, tol=0.0)])
def test_a_callback_sees_every_step_and_can_stop(model):
    recorder = Recorder(stop_after=3)
    with pytest.warns(ConvergenceWarning, match="stopped by a callback"):
        model.set_callbacks(recorder).fit(ROWS)
    assert recorder.seen[:3] == [1, 2, 3] and model.n_iter_ == 3
    assert model.certificate_.run["reason"] == "callback"
    model.verify(ROWS)


def test_a_callback_can_stop_a_search():
    recorder = Recorder(stop_after=2)
    with pytest.warns(ConvergenceWarning, match="stopped after"):
        model = ExhaustiveClustering(3).set_callbacks(recorder).fit(ROWS[:60])
    assert model.certificate_.run["reason"] == "callback"
    model.verify(ROWS[:60])


def _easy(model):
    return (
        {"n_components": 1, "max_iter": 2, "tol": 1.0}
        if isinstance(model, GaussianMixture)
        else {"n_clusters": 1} | ({"n_init": 1} if isinstance(model, KMeans) else {})
    )


@pytest.mark.parametrize(
    "model",
    [
        KMeans(200, init="random", random_state=0, tol=0.0, n_init=10**6),
        GaussianMixture(6, random_state=0, tol=0.0, max_iter=10**6, reg_covar=1e-2),
        ExhaustiveClustering(4, max_partitions=10**12),
    ],
    ids=lambda model: type(model).__name__,
)
def test_ctrl_c_returns_the_best_so_far(model):
    rows = ROWS[:80] if isinstance(model, ExhaustiveClustering) else ROWS
    clone(model).set_params(**_easy(model)).fit(rows[:20])  # so that nothing has to be compiled while the clock runs
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.warns(ConvergenceWarning, match=r"interrupted by Ctrl-C|\(interrupted\)"):
        model.fit(rows)
    timer.join()
    assert model.certificate_.run["reason"] == "interrupted"
    model.verify(rows)


@pytest.mark.parametrize(
    "model",
    [
        KMeans(50, init="random", random_state=0, tol=0.0, n_init=10**6, max_time=0.05),
        GaussianMixture(6, random_state=0, tol=0.0, max_iter=10**6, max_time=0.05),
        ExhaustiveClustering(4, max_partitions=10**12, max_time=0.05),
    ],
    ids=lambda model: type(model).__name__,
)
def test_time_is_up(model):
    rows = ROWS[:80] if isinstance(model, ExhaustiveClustering) else ROWS
    with pytest.warns(ConvergenceWarning, match="max_time"):
        model.fit(rows)
    assert model.certificate_.run["reason"] == "max_time"
    model.verify(rows)
