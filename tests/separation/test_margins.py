"""Margins, distances, feet, slack and kinds of rows."""

import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from surefit import distances, margins
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.separation.taxonomy import offset_interval

X4, Y4 = np.array([[0, 0], [0, 0.5], [1, 0.5], [1, 0]]), np.array([1, 1, 1, -1])


def test_first_solution_of_the_four_points():
    eps = 0.5
    report = margins(([-eps, 1.0], eps / 2), X4, Y4)
    assert report.functional.tolist() == [eps / 2, 3 * eps / 2, eps / 2, eps / 2]
    assert report.margin == pytest.approx(eps / (2 * math.sqrt(1 + eps**2))) == pytest.approx(0.2236067977)
    assert report.nearest == 0 and report.support.tolist() == [0, 2, 3] and report.separates


def test_second_solution_misclassifies_one_row_with_slack_two():
    report = margins(([-2.0, 0.0], 1.0), X4, Y4)
    assert report.slack.tolist() == [0, 0, 2, 0] and report.half_width == 0.5 and report.width == 1.0
    assert report.kinds.tolist() == ["on margin", "on margin", "misclassified", "on margin"]
    assert report.margin == -0.5 and not report.separates  # the signed margin, not the smallest distance


@pytest.mark.parametrize("C", [1.0, 4.0, 5.0, 8.0])
def test_soft_margin_optima_of_the_four_points(C):
    # C kappa = C / 5: theta = (-C/5, 2C/5), offset 1, alpha = (C/5, 0, 4C/5, C), slack (0, 0, 0, 2 - C/5).
    report = margins(([-0.2 * C, 0.4 * C], 1.0), X4, Y4, alpha=[0.2 * C, 0.0, 0.8 * C, C], C=C)
    assert report.slack == pytest.approx([0, 0, 0, 2 - C / 5])
    assert report.multiplier_kinds.tolist() == ["free", "not support", "free", "bound"]
    assert len(report.conflicts) == 0
    assert (report.kinds[3] == "misclassified") == (C <= 5)  # on the boundary at C = 5: a zero score is a mistake
    assert np.sum(report.kinds == "misclassified") <= report.slack.sum() + 1e-12


def test_multipliers_that_contradict_the_margins_are_found():
    wrong = margins(([-2.0, 4.0], 1.0), X4, Y4, alpha=[2, 3, 8, 0], C=10)
    assert wrong.conflicts.tolist() == [
        1
    ]  # row 1 lies outside with a free multiplier; row 3 on the margin may have zero
    assert margins(([-1.0, 2.0], 0.5), X4, Y4, alpha=[0, 0, 0, 0]).conflicts.tolist() == [0, 2, 3]
    assert margins(([-2.0, 4.0], 1.0), X4, Y4, alpha=[5, 5, 5, 5], C=5).conflicts.tolist() == [1]


def test_hard_margin_multipliers_have_no_upper_bound():
    report = margins(([-2.0, 4.0], 1.0), X4, Y4, alpha=[2, 0, 8, 10])
    assert report.multiplier_kinds.tolist() == ["free", "not support", "free", "free"] and len(report.conflicts) == 0


@given(
    st.lists(st.tuples(st.floats(-9, 9), st.floats(-9, 9)), min_size=1, max_size=6),
    st.tuples(st.integers(-5, 5), st.integers(-5, 5)).filter(any),
    st.integers(-5, 5),
    st.floats(0.01, 100),
)
@settings(max_examples=100, deadline=None)
def test_feet_lie_on_the_hyperplane_at_the_distance(points, w, b, scale):
    X, w = np.array(points), np.array(w, dtype=float)
    d, feet = distances((w, b), X, feet=True)
    assert feet @ w + b == pytest.approx(0, abs=1e-9)
    assert np.linalg.norm(X - feet, axis=1) == pytest.approx(np.abs(d), abs=1e-9)
    assert d == pytest.approx((X @ w + b) / np.linalg.norm(w), abs=1e-9)
    assert distances((scale * w, scale * b), X) == pytest.approx(d, abs=1e-8)
    assert distances((-w, -b), X) == pytest.approx(-d, abs=1e-12)


def test_geometric_margins_are_invariant_and_flip_with_the_rule():
    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(30, 3)), rng.choice(["a", "b"], 30), rng.normal(size=3)
    plain, scaled, flipped = (margins((k * w, k * 0.3), X, y) for k in (1.0, 7.0, -1.0))
    assert scaled.geometric == pytest.approx(plain.geometric) and scaled.functional == pytest.approx(
        7 * plain.functional
    )
    assert flipped.geometric == pytest.approx(-plain.geometric)
    assert plain.geometric == pytest.approx(np.where(y == "b", 1, -1) * plain.distances)
    assert plain.margin == plain.geometric.min() == plain.geometric[plain.nearest]


@pytest.mark.parametrize("labels", [(0, 1), ("no", "yes"), (False, True)])
def test_models_of_scikit_learn(labels):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 3))
    y = np.array(labels)[(X[:, 0] + 0.3 * rng.normal(size=80) > 0).astype(int)]
    model = SVC(kernel="linear", C=1.0).fit(X, y)
    alpha = np.zeros(80)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    report = margins(model, X, y, alpha=alpha, C=1.0, tol=1e-2)
    signed = np.where(y == labels[1], 1, -1)
    assert report.functional == pytest.approx(signed * model.decision_function(X))
    assert len(report.conflicts) == 0
    assert np.sum(report.kinds == "misclassified") == np.sum(model.predict(X) != y)
    thin = margins(LogisticRegression().fit(X, y), sparse.csr_matrix(X), y)
    assert thin.functional == pytest.approx(signed * LogisticRegression().fit(X, y).decision_function(X))
    assert distances(model, X) == pytest.approx(model.decision_function(X) / np.linalg.norm(model.coef_))


def test_separates_is_decided_exactly():
    # 0.1 + 0.2 - 0.3 is positive in floats and 2.8e-17 exactly: strictly positive either way; its mirror image is not.
    X = np.array([[0.1, 0.2, 0.3]])
    w = [1.0, 1.0, -1.0]
    assert margins((w, 0.0), X, [1]).separates and not margins((w, 0.0), -X, [1]).separates
    # Here floats say 0 and the exact sum is -2^-60.
    X = np.array([[1.0, -(2.0**-60), -1.0]])
    assert margins(([1.0, 1.0, 1.0], 0.0), X, [1]).functional[0] == 0.0
    report = margins(([1.0, 1.0, 1.0], 0.0), X, [0])
    assert report.separates and report.kinds[0] == "inside"
    assert margins(([1.0, 1.0, 1.0], 0.0), X, [1]).kinds[0] == "misclassified"


def test_offset_interval():
    # Product-sign corners with C < 1/8: all multipliers at C, and any offset within 1 - 8C is optimal.
    for C in (0.02, 0.1, 0.125):
        t = np.array([1, -1, -1, 1])
        low, high = offset_interval(8 * C * t, t, np.full(4, C), C)
        assert (low, high) == pytest.approx((-(1 - 8 * C), 1 - 8 * C))
    # A free multiplier leaves one point: the four points at C = 20 (hard margin), scores without the offset.
    scores = X4 @ np.array([-2.0, 4.0])
    assert offset_interval(scores, Y4, np.array([2.0, 0.0, 8.0, 10.0]), 20.0) == pytest.approx((1.0, 1.0))


def test_table_shows_the_facts():
    text = repr(margins(([-2.0, 4.0], 1.0), X4, Y4, alpha=[2, 0, 8, 10]))
    assert "0.223607, at row 0; every row is strictly on its side" in text
    assert "1 outside, 3 on margin, 0 inside, 0 misclassified" in text and "0 contradict their margin" in text
    assert "<table>" in margins(([-2.0, 4.0], 1.0), X4, Y4)._repr_html_()
    assert "some row is not strictly on its side" in repr(margins(([-2.0, 0.0], 1.0), X4, Y4))


def test_refuses_what_it_cannot_use():
    with pytest.raises(InvalidData, match="w = 0 is not a hyperplane"):
        margins(([0.0, 0.0], 1.0), X4, Y4)
    with pytest.raises(InvalidParameter, match=r"rule must be a fitted linear model .* got 'list'"):
        margins([1.0, 2.0], X4, Y4)
    with pytest.raises(InvalidParameter, match="two classes"):
        margins((np.eye(2), 0.0), X4, Y4)
    with pytest.raises(InvalidParameter, match="finite numbers"):
        distances(([np.inf, 1.0], 0.0), X4)
    with pytest.raises(InvalidData, match="X has 2 columns, the rule has 3"):
        distances(([1.0, 2.0, 3.0], 0.0), X4)
    with pytest.raises(InvalidParameter, match="alpha must be 4 numbers from 0 to C = 1"):
        margins(([1.0, 2.0], 0.0), X4, Y4, alpha=[0, 0, 0, 2], C=1.0)
    with pytest.raises(InvalidParameter, match="C must be a number > 0 or infinity"):
        margins(([1.0, 2.0], 0.0), X4, Y4, alpha=[0, 0, 0, 0], C=0)
    with pytest.raises(InvalidParameter, match="tol must be"):
        margins(([1.0, 2.0], 0.0), X4, Y4, tol=-1)
    model = LogisticRegression().fit(X4, Y4)
    with pytest.raises(InvalidData, match="row 1 has the label 7, unknown to the model"):
        margins(model, X4, [1, 7, 1, 1])
    with pytest.raises(InvalidData, match="NaN at row 1, column 0"):
        distances(model, [[0.0, 1.0], [np.nan, 1.0]])
