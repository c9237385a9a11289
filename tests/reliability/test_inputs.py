"""A fixed part of the matrix of inputs: every estimator meets some, and every input some estimators; all by ``make reliability``."""

import numpy as np
import pytest
from tests.reliability.inputs import run
from tests.reliability.labels import classifiers, outcome
from tests.reliability.roster import estimators

import surefit

STEP = 31  # one pair of this many; a prime, so that rows and columns of the matrix rotate
CLASSES = estimators()


@pytest.mark.parametrize("i", range(len(CLASSES)), ids=[cls.__name__ for cls in CLASSES])
def test_inputs_are_fitted_with_proof_or_refused_in_a_sentence(i):
    counts, faults = run([CLASSES[i]], lambda _, j: (7 * i + j) % STEP == 0)
    assert not faults
    assert sum(counts.values()) >= 3


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [
        *((name, "metric", "balanced") for name in ("KernelDensity", "KNeighborsClassifier", "NearestNeighbors")),
        *((name, "metric", "linear") for name in ("RadiusNeighborsClassifier", "RadiusNeighborsRegressor")),
        *((name, "scoring", 1e12) for name in ("RidgeCV", "LogisticRegressionCV")),
    ],
)
def test_a_name_that_another_library_does_not_know_is_refused_in_one_sentence(name, parameter, value):
    model = getattr(surefit, name)(**{parameter: value})
    with pytest.raises(surefit.InvalidParameter) as caught:
        model.fit(np.eye(4), [0, 1, 0, 1])
    said = str(caught.value)
    assert said.startswith(f"{name}: {parameter} must be ") and said.endswith(f"; got {value!r}.") and len(said) < 200


LABELS = 100_000  # one per row
ROWS = np.random.default_rng(0).normal(size=(LABELS, 1))
PER_CLASS = (
    "AveragedPerceptron", "BatchPerceptron", "KernelPerceptron", "LeastSquaresClassifier", "LogisticRegression", "Perceptron",
    "SGDClassifier", "SVC", "MAPClassifier", "RidgeClassifier",
)  # fmt: skip


@pytest.mark.filterwarnings("ignore:The number of unique classes:UserWarning")
@pytest.mark.parametrize("name", PER_CLASS)
def test_a_hundred_thousand_labels_are_refused_before_memory_is_taken(name, monkeypatch):
    monkeypatch.setattr("surefit.core.guards.memory.available", lambda: 2.0**34)
    with pytest.raises(
        surefit.InvalidData, match=f"^{name}: 100000 classes of 100000 rows need about 74.5 GiB and 16 GiB"
    ):
        getattr(surefit, name)().fit(ROWS, np.arange(LABELS))


@pytest.mark.filterwarnings("ignore:The number of unique classes:UserWarning")
@pytest.mark.parametrize("name", ["GaussianNB", "KNeighborsClassifier"])
def test_a_hundred_thousand_labels_are_learned(name):
    model = getattr(surefit, name)().fit(ROWS, np.arange(LABELS))
    assert len(model.classes_) == LABELS
    assert name == "KNeighborsClassifier" or np.array_equal(model.predict(ROWS[:3]), [0, 1, 2])


def test_every_classifier_takes_as_many_labels_as_rows_or_says_why_not():
    found = {cls.__name__: outcome(60, k) for k, cls in enumerate(classifiers())}
    assert {name: words for name, words in found.items() if words not in ("fitted", "refused")} == {}
    assert sum(words == "fitted" for words in found.values()) > 20
