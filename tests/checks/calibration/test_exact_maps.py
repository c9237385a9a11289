"""Gaps of calibration maps against the best maps in rational numbers and with many digits."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from tests.checks.exact import SAMPLES, matrix, newton, number, numbers, penalized, require_upper, sample

import surefit

pytestmark = pytest.mark.usefixtures("digits")


def fitted(data, method, several):
    """A calibrated classifier, and the scores, labels, weights and map of each pair of classifier and map."""
    X, _, c, k, w = sample(data, n=12)
    X, y, w = X * [1.0, 1e-3], k if several else c, np.where(w > 0, w, 0.125)
    base = surefit.LogisticRegression(C=1e-2 if data == "scales" else 1.0)
    model = surefit.CalibratedClassifierCV(base, method=method, cv=2).fit(X, y, sample_weight=w)
    rows, starts = model.certificate_.model["calibration_rows_"], model.certificate_.model["calibration_starts_"]
    parts = []
    for j, pair in enumerate(model.calibrated_classifiers_):
        own = rows[starts[j] : starts[j + 1]]
        scores, codes = np.asarray(model.calibration_scores_[j]), y[own]
        if method == "temperature":
            parts.append((scores, codes, w[own], pair.calibrators[0]))
            continue
        classes = [1] if not several else pair.estimator.classes_.tolist()
        parts += [
            (scores[:, m], (codes == label).astype(int), w[own], pair.calibrators[m]) for m, label in enumerate(classes)
        ]
    return model, parts


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("data", SAMPLES)
def test_sigmoids(data, several):
    model, parts = fitted(data, "sigmoid", several)
    worst = mpf(0)
    for scores, codes, w, own in parts:
        s = numbers(w)
        ones = mpmath.fsum(v for v, one in zip(s, codes, strict=True) if one)
        rest = mpmath.fsum(s) - ones
        targets = [(ones + 1) / (ones + 2) if one else 1 / (rest + 2) for one in codes]

        def loss(i, z, s=s, targets=targets):
            p, total = 1 / (1 + mpmath.exp(-z)), mpmath.fsum(s)
            value = targets[i] * mpmath.log1p(mpmath.exp(-z)) + (1 - targets[i]) * mpmath.log1p(mpmath.exp(z))
            return s[i] / total * value, s[i] / total * (p - targets[i]), s[i] / total * p * (1 - p)

        Z = matrix(np.column_stack([scores, np.ones(len(scores))]))
        best = penalized(Z, loss, [mpf(0), mpf(0)])
        point = mpmath.matrix([-number(own.a_), -number(own.b_)])
        values = [mpmath.fsum(loss(i, z)[0] for i, z in enumerate(Z * v)) for v in (point, best)]
        worst = max(worst, values[0] - values[1])
    claim = model.certificate_["calibration.sigmoid"]
    assert claim.numbers["maps"] == len(parts) == (6 if several else 2)
    require_upper(claim, worst, 1e-6)


def isotonic(scores, hits, weights):
    """Values of the non-decreasing function of the scores with the smallest squared error, by pooling in rational numbers."""
    blocks = []  # (mean, weight, scores)
    for score in sorted(set(scores)):
        own = [(h, w) for s, h, w in zip(scores, hits, weights, strict=True) if s == score]
        mass = sum(w for _, w in own)
        blocks.append((sum(h * w for h, w in own) / mass, mass, [score]))
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            (a, u, s), (b, v, t) = blocks[-2:]
            blocks[-2:] = [((a * u + b * v) / (u + v), u + v, s + t)]
    return {score: value for value, _, own in blocks for score in own}


def interpolated(x, knots, values):
    """The piecewise linear function through the points, constant outside, in rational numbers."""
    if x <= knots[0]:
        return values[0]
    for a, b, u, v in zip(knots, knots[1:], values, values[1:], strict=False):
        if x <= b:
            return u + (x - a) / (b - a) * (v - u)
    return values[-1]


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("data", SAMPLES)
def test_isotonic_functions(data, several):
    model, parts = fitted(data, "isotonic", several)
    worst = Fraction(0)
    for scores, codes, w, own in parts:
        x, h, s = ([Fraction(float(v)) for v in part] for part in (scores, codes, w))
        knots, values = ([Fraction(float(v)) for v in part] for part in (own.X_thresholds_, own.y_thresholds_))
        best = isotonic(x, h, s)
        errors = [
            sum(v * (hit - f(a)) ** 2 for a, hit, v in zip(x, h, s, strict=True)) / sum(s)
            for f in (lambda a, knots=knots, values=values: interpolated(a, knots, values), best.get)
        ]
        worst = max(worst, errors[0] - errors[1])
    require_upper(model.certificate_["calibration.isotonic"], number(worst), 1e-9)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("data", SAMPLES)
def test_temperatures(data, several):
    model, parts = fitted(data, "temperature", several)
    low, high = number(math.exp(-10)), number(math.exp(10))  # the range of inverse temperatures
    worst = mpf(0)
    for scores, codes, w, own in parts:
        A, s = matrix(scores), numbers(w)
        total = mpmath.fsum(s)

        def evaluate(beta, A=A, s=s, codes=codes, total=total):
            value = slope = curve = mpf(0)
            for i, label in enumerate(codes.tolist()):
                away = [v - A[i, label] for v in A[i, :]]
                powers = [mpmath.exp(beta[0] * v) for v in away]
                first, second = (
                    mpmath.fsum(p * v**k for p, v in zip(powers, away, strict=True)) / sum(powers) for k in (1, 2)
                )
                value += s[i] / total * mpmath.log(sum(powers))
                slope += s[i] / total * first
                curve += s[i] / total * (second - first**2)
            return value, mpmath.matrix([slope]), mpmath.matrix([[curve]])

        ends = [mpmath.matrix([v]) for v in (low, high)]
        if evaluate(ends[0])[1][0] >= 0:
            best = ends[0]
        elif evaluate(ends[1])[1][0] <= 0:
            best = ends[1]
        else:
            best = newton(evaluate, mpmath.matrix([number(own.beta_)]))
        assert low <= best[0] <= high
        worst = max(worst, evaluate(mpmath.matrix([number(own.beta_)]))[0] - evaluate(best)[0])
    require_upper(model.certificate_["calibration.temperature"], worst, 1e-6)
