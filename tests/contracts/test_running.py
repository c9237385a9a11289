"""Every estimator: equal results for any number of threads, a usable model after the time limit, callbacks that see the fit."""

import inspect
import warnings

import numpy as np
import pytest
from tests.hard_data import hard_data
from tests.reliability.roster import case, estimators, verify

from surefit.core.errors import SurefitError

PLAIN = hard_data(n=120)[0]
OUTPUTS = ("decision_function", "predict_proba", "score_samples", "predict", "transform", "kneighbors")


def having(parameter):
    return [cls for cls in estimators() if parameter in inspect.signature(cls.__init__).parameters]


def fit(cls, **settings):
    """Return how ``cls`` was fitted on plain data."""
    found = case(cls, PLAIN)
    found.model.set_params(**settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found.model.fit(*((found.X,) if found.y is None else (found.X, found.y)))
    return found


def outputs(found):
    """The outputs of the model on its rows, by method."""
    said = {name: getattr(found.model, name)(found.X) for name in OUTPUTS if hasattr(found.model, name)}
    return {name: np.asarray(values[0] if isinstance(values, tuple) else values) for name, values in said.items()}


@pytest.mark.parametrize("cls", having("n_jobs"), ids=lambda cls: cls.__name__)
def test_same_bits_for_any_number_of_threads(cls):
    alone, shared = fit(cls, n_jobs=1), fit(cls, n_jobs=2)
    one, two = outputs(alone), outputs(shared)
    assert one and one.keys() == two.keys()
    for name, values in one.items():
        np.testing.assert_array_equal(values, two[name], err_msg=name)
    claims = [[(c.name, c.value) for c in found.model.certificate_.claims] for found in (alone, shared)]
    assert claims[0] == claims[1]


@pytest.mark.parametrize("cls", having("max_time"), ids=lambda cls: cls.__name__)
def test_the_time_limit_leaves_a_usable_model_or_a_sentence(cls):
    try:
        found = fit(cls, max_time=1e-9)
    except SurefitError as error:
        assert "max_time" in str(error)
        return
    for name, values in outputs(found).items():
        if values.dtype.kind == "f":
            assert np.isfinite(values).all(), name
    verify(found.model.certificate_, found)


class Recorder:
    """A callback that notes its hooks."""

    def __init__(self):
        self.seen = []

    def setup(self, estimator, context):
        self.seen.append("setup")

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        self.seen.append("task")

    def teardown(self, estimator, context):
        self.seen.append("teardown")


@pytest.mark.parametrize("cls", [c for c in estimators() if hasattr(c, "set_callbacks")], ids=lambda cls: cls.__name__)
def test_callbacks_see_the_fit(cls):
    recorder = Recorder()
    found = case(cls, PLAIN)
    found.model.set_callbacks(recorder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found.model.fit(*((found.X,) if found.y is None else (found.X, found.y)))
    assert recorder.seen[0] == "setup" and recorder.seen[-1] == "teardown" and "task" in recorder.seen


def test_every_estimator_with_an_iteration_limit_has_a_time_limit_and_callbacks():
    without = {
        cls.__name__ for cls in having("max_iter") if cls not in having("max_time") or not hasattr(cls, "set_callbacks")
    }
    assert without == {"Ridge", "RidgeClassifier", "KernelPCA"}  # they factorize: max_iter has no effect
