"""The proof by one pass bounds exact scores, dual points, products and terms, and agrees with the general proof."""

import tracemalloc
from decimal import Decimal, getcontext

import numpy as np
import pytest
from scipy import sparse

from surefit.checks.gap import Dense, Dual, Penalty, Point, loss_of, operator_of, prove, smooth, theorem
from surefit.checks.gap.one_pass import by_one_pass

getcontext().prec = 60
LOSSES = {
    "logistic": {"loss": "logistic"},
    "poisson": {"loss": "poisson"},
    "tweedie": {"loss": "tweedie", "power": 1.25},
    "gamma": {"loss": "tweedie", "power": 2.0},
}
ONE = Decimal(1)


def entropy(m, mu):
    return mu if m == 0 else m * (m / mu).ln() - m + mu


def exact_terms(name, y, z, g):
    """Return the Fenchel-Young term (of a valid split for two exponentials) and the loss in 60 digits."""
    if name == "logistic":
        p, other = abs(g), ONE / (ONE + (y * z).exp())
        return entropy(p, other) + entropy(ONE - p, ONE - other), (ONE + (-y * z).exp()).ln()
    a, b = {"poisson": (0, 1), "gamma": (1, 0), "tweedie": (Decimal("0.25"), Decimal("0.75"))}[name]
    fall, rise = y * (-a * z).exp(), (b * z).exp()
    log = y.ln() if y > 0 else Decimal(0)
    if name == "poisson":
        return entropy(g + y, rise), rise - y + y * (log - z)
    if name == "gamma":
        return entropy(ONE - g, fall), fall - ONE + z - log
    m = fall - a * fall / (a * fall + b * rise) * (g - (rise - fall))
    power = (b * log).exp() if y > 0 else Decimal(0)
    return entropy(m, fall) / a + entropy(g + m, rise) / b, fall / a + rise / b - power / (a * b)


def problem(name, n, d, seed=0, spread=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-spread, spread, d)
    w = rng.standard_normal(d) / np.abs(X).max(axis=0)
    c = 10.0 ** rng.uniform(-spread, spread, n)
    c[rng.random(n) < 0.1] = 0.0
    if name == "logistic":
        y = np.sign(rng.standard_normal(n))
    else:
        y = rng.gamma(2.0, 1.0, n) if name == "gamma" else rng.poisson(1.5, n).astype(float)
    return X, Point(y, c, w, 0.3, True)


def floats_of(X, point, rates):
    """Return the weighted derivatives that the pass uses, in floats."""
    rows = smooth._Rows(rates, point, len(X) if rates is None else 0)
    first, second = rows.add(slice(0, len(X)), X @ point.w, smooth.NO_ROWS.copy())
    return first.copy(), second.copy()


@pytest.mark.parametrize("spread", [0.0, 6.0])
@pytest.mark.parametrize("name", LOSSES)
def test_exact_dual_points_are_within_the_bounds(name, spread):
    X, point = problem(name, 40, 3, spread=spread)
    loss, used = loss_of(LOSSES[name]), point.c > 0
    rates = None if name == "logistic" else loss.rates
    if spread:  # a point whose derivatives nearly sum to zero, as at the end of a fit
        point = point._replace(b=point.b + balance(X, point, rates))
    near = smooth.one_pass(Dense(X), loss, point)
    theta, eta = ([Decimal(float(part)) for part in parts] for parts in floats_of(X, point, rates))
    tau = -sum(theta) / sum(eta)
    assert abs(tau - Decimal(near.tau)) <= Decimal(near.tau_rad)
    rows = [[Decimal(float(x)) for x in row] for row in X]
    w, c = ([Decimal(float(x)) for x in part] for part in (point.w, point.c))
    Z = [sum(x * v for x, v in zip(row, w, strict=True)) + Decimal(point.b) for row in rows]
    for j in range(X.shape[1]):
        v = -sum(row[j] * (s + tau * t) for row, s, t in zip(rows, theta, eta, strict=True))
        assert abs(v - Decimal(float(near.v[j]))) <= Decimal(float(near.radii[0, j]))
    for shrink in (1.0, 1 - 1e-9, 0.999):
        total = losses = Decimal(0)
        for i in np.flatnonzero(used):
            g = Decimal(shrink) * (theta[i] + tau * eta[i]) / c[i]
            term, value = exact_terms(name, Decimal(float(point.y[i])), Z[i], g)
            total, losses = total + c[i] * term, losses + c[i] * value
        sums = near.row_sums((shrink, shrink))
        if sums is None:
            assert abs(near.tau) > 0.009
            continue
        assert total <= Decimal(sums[1]) and sums[1] <= sums[2]
        assert losses <= Decimal(near.loss_sums()[0]) <= losses * Decimal(1 + 1e-9)


@pytest.mark.parametrize("shrink", [1.0, 0.95, 0.3])
@pytest.mark.parametrize("intercept", [True, False])
def test_terms_of_single_rows_are_bounds_at_the_exact_dual_point(shrink, intercept):
    X, point = problem("logistic", 40, 3, seed=3)
    point = point._replace(b=point.b + balance(X, point, None) * intercept, intercept=intercept)
    near = smooth.one_pass(Dense(X), loss_of(LOSSES["logistic"]), point)
    theta, eta = ([Decimal(float(part)) for part in parts] for parts in floats_of(X, point, None))
    tau = -sum(theta) / sum(eta) if intercept else Decimal(0)
    found = near.terms_by_rows(loss_of(LOSSES["logistic"]), point, (shrink, shrink * (1 - 1e-12)))
    assert found is not None
    dual, (_, upper, other) = found
    total = Decimal(0)
    for i in np.flatnonzero(point.c > 0):
        z = sum(Decimal(float(x)) * Decimal(float(v)) for x, v in zip(X[i], point.w, strict=True)) + Decimal(point.b)
        c = Decimal(float(point.c[i]))
        g = Decimal(shrink) * (theta[i] + tau * eta[i]) / c
        assert abs(g - Decimal(float(dual.mid[i]))) <= Decimal(float(dual.rad[i]))
        total += c * exact_terms("logistic", Decimal(float(point.y[i])), z, g)[0]
    assert total <= Decimal(upper) <= Decimal(other)
    assert Decimal(upper) <= total * Decimal("1.000000001") + Decimal("1e-20")


def test_dual_points_far_from_the_sum_of_zero_are_left_to_the_general_proof():
    X, point = problem("logistic", 40, 3)
    loss = loss_of(LOSSES["logistic"])
    point = point._replace(b=point.b + balance(X, point, None) + 0.1)
    assert smooth.one_pass(Dense(X), loss, point).terms_by_rows(loss, point, (1.0, 1.0)) is None
    point = point._replace(intercept=False)
    assert smooth.one_pass(Dense(X), loss, point).terms_by_rows(loss, point, (0.0, 0.0)) is None


def balance(X, point, rates):
    shift = 0.0
    for _ in range(200):
        first, second = floats_of(X, point._replace(b=point.b + shift), rates)
        shift -= min(max(first.sum() / second.sum(), -1.0), 1.0)
    return shift


def fitted(name, layout, intercept, seed=1):
    """Return a problem and a point near its optimum, found by Newton's method."""
    X, point = problem(name, 700, 4, seed=seed)
    if layout in ("csr", "csc"):
        X[np.random.default_rng(seed).random(X.shape) < 0.6] = 0.0
    point = point._replace(intercept=intercept, b=0.0, w=np.zeros(4))
    rates = None if name == "logistic" else loss_of(LOSSES[name]).rates
    X = X.astype(np.float32).astype(np.float64) if layout == "float32" else X
    Z = np.column_stack([X, np.ones(len(X))]) if intercept else X
    l2 = np.append(np.ones(4), 0.0)[: Z.shape[1]]
    for _ in range(12):
        first, second = floats_of(X, point, rates)
        u = np.append(point.w, point.b)[: Z.shape[1]]
        u = u - np.linalg.solve(Z.T @ (second[:, None] * Z) + np.diag(l2), Z.T @ first + l2 * u)
        point = point._replace(w=u[:4].copy(), b=float(u[4]) if intercept else 0.0)
    point = point._replace(w=point.w * (1 + 1e-4))
    made = {"float32": lambda: X.astype(np.float32), "F": lambda: np.asfortranarray(X), "C": lambda: X}
    made |= {"csr": lambda: sparse.csr_array(X), "csc": lambda: sparse.csc_array(X)}
    return made[layout](), point


@pytest.mark.parametrize("layout", ["C", "F", "float32", "csr"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name", LOSSES)
def test_both_proofs_agree_near_the_optimum(name, intercept, layout, monkeypatch):
    X, point = fitted(name, layout, intercept)
    loss = loss_of(LOSSES[name])
    far = Penalty(np.full(4, 0.9 * np.abs(point.w).max()), np.zeros(4))  # its dual point is 0.9 times the derivatives
    for penalty in (Penalty(np.zeros(4), np.ones(4)), Penalty(np.full(4, 1e-3), np.ones(4)), far):
        if penalty is far and name != "logistic":
            continue
        near = by_one_pass(operator_of(X), loss, penalty, point, Dual())
        with monkeypatch.context() as patch:
            patch.setattr(theorem, "by_one_pass", lambda *given: None)
            other = prove(operator_of(X), loss, penalty, point)
        assert near is not None and near.value > 0
        np.testing.assert_allclose(near.value, other.value, rtol=1e-3)
        for one, two in ((near, other), (other, near)):  # each implies what the other one states
            assert one.value <= two.value + 2.5 * two.spread
            assert one.objective <= two.objective + 2.5 * two.objective_spread
        np.testing.assert_allclose(near.objective, other.objective, rtol=1e-11)
        np.testing.assert_allclose(near.correlations, other.correlations, rtol=1e-3, atol=1e-6)
        if name == "logistic":
            np.testing.assert_allclose(near.dual[point.c > 0], other.dual[point.c > 0], atol=1e-6)
            np.testing.assert_allclose(near.z.mid, other.z.mid, atol=1e-12)


def test_known_offsets_and_shifted_columns(monkeypatch):
    X, point = fitted("poisson", "C", True)
    loss, penalty, shift = loss_of(LOSSES["poisson"]), Penalty(np.zeros(4), np.ones(4)), np.full(4, 0.5)
    moved = point._replace(b=point.b + float(shift @ point.w) - 0.1, offset=np.full(len(X), 0.1))
    values = [prove(Dense(X), loss, penalty, point).value, prove(Dense(X, shift), loss, penalty, moved).value]
    np.testing.assert_allclose(values[0], values[1], rtol=1e-6)


@pytest.mark.parametrize("change", ["far", "light", "csc", "negative", "free", "witness"])
def test_other_problems_are_left_to_the_general_proof(change, monkeypatch):
    X, point = fitted("poisson", "csc" if change == "csc" else "C", True)
    penalty, dual = Penalty(np.zeros(4), np.ones(4)), Dual()
    if change == "far":
        point = point._replace(b=300.0)
    if change == "light":
        point = point._replace(c=np.append(1e-250, point.c[1:]))
    if change == "negative":
        point = point._replace(y=np.append(-1.0, point.y[1:]))
    if change == "free":
        penalty = Penalty(np.zeros(4), np.array([1.0, 1.0, 1.0, 0.0]))
    if change == "witness":
        dual = Dual(witness=np.zeros(len(point.y)))
    loss = loss_of(LOSSES["poisson"])
    if change != "witness":
        assert by_one_pass(operator_of(X), loss, penalty, point, Dual()) is None
    found = prove(operator_of(X), loss, penalty, point, dual)
    monkeypatch.setattr(theorem, "by_one_pass", lambda *given: None)
    assert found.value == prove(operator_of(X), loss, penalty, point, dual).value


def test_memory_is_a_fraction_of_the_rows():
    n, d = 400_000, 10
    rng = np.random.default_rng(0)
    X, w = rng.standard_normal((n, d)), np.full(d, 0.1)
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-X @ w)), 1.0, -1.0)
    point, penalty = Point(y, np.ones(n), w, 0.0, False), Penalty(np.zeros(d), np.full(d, 1e6))
    prove(Dense(X[:2000]), loss_of(LOSSES["logistic"]), penalty, point._replace(y=y[:2000], c=point.c[:2000]))
    tracemalloc.start()
    found = prove(Dense(X), loss_of(LOSSES["logistic"]), penalty, point)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found.dual) == n and peak < 0.5 * X.nbytes


@pytest.mark.parametrize("operator", [Dense, lambda X: operator_of(sparse.csr_array(X))], ids=["dense", "sparse"])
def test_same_bits_for_any_number_of_threads(operator, monkeypatch):
    X, point = problem("logistic", 9001, 3)
    monkeypatch.setattr("surefit.core.threads.THREADED", 1)  # share even these few rows
    found = []
    for threads in (1, 2, 4):
        monkeypatch.setattr("surefit.core.threads.blas_threads", lambda threads=threads: threads)
        near = smooth.one_pass(operator(X), loss_of(LOSSES["logistic"]), point)
        found.append(
            [np.asarray(part).tobytes() for part in (*near.totals, near.v, near.radii, near.g, near.product.mid)]
        )
    assert found[0] == found[1] == found[2]
    monkeypatch.setattr("surefit.core.threads.THREADED", 2**40)
    whole = smooth.one_pass(operator(X), loss_of(LOSSES["logistic"]), point)
    assert np.allclose(whole.totals, near.totals, rtol=1e-12) and np.all(
        np.abs(whole.v - near.v) <= whole.radii[0] + near.radii[0]
    )
