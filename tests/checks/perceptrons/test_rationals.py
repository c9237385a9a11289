"""Runs of perceptrons on integers, made again in rational numbers: every claim must be true of the exact run.

On small integers floats do not round, so the logged updates and the last weights are those of the exact run. Margins and the number
of updates that Novikoff's theorem allows are compared by their squares, which are rational.
"""

from fractions import Fraction

import dask.array as da
import numpy as np
import pytest

from surefit import AveragedPerceptron, BatchPerceptron, KernelPerceptron, Perceptron, VotedPerceptron

SEEDS = range(6)


def integer_rows(seed, n=14, d=3, classes=2):
    """Integer rows that are separable: a direction per class scores the own class highest, by one at least."""
    rng = np.random.default_rng(seed)
    W = rng.integers(-3, 4, size=(classes, d + 1))
    X, y = [], []
    while len(X) < n or len(set(y)) < classes:
        x = rng.integers(-6, 7, size=d)
        scores = W @ np.append(x, 1)
        best = np.sort(scores)
        if best[-1] - best[-2] >= 1:
            X.append(x)
            y.append(int(np.argmax(scores)))
    return np.array(X, dtype=float), np.array(y)


def lifted(X, constant=1):
    return [[*(Fraction(int(v)) for v in row), Fraction(constant)] for row in X]


def dot(a, b):
    return sum((p * q for p, q in zip(a, b, strict=True)), Fraction(0))


def exact_run(rows, t, passes):
    """Rosenblatt's rule, rows in order: return the last weights, the updated rows, and the sum of weights after each visit."""
    w, log, total = [Fraction(0)] * len(rows[0]), [], [Fraction(0)] * len(rows[0])
    for _ in range(passes):
        before = len(log)
        for i, row in enumerate(rows):
            if t[i] * dot(w, row) <= 0:
                w = [a + int(t[i]) * b for a, b in zip(w, row, strict=True)]
                log.append(i)
            total = [a + b for a, b in zip(total, w, strict=True)]
        if len(log) == before:
            break
    return w, log, total


def squared_margin(rows, t, w):
    """Sign and square of the margin of ``w``."""
    least = min(int(s) * dot(w, row) for row, s in zip(rows, t, strict=True))
    return (1 if least > 0 else -1) * least * least / dot(w, w)


def require_bracket(claim, rows, t, w, alpha):
    """The margin of ``w`` is at least ``value``; the sum of the rows, weighted by ``alpha``, proves ``up``."""
    exact = squared_margin(rows, t, w)
    assert Fraction(claim.value) * abs(Fraction(claim.value)) <= exact
    assert exact - Fraction(claim.value) ** 2 <= Fraction(1, 10**9) * abs(exact)
    z = [
        sum((a * int(s) * row[j] for a, s, row in zip(alpha, t, rows, strict=True)), Fraction(0)) for j in range(len(w))
    ]
    hull = dot(z, z) / sum(alpha) ** 2
    assert hull <= Fraction(claim.numbers["up"]) ** 2 <= hull * (1 + Fraction(1, 10**9))
    assert exact <= hull


def require_allowed(claim, updates, square, exact_margin):
    """Rows of squared length at most ``square`` and the margin allow at least as many updates as were made."""
    allowed = square / exact_margin
    assert claim.value == updates <= allowed <= Fraction(claim.numbers["allowed"]) <= allowed * (1 + Fraction(1, 10**6))
    assert square <= Fraction(claim.numbers["radius"]) ** 2


@pytest.mark.parametrize("seed", SEEDS)
def test_perceptron(seed):
    X, y = integer_rows(seed)
    model = Perceptron(tol=None, max_iter=10_000, shuffle=False).fit(X, y)
    rows, t = lifted(X), np.where(y == 1, 1, -1)
    w, log, _ = exact_run(rows, t, 10_000)
    replay, bracket = model.certificate_["perceptron.replay"], model.certificate_["perceptron.margin"]
    assert replay.value == len(log) and replay.witness["rows"].tolist() == log
    assert [Fraction(v) for v in (*model.coef_[0], model.intercept_[0])] == w
    alpha = [Fraction(int(a)) for a in bracket.witness["alpha"]]
    require_bracket(bracket, rows, t, w, alpha)
    square = max(dot(row, row) for row in rows)
    require_allowed(model.certificate_["perceptron.novikoff"], len(log), square, squared_margin(rows, t, w))
    first = exact_run(rows, t, 1)[1]
    assert model.certificate_["perceptron.risk"].numbers["errors"] == len(first)
    model.verify(X, y)


@pytest.mark.parametrize("seed", SEEDS)
def test_one_against_the_rest_and_the_average(seed):
    X, y = integer_rows(seed, classes=3)
    passes, rows = 5, lifted(X)
    model = Perceptron(tol=None, max_iter=passes, shuffle=False).fit(X, y)
    mean = AveragedPerceptron(tol=None, max_iter=passes, order="cyclic").fit(X, y)
    replays = [c for c in model.certificate_.claims if c.name == "perceptron.replay"]
    averages = [c for c in mean.certificate_.claims if c.name == "perceptron.average"]
    for p, (replay, average) in enumerate(zip(replays, averages, strict=True)):
        w, log, total = exact_run(rows, np.where(y == p, 1, -1), passes)
        assert replay.numbers["problem"] == p and replay.value == len(log)
        assert [Fraction(v) for v in (*model.coef_[p], model.intercept_[p])] == w
        visits = average.numbers["visits"]
        stored = [Fraction(v) for v in (*mean.coef_[p], mean.intercept_[p])]
        worst = max(abs(a / visits - b) for a, b in zip(total, stored, strict=True))
        assert worst <= Fraction(average.value) <= Fraction(1, 10**9)


@pytest.mark.parametrize("seed", SEEDS)
def test_voters_and_the_visits_that_they_survived(seed):
    X, y = integer_rows(seed, n=12, classes=3)
    passes, rows, n = 4, lifted(X), len(X)
    model = VotedPerceptron(max_iter=passes, order="cyclic").fit(X, y)
    claims = [c for c in model.certificate_.claims if c.name == "perceptron.votes"]
    start = 0
    for p, claim in enumerate(claims):
        w, survived, ended = [Fraction(0)] * len(rows[0]), [0], 0
        for _ in range(passes):
            before, ended = len(survived), ended + n
            for i, row in enumerate(rows):
                sign = 1 if y[i] == p else -1
                if sign * dot(w, row) <= 0:
                    w = [a + sign * b for a, b in zip(w, row, strict=True)]
                    survived.append(0)
                survived[-1] += 1
            if len(survived) == before:
                break
        assert claim.value == len(survived) and claim.numbers == {"problem": p, "visits": ended}
        assert sum(survived) == ended and model.survivals_[start : start + len(survived)].tolist() == survived
        start += len(survived)
    assert len(claims) == 3 and start == len(model.survivals_)


@pytest.mark.filterwarnings("ignore::surefit.core.errors.DataWarning")  # partitions of five rows may have one label
@pytest.mark.parametrize("seed", SEEDS)
def test_passes_over_partitions(seed):
    X, y = integer_rows(seed, n=12)
    model = Perceptron(tol=None, max_iter=3).fit(da.from_array(X, chunks=(5, 3)), da.from_array(y, chunks=5))
    claim, rows, t = model.certificate_["perceptron.passes"], lifted(X), np.where(y == 1, 1, -1)
    runs = [exact_run(rows, t, passes) for passes in range(4)]
    passes = claim.numbers["passes"]
    assert 1 <= passes <= 3 and claim.value == len(runs[passes][1])
    assert claim.numbers["last"] == len(runs[passes][1]) - len(runs[passes - 1][1])
    assert [Fraction(v) for v in (*model.coef_[0], model.intercept_[0])] == runs[passes][0]


@pytest.mark.parametrize("seed", SEEDS)
def test_batch_perceptron(seed):
    X, y = integer_rows(seed)
    model = BatchPerceptron(schedule="constant").fit(X, y)
    rows, t = lifted(X), np.where(y == 1, 1, -1)
    replay = model.certificate_["perceptron.batch_replay"]
    w = [Fraction(v) for v in replay.witness["start"]]
    for eta in replay.witness["steps"]:
        wrong = [i for i, row in enumerate(rows) if t[i] * dot(w, row) <= 0]
        w = [a + Fraction(eta) * sum((int(t[i]) * rows[i][j] for i in wrong), Fraction(0)) for j, a in enumerate(w)]
    assert [Fraction(v) for v in (*model.coef_[0], model.intercept_[0])] == w
    bracket = model.certificate_["perceptron.batch_margin"]
    alpha = [Fraction(float(a)) for a in bracket.witness["alpha"]]
    require_bracket(bracket, rows, t, w, alpha)


@pytest.mark.parametrize("seed", SEEDS)
def test_all_classes_together(seed):
    X, y = integer_rows(seed, classes=3)
    model = Perceptron(tol=None, max_iter=10_000, shuffle=False, multi_class="joint").fit(X, y)
    rows, W, log = lifted(X), [[Fraction(0)] * 4 for _ in range(3)], []
    while True:
        before = len(log)
        for row, right in zip(rows, y.tolist(), strict=True):
            scores = [dot(w, row) for w in W]
            rival = max((c for c in range(3) if c != right), key=lambda c: (scores[c], -c))
            if scores[right] <= scores[rival]:
                W[right] = [a + b for a, b in zip(W[right], row, strict=True)]
                W[rival] = [a - b for a, b in zip(W[rival], row, strict=True)]
                log.append(rival)
        if len(log) == before:
            break
    replay, bracket = model.certificate_["perceptron.joint_replay"], model.certificate_["perceptron.joint_margin"]
    assert replay.value == len(log) and replay.witness["rivals"].tolist() == log
    assert [[Fraction(v) for v in (*w, b)] for w, b in zip(model.coef_, model.intercept_, strict=True)] == W
    least = min(
        dot(W[k], row) - max(dot(W[c], row) for c in range(3) if c != k) for row, k in zip(rows, y, strict=True)
    )
    norm = sum(dot(w, w) for w in W)
    assert (
        Fraction(bracket.value) ** 2 <= least**2 / norm <= norm / len(log) ** 2 <= Fraction(bracket.numbers["up"]) ** 2
    )
    square = 2 * max(dot(row, row) for row in rows)
    allowed = model.certificate_["perceptron.joint_novikoff"].numbers["allowed"]
    assert len(log) <= square * norm / least**2 <= Fraction(allowed)


@pytest.mark.parametrize("seed", SEEDS)
def test_kernel_perceptron(seed):
    X, y = integer_rows(seed)
    model = KernelPerceptron(
        kernel="poly", gamma=1.0, coef0=1.0, degree=2, tol=None, max_iter=10_000, order="cyclic", bias="plain"
    )
    model.fit(X, y)
    t = np.where(y == 1, 1, -1)
    K = [[(dot(a, b)) ** 2 + 1 for b in lifted(X)] for a in lifted(X)]  # (x'z + 1)^2, and the constant feature
    dual, log, square = [0] * len(y), [], Fraction(0)
    while True:
        before = len(log)
        for i in range(len(y)):
            margin = int(t[i]) * dot(dual, K[i])
            if margin <= 0:
                dual[i] += int(t[i])
                square += 2 * margin + K[i][i]
                log.append(i)
        if len(log) == before:
            break
    certificate, found = model.certificate_, np.zeros(len(y))
    found[model.support_] = model.dual_coef_[0]
    assert found.tolist() == dual and certificate["perceptron.kernel_replay"].numbers["updates"] == len(log)
    assert certificate["perceptron.kernel_replay"].value == 0.0
    exact = min(int(s) * dot(dual, k) for s, k in zip(t, K, strict=True)) ** 2 / square
    bracket = certificate["perceptron.kernel_margin"]
    assert Fraction(bracket.value) ** 2 <= exact <= square / len(log) ** 2 <= Fraction(bracket.numbers["up"]) ** 2
    assert exact - Fraction(bracket.value) ** 2 <= Fraction(1, 10**9) * exact
    radius = max(K[i][i] for i in range(len(y)))
    require_allowed(certificate["perceptron.kernel_novikoff"], len(log), radius, exact)
    assert sum(v != 0 for v in dual) == len(model.support_)
    model.verify(X, y)
