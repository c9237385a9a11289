"""What perceptrons state about their runs on rows that round, against sums in rational numbers.

A run is the textbook's algorithm in float64 arithmetic, so it is made again here in Python's floats, term by term from left to right.
"""

import math
from fractions import Fraction

import dask.array as da
import numpy as np
import pytest
from tests.exact_geometry import dot, gram, rational, squared_hull_distance
from tests.forging import proved

from surefit import AveragedPerceptron, MarginPerceptron, Perceptron

SCALES = {"plain": [1.0, 1.0], "large and small": [1e6, 1e-6], "tiny": [1e-150, 1e-150], "huge": [1e100, 1.0]}
TRUE_ROUNDING = 1e-9  # of the sizes that were added up; a stated rounding is not larger
stopped = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def rows_of(scale, seed=0, n=9):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) * SCALES[scale]
    t = np.where(X[:, 0] / SCALES[scale][0] + 0.2 * rng.normal(size=n) > 0, 1, -1)
    t[:2] = 1, -1
    X[3] = X[2]
    return X, t


def float_run(X, t, step, passes, beta):
    """Rosenblatt's rule in floats; return the weights after each visit, the updated rows and the last weights of each pass."""
    w, b, held, log, ends = [0.0] * X.shape[1], 0.0, [], [], []
    for _ in range(passes):
        for i, row in enumerate(X.tolist()):
            score, s = 0.0, float(t[i])
            for v, x in zip(w, row, strict=True):
                score += v * x
            if s * (score + b) <= 0:
                w = [v + step * s * x for v, x in zip(w, row, strict=True)]
                b = b + step * s * beta
                log.append(i)
            held.append([*w, b])
        ends.append((len(log), [*w, b]))
    return held, log, ends


@stopped
@pytest.mark.filterwarnings("ignore::surefit.core.errors.DataWarning")  # partitions of four rows may have one label
@pytest.mark.parametrize("scale", [*SCALES])
@pytest.mark.parametrize("eta0", [0.1, 1e-3])
def test_mean_of_the_weights_after_each_visit(scale, eta0):
    X, t = rows_of(scale)
    model = AveragedPerceptron(max_iter=5, tol=None, eta0=eta0).fit(
        da.from_array(X, chunks=(4, 2)), da.from_array(t, chunks=4)
    )
    claim = model.certificate_["perceptron.mean"]
    visits = claim.numbers["visits"]
    held, log, _ = float_run(X, t, eta0, visits // len(X), 1.0)
    assert visits == len(held) and model.certificate_["perceptron.passes"].value == len(log)
    means = [sum(column, Fraction(0)) / visits for column in zip(*map(rational, held), strict=True)]
    stored = rational([*model.coef_[0], model.intercept_[0]])
    square = sum((a - b) ** 2 for a, b in zip(means, stored, strict=True))
    assert square <= Fraction(claim.value) ** 2
    assert claim.value <= TRUE_ROUNDING * (1.0 + eta0 * len(log) * float(np.max(np.abs(X))))


@stopped
@pytest.mark.parametrize("scale", [*SCALES])
@pytest.mark.parametrize("logged", [0, 3])
def test_sum_of_updates_that_were_not_logged(scale, logged):
    X, t = rows_of(scale)
    model = Perceptron(max_iter=30, tol=None, shuffle=False, eta0=0.3, max_log=logged).fit(X, t)
    claim = model.certificate_["perceptron.sum"]
    _, log, ends = float_run(X, t, 0.3, model.n_iter_, 1.0)
    weights = ends[-1][1]
    assert [*model.coef_[0], model.intercept_[0]] == weights and model.n_updates_ == len(log) > logged
    steps = [Fraction(0.3) * int(t[i]) for i in log]
    sums = [sum((a * row for a, row in zip(steps, column, strict=True)), Fraction(0))
            for column in zip(*([*rational(X[i]), Fraction(1)] for i in log), strict=True)]  # fmt: skip
    worst = max(abs(a - b) for a, b in zip(sums, rational(weights), strict=True))
    assert worst <= Fraction(claim.value)
    size = 1.0 + len(log) * float(np.max(np.abs(X)))
    assert claim.value <= TRUE_ROUNDING * size
    wrong = model.coef_ + 1e-3 * size
    worst = max(abs(a - b) for a, b in zip(sums, rational(wrong[0]), strict=False))
    proof = proved(model, "perceptron.sum", X, t, coef_=wrong)
    assert worst <= Fraction(proof.value) <= worst * (1 + Fraction(1, 10**6))


@pytest.mark.parametrize("scale", ["plain", "large and small", "tiny"])
@pytest.mark.parametrize("intercept", [True, False])
def test_updates_inside_the_margin(scale, intercept):
    X, t = rows_of(scale, 3)
    X[:, 0] = t * (np.abs(X[:, 0]) + 0.3 * SCALES[scale][0])  # separable
    model = MarginPerceptron(max_iter=2000, order="cyclic", fit_intercept=intercept and scale != "tiny").fit(X, t)
    claim, beta = model.certificate_["perceptron.margin_updates"], Fraction(int(model.fit_intercept))
    rows, log = rational(X), claim.witness["rows"].tolist()
    share = Fraction(1 - model.epsilon) * Fraction(float(model.gamma_[0]))
    lengths = [math.sqrt(dot(row, row) + beta) if scale != "tiny" else math.hypot(*map(float, row)) for row in rows]
    w, b = [Fraction(0), Fraction(0)], Fraction(0)
    for number, i in enumerate(log):
        s, length = int(t[i]), Fraction(lengths[i])
        inside = s * (dot(w, rows[i]) + b) / length
        square = dot(w, w) + (b * b / beta if beta else 0)
        assert inside <= Fraction(1, 10**9) or (number and inside**2 <= share**2 * square * (1 + Fraction(1, 10**9)))
        w = [v + s * x / length for v, x in zip(w, rows[i], strict=True)]
        b += s * beta / length
    assert claim.value == len(log) == model.n_updates_
    for exact, stored in zip([*w, b], [*model.coef_[0], model.intercept_[0]], strict=True):
        assert abs(exact - Fraction(float(stored))) <= Fraction(len(log), 10**14)


@pytest.mark.parametrize("offset", [0.0, 0.25])
@pytest.mark.parametrize(
    ("scale", "intercept"), [(1.0, True), (1.0, False), (3.0, False), (2.0**-500, False), (2.0**300, False)]
)
def test_cycles_cancel_and_repeat(offset, scale, intercept):
    X = scale * np.array([[1.0, 2.0], [-1.0, 0.5], [2.0, 4.0], [1.0, 1.0], [1.0, 1.0]]) + offset * scale
    t = np.array([1, 1, -1, 1, -1])
    beta = 1 if intercept else 0
    model = Perceptron(max_iter=400, tol=None, shuffle=False, fit_intercept=intercept).fit(X, t)
    claim = model.certificate_["perceptron.cycle"]
    alpha, rows = claim.witness["alpha"].tolist(), rational(X)
    assert squared_hull_distance(gram(rows, t, beta), 4) == 0  # no direction has a positive margin
    for j in range(2):
        assert sum(a * int(s) * row[j] for a, s, row in zip(alpha, t, rows, strict=True)) == 0
    assert beta * sum(a * int(s) for a, s in zip(alpha, t, strict=True)) == 0
    _, log, ends = float_run(X, t, 1.0, 3 * model.n_iter_, float(beta))
    done, weights = ends[model.n_iter_ - 1]
    first = next(count for count, held in [(0, [0.0] * 3), *ends] if held == weights)
    assert claim.value == sum(alpha) == done - first
    assert np.bincount(log[first:done], minlength=len(t)).tolist() == alpha
    assert log[done : done + len(log[first:done])] == log[first:done]  # and again
