"""Pictures of trees show the nodes, boxes and risks of the models."""

import numpy as np
import pytest

from surefit import DecisionTreeClassifier, DecisionTreeRegressor, PruningCurveDisplay, TreeBoxesDisplay, TreeDisplay
from surefit.core.errors import InvalidData
from surefit.data import load_movie_grid, load_two_numbers_table, make_xor


def test_tree_has_a_text_a_node_and_a_line_a_branch():
    X, y = load_two_numbers_table()
    model = DecisionTreeClassifier(criterion="entropy").fit(X, y)
    display = TreeDisplay.from_estimator(model).plot(show_reason=True)
    assert len(display.node_texts_) == 5 and len(display.edges_) == 4
    assert display.node_texts_[0].get_text() == "x0 <= 0.56\ngain 0.549"
    assert display.node_texts_[4].get_text() == "0\n3 rows\npure"
    leaves = np.flatnonzero(model.tree_.kind == 0)
    assert np.all(np.diff(display.positions_[leaves, 0]) == 1)  # side by side, from left to right
    assert len(TreeDisplay.from_estimator(model).plot(max_depth=1).node_texts_) == 3


def test_categories_stand_on_the_branches():
    X, y = load_movie_grid()
    model = DecisionTreeClassifier(categorical_features=[0, 1, 2, 3], categorical_split="multiway").fit(X, y)
    display = TreeDisplay.from_estimator(model).plot()
    words = {text.get_text() for text in display.ax_.texts}
    assert {"{0}", "{1}", "{2}"} <= words and len(display.edges_) == model.tree_.node_count - 1


def test_boxes_cover_the_picture():
    X, y, _ = make_xor(200, random_state=0)
    for model in (DecisionTreeClassifier().fit(X, y), DecisionTreeRegressor(max_depth=3).fit(X, y)):
        display = TreeBoxesDisplay.from_estimator(model, X, y).plot()
        assert len(display.patches_) == model.get_n_leaves()
        area = sum(patch.get_width() * patch.get_height() for patch in display.patches_)
        (x0, x1), (y0, y1) = display.ax_.get_xlim(), display.ax_.get_ylim()
        assert area == pytest.approx((x1 - x0) * (y1 - y0))
        assert len(display.points_.get_offsets()) == 200
    with pytest.raises(InvalidData, match="the tree must have two columns"):
        wide = np.column_stack([X, X])
        TreeBoxesDisplay.from_estimator(DecisionTreeClassifier().fit(wide, y), wide, y)


def test_pruning_curve_shows_what_was_looked_at():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = (X[:, 0] > 0) ^ (rng.random(200) < 0.2)
    model = DecisionTreeClassifier(pruning="cost_complexity").fit(X, y)
    display = PruningCurveDisplay.from_estimator(model).plot()
    assert np.array_equal(display.line_.get_ydata(), model.pruning_.risks)
    assert np.array_equal(display.cv_line_.get_ydata(), model.pruning_.cv_risks) and display.band_ is not None
    assert display.chosen_line_.get_xdata()[0] == model.get_n_leaves()
    reduced = DecisionTreeClassifier(pruning="reduced_error", random_state=0).fit(X, y)
    display = PruningCurveDisplay.from_estimator(reduced).plot()
    assert display.cv_line_ is None and np.array_equal(display.line_.get_xdata(), reduced.pruning_.n_leaves)
    with pytest.raises(InvalidData, match="was not pruned"):
        PruningCurveDisplay.from_estimator(DecisionTreeClassifier().fit(X, y))
