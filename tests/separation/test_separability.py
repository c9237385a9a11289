"""``separability``: the numbers of the notes, all kinds of input, and a report that says what is proved and no more."""

import json
import math

import jsonschema
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from surefit import Certificate, separability
from surefit.core.encoding import schema
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.separation import columns as columns_module
from surefit.separation import decide as decide_module

FOUR_POINTS = np.array([[0, 0], [0, 0.5], [1, 0.5], [1, 0]]), np.array([1, 1, 1, -1])
CORNERS = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]]), np.array([1, -1, -1, 1])


def test_two_points_on_a_line():
    report = separability([[1.0], [3.0]], [-1, 1])
    assert (report.status, report.level, report.w.tolist(), report.b) == ("strict", "exact", [1.0], -2.0)
    assert report.bracket.low <= 1 <= report.bracket.up and report.separable and report.mle_exists is False
    through_origin = separability([[1.0], [3.0]], [-1, 1], intercept=False)
    assert through_origin.status == "not separable" and through_origin.alpha == pytest.approx([0.75, 0.25])
    assert separability([[-1.0], [3.0]], [-1, 1], intercept=False).status == "strict"


def test_four_points():
    X, y = FOUR_POINTS
    report = separability(X, y)
    assert report.status == "strict" and report.w == pytest.approx([-2, 4]) and report.b == pytest.approx(1)
    assert report.margin == pytest.approx(0.5 / (2 * math.sqrt(1.25))) and report.support.tolist() == [0, 2, 3]
    assert report.radius == pytest.approx(math.sqrt(1.25)) and report.difficulty == pytest.approx(25)
    # Not through the origin: the origin is a labeled row. Weakly, yes.
    origin = separability(X, y, intercept=False)
    assert origin.status == "weak" and origin.separable is False and origin.mle_exists is False
    assert origin.alpha.tolist() == [1, 0, 0, 0]
    scores = y * (X @ origin.w + origin.b)
    assert scores.min() == 0 and (scores > 0).any()


@pytest.mark.parametrize("intercept", [True, False])
def test_product_of_signs(intercept):
    X, y = CORNERS
    report = separability(X, y, intercept)
    assert report.status == "not separable" and report.alpha.tolist() == [0.25] * 4
    assert report.mle_exists is True and report.separable is False and report.w is None
    lifted = separability(np.column_stack([X, X[:, 0] * X[:, 1]]), y, intercept)
    assert lifted.status == "strict" and lifted.columns["strict"] == [2]
    assert lifted.w == pytest.approx([0, 0, 1], abs=1e-12) and lifted.margin == pytest.approx(1)


def test_four_point_law():
    # In the order (2, +), (-1, +), (1, -), (-2, -) the weights (1, 2, 2, 1) vanish; any vanishing weights will do.
    X, y = np.array([[2.0], [-1.0], [1.0], [-2.0]]), np.array([1, 1, -1, -1])
    report = separability(X, y)
    assert report.status == "not separable" and report.level == "exact"
    for alpha in (report.alpha, np.array([1, 2, 2, 1]) / 6):
        assert (
            (alpha * y) @ X == pytest.approx([0]) and alpha @ y == pytest.approx(0) and alpha.sum() == pytest.approx(1)
        )


@pytest.mark.parametrize("eps", [1 / 10, 1 / 5])
def test_two_triangles(eps):
    r = math.sqrt(3)
    shifted = np.array([[5 / 3 + eps, -1 / r], [-1 / 3 + eps, -1 / r], [2 / 3 + eps, 2 / r]])
    report = separability(np.vstack([shifted, -shifted]), [0, 0, 0, 1, 1, 1])
    assert report.status == "strict" and report.margin == pytest.approx(r * eps / 2, rel=1e-9)
    expected = {1 / 10: 49744 / 27, 1 / 5: 13744 / 27}[eps]
    assert 4 * report.difficulty == pytest.approx(expected) and report.difficulty >= 1


def test_two_gaussians_are_answered_with_a_proof_whatever_they_are():
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(12):
        X = rng.normal(scale=math.sqrt(0.5), size=(100, 2)) + np.repeat([[1.0], [-1.0]], 50, axis=0)
        y = np.repeat([1, -1], 50)
        report = separability(X, y)
        seen.add(report.status)
        report.verify(X, y)
        if report.status == "not separable":
            assert np.abs((report.alpha * y) @ np.column_stack([X, np.ones(100)])).max() < 1e-15
    assert "not separable" in seen and seen <= {"strict", "not separable"}


def test_quasi_complete_separation_names_the_column():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.normal(size=60), "carrier": rng.integers(0, 2, 60), "dose": rng.normal(size=60)})
    y = np.where((table["age"] + rng.normal(size=60) > 0) | (table["carrier"] == 1), "case", "control")
    y[:4] = ["case", "control", "case", "control"]
    table.loc[:3, "carrier"] = 0
    report = separability(table, y)
    assert report.status == "weak" and report.mle_exists is False
    assert report.columns == {"strict": [], "weak": ["carrier"], "together": ["carrier"]}
    assert "column 1 alone separates weakly" in report.certificate["separation.columns"].statement
    assert "carrier: separates weakly by itself" in repr(report)
    assert report.classes == ("case", "control")
    report.verify(table, y)


def test_a_small_set_of_columns_is_found_and_proved():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 8))
    y = X[:, 1] - 2 * X[:, 5] > 0.3
    report = separability(X, y)
    assert report.columns == {"strict": [], "weak": [], "together": [1, 5]}
    assert report.certificate["separation.column_set"].statement == "column 1, column 5 together separate strictly."
    report.verify(X, y)
    assert separability(X, y, columns=False).columns["together"] == []
    # Quasi-complete by two columns together, by none alone: the classes touch at x1 = x5 and nowhere cross it.
    X = np.round(X[:120, [1, 5, 0]], 1)
    y = X[:, 0] - X[:, 1] > 0
    tied = np.flatnonzero(X[:, 0] == X[:, 1])
    X, y = np.vstack([X, [[0.0, 0.0, 0.0]] * 2]), np.append(y, [True, False])
    y[tied] = np.arange(len(tied)) % 2 == 0
    weak = separability(X, y)
    assert weak.status == "weak" and weak.columns == {"strict": [], "weak": [], "together": [0, 1]}
    weak.verify(X, y)


def test_no_proper_subset_is_claimed_when_all_columns_are_needed():
    X, y = FOUR_POINTS
    assert separability(X, y).columns["together"] == []


def test_large_sets_of_columns_are_reported_as_found(monkeypatch):
    rng = np.random.default_rng(6)
    X = np.column_stack([rng.choice([-1.0, 1.0], (200, 3)), 0.1 * rng.normal(size=(200, 3))])
    y = X[:, :3].sum(axis=1) > 0  # the majority of three signs
    monkeypatch.setattr(columns_module, "DROPS", 1)
    found = separability(X, y).columns["together"]
    assert found == [0, 1, 2]
    monkeypatch.setattr(columns_module, "CELLS", 10)
    assert separability(X, y).columns["together"] == []


@pytest.mark.parametrize("labels", [("no", "yes"), (0, 1), (-1, 1), (False, True), (2.5, 7.0), ("b", "a")])
def test_any_two_labels(labels):
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = [labels[0], labels[0], labels[1], labels[1]]
    report = separability(X, y)
    sign = 1 if labels[1] > labels[0] else -1  # the greater label is the positive one
    assert report.status == "strict" and report.w[0] == pytest.approx(2 * sign) and set(report.classes) == set(labels)
    report.verify(X, np.array(y))


def test_one_class_is_an_answer_of_its_own():
    X = np.array([[1.0], [-1.0]])
    report = separability(X, ["a", "a"])
    assert report.status == "one class" and report.mle_exists is False and report.bracket is None
    assert report.verify(X, ["a", "a"])["separation.one_class"].ok
    # Without an intercept labels only turn rows round, so the question stays a question.
    assert separability(X, [1, 1], intercept=False).status == "not separable"
    for label in (1, -1, 0, "a"):
        through = separability([[1.0], [2.0]], [label] * 2, intercept=False)
        assert through.status == "strict" and through.w[0] * (-1 if label in (-1, 0) else 1) > 0
        through.verify([[1.0], [2.0]], [label] * 2)


def test_dense_sparse_order_and_dtype_do_not_change_the_answer():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 6)).astype(np.float32)
    X[np.abs(X) < 0.5] = 0.0
    for y in (X[:, 0] + X[:, 1] > 0.2, rng.integers(0, 2, 150)):
        reports = [
            separability(Z, y)
            for Z in (X, np.asfortranarray(X), X.astype(np.float64), sparse.csr_matrix(X), sparse.csc_array(X))
        ]
        assert len({(r.status, r.level) for r in reports}) == 1
        for report, Z in zip(reports[3:], (sparse.csr_matrix(X), sparse.csc_array(X)), strict=True):
            report.verify(Z, y)
        if reports[0].bracket:
            assert all(r.margin == pytest.approx(reports[0].margin, rel=1e-6) for r in reports)
        shuffled = rng.permutation(150)
        assert separability(X[shuffled], y[shuffled]).status == reports[0].status


def test_duplicate_sparse_entries_are_summed():
    X = sparse.csr_array((np.array([1.0, 1.0, -1.0]), np.array([0, 0, 0]), np.array([0, 2, 3])), shape=(2, 1))
    report = separability(X, [1, 0])
    assert report.status == "strict" and report.margin == pytest.approx(1.5)
    report.verify(X, [1, 0])


@pytest.mark.parametrize("kind", ["separable", "nearly", "noisy"])
def test_many_rows(kind):
    rng = np.random.default_rng(4)
    X, w = rng.normal(size=(20_000, 20)), rng.normal(size=20)
    scores = X @ w + 0.3
    y = scores > 0
    if kind == "nearly":
        y[np.argmax(scores)] = False  # one label of 20,000 turned round
    if kind == "noisy":
        y ^= rng.random(20_000) < 0.1
    report = separability(X, y)
    assert report.status == ("strict" if kind == "separable" else "not separable")
    assert report.level == ("enclosed" if kind == "separable" else "exact") and len(report.support) <= 22
    assert report.bracket is None or report.bracket.relative_width < 1e-6
    report.verify(X, y)


def test_max_time_leaves_the_question_open():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(500, 10)), rng.integers(0, 2, 500)
    report = separability(X, y, max_time=1e-9)
    assert report.status == "undecided" and report.level is None
    assert report.separable is None and report.mle_exists is None
    assert [claim.name for claim in report.certificate.claims] == ["separation.undecided"]
    assert "not decided" in repr(report)
    report.verify(X, y)


def test_half_an_answer_is_called_half(monkeypatch):
    monkeypatch.setattr(decide_module, "FACE_COLUMNS", 0)
    X, y = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]]), [1, 0, 1]
    report = separability(X, y)
    assert report.status == "not strict" and report.separable is False and report.mle_exists is None
    assert report.level == "exact"
    assert [claim.name for claim in report.certificate.claims] == ["separation.farkas", "separation.undecided"]


def test_certificate_survives_json_and_is_valid():
    X, y = FOUR_POINTS
    for data in ((X, y), CORNERS, (X[:, :1], y)):
        report = separability(*data)
        text = report.certificate.to_json()
        jsonschema.validate(json.loads(text), schema())
        again = Certificate.from_json(text)
        levels = [f.level for f in report.verify(*data).findings]
        assert [f.level for f in again.verify(*data).findings] == levels and set(levels) <= {"exact", "enclosed"}


def test_long_integers_survive_json():
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(60, 6)), rng.integers(0, 2, 60)
    report = separability(X, y)
    weights = report.certificate["separation.farkas"].witness["weights"]
    assert report.status == "not separable" and weights.dtype.kind == "U" and max(map(len, weights)) > 50
    Certificate.from_json(report.certificate.to_json()).verify(X, y)


def test_table_and_html():
    X, y = FOUR_POINTS
    text = repr(separability(X, y))
    assert text.startswith("Separability of 4 rows x 2 columns: strict")
    assert "the widest is between 0.223606" in text and "(R / margin)^2 <= 25" in text and "no finite estimate" in text
    assert "hyperplanes through the origin: weak" in repr(separability(X, y, intercept=False))
    assert "4 rows have a positive combination that vanishes" in repr(separability(*CORNERS))
    assert "<table>" in separability(*CORNERS)._repr_html_()


@pytest.mark.parametrize("case", ["strict", "weak", "not separable", "one class"])
def test_picture(case):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    X, y = CORNERS if case == "not separable" else FOUR_POINTS
    y = np.ones(4) if case == "one class" else y
    report = separability(X if case != "strict" else sparse.csr_array(X), y, intercept=case != "weak")
    ax = report.plot()
    assert case in ax.get_title() and len(ax.lines) == {"strict": 3, "weak": 1}.get(case, 0)
    for line, level in zip(ax.lines, (0, -1, 1), strict=False):
        assert line.get_xydata() @ report.w + report.b == pytest.approx([level, level], abs=1e-9)
    assert report.plot(ax) is ax
    plt.close("all")


def test_picture_needs_two_columns():
    with pytest.raises(InvalidData, match="needs data with 2 columns; these have 1"):
        separability([[0.0], [1.0]], [0, 1]).plot()


def test_refuses_what_it_cannot_use():
    X = np.arange(6.0).reshape(3, 2)
    with pytest.raises(
        InvalidData, match=r"separability: y must have two classes; got 3 \(0.0, 1.0, 2.0\). .* y == 0.0"
    ):
        separability(X, [0, 1, 2])
    with pytest.raises(InvalidData, match=r"got 4 \('a', 'b', 'c', ...\)"):
        separability(np.zeros((4, 1)), list("abcd"))
    with pytest.raises(InvalidData, match="separability: X contains NaN at row 1, column 0 \\('age'\\)"):
        separability(pd.DataFrame({"age": [1.0, np.nan], "b": [1.0, 2.0]}), [0, 1])
    with pytest.raises(InvalidData, match="y contains infinity at row 0"):
        separability(X, [np.inf, 1, 0])
    with pytest.raises(InvalidParameter, match="intercept must be True or False; got 'yes'"):
        separability(X, [0, 1, 1], intercept="yes")
    with pytest.raises(InvalidParameter, match="max_time must be a finite number > 0, or None; got 0"):
        separability(X, [0, 1, 1], max_time=0)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        separability(X, [0, 1])
