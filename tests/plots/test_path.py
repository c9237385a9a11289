"""The path picture: the lines are the path, the mark is the model."""

import numpy as np
import pandas
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_diabetes

from surefit import ElasticNet, Lasso, LassoCV, PathDisplay, lasso_path
from surefit.core.errors import InvalidData

X, y = load_diabetes(return_X_y=True, as_frame=True)


def test_lines_are_the_path():
    alphas, coefs, _ = lasso_path(X, y, alphas=15, fit_intercept=True)
    display = PathDisplay.from_path(alphas, coefs, feature_names=X.columns).plot()
    assert display.shown_.tolist() == np.flatnonzero(np.any(coefs != 0, axis=1)).tolist()
    for j, line in zip(display.shown_, display.lines_, strict=True):
        assert np.array_equal(line.get_xdata(), alphas)
        assert np.array_equal(line.get_ydata(), coefs[j])
    assert display.ax_.get_xscale() == "log"
    left, right = display.ax_.get_xlim()
    assert left > right  # the penalty gets weaker to the right
    assert display.alpha_line_ is None


def test_features_that_stay_zero_are_not_drawn():
    display = PathDisplay([1.0, 0.1], [[0.0, 2.0], [0.0, 0.0], [0.0, -1.0]]).plot()
    assert display.shown_.tolist() == [0, 2]
    assert sorted(text.get_text() for text in display.labels_) == ["x0", "x2"]


def test_soft_threshold_by_hand():
    # one column, x'x = 2, x'y = 4, n = 3: w(alpha) = (4 - 3 alpha) / 2 up to alpha = 4/3
    column, target = np.array([[-1.0], [0.0], [1.0]]), np.array([-2.0, 0.0, 2.0])
    model = Lasso(alpha=1 / 3, tol=1e-10).fit(column, target)
    display = PathDisplay.from_estimator(model, column, target, alphas=[1.2, 1 / 3, 0.1]).plot()
    assert display.lines_[0].get_ydata() == pytest.approx([0.2, 1.5, 1.85], abs=1e-4)
    assert display.alpha_line_.get_xdata() == [1 / 3, 1 / 3]


@pytest.mark.parametrize(
    "model", [LassoCV(alphas=8), ElasticNet(alpha=0.3, l1_ratio=0.7)], ids=lambda m: type(m).__name__
)
def test_mark_is_at_the_weight_of_the_model(model):
    model.fit(X, y)
    display = PathDisplay.from_estimator(model, X, y, alphas=8).plot(n_labels=3)
    assert display.alpha_line_.get_xdata()[0] == pytest.approx(
        getattr(model, "alpha_", model.get_params().get("alpha"))
    )
    assert len(display.labels_) == 3
    assert {text.get_text() for text in display.labels_} <= set(X.columns)


def test_labels_do_not_overlap():
    display = PathDisplay([1.0, 0.1], [[0.0, 1.0], [0.0, 1.001], [0.0, 1.002], [0.0, -1.0]]).plot()
    heights = sorted(text.xy[1] for text in display.labels_)
    bottom, top = display.ax_.get_ylim()
    assert np.diff(heights).min() >= 0.05 * (top - bottom)


def test_given_axes_are_used():
    ax = Figure().subplots()
    display = PathDisplay([1.0], [[1.0]]).plot(ax)
    assert display.ax_ is ax and display.figure_ is ax.figure


@pytest.mark.parametrize(
    ("arguments", "names", "sentence"),
    [
        (([1.0, 2.0], [[1.0]]), None, r"one column per weight, shape \(n_features, 2\); got shape \(1, 1\)"),
        (([1.0], [[1.0]]), ["a", "b"], "one entry per feature, 1; got 2"),
    ],
)
def test_shapes_are_checked(arguments, names, sentence):
    with pytest.raises(InvalidData, match=sentence):
        PathDisplay(*arguments, feature_names=names)


def test_names_come_from_the_columns():
    frame = pandas.DataFrame({"dose": [-1.0, 0.0, 1.0]})
    model = Lasso(alpha=0.1).fit(frame, [-2.0, 0.0, 2.0])
    assert PathDisplay.from_estimator(model, frame, [-2.0, 0.0, 2.0], alphas=3).feature_names == ["dose"]
