"""Margins that perceptrons state, against the largest margin by enumeration in rational numbers; squares of margins are rational."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from tests.exact_geometry import (
    at_least_root,
    at_most_root,
    dot,
    gram,
    rational,
    squared_gap_of_hulls,
    squared_hull_distance,
    weighted_square,
)

from surefit import BatchPerceptron, MarginPerceptron, Perceptron, VariableIncrementPerceptron

#: Scales and shifts of the two columns; the first column tells the classes apart.
SHAPES = {
    "plain": ([1.0, 1.0], [0.0, 0.0]),
    "large and small": ([1e6, 1e-6], [0.0, 0.0]),
    "small": ([1e-6, 1e-6], [0.0, 0.0]),
    "shifted": ([1.0, 3.0], [2.0, -1.0]),
    "tiny": ([1e-150, 1e-150], [0.0, 0.0]),
}
stopped = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def labeled(shape, seed=0, n=7):
    """Rows that a line through the origin tells apart before they are shifted, with one tie; labels -1 and 1."""
    rng = np.random.default_rng(seed)
    t = np.where(np.arange(n) % 2 == 0, 1, -1)
    X = rng.uniform(-1, 1, size=(n, 2))
    X[:, 0] = t * rng.uniform(0.3, 2, size=n)
    X[2] = X[0]
    scale, shift = SHAPES[shape]
    return X * scale + shift, t


def squared_margin(rows, t, w, b=0, beta=0):
    """Sign and square of the margin of the weights; the norm includes the intercept if there is a constant feature."""
    least = min(int(s) * (dot(w, row) + b) for row, s in zip(rows, t, strict=True))
    return (1 if least > 0 else -1) * least**2 / (dot(w, w) + (b * b / beta if beta else 0))


def require_upper(value, G, alpha, scale):
    """The stated number is at least the largest margin, and no more than the witness and rounding give."""
    assert at_least_root(value, squared_hull_distance(G, 4))
    hull = weighted_square(G, alpha)
    assert at_least_root(value, hull)
    assert at_most_root(value - 1e-12 * scale, hull * (1 + Fraction(1, 10**9)))


def longest(G):
    return max(G[i][i] for i in range(len(G))) ** Fraction(1, 2)


@stopped
@pytest.mark.parametrize("shape", [*SHAPES])
@pytest.mark.parametrize("options", [{"fit_intercept": False}, {"bias": "augmented", "bias_constant": 0.3}])
def test_runs_that_did_not_end(shape, options):
    X, t = labeled(shape)
    X[1] = X[0] * 0.5 + (0.0 if shape != "shifted" else 1.0)  # a row on the wrong side
    beta = Fraction(0.3 * 0.3) if "bias" in options else Fraction(0)
    for max_iter in (1, 2, 40):
        for model in (
            Perceptron(max_iter=max_iter, tol=None, shuffle=False, eta0=0.1, **options).fit(X, t),
            VariableIncrementPerceptron(max_iter=max_iter, tol=None, order="cyclic", **options).fit(X, t),
        ):
            claim, G = model.certificate_["perceptron.margin_at_most"], gram(rational(X), t, beta)
            require_upper(claim.value, G, rational(claim.witness["alpha"]), longest(G))


@stopped
@pytest.mark.parametrize("shape", [*SHAPES])
@pytest.mark.parametrize("intercept", [False, True])
def test_batch_runs_that_did_not_end(shape, intercept):
    X, t = labeled(shape)
    s = np.array([0.5, 0.0, 3.0, 1e-3, 2.0, 0.25, 0.0])
    X[1] = -X[1]  # on the wrong side, and without weight
    X[3] = X[0]
    used = s > 0
    model = BatchPerceptron(max_iter=3, tol=None, fit_intercept=intercept).fit(X, t, sample_weight=s)
    claim, G = model.certificate_["perceptron.batch_margin_at_most"], gram(rational(X[used]), t[used], int(intercept))
    require_upper(claim.value, G, rational(claim.witness["alpha"][used]), longest(G))


@pytest.mark.parametrize("shape", [*SHAPES])
@pytest.mark.parametrize("seed", range(3))
def test_width_of_a_separated_hyperplane(shape, seed):
    X, t = labeled(shape, seed)
    rows, bias = rational(X), {"bias": "r_squared"} if shape in ("small", "tiny") else {}
    model = Perceptron(max_iter=20_000, tol=None, shuffle=False, eta0=0.1, **bias).fit(X, t)
    claim = model.certificate_["perceptron.geometric_margin"]
    own = squared_margin(rows, t, rational(model.coef_[0]), Fraction(float(model.intercept_[0])))
    widest = squared_gap_of_hulls(rows, t, 3)
    assert at_most_root(claim.value, own) and own <= widest and at_least_root(claim.numbers["up"], widest)
    assert Fraction(claim.value) ** 2 >= own * (1 - Fraction(1, 10**6))
    assert Fraction(claim.numbers["up"]) ** 2 <= max(dot(row, row) for row in rows)


def unit_gram(X, t, beta):
    rows = rational(X)
    G = gram(rows, t, beta)
    lengths = [mpmath.sqrt(_number(G[i][i])) for i in range(len(rows))]
    return [[_number(G[i][j]) / lengths[i] / lengths[j] for j in range(len(rows))] for i in range(len(rows))], lengths


def _number(fraction):
    return mpf(fraction.numerator) / mpf(fraction.denominator)


@pytest.mark.parametrize("shape", [*SHAPES])
@pytest.mark.parametrize("intercept", [False, True])
def test_margin_on_rows_of_unit_length(shape, intercept):
    X, t = labeled(shape, 1)
    if intercept and shape in ("small", "tiny"):
        bias = {"bias": "augmented", "bias_constant": float(np.max(np.abs(X)))}
        beta = Fraction(bias["bias_constant"] ** 2)
    else:
        bias, beta = {"fit_intercept": intercept}, Fraction(int(intercept))
    if shape == "shifted" and not intercept:
        X = X - np.array(SHAPES[shape][1])
    with mpmath.workdps(60):
        model = MarginPerceptron(max_iter=20_000, epsilon=0.3, **bias).fit(X, t)
        claim = model.certificate_["perceptron.unit_margin"]
        G, lengths = unit_gram(X, t, beta)
        w, b = rational(model.coef_[0]), Fraction(float(model.intercept_[0]))
        norm = mpmath.sqrt(_number(dot(w, w) + (b * b / beta if beta else 0)))
        reached = min(
            int(s) * _number(dot(w, row) + b) / length for row, s, length in zip(rational(X), t, lengths, strict=True)
        )
        best = mpmath.sqrt(squared_hull_distance(G, 4))
        assert claim.value <= reached / norm <= best <= claim.numbers["up"]
        assert claim.value >= 0.999 * reached / norm and claim.numbers["up"] <= 1 + 1e-9


@stopped
@pytest.mark.parametrize("shape", [*SHAPES])
def test_margin_that_no_direction_has_on_rows_of_unit_length(shape):
    X, t = labeled(shape, 2)
    if shape == "large and small":
        t[4] = -t[4]  # else all unit rows are nearly equal, and the run ends
    with mpmath.workdps(60):
        model = MarginPerceptron(gamma=0.999, epsilon=0.001, max_iter=30).fit(X, t)
        claim = model.certificate_["perceptron.unit_margin_at_most"]
        G, _ = unit_gram(X, t, Fraction(1))
        hull = mpmath.sqrt(weighted_square(G, [mpf(float(a)) for a in claim.witness["alpha"]]))
        assert (
            mpmath.sqrt(abs(squared_hull_distance(G, 4))) <= hull + mpf(10) ** -25
            and hull <= claim.value <= hull + mpf(10) ** -9
        )


@pytest.mark.parametrize("shape", [*SHAPES])
@pytest.mark.parametrize("threshold", [0.0, 0.7])
def test_sums_of_steps_after_every_update(shape, threshold):
    X, t = labeled(shape)
    options = {"max_iter": 50_000, "tol": None, "order": "cyclic"}
    bias = {"bias": "r_squared"} if shape in ("small", "tiny") else {}
    threshold *= float(np.max(np.abs(X))) ** 2
    model = VariableIncrementPerceptron(threshold=threshold, **bias, **options).fit(X, t)
    rows, beta = rational(X), Fraction(model.certificate_.problem["bias_step"])
    w, b = rational(model.coef_[0]), Fraction(float(model.intercept_[0]))
    factors = rational(model.certificate_["perceptron.replay"].witness["factors"])
    square = max(dot(row, row) for row in rows) + beta
    assert not bias or abs(beta / (square - beta) - 1) < Fraction(1, 10**12)
    with mpmath.workdps(60):
        margin, worst, S, Q = (
            mpmath.sqrt(_number(squared_margin(rows, t, w, b, beta))),
            mpf(0),
            Fraction(0),
            Fraction(0),
        )
        for step in factors:
            S, Q = S + step, Q + step * step
            worst = max(worst, _number(S) / mpmath.sqrt(_number(2 * Fraction(threshold) * S + square * Q)))
        claim = model.certificate_["perceptron.prefix"]
        assert margin * worst <= claim.value <= margin * worst * (1 + mpf(10) ** -6) and claim.value <= 1
