"""Rounds of boosting against rationals and many digits: stumps, margins, leaves, monotone scores and columns of trees."""

from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from scipy.optimize import linprog
from tests.checks.exact import SAMPLES, number, numbers, require_upper, sample

import surefit

pytestmark = pytest.mark.usefixtures("digits")
TINY = mpf(10) ** -9
ROUNDED = Fraction(1, 10**13)


def stump_answers(X, rows):
    """Answers -1 and 1 of all stumps on the rows, constants included."""
    found = {(1,) * len(rows), (-1,) * len(rows)}
    for j in range(X.shape[1]):
        for cut in np.unique(X[rows, j])[:-1]:
            line = tuple(np.where(X[rows, j] <= cut, -1, 1).tolist())
            found |= {line, tuple(-v for v in line)}
    return sorted(found)


def own_answers(model, X, rows):
    """Answers of the fitted stumps."""
    found = model.certificate_.model
    lines = zip(found["stump_features_"], found["stump_thresholds_"], found["stump_labels_"], strict=True)
    return [[int(2 * labels[int(X[i, j] > cut)] - 1) for i in rows] for j, cut, labels in lines]


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("data", SAMPLES)
def test_stumps_and_margins(data, weighted):
    X, _, c, _, w = sample(data, n=12)
    w = w if weighted else np.ones(len(X))
    rows = np.flatnonzero(w > 0).tolist()
    signs, s = [int(2 * c[i] - 1) for i in rows], [number(w[i]) for i in rows]
    for rate in (1.0, 0.3):
        model = surefit.AdaBoostClassifier(n_estimators=5, learning_rate=rate).fit(X, c, sample_weight=w)
        answers, own = stump_answers(X, rows), own_answers(model, X, rows)
        alphas = numbers(model.estimator_weights_)
        D, worst = [v / sum(s) for v in s], mpf(0)
        for alpha, line in zip(alphas, own, strict=True):
            errors = [
                mpmath.fsum(d for d, a, t in zip(D, said, signs, strict=True) if a != t) for said in [line, *answers]
            ]
            worst = max(worst, errors[0] - min(errors[1:]))
            D = [d * mpmath.exp(alpha) if a != t else d for d, a, t in zip(D, line, signs, strict=True)]
            D = [d / sum(D) for d in D]
        require_upper(model.certificate_["adaboost.stumps"], worst, TINY)
        votes = [
            t * mpmath.fsum(alpha * line[i] for alpha, line in zip(alphas, own, strict=True)) / sum(alphas)
            for i, t in enumerate(signs)
        ]
        # The largest margin of all votes by a linear program; its weights, made rational, are a vote.
        gain = np.array([[a * t for a, t in zip(said, signs, strict=True)] for said in answers], dtype=float)
        A = np.column_stack([-gain.T, np.ones(len(rows))])
        solved = linprog(
            [*np.zeros(len(answers)), -1], A_ub=A, b_ub=np.zeros(len(rows)), A_eq=[[*np.ones(len(answers)), 0]], b_eq=[1],
            bounds=[(0, None)] * len(answers) + [(None, None)],
        )  # fmt: skip
        shares = [Fraction(max(float(v), 0.0)) for v in solved.x[:-1]]
        best = min(
            sum(v * said[i] * t for v, said in zip(shares, answers, strict=True)) / sum(shares)
            for i, t in enumerate(signs)
        )
        claim = model.certificate_["adaboost.margin"]
        require_upper(claim, number(best) - min(votes), 2)
        require_upper(claim, number(best), 1, "reach")
        assert min(votes) - TINY <= claim.numbers["smallest_margin"] <= min(votes)


def leaves_of(found, k, X):
    """Indices of the leaves of the tree number k that the rows reach, and the values of its nodes."""
    start, stop = (int(found["tree_starts_"][k + j]) for j in range(2))
    feature, bins, left, right, value = (
        found[f"tree_{name}_"][start:stop] for name in ("feature", "bin", "left", "right", "value")
    )
    reached = []
    for row in X:
        node = 0
        while feature[node] >= 0:
            cut = found["bin_cuts_"][feature[node], bins[node]]
            node = int(left[node] if row[feature[node]] <= cut else right[node])
        reached.append(node)
    return reached, [Fraction(float(v)) for v in value]


@pytest.mark.parametrize("shift", [0.0, 1e6])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "quantile"])
@pytest.mark.parametrize("data", SAMPLES)
def test_leaves_of_boosted_trees(data, loss, shift):
    X, y, _, _, w = sample(data, n=12)
    y, rate, l2, share = y + shift, 0.3, 0.7 if loss == "squared_error" else 0.0, 0.7 if loss == "quantile" else 0.5
    model = surefit.HistGradientBoostingRegressor(
        loss=loss,
        quantile=0.7 if loss == "quantile" else None,
        max_iter=4,
        min_samples_leaf=2,
        learning_rate=rate,
        l2_regularization=l2,
    ).fit(X, y, sample_weight=w)
    found, s = model.certificate_.model, [Fraction(float(v)) for v in w]
    z = [Fraction(float(found["baseline_"][0]))] * len(X)
    worst = Fraction(0)
    for k in range(4):
        reached, values = leaves_of(found, k, X)
        for node in set(reached):
            rows = [i for i in range(len(X)) if reached[i] == node and s[i] > 0]
            if not rows:
                continue
            rests = [Fraction(float(y[i])) - z[i] for i in rows]
            if loss == "squared_error":
                step = sum(s[i] * r for i, r in zip(rows, rests, strict=True)) / (
                    sum(s[i] for i in rows) + Fraction(l2)
                )
                low = high = step
            else:  # all quantiles of the residuals, of levels that agree in 13 digits: 0.7 is 7 of 10 rows, but less as a float
                ordered, mass = sorted(set(rests)), sum(s[i] for i in rows) * Fraction(share)
                below = [sum(s[i] for i, r in zip(rows, rests, strict=True) if r <= v) for v in ordered]
                first = next(m for m, v in enumerate(below) if v >= mass * (1 - ROUNDED))
                low, high = ordered[first], ordered[first + (below[first] <= mass * (1 + ROUNDED))]
            ends = [Fraction(rate) * v for v in (low, high)]
            worst = max(worst, ends[0] - values[node], values[node] - ends[1])
        z = [a + values[node] for a, node in zip(z, reached, strict=True)]
    claim = model.certificate_["boosted_trees.leaves"]
    assert claim.numbers["checked"] == 4
    require_upper(claim, number(worst), 1e-6 * (1 + shift))


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("data", SAMPLES)
def test_monotone_scores(data, direction):
    X, y, _, _, w = sample(data, n=12)
    model = surefit.HistGradientBoostingRegressor(max_iter=4, min_samples_leaf=2, monotonic_cst=[direction, 0])
    model.fit(X, y, sample_weight=w)
    ticks = []
    for j in range(2):  # one point of every cell
        cuts = np.unique(X[:, j])
        ticks.append([cuts[0] - 1.0, *((a + b) / 2 for a, b in pairwise(cuts)), cuts[-1] + 1.0, *cuts])
    scores = {}
    grid = np.array([[a, b] for a in sorted(ticks[0]) for b in ticks[1]])
    for k in range(4):
        reached, values = leaves_of(model.certificate_.model, k, grid)
        for row, node in zip(grid.tolist(), reached, strict=True):
            scores.setdefault(row[1], {}).setdefault(row[0], []).append(values[node])
    rising = [
        direction * (sum(b) - sum(a)) >= 0
        for line in scores.values()
        for (_, a), (_, b) in pairwise(sorted(line.items()))
    ]
    claim = model.certificate_["boosted_trees.monotone"]
    assert claim.value == 0 and all(rising) and claim.numbers["columns"] == 1


@pytest.mark.parametrize("seed", range(3))
def test_columns_of_trees(seed):
    X, y, _, _, _ = sample("offsets", n=12, seed=seed)
    X = np.column_stack([X, X[:, 0] * X[:, 1], np.arange(12.0)])
    model = surefit.RandomForestRegressor(4, subset="tree", max_features=2, random_state=seed).fit(X, y)
    used = [{int(j) for j in member.tree_.feature if j >= 0} for member in model.estimators_]
    claim = model.certificate_["forest.subsets"]
    assert claim.value == 0 and claim.numbers["columns"] == 2 and all(len(columns) <= 2 for columns in used)
