"""Paths: the promised gap holds between knots too, norms and slacks move one way, tubes from wide to narrow."""

import numpy as np
import pytest

from surefit import SVC, SVR, InvalidData, InvalidParameter, svc_path, svr_path

LINE = np.array([[0.0], [2.0], [1.0], [3.0]]), np.array([-1, -1, 1, 1])


def problem(seed=0, n=80):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    return X, np.where(X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(n) > 0, 1, -1)


@pytest.mark.parametrize("C", [0.05, 0.2, 1 / 3, 0.5, 2.0])
def test_overlapping_points_on_a_line_at_every_C(C):
    path = svc_path(*LINE, C_range=(0.01, 10.0), kernel="linear", eps=1e-3)
    exact = 4 * C - 2 * C**2 if C <= 1 / 3 else 2 / 9 + 8 / 3 * C
    assert exact - 1e-12 <= path.objective_at(C) <= exact * (1 + 1.1e-3)
    assert path.objective_at(C) - exact <= path.gap_at(C) + 1e-12
    w = float(np.diff(path.decision_function(np.array([[0.0], [1.0]]), C))[0])
    assert w == pytest.approx(min(2 * C, 2 / 3), abs=0.04)


def test_the_gap_holds_between_knots():
    X, y = problem()
    path = svc_path(X, y, C_range=(0.05, 50.0), eps=0.02, gamma=0.7)
    for C in np.geomspace(0.05, 50.0, 40):
        best = SVC(C=C, gamma=0.7, tol=1e-9).fit(X, y).objective_
        assert path.gap_at(C) <= 0.02 * path.objective_at(C) * (1 + 1e-9)
        assert best - 1e-9 <= path.objective_at(C) <= best + path.gap_at(C) + 1e-9


def test_knots_are_as_few_as_the_theorem_says():
    X, y = problem(1)
    path = svc_path(X, y, C_range=(0.1, 10.0), eps=0.04, gamma=0.5)
    assert len(path.Cs) <= 1 + np.ceil(np.log(100) / np.log(1 + 0.9 * np.sqrt(0.04)))
    assert path.Cs[0] == 0.1 and path.Cs[-1] == 10.0 and np.all(np.diff(path.Cs) > 0)
    assert np.all(np.diff(path.norms) > -1e-2) and np.all(np.diff(path.slacks) < 1e-1)
    assert path.margins == pytest.approx(1 / path.norms) and path.n_support.max() <= 80


def test_one_classifier_serves_from_the_hard_margin_on():
    X, y = np.array([[0.0], [1.0], [3.0], [5.0]]), [0, 0, 1, 1]
    path = svc_path(X, y, C_range=(1.0, 1e6), kernel="linear", eps=0.01)
    assert path.Cs.tolist() == [1.0, 1e6] and path.gap_at(1e3) <= 0.01 * 0.5


def test_tubes_from_wide_to_narrow():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 1))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(60)
    path = svr_path(X, y, gamma=1.0, tol=1e-6)
    assert path.n_support[0] == 0 and path.n_support[-1] >= 50
    assert np.all(path.gaps <= 1e-6 * path.objectives + 1e-12) and np.all(np.diff(path.epsilons) < 0)
    one = SVR(epsilon=path.epsilons[10], gamma=1.0, tol=1e-6).fit(X, y)
    assert path.objectives[10] == pytest.approx(one.objective_, rel=1e-5)


def test_clear_errors():
    X, y = problem()
    with pytest.raises(InvalidParameter, match="C_range"):
        svc_path(X, y, C_range=(1.0, 0.1))
    with pytest.raises(InvalidParameter, match="eps"):
        svc_path(X, y, eps=0.0)
    with pytest.raises(InvalidData, match="two classes; it has 4"):
        svc_path(X, np.arange(80) % 4)
    with pytest.raises(InvalidParameter, match="C must be from"):
        svc_path(X, y, C_range=(0.1, 1.0), eps=0.2).gap_at(5.0)
