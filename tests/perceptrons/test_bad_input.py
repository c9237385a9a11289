"""What perceptrons refuse, and the sentences in which they do."""

import numpy as np
import pytest
from scipy import sparse

from surefit import (
    AveragedPerceptron,
    BatchPerceptron,
    InvalidData,
    InvalidParameter,
    KernelPerceptron,
    MarginPerceptron,
    Perceptron,
    VariableIncrementPerceptron,
    VotedPerceptron,
)

ALL = [
    AveragedPerceptron,
    BatchPerceptron,
    KernelPerceptron,
    MarginPerceptron,
    Perceptron,
    VariableIncrementPerceptron,
    VotedPerceptron,
]
X, y = np.array([[1.0, 2.0], [2.0, -1.0], [-1.0, 1.0], [-2.0, -1.0]]), np.array([1, 1, -1, -1])


@pytest.mark.parametrize("cls", ALL)
class TestEverywhere:
    @pytest.mark.parametrize("value, word", [(np.nan, "NaN"), (np.inf, "infinity")])
    def test_values_that_are_not_finite_are_named_by_place(self, cls, value, word):
        bad = X.copy()
        bad[2, 1] = value
        with pytest.raises(InvalidData, match=f"X contains {word} at row 2, column 1"):
            cls().fit(bad, y)
        with pytest.raises(InvalidData, match=f"X contains {word} at row 2, column 1"):
            cls().fit(sparse.csr_array(bad), y)

    def test_values_whose_squares_overflow(self, cls):
        with pytest.raises(InvalidData, match="squares of X overflow"):
            cls().fit(X * 1e200, y)

    def test_one_class(self, cls):
        with pytest.raises(InvalidData, match="one class only"):
            cls().fit(X, np.ones(4))

    def test_no_rows_no_columns(self, cls):
        with pytest.raises(ValueError, match="0 sample"):
            cls().fit(X[:0], y[:0])
        with pytest.raises(ValueError, match="0 feature"):
            cls().fit(X[:, :0], y)

    def test_targets_that_are_no_classes(self, cls):
        with pytest.raises(ValueError, match="Unknown label type"):
            cls().fit(X, [0.5, 1.5, 2.5, 3.5])

    def test_lengths_that_differ(self, cls):
        with pytest.raises(ValueError, match="inconsistent"):
            cls().fit(X, y[:3])

    def test_other_columns_at_prediction(self, cls):
        model = cls().fit(X, y)
        with pytest.raises(ValueError, match="features"):
            model.predict(X[:, :1])

    def test_text_labels_come_back(self, cls):
        labels = np.array(["no", "yes"])[(y > 0).astype(int)]
        model = cls().fit(X, labels)
        assert model.classes_.tolist() == ["no", "yes"] and set(model.predict(X)) <= {"no", "yes"}
        model.verify(X, labels)

    @pytest.mark.parametrize("labels", [y > 0, y.astype(np.int8), y.astype(float), list(map(int, y))])
    def test_kinds_of_labels_are_kept(self, cls, labels):
        model = cls().fit(X, labels)
        assert model.classes_.dtype == np.asarray(labels).dtype
        assert model.predict(X).dtype == np.asarray(labels).dtype
        model.verify(X, labels)


@pytest.mark.parametrize(
    "options",
    [
        {"penalty": "l2"},
        {"max_iter": 0},
        {"tol": -1.0},
        {"eta0": 0.0},
        {"order": "backwards"},
        {"mistake": "<= 0"},
        {"bias": "big"},
        {"bias_constant": 0.0},
        {"multi_class": "ovo"},
        {"class_weight": "equal"},
        {"class_weight": {-1: 0.0, 1: 1.0}},
        {"validation_fraction": 1.0},
        {"confidence": 1.0},
        {"max_log": -1},
        {"max_time": 0.0},
        {"n_jobs": 0},
    ],
)
def test_parameters_outside_their_domain(options):
    name = next(iter(options))
    with pytest.raises(InvalidParameter, match=f"Perceptron: {name} must be"):
        Perceptron(**options).fit(X, y)


@pytest.mark.parametrize(
    "model, match",
    [
        (MarginPerceptron(gamma=1.5), "gamma"),
        (MarginPerceptron(epsilon=1.0), "epsilon"),
        (MarginPerceptron(order="random"), "order"),
        (VariableIncrementPerceptron(schedule="fast"), "schedule"),
        (VariableIncrementPerceptron(threshold=-1.0), "threshold"),
        (KernelPerceptron(kernel="sigmoid"), "kernel"),
        (KernelPerceptron(gamma=0.0), "gamma"),
        (KernelPerceptron(budget=0), "budget"),
    ],
)
def test_parameters_of_the_others(model, match):
    with pytest.raises(InvalidParameter, match=match):
        model.fit(X, y)


def test_starts_of_the_wrong_shape():
    with pytest.raises(InvalidParameter, match="coef_init must be an array of shape"):
        Perceptron().fit(X, y, coef_init=np.zeros((1, 3)))
    with pytest.raises(InvalidParameter, match="intercept_init"):
        Perceptron().fit(X, y, intercept_init=np.zeros(2))
    with pytest.raises(InvalidParameter, match="finite"):
        Perceptron().fit(X, y, coef_init=[[np.nan, 0.0]])
    with pytest.raises(InvalidParameter, match="fit_intercept=False"):
        Perceptron(fit_intercept=False).fit(X, y, intercept_init=[1.0])


@pytest.mark.parametrize("cls", [Perceptron, AveragedPerceptron, VotedPerceptron])
def test_streams(cls):
    with pytest.raises(InvalidParameter, match="classes must be given in the first call"):
        cls().partial_fit(X, y)
    with pytest.raises(InvalidData, match="one class only"):
        cls().partial_fit(X, y, classes=[1])
    model = cls().partial_fit(X, y, classes=[-1, 1])
    with pytest.raises(InvalidData, match="the label 7, which is not among the classes of the first call"):
        model.partial_fit(X, [1, -1, 7, 1])
    with pytest.raises(InvalidParameter, match="the same as in the first call"):
        model.partial_fit(X, y, classes=[-1, 1, 2])
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :1], y)
    model.partial_fit(X[:1], y[:1])  # one row of one class is fine once the classes are known


def test_a_stream_has_no_balance():
    with pytest.raises(InvalidParameter, match="balance"):
        Perceptron(class_weight="balanced").partial_fit(X, y, classes=[-1, 1])


def test_radius_zero_has_no_r_squared_bias():
    with pytest.raises(InvalidData, match="R = 0"):
        Perceptron(bias="r_squared").fit(np.zeros((4, 2)), y)


def test_a_zero_row_has_no_direction():
    rows = X.copy()
    rows[1] = 0.0
    with pytest.raises(InvalidData, match="row 1 of X is zero"):
        MarginPerceptron(fit_intercept=False).fit(rows, y)
    MarginPerceptron().fit(rows, y).verify(rows, y)


def test_weights_have_no_meaning_for_an_online_rule():
    with pytest.raises(TypeError, match="sample_weight"):
        Perceptron().fit(X, y, sample_weight=np.ones(4))


def test_too_few_rows_to_keep_some_aside():
    with pytest.raises(InvalidData, match="cannot be held out"):
        Perceptron(early_stopping=True).fit(X, y)
