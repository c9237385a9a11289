"""Strict, weak or overlap: the decision against an enumeration of extreme rays, on thousands of small exact problems."""

import numpy as np
import pytest
from tests.separation.ray_oracle import kind_of_separation

from surefit.checks.separation.combinations import annihilates, prove_combination
from surefit.core.budget import Budget
from surefit.separation import decide as decide_module
from surefit.separation.decide import decide
from surefit.separation.signed_rows import SignedRows, as_witness


def lifted(rows):
    A = np.column_stack([rows.X, np.ones(len(rows.X))]) if rows.intercept else rows.X
    return A * rows.t[:, None]


def small_problem(rng, style):
    """A few integer rows; the style plants duplicates with both labels, collinear rows, zero rows, ties on a hyperplane."""
    n, d, size = int(rng.integers(1, 9)), int(rng.integers(1, 4)), int(rng.integers(1, 4))
    X, t = rng.integers(-size, size + 1, (n, d)).astype(float), rng.choice([-1.0, 1.0], n)
    if style == "duplicates" and n > 1:
        X[0], t[0] = X[-1], -t[-1]
    if style == "collinear":
        X = np.outer(rng.integers(-3, 4, n), rng.integers(-2, 3, d)).astype(float)
    if style == "zero row":
        X[0] = 0.0
    if style == "ties":
        t = np.where(X @ rng.integers(-2, 3, d) + rng.integers(-2, 3) >= 0, 1.0, -1.0)
    if style == "one class":
        t[:] = 1.0
    intercept = bool(rng.integers(2)) and len(set(t)) == 2
    return SignedRows(X, t, intercept)


def require_proof(rows, decision):
    """Whatever the status, its witnesses must prove it."""
    if decision.status == "strict":
        assert np.all(rows.signs(decision.direction) > 0)
    if decision.status == "weak":
        signs = rows.signs(decision.direction)
        assert np.all(signs >= 0) and np.any(signs > 0)
    if decision.status in ("weak", "overlap"):
        weights = None if decision.weights is None else as_witness(decision.weights)
        proof = prove_combination(rows.X, rows.t, rows.intercept, np.array(decision.rows), weights)
        assert proof.residual == 0
        if decision.status == "overlap":
            null = decision.null and np.array([[str(entry) for entry in v] for v in decision.null])
            idle = annihilates(rows.X, null, rows.intercept) if decision.null else 0
            assert proof.spanned + idle == rows.dimension


@pytest.mark.parametrize("style", ["plain", "duplicates", "collinear", "zero row", "ties", "one class"])
def test_agrees_with_extreme_rays(style):
    rng = np.random.default_rng(7)
    for _ in range(340):
        rows = small_problem(rng, style)
        decision = decide(rows, Budget())
        assert decision.status == kind_of_separation(lifted(rows)), (rows.X.tolist(), rows.t.tolist(), rows.intercept)
        require_proof(rows, decision)


def test_agrees_when_margins_are_next_to_nothing():
    # Integer problems moved by one unit in a late binary place: floats cannot tell, integers must.
    rng = np.random.default_rng(8)
    for k in range(300):
        rows = small_problem(rng, "ties" if k % 2 else "plain")
        place = int(rng.integers(20, 51))
        X = rows.X + rng.integers(-1, 2, rows.X.shape) * 2.0**-place
        rows = rows._replace(X=X)
        decision = decide(rows, Budget())
        assert decision.status == kind_of_separation(lifted(rows) * 2.0**place)
        require_proof(rows, decision)


def test_the_walk_down_faces_needs_no_good_hint(monkeypatch):
    monkeypatch.setattr(decide_module, "shortest_sum", lambda A, g, budget: None)
    rng = np.random.default_rng(9)
    for style in ["plain", "duplicates", "collinear", "zero row", "ties"] * 40:
        rows = small_problem(rng, style)
        decision = decide(rows, Budget())
        assert decision.status == kind_of_separation(lifted(rows))
        require_proof(rows, decision)


@pytest.mark.parametrize("scale", [2.0**-300, 1.0, 2.0**300])
def test_scales_of_rows_and_columns_do_not_matter(scale):
    X = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [2.0, 1.0]])
    t = np.array([-1.0, 1.0, 1.0, -1.0])
    for intercept in (False, True):
        expected = kind_of_separation(lifted(SignedRows(X, t, intercept)))
        got = decide(SignedRows(X * [scale, 1.0], t, intercept), Budget()).status
        assert got == expected


def test_one_hot_columns_with_an_intercept():
    # Full one-hot blocks make the columns dependent: overlap is proved with directions that vanish on all rows.
    rng = np.random.default_rng(3)
    groups = [rng.integers(0, 4, 200) for _ in range(2)]
    X = np.column_stack([rng.normal(size=200), *(np.eye(4)[g] for g in groups)])
    t = np.where(X[:, 0] + rng.normal(size=200) > 0, 1.0, -1.0)
    rows = SignedRows(X, t, True)
    decision = decide(rows, Budget())
    assert decision.status == "overlap" and len(decision.null) == 2
    require_proof(rows, decision)
    t = np.where(groups[0] == 1, 1.0, t)  # one level always positive: quasi-complete separation
    rows = SignedRows(X, t, True)
    decision = decide(rows, Budget())
    assert decision.status == "weak"
    require_proof(rows, decision)


@pytest.mark.parametrize("seed", [1])
def test_wide_overlap_is_proved_by_floats_and_by_integers_alike(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 45))
    rows = SignedRows(X, rng.choice([-1.0, 1.0], 300), True)
    enclosed = decide(rows, Budget())
    assert enclosed.status == "overlap" and enclosed.weights is None and len(enclosed.rows) == 47
    require_proof(rows, enclosed)
    monkeypatch.setattr(decide_module, "EXACT_COLUMNS", 100)
    exact = decide(rows, Budget())
    assert exact.status == "overlap" and min(exact.weights) > 0
    require_proof(rows, exact)


def test_size_limits_leave_open_what_is_not_proved(monkeypatch):
    X = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
    rows = SignedRows(X, np.array([1.0, -1.0, 1.0]), True)
    assert decide(rows, Budget()).status == "weak"
    monkeypatch.setattr(decide_module, "FACE_COLUMNS", 0)
    decision = decide(rows, Budget())
    assert decision.status == "not strict" and set(decision.rows) == {0, 1}
    monkeypatch.setattr(decide_module, "solve_nonnegative", lambda *args: None)
    assert decide(rows, Budget()).status == "undecided"
    assert decide(rows, Budget(max_time=1e-9)).status == "undecided"
