"""Sums over classes in one pass: enclosed by their stated errors, for every storage of the rows."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from surefit import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from surefit.checks.discriminants import quadratic, scatter
from surefit.checks.discriminants.class_sums import joined, sums_of_classes
from surefit.checks.enclosure import gamma
from surefit.core.partitioned import Part

RNG = np.random.default_rng(3)
X = RNG.standard_normal((90, 3)) * [1e-3, 1.0, 1e6] + [1e3, 0.0, 1e8]
CODES = RNG.integers(0, 3, 90)
WEIGHTS = np.where(RNG.random(90) < 0.2, 0.0, 10.0 ** RNG.integers(-9, 9, 90))
PILOTS = np.stack([X[CODES == k].mean(axis=0) for k in range(3)])


def truth(k, rows, weights):
    """Exact sums of the differences of a class, of their absolute values and of their products."""
    kept = [i for i in np.flatnonzero(CODES[rows] == k) if weights[i] > 0]
    differences = [
        [Fraction(float(v)) - Fraction(float(p)) for v, p in zip(X[rows][i], PILOTS[k], strict=True)] for i in kept
    ]
    s = [Fraction(float(weights[i])) for i in kept]
    sums = [sum((w * t[j] for w, t in zip(s, differences, strict=True)), Fraction(0)) for j in range(3)]
    sizes = [sum((w * abs(t[j]) for w, t in zip(s, differences, strict=True)), Fraction(0)) for j in range(3)]
    products = [[sum(w * t[i] * t[j] for w, t in zip(s, differences, strict=True)) for j in range(3)] for i in range(3)]
    return len(kept), sum(s), sums, sizes, products


def require_enclosed(found, weights, pooled):
    rounding, total = Fraction(gamma(found.depth + 8)), [[Fraction(0)] * 3 for _ in range(3)]
    for k in range(3):
        count, mass, sums, sizes, products = truth(k, np.arange(len(X)), weights)
        assert (found.counts[k], found.totals[k]) == (count, float(mass))
        for j in range(3):
            assert sizes[j] <= Fraction(found.sizes()[k, j]) <= 5 * sizes[j]
            assert abs(Fraction(found.sums[k, j]) - sums[j]) <= rounding * sizes[j]
            assert abs(Fraction(found.squares[k, j]) - products[j][j]) <= rounding * products[j][j]
        total = [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(total, products, strict=True)]
        if not pooled:
            require_products(found.products[k], products, rounding)
    if pooled:
        require_products(found.products[0], total, rounding)


def require_products(found, exact, rounding):
    for i in range(3):
        for j in range(3):
            bound = rounding * Fraction(np.sqrt(float(exact[i][i]) * float(exact[j][j])) * 1.001)
            assert abs(Fraction(found[i, j]) - exact[i][j]) <= bound


@pytest.mark.parametrize("matrices", [0, 1, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rows", ["whole", "small buckets", "partitions"])
def test_sums_are_within_their_errors(monkeypatch, matrices, weighted, rows):
    weights = WEIGHTS if weighted else np.ones(len(X))
    if rows == "small buckets":
        monkeypatch.setattr("surefit.checks.discriminants.class_sums.ROWS", 7)
    ends = [0, 20, 21, 90] if rows == "partitions" else [0, 90]
    parts = [
        sums_of_classes(Part(X[a:b], None, weights[a:b] if weighted else None, 0, ""), CODES[a:b], PILOTS, matrices)
        for a, b in pairwise(ends)
    ]
    found = parts[0]
    for part in parts[1:]:
        found = joined(found, part)
    require_enclosed(found, weights, matrices == 1) if matrices else require_sums(found, weights)


def require_sums(found, weights):
    for k in range(3):
        count, _, sums, sizes, _ = truth(k, np.arange(len(X)), weights)
        assert found.counts[k] == count
        assert all(
            abs(Fraction(found.sums[k, j]) - sums[j]) <= Fraction(gamma(found.depth + 8)) * sizes[j] for j in range(3)
        )


def test_storage_of_the_rows_does_not_matter():
    plain = sums_of_classes(Part(X, None, None, 0, ""), CODES, PILOTS, 3)
    for other in (np.asfortranarray(X), sparse.csr_array(X), X[::-1][::-1]):
        found = sums_of_classes(Part(other, None, None, 0, ""), CODES, PILOTS, 3)
        assert all(np.array_equal(a, b) for a, b in zip(plain, found, strict=True))


@pytest.mark.parametrize("condition", [1.0, 1e4, 1e8, 1e12])
def test_products_are_used_only_where_they_prove_as_much_as_the_rows(monkeypatch, condition):
    X = RNG.standard_normal((400, 6)) @ np.diag(np.geomspace(1.0, 1.0 / np.sqrt(condition), 6))
    X = X @ np.linalg.qr(RNG.standard_normal((6, 6)))[0] + 10.0
    y = RNG.integers(0, 2, 400)
    model = QuadraticDiscriminantAnalysis(tol=0.0).fit(X, y)
    proved = model.verify(X, y)["quadratic.likelihood"].proved
    whitened = []
    monkeypatch.setattr(quadratic, "_whitened", lambda *a, f=quadratic._whitened: whitened.append(1) or f(*a))
    model.verify(X, y)
    assert bool(whitened) == (condition > 1e6)
    gap = quadratic._class_gap
    monkeypatch.setattr(quadratic, "_class_gap", lambda *a: gap(*a)._replace(negligible=False))
    model = QuadraticDiscriminantAnalysis(tol=0.0).fit(X, y)
    assert proved <= 2.5 * model.verify(X, y)["quadratic.likelihood"].proved


def test_one_product_for_many_rows_proves_as_much(monkeypatch):
    X = RNG.standard_normal((600, 4)) * [1e-6, 1.0, 1e6, 1.0] + [0.0, 1e8, 0.0, 0.0]
    y = np.digitize(X[:, 3], [-0.5, 0.5])
    separate = LinearDiscriminantAnalysis().fit(X, y).verify(X, y)
    monkeypatch.setattr(scatter, "MANY", 100)
    model = LinearDiscriminantAnalysis().fit(X, y)
    for finding in model.verify(X, y).findings:
        assert finding.ok and not finding.proved > 5 * separate[finding.name].proved
