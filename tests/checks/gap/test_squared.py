"""The gap of the squared loss in one pass: bounds against exact rationals, storage, threads, and the general proof."""

from fractions import Fraction

import numpy as np
import pytest
from tests import forging

from surefit import Lasso
from surefit.checks.gap import Penalty, Point, loss_of, operator_of, operators, prove, squared, squared_loops, theorem
from surefit.checks.gap.dual_points import Dual

LOSS = loss_of({"loss": "squared_error"})


def problem(n, d, seed=0, scale=1.0, weights=False):
    rng = np.random.default_rng([n, d, seed])
    X = rng.normal(size=(n, d)) * 10.0 ** (scale * rng.uniform(-1, 1, d))
    y = X @ rng.normal(size=d) + rng.normal(size=n) + 3.0
    c = rng.uniform(0.1, 3.0, n) if weights else np.full(n, 0.5)
    if weights:
        c[0] = 0.0
    return X, y, c, rng.normal(size=d) / (1 + np.linalg.norm(X, axis=0))


def exact_sums(X, y, c, w, b):
    """Exact residuals, and the exact sums that the pass computes from given residuals."""
    F = [[Fraction(v) for v in row] for row in np.asarray(X, dtype=np.float64).tolist()]
    fw = [Fraction(v) for v in w.tolist()]
    return F, [
        sum(x * u for x, u in zip(row, fw, strict=True)) + Fraction(b) - Fraction(t)
        for row, t in zip(F, y.tolist(), strict=True)
    ]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (2, 9), (7, 3), (30, 13)])
def test_rounding_of_all_sums_is_enclosed(n, d, weights, order):
    for seed, scale in enumerate((0.0, 6.0)):
        X, y, c, w = problem(n + weights, d, seed, scale, weights)
        point = Point(y, c, w, 0.7, True)
        found = squared.residuals(operator_of(np.asarray(X, order=order)), point, (c.min(), c.max()))
        F, r = exact_sums(X, y, c, w, 0.7)
        fc = [Fraction(v) for v in c.tolist()]
        square = sum(k * v * v for k, v in zip(fc, r, strict=True))
        assert (
            Fraction(found.norm + found.error) ** 2
            >= square
            >= Fraction(max(found.norm * (1 - 1e-12) - found.error, 0)) ** 2
        )
        mean = sum(k * v for k, v in zip(fc, r, strict=True)) / sum(fc)
        off = Fraction(found.mean_rad) + Fraction(found.error) / Fraction(
            found.weight * (1 - 1e-12)
        )  # residuals differ by the error
        assert abs(abs(mean) - Fraction(found.mean)) <= off
        for j in range(d):
            v = sum(k * row[j] * (t - mean) for k, row, t in zip(fc, F, r, strict=True))
            slack = Fraction(float(found.v_rad[j])) + Fraction(float(found.norms[j]) * found.error * (1 + 1e-12))
            assert abs(v - Fraction(float(found.v[j]))) <= slack
            assert Fraction(float(found.norms[j])) ** 2 >= sum(k * row[j] ** 2 for k, row in zip(fc, F, strict=True))


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("near", [0.0, 1e-6, 1.0])
def test_gap_without_penalty_bounds_the_exact_one(near, intercept, weights):
    X, y, c, w = problem(14, 3, scale=3.0, weights=weights)
    F, _ = exact_sums(X, y, c, w, 0.0)
    F = [[*row, Fraction(1)] if intercept else row for row in F]
    fc, fy = ([Fraction(v) for v in values.tolist()] for values in (c, y))
    normal = [
        [sum(k * a[i] * a[j] for k, a in zip(fc, F, strict=True)) for j in range(len(F[0]))] for i in range(len(F[0]))
    ]
    best = solved(normal, [sum(k * a[i] * t for k, a, t in zip(fc, F, fy, strict=True)) for i in range(len(F[0]))])
    at = np.array([float(v) for v in best]) + near * np.append(w, 0.3)[: len(best)]
    b = float(at[3]) if intercept else 0.0
    found = prove(operator_of(X), LOSS, Penalty(np.zeros(3), np.zeros(3)), Point(y, c, at[:3], b, intercept))
    apart = [Fraction(float(v)) - u for v, u in zip(at, best, strict=True)]
    gap = (
        LOSS.h
        * sum(k * sum(a * u for a, u in zip(row, apart, strict=True)) ** 2 for k, row in zip(fc, F, strict=True))
        / 2
    )
    assert found.squares is not None and found.met
    assert gap <= Fraction(found.value)
    assert found.value <= float(gap) * (1 + 1e-6) + 1e-22 * found.objective


def solved(A, b):
    """Solve a system of equations with a positive definite matrix of fractions."""
    rows = [[*row, t] for row, t in zip(A, b, strict=True)]
    for i, pivot in enumerate(rows):
        rows[i] = pivot = [v / pivot[i] for v in pivot]
        for k, row in enumerate(rows):
            if k != i:
                rows[k] = [v - row[i] * p for v, p in zip(row, pivot, strict=True)]
    return [row[-1] for row in rows]


@pytest.mark.parametrize("weights", [False, True])
def test_storages_and_kinds_of_numbers_agree(weights):
    X, y, c, w = problem(3000, 5, weights=weights)
    X = X.astype(np.float32)
    point, penalty = Point(y, c, w, 3.0, True), Penalty(np.full(5, 0.1), np.full(5, 1.0))
    forms = [
        (X, None),
        (np.asfortranarray(X), None),
        (X.astype(float), None),
        (np.asfortranarray(X, dtype=float), None),
    ]
    shift = np.full(5, 0.25)
    moved = point._replace(b=3.0 + float(shift @ w), b_rad=1e-15)
    gaps = [prove(operator_of(*form), LOSS, penalty, point) for form in forms]
    gaps += [prove(operator_of(A, shift), LOSS, penalty, moved) for A, _ in forms]
    for a in gaps:
        assert a.squares is not None
        for b in gaps:  # every evaluation confirms what another one states
            assert a.value <= b.value + 2.5 * b.spread and a.objective <= b.objective + 2.5 * b.objective_spread


@pytest.mark.parametrize("order", ["C", "F"])
def test_same_bits_for_any_number_of_threads(monkeypatch, order):
    X, y, c, w = problem(9000, 300, weights=True)
    found = []
    for threads in (1, 2, 5):
        monkeypatch.setattr(operators, "blas_threads", lambda threads=threads: threads)
        found.append(
            prove(
                operator_of(np.asarray(X, order=order)),
                LOSS,
                Penalty(np.zeros(300), np.ones(300)),
                Point(y, c, w, 3.0, True),
            )
        )
    assert X.size >= operators.THREADED
    for other in found[1:]:
        assert other.value == found[0].value and other.correlations.tobytes() == found[0].correlations.tobytes()


@pytest.mark.parametrize("weights", [False, True])
def test_threads_share_the_columns_of_few_rows(monkeypatch, weights):
    X, y, c, w = problem(300, 900, weights=weights)
    w[np.arange(900) % 7 > 0] = 0.0  # columns without a coefficient are not read for the residuals
    columns, scalars = squared_loops.by_columns(X.T.copy(), 0, w, 0.3, y, c, weights)
    monkeypatch.setattr("surefit.core.threads.THREADED", 1)
    monkeypatch.setattr(operators, "THREADED", 1)
    for count in (1, 2, 3):
        monkeypatch.setattr("surefit.core.threads.blas_threads", lambda count=count: count)
        found = operator_of(np.asfortranarray(X)).squared_sums(w, 0.3, y, c, weights)
        assert found[0].tobytes() == columns.tobytes() and found[1].tobytes() == scalars.tobytes()
    np.testing.assert_allclose(columns[0], X.T @ ((c if weights else 1.0) * (X @ w + 0.3 - y)), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("l1", [0.0, 40.0])
def test_bounds_are_as_small_as_those_of_the_general_proof(monkeypatch, intercept, l1):
    X, y, c, w = problem(700, 12, weights=True)
    center = c @ X / c.sum() if intercept else np.zeros(12)
    level = c @ y / c.sum() if intercept else 0.0
    w = np.linalg.solve((X - center).T @ (c[:, None] * (X - center)) + np.eye(12), (X - center).T @ (c * (y - level)))
    point, penalty = Point(y, c, w, float(level - center @ w), intercept), Penalty(np.full(12, l1), np.ones(12))
    near = prove(operator_of(X), LOSS, penalty, point)
    monkeypatch.setattr(squared, "applies", lambda *_: None)
    general = prove(operator_of(X), LOSS, penalty, point)
    assert near.value <= 2 * general.value and near.spread <= 2 * general.spread
    assert abs(near.objective / general.objective - 1) <= 1e-11


def test_other_problems_use_the_general_proof():
    X, y, c, w = problem(50, 3)
    operator, point, penalty = operator_of(X), Point(y, c, w, 0.0, True), Penalty(np.zeros(3), np.ones(3))
    assert squared.applies(operator, LOSS, penalty, point, Dual())
    uneven = c * np.where(np.arange(50) == 0, 1e7, 1.0)
    others = [
        (LOSS, penalty, point._replace(c=uneven), Dual()),
        (LOSS, penalty, point._replace(offset=y), Dual()),
        (LOSS, Penalty(np.zeros(3), np.array([0.0, 1.0, 1.0])), point, Dual()),
        (LOSS, Penalty(np.zeros(3), np.zeros(3), positive=True), point, Dual()),
        (LOSS, penalty, point, Dual(y)),
        (loss_of({"loss": "huber", "delta": 1.0}), penalty, point, Dual()),
    ]
    assert not any(squared.applies(operator, *other) for other in others)
    assert squared.residuals(operator_of(X * 1e200), point, (point.c.min(), point.c.max())) is None  # squares overflow


def test_sums_about_a_constant():
    y, c = np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 0.5])
    assert squared_loops.squares_about(y, c, 1.0) == (3.5, 6.5, 3.5)


@pytest.mark.parametrize("scale", [1.0, 1e-8])
def test_a_statement_sharper_than_the_proof_by_one_pass_is_confirmed_row_by_row(monkeypatch, scale):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(300, 5)) * scale, (rng.normal(size=300) + 3.0) * scale
    model = Lasso(alpha=1e6 * scale**2).fit(X, y)
    at_once = forging.proved(model, "linear.gap", X, y).value
    with monkeypatch.context() as patch:
        patch.setattr(theorem, "by_one_pass", lambda *given: None)
        by_rows = forging.proved(model, "linear.gap", X, y).value
    assert by_rows < at_once
    sharper = forging.with_claim(model.certificate_, "linear.gap", value=(by_rows + at_once) / 2)
    assert not forging.refused(sharper, X, y, model=model)
    assert forging.refused(forging.with_claim(sharper, "linear.gap", value=by_rows * 0.9), X, y, model=model)
