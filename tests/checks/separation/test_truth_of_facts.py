"""Facts about labeled rows against an enumeration in integers: status, witnesses, columns, widths and lengths."""

from fractions import Fraction
from math import lcm

import numpy as np
import pytest
from tests.exact_geometry import (
    at_least_root,
    at_most_root,
    dot,
    gram,
    rational,
    squared_gap_of_hulls,
    squared_hull_distance,
)
from tests.forging import with_claim
from tests.separation.ray_oracle import kind_of_separation

from surefit import separability
from surefit.core.errors import CertificateError

SCALES = {
    "plain": ([1.0, 1.0], [0.0, 0.0]),
    "large and small": ([1e6, 1e-6], [0.0, 0.0]),
    "shifted": ([1.0, 1.0], [1e6, -3.0]),
    "tiny": ([1e-160, 1e-160], [0.0, 0.0]),
    "huge": ([1e150, 1e-150], [0.0, 0.0]),
}


def samples(scale):
    """Small problems of every kind: random rows, rows on a grid with ties, touching classes, one row per class."""
    rng = np.random.default_rng(0)
    factor, shift = SCALES[scale]
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n = 4 + seed % 5
        X = rng.normal(size=(n, 2)) if seed % 3 else rng.integers(-2, 3, size=(n, 2)).astype(float)
        t = np.where(X @ [1.0, 0.5] + (0.8 * rng.normal(size=n) if seed % 2 else 0.3) > 0, 1, -1)
        t[:2] = 1, -1
        if seed % 4 == 1:
            X[1] = X[0]  # a tie
        yield X * factor + shift, t


def whole(rows):
    """Rational rows times a common positive number, in integers."""
    scale = lcm(*(v.denominator for row in rows for v in row))
    return [[int(v * scale) for v in row] for row in rows]


def lifted(X, t, intercept):
    return [[int(s) * v for v in (*row, *([Fraction(1)] if intercept else []))]
            for row, s in zip(rational(X), t, strict=True)]  # fmt: skip


def kind(X, t, intercept):
    return kind_of_separation(whole(lifted(X, t, intercept)))


def integers_of(witness):
    return [Fraction(str(v)) if witness.dtype.kind == "U" else Fraction(float(v)) for v in witness]


@pytest.mark.parametrize("scale", [*SCALES])
@pytest.mark.parametrize("intercept", [True, False])
def test_facts(scale, intercept):
    seen = set()
    for X, t in samples(scale):
        found = {claim.name: claim for claim in separability(X, t, intercept).certificate.claims}
        true, rows = kind(X, t, intercept), lifted(X, t, intercept)
        assert ("separation.direction" in found) == (true == "strict")
        assert ("separation.weak_direction" in found) == (true == "weak")
        assert ("separation.farkas" in found) == (true != "strict")
        assert ("separation.overlap" in found) == (true == "overlap")
        for name in ("separation.direction", "separation.weak_direction"):
            if name in found:
                scores = [dot(row, integers_of(found[name].witness["v"])) for row in rows]
                assert min(scores) >= 0 and found[name].value == sum(score > 0 for score in scores)
                assert found[name].numbers.get("rows", len(t)) == len(t)
        for name in ("separation.farkas", "separation.overlap"):
            if name in found:  # a combination with positive weights vanishes: these rows alone overlap
                proof = found[name].witness["rows"]
                assert kind(X[proof], t[proof], intercept) == "overlap" and found[name].value == len(
                    set(proof.tolist())
                )
        seen |= {true, *_columns(found, X, t, intercept)}
    assert {"strict", "overlap"} <= seen
    assert {"columns", "set"} & seen or scale == "shifted"  # far from the origin no line through it separates


def _columns(found, X, t, intercept):
    """Compare what is stated about columns with the truth; return which claims were there."""
    claim = found.get("separation.columns")
    if claim is not None:
        for name in ("strict", "weak"):
            assert all(kind(X[:, [j]], t, intercept) == name for j in claim.witness[name])
        assert claim.value == len(claim.witness["strict"]) + len(claim.witness["weak"]) > 0
        yield "columns"
    claim = found.get("separation.column_set")
    if claim is not None:
        listed = sorted(set(claim.witness["columns"].tolist()))
        true = kind(X[:, listed], t, intercept)
        assert true == "strict" or (true == "weak" and not claim.numbers["strict"])
        assert claim.value == len(listed)
        yield "set"


@pytest.mark.parametrize("scale", [*SCALES])
@pytest.mark.parametrize("intercept", [True, False])
def test_widths_and_lengths(scale, intercept):
    widths = 0
    for X, t in samples(scale):
        found = {claim.name: claim for claim in separability(X, t, intercept).certificate.claims}
        rows = rational(X)
        claim = found.get("separation.margin_bracket")
        if claim is not None:
            square = squared_gap_of_hulls(rows, t, 3) if intercept else squared_hull_distance(gram(rows, t), 3)
            assert at_most_root(claim.value, square) and at_least_root(claim.numbers["up"], square)
            assert Fraction(claim.numbers["up"]) <= Fraction(claim.value) * (1 + Fraction(1, 10**2)) or scale == "huge"
            widths += 1
        claim = found.get("separation.radius")
        if claim is not None:
            square = max(dot(row, row) for row in rows)
            assert at_least_root(claim.value, square)
            assert Fraction(claim.value) ** 2 <= square * (1 + Fraction(1, 10**12)) + Fraction(2) ** -990
    assert widths > 1 or scale == "tiny"  # whose squares underflow


@pytest.mark.parametrize("n", [1, 2, 9])
def test_one_class(n):
    claim = separability(np.arange(2.0 * n).reshape(n, 2), ["only"] * n).certificate["separation.one_class"]
    assert claim.value == n


def test_a_hyperplane_through_the_origin_has_no_intercept():
    X, y = np.array([[1.0], [2.0], [-3.0]]), np.array([1, 1, -1])  # the margin is 1, and 2 with an intercept
    certificate = separability(X, y, intercept=False).certificate
    claim = certificate["separation.margin_bracket"]
    assert at_most_root(claim.value, 1) and claim.value > 0.999
    moved = {**claim.witness, "b": np.array([abs(float(claim.witness["w"][0]))])}
    with pytest.raises(CertificateError, match=r"separation\.margin_bracket"):
        with_claim(certificate, "separation.margin_bracket", value=1.9, witness=moved).verify(X, y)
