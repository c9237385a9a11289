"""The gap theorem against an independent solver and against exact rationals: no proved gap is ever too small."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from tests.checks.gap.terms import KINKED, LOSSES, MARGIN, NUMBERS, PENALTIES, objective, optimum, penalty_of, targets

from surefit.checks.gap import Dual, Gram, Penalty, Point, loss_of, operator_of, prove, prove_kernel

SOLVER_DIGITS = 1e-8  # of the independent solver


def feasible(p, w):
    w = np.where(p.excluded | (np.abs(w) < 1e-7), 0.0, w)
    w = np.maximum(w, 0.0) if p.positive else w
    w = w if p.box is None else np.clip(w, -p.box, p.box)
    return w if p.radius is None else w * min(1.0, p.radius / max(p.l1 @ np.abs(w), 1e-9)) * (1 - 1e-15)


@pytest.mark.parametrize("name", LOSSES)
def test_gap_bounds_the_excess_of_every_loss_and_penalty(name):
    rng = np.random.default_rng(sum(map(ord, name)))
    n, d = 40, 8
    for k, (kind, terms) in enumerate(PENALTIES.items()):
        X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5 if k % 2 else 1.0)
        intercept = bool((k // 2) % 2)
        y = targets(name, X @ (rng.normal(size=d) * 0.5) + 0.3, rng)
        c = np.where(np.arange(n) < 3, 0.0, rng.random(n) + 0.2)
        p = penalty_of(d, **terms)
        best, w, b, g = optimum(name, p, X, y, c, intercept)
        operator = operator_of(sparse.csr_array(X) if k % 2 else X)
        loss, dual = loss_of({"loss": name, **NUMBERS}), Dual(g if name in KINKED else None)
        for noise in (0.0, 1e-2):
            moved = feasible(p, w * (1 + noise * rng.normal(size=d)))
            gap = prove(operator, loss, p, Point(y, c, moved, b, intercept), dual)
            excess = objective(name, p, X, y, c, moved, b) - best
            assert gap.value >= excess - SOLVER_DIGITS * (1 + abs(best)), kind
            assert gap.value <= gap.objective + 1e-12 and gap.spread >= 0, kind
            if noise == 0.0 and not (name in MARGIN and kind in ("none", "l1 factors")):  # there rows may be separable
                assert gap.value <= 1e-4 * (1 + abs(best)), kind


def exact_solution(A, h):
    n = len(h)
    A = [[*row, h[i]] for i, row in enumerate(A)]
    for i in range(n):
        pivot = next(k for k in range(i, n) if A[k][i] != 0)
        A[i], A[pivot] = A[pivot], A[i]
        A[i] = [value / A[i][i] for value in A[i]]
        for k in range(n):
            if k != i and A[k][i] != 0:
                A[k] = [u - A[k][i] * v for u, v in zip(A[k], A[i], strict=True)]
    return [row[-1] for row in A]


@pytest.mark.parametrize("seed", range(30))
def test_ridge_gap_bounds_the_rational_excess(seed):
    # scales 1e-6 to 1e6, offsets of 1e7, near-collinear and unpenalized columns: rounding is all there is
    rng = np.random.default_rng(seed)
    n, d = 12, 3
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-6, 6, d) + rng.choice([0, 0, 1e3, 1e7], d)
    if seed % 5 == 0:
        X[:, 2] = X[:, 1] * (1 + 1e-9 * rng.normal(size=n))
    y = X @ (rng.normal(size=d) / X.std(axis=0)) + rng.normal(size=n) * 10.0 ** rng.uniform(-3, 2)
    c = rng.random(n) * 10.0 ** rng.uniform(-3, 3)
    l2 = np.where(rng.random(d) < 0.3, 0.0, 10.0 ** rng.uniform(-6, 3)) * X.std(axis=0) ** 2
    center = (c @ X) / c.sum()
    stacked = np.vstack([np.sqrt(c)[:, None] * (X - center), np.diag(np.sqrt(l2))])
    w = np.linalg.lstsq(stacked, np.concatenate([np.sqrt(c) * (y - (c @ y) / c.sum()), 0 * l2]), rcond=None)[0]
    w = w * (1 + rng.choice([0, 1e-12, 1e-6]) * rng.normal(size=d))
    b = float(c @ (y - X @ w) / c.sum())

    F = [[*map(Fraction, row.tolist()), Fraction(1)] for row in X]
    fy, fc, fl = [Fraction(v) for v in y.tolist()], [Fraction(v) for v in c.tolist()], [*map(Fraction, l2.tolist()), 0]
    G = [
        [sum(fc[i] * F[i][a] * F[i][k] for i in range(n)) + (fl[a] if a == k else 0) for k in range(d + 1)]
        for a in range(d + 1)
    ]
    best = exact_solution(G, [sum(fc[i] * F[i][a] * fy[i] for i in range(n)) for a in range(d + 1)])

    def P(u):
        loss = sum(fc[i] * (sum(F[i][a] * u[a] for a in range(d + 1)) - fy[i]) ** 2 for i in range(n))
        return (loss + sum(fl[a] * u[a] ** 2 for a in range(d + 1))) / 2

    excess = P([*map(Fraction, w.tolist()), Fraction(b)]) - P(best)
    for shift in (None, center):
        pairs = [] if shift is None else zip(center.tolist(), w.tolist(), strict=True)
        moved = float(Fraction(b) + sum(Fraction(m) * Fraction(u) for m, u in pairs))
        point = Point(y, c, w, moved, True, 0.0 if shift is None else 2.0**-52 * abs(moved))
        gap = prove(operator_of(X, shift), loss_of({"loss": "squared_error"}), Penalty(np.zeros(d), l2), point)
        assert Fraction(gap.value) >= excess


@pytest.mark.parametrize("name", LOSSES)
def test_kernel_gap_bounds_the_excess(name):
    rng = np.random.default_rng(1)
    n = 30
    X = rng.normal(size=(n, 3))
    K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(-1)) if sum(map(ord, name)) % 2 else X @ X.T
    values, vectors = np.linalg.eigh(K)
    A = vectors[:, values > 1e-10] * np.sqrt(values[values > 1e-10])
    y, c, strength = targets(name, np.sin(X[:, 0]) + 0.5 * X[:, 1], rng), rng.random(n) + 0.2, 0.5
    for intercept in (True, False):
        p = Penalty(np.zeros(A.shape[1]), np.full(A.shape[1], strength))
        best, _, b, g = optimum(name, p, A, y, c, intercept)
        for noise in (0.0, 1e-3):
            beta = -c * g / strength * (1 + noise * rng.normal(size=n))
            loss = loss_of({"loss": name, **NUMBERS})
            value = (
                objective(name, Penalty(np.zeros(n), np.zeros(n)), K, y, c, beta, b) + 0.5 * strength * beta @ K @ beta
            )
            for dual in (Dual(), Dual(g)):
                gap = prove_kernel(Gram(K), loss, strength, Point(y, c, beta, b, intercept), dual)
                assert gap.value >= value - best - SOLVER_DIGITS * (1 + abs(best))
                assert noise or gap.value <= 1e-4 * (1 + abs(best))


def test_dual_point_may_be_hostile():
    # a witness that is out of its domain, or not a number, proves less, never more
    rng = np.random.default_rng(0)
    X, c = rng.normal(size=(20, 2)), np.ones(20)
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    point = Point(y, c, np.array([0.1, 0.0]), 0.0, True)
    p = Penalty(np.zeros(2), np.ones(2))
    honest = prove(operator_of(X), loss_of({"loss": "hinge"}), p, point, Dual(-y * 1.0)).value
    for witness in (np.full(20, np.nan), -1e300 * y, 1e300 * y, np.full(20, np.inf)):
        assert prove(operator_of(X), loss_of({"loss": "hinge"}), p, point, Dual(witness)).value >= min(honest, 0.1)


def test_a_quadratic_penalty_has_the_terms_of_the_general_one():
    """The shortcut for columns with only a quadratic term agrees with the cases of the general penalty."""
    rng = np.random.default_rng(4)
    w, v, rad = rng.normal(size=200), rng.normal(size=200), 1e-3 * rng.random(200)
    w[:20], v[10:40] = 0.0, 0.0
    l2 = 10.0 ** rng.uniform(-6, 3, size=200)
    plain = Penalty(np.zeros(200), l2)
    general = Penalty(np.append(np.zeros(200), 1.0), np.append(l2, 1.0))  # one column has another term
    assert plain.quadratic and not general.quadratic
    more = [np.append(part, 0.0) for part in (w, v, rad)]
    np.testing.assert_allclose(plain.excess(w, v), general.excess(*more[:2])[:-1], rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(plain.upper(w, v, rad), general.upper(*more)[:-1], rtol=1e-12)
    assert np.all(plain.upper(w, v, rad) >= plain.excess(w, v + rad)) and np.all(
        plain.upper(w, v, rad) >= plain.excess(w, v - rad)
    )
