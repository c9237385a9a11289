"""Smoothing splines against rational numbers: objectives, traces, criteria and derivatives from the textbook's matrices."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from tests.exact_geometry import dot, eliminated, rational
from tests.forging import proved
from tests.splines.exact import merged

from surefit import SmoothingSpline

N = 8
SHAPES = {"plain": (1.0, 0.0, 0.0), "long": (1e6, 0.0, 0.0), "short": (1e-6, 1.0, 0.0), "far": (1.0, 1e3, 1e6)}
WEIGHTS = np.array([1.0, 2.0, 0.5, 1.0, 0.0, 3.0, 1.0, 0.25])


def sample(shape, seed=0):
    scale, shift, offset = SHAPES[shape]
    rng = np.random.default_rng(seed)
    x = (np.arange(N) + rng.uniform(-0.3, 0.3, size=N)) / N
    y = np.sin(5 * x) + 0.2 * rng.normal(size=N) + offset
    x[6] = x[5]  # a tie
    return x * scale + shift, y, scale


class Exact:
    """The quadratic problem of a smoothing spline: ``sum w (y - g)^2 + S lam g'Kg``, with means of tied rows."""

    def __init__(self, x, y, weights, degree):
        s = np.ones(N) if weights is None else weights
        self.rows = [(a, b, c) for a, b, c in zip(rational(x), rational(y), rational(s), strict=True) if c]
        self.knots, self.w, self.y = merged(x[s > 0], y[s > 0], s[s > 0])
        self.total, n = sum(self.w), len(self.knots)
        self.within = sum(c * (b - self.y[self.knots.index(a)]) ** 2 for a, b, c in self.rows)
        h = [b - a for a, b in pairwise(self.knots)]
        if degree == 1:
            D = [[(i == j + 1) - (i == j) for i in range(n)] for j in range(n - 1)]
            self.K = [
                [sum(row[i] * row[j] / gap for row, gap in zip(D, h, strict=True)) for j in range(n)] for i in range(n)
            ]
            return
        Q = [[Fraction(0)] * n for _ in range(n - 2)]
        R = [[Fraction(0)] * (n - 2) for _ in range(n - 2)]
        for i in range(n - 2):
            Q[i][i : i + 3] = [1 / h[i], -1 / h[i] - 1 / h[i + 1], 1 / h[i + 1]]
            R[i][i] = (h[i] + h[i + 1]) / 3
            if i + 1 < n - 2:
                R[i][i + 1] = R[i + 1][i] = h[i + 1] / 6
        columns = [eliminated(R, [row[j] for row in Q]) for j in range(n)]  # second derivatives of unit values
        self.K = [[dot(columns[j], [row[i] for row in Q]) for j in range(n)] for i in range(n)]

    def matrix(self, lam):
        strength = Fraction(float(lam)) * self.total
        return [
            [strength * v + (self.w[i] if i == j else 0) for j, v in enumerate(row)] for i, row in enumerate(self.K)
        ]

    def best(self, lam):
        return eliminated(self.matrix(lam), [a * b for a, b in zip(self.w, self.y, strict=True)])

    def excess(self, g, lam):
        """P(g) - min P: the quadratic form of the difference from the minimizer."""
        off = [a - b for a, b in zip(g, self.best(lam), strict=True)]
        return dot(off, [dot(row, off) for row in self.matrix(lam)]) / self.total, max(map(abs, off))

    def variances(self, lam):
        n = len(self.knots)
        return [eliminated(self.matrix(lam), [int(i == j) for i in range(n)])[j] for j in range(n)]

    def criterion(self, lam, name):
        g, v = self.best(lam), self.variances(lam)
        squares = self.within + sum(w * (a - b) ** 2 for w, a, b in zip(self.w, self.y, g, strict=True))
        left = self.total - dot(self.w, v)
        if name == "gcv":
            return self.total * squares / left**2
        at = {knot: i for i, knot in enumerate(self.knots)}
        errors = [(c, (b - g[at[a]]) / (1 - min(c, 1) * v[at[a]])) for a, b, c in self.rows]
        return sum(c * e * e for c, e in errors) / self.total

    def noise(self, lam):
        g, v = self.best(lam), self.variances(lam)
        squares = self.within + sum(w * (a - b) ** 2 for w, a, b in zip(self.w, self.y, g, strict=True))
        return squares / (self.total - dot(self.w, v))


def cases(degree):
    for shape in SHAPES:
        for weights in (None, WEIGHTS):
            x, y, scale = sample(shape)
            for strength in (1e-6, 1e-2, 10.0):
                yield x, y, weights, strength * scale**degree


def require_gap(exact, g, lam, value, apart):
    """Between the values and the minimizer there is a spline within ``apart`` of the values and ``value`` of the optimum."""
    excess, off = exact.excess(g, lam)
    share = max(1 - Fraction(apart) / off, Fraction(0)) if off else Fraction(0)
    assert share**2 * excess <= Fraction(value)


@pytest.mark.parametrize("degree", [1, 3])
def test_gap(degree):
    for x, y, weights, lam in cases(degree):
        model = SmoothingSpline(degree, lam=lam).fit(x, y, sample_weight=weights)
        exact, claim = Exact(x, y, weights, degree), model.certificate_["smoothing_spline.gap"]
        g = rational(model.coef_[0])
        require_gap(exact, g, lam, claim.value, claim.numbers["apart"])
        assert claim.numbers["apart"] <= 1e-9 * (1 + np.max(np.abs(y))) and claim.value <= 1e-9 * (1 + np.max(y**2))
        wrong = model.coef_.copy()
        wrong[0, 3] += 0.1  # not the values of the spline: either the gap or the distance from the values says so
        proof = proved(model, "smoothing_spline.gap", x[:, None], y, weights, coef_=wrong)
        apart = sum(proof.numbers["apart"])  # with the rounding that a statement allows for
        require_gap(exact, rational(wrong[0]), lam, proof.value, apart)
        assert proof.value > 1e-6 or apart > 0.099


@pytest.mark.parametrize("degree", [1, 3])
def test_trace_and_noise(degree):
    for x, y, weights, lam in cases(degree):
        model = SmoothingSpline(degree, lam=lam).fit(x, y, sample_weight=weights)
        exact, claim = Exact(x, y, weights, degree), model.certificate_["smoothing_spline.edof"]
        trace, noise = dot(exact.w, exact.variances(lam)), exact.noise(lam)
        assert claim.numbers["edof"] == model.edof_
        assert abs(Fraction(float(model.edof_)) - trace) <= Fraction(claim.value) <= Fraction(1, 10**9)
        assert abs(Fraction(float(model.sigma2_)) - noise) <= Fraction(claim.numbers["variance"]) * noise
        assert claim.numbers["variance"] <= 1e-3
        wrong = {"edof_": model.edof_ + 0.1, "sigma2_": 1.1 * model.sigma2_}
        proof = proved(model, "smoothing_spline.edof", x[:, None], y, weights, **wrong)
        off, share = abs(Fraction(wrong["edof_"]) - trace), abs(Fraction(wrong["sigma2_"]) - noise) / noise
        assert off <= Fraction(proof.value + proof.spread) <= Fraction(101, 100) * off + Fraction(proof.spread)
        assert share <= Fraction(sum(proof.numbers["variance"])) <= 3 * share


@pytest.mark.parametrize("degree", [1, 3])
def test_derivatives(degree):
    for x, y, weights, lam in cases(degree):
        model = SmoothingSpline(degree, lam=lam).fit(x, y, sample_weight=weights)
        exact, claim = Exact(x, y, weights, degree), model.certificate_["smoothing_spline.derivatives"]
        theta = rational(model.certificate_["smoothing_spline.gap"].witness["dual"][:, 0])
        basis = [[Fraction(1)] * len(theta), exact.knots][: (degree + 1) // 2]
        G = [[sum(w * a * b for w, a, b in zip(exact.w, p, q, strict=True)) for q in basis] for p in basis]
        for factor, column in zip(eliminated(G, [dot(theta, p) for p in basis]), basis, strict=True):
            theta = [t - factor * w * v for t, w, v in zip(theta, exact.w, column, strict=True)]
        strength, h = Fraction(float(lam)) * exact.total, [b - a for a, b in pairwise(exact.knots)]
        tail = [sum(theta[i + 1 :]) / strength for i in range(len(h))]
        if degree == 1:
            parts = [(model.coef_[1, :-1], tail)]
        else:  # the second derivative vanishes at the last knot, and its slope is minus the tail
            bend = [sum(gap * t for gap, t in zip(h[i:], tail[i:], strict=True)) for i in range(len(h))]
            parts = [(model.coef_[2, :-1], bend), (model.coef_[3, :-1], [-t for t in tail])]

        def off(parts):
            return sum(
                max(abs(a - b) for a, b in zip(rational(stored), own, strict=True)) / max(map(abs, own))
                for stored, own in parts
            )

        assert off(parts) <= Fraction(claim.value) <= Fraction(1, 10**5)
        wrong = model.coef_.copy()
        wrong[-1] *= 1.5
        proof = proved(model, "smoothing_spline.derivatives", x[:, None], y, weights, coef_=wrong)
        found = off([*parts[:-1], (wrong[-1, :-1], parts[-1][1])])
        assert found <= Fraction(proof.value + proof.spread) and proof.value <= 0.51


@pytest.mark.parametrize("degree", [1, 3])
@pytest.mark.parametrize("name", ["gcv", "loo"])
def test_choice(degree, name):
    for shape in SHAPES:
        for weights in (None, WEIGHTS):
            x, y, scale = sample(shape, 1)
            near = 1e-3 * scale**degree
            lams = [near * 10.0**k for k in range(-2, 3)] + [np.nextafter(near, 1e300), near * (1 + 1e-12)]
            model = SmoothingSpline(degree, lam=name, lams=sorted(lams)).fit(x, y, sample_weight=weights)
            exact, claim = Exact(x, y, weights, degree), model.certificate_["smoothing_spline.choice"]
            scores = [exact.criterion(lam, name) for lam in lams]
            here = exact.criterion(model.lam_, name)
            assert claim.numbers["compared"] == len(lams) and claim.numbers["criterion"] == name
            assert here - min(scores) <= Fraction(claim.value) <= Fraction(1, 10**8) * here
            other = [model.lam_ * 30]
            proof = proved(model, "smoothing_spline.choice", x[:, None], y, weights, {"lam": other})
            worse = exact.criterion(other[0], name) - min(scores)
            allowed = Fraction(1, 10**9) * here  # a fit states this much more than rotations prove
            assert worse <= Fraction(proof.value) + allowed and Fraction(proof.value) <= worse + allowed
