"""Audits of scikit-learn's ensembles: rounds, leaves and losses against rationals and many digits."""

from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier
from tests.checks.exact import SAMPLES, inner, number, numbers, require_upper, sample

import surefit

pytestmark = pytest.mark.usefixtures("digits")
TINY = mpf(10) ** -6


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("data", SAMPLES)
def test_rounds_of_adaboost(data, depth):
    X, _, c, k, _ = sample(data, n=12)
    n = len(X)
    for y, rate in ((c, 1.0), (c, 0.4), (k, 1.0)):
        model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=depth), n_estimators=3, learning_rate=rate).fit(
            X, y
        )
        alphas, K = numbers(model.estimator_weights_)[: len(model.estimators_)], int(y.max()) + 1
        D, off, said = [mpf(1) / n] * n, mpf(0), [member.predict(X) for member in model.estimators_]
        for alpha, stated, line in zip(alphas, model.estimator_errors_, said, strict=False):
            error = mpmath.fsum(d for d, a, t in zip(D, line, y, strict=True) if a != t) / mpmath.fsum(D)
            wanted = mpf(1) if error == 0 else mpf(rate) * (mpmath.log((1 - error) / error) + mpmath.log(K - 1))
            off = max(off, abs(error - number(stated)), abs(wanted - alpha) / (1 + abs(wanted)))
            D = [d * mpmath.exp(alpha) if a != t else d for d, a, t in zip(D, line, y, strict=True)]
            D = [d / mpmath.fsum(D) for d in D]
        found = surefit.certify(model, X, y)
        require_upper(found["audit.adaboost.rounds"], off, TINY)
        wrong = [[a != t for a, t in zip(line, y, strict=True)] for line in said]
        means = (
            mpmath.fsum(
                mpmath.exp(mpmath.fsum(a if wrong[m][i] else -a for m, a in enumerate(alphas)) / 2) for i in range(n)
            )
            / n
        )
        errors = Fraction(int(np.sum(model.predict(X) != y)), n)
        claim = found["audit.adaboost.training_error"]
        require_upper(claim, means, means * (1 + TINY))
        require_upper(claim, number(errors), number(errors) + mpf(1) / n, "training_error")
        assert number(errors) <= means


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
@pytest.mark.parametrize("data", SAMPLES)
def test_rounds_of_adaboost_for_targets(data, loss):
    X, y, _, _, _ = sample(data, n=12)
    n = len(X)
    model = AdaBoostRegressor(n_estimators=3, loss=loss, random_state=0, learning_rate=0.7).fit(X, y)
    D, off = [mpf(1) / n] * n, mpf(0)
    shapes = {"linear": lambda v: v, "square": lambda v: v * v, "exponential": lambda v: 1 - mpmath.exp(-v)}
    rounds = zip(model.estimators_, model.estimator_weights_, model.estimator_errors_, strict=False)
    for member, alpha, stated in rounds:
        away = [abs(number(a) - number(t)) for a, t in zip(member.predict(X), y, strict=True)]
        away = [shapes[loss](v / max(away)) for v in away]
        error = inner(D, away)
        beta = error / (1 - error)
        wanted = mpf(0.7) * mpmath.log(1 / beta)
        off = max(off, abs(error - number(stated)), abs(wanted - number(alpha)) / (1 + abs(wanted)))
        D = [d * beta ** ((1 - v) * mpf(0.7)) for d, v in zip(D, away, strict=True)]
        D = [d / mpmath.fsum(D) for d in D]
    found = surefit.certify(model, X, y)
    require_upper(found["audit.adaboost.rounds"], off, TINY)
    squares = [(Fraction(float(a)) - Fraction(float(t))) ** 2 for a, t in zip(model.predict(X), y, strict=True)]
    truth = number(sum(squares) / n)
    require_upper(found["audit.adaboost.training_loss"], truth, truth * (1 + TINY))


def boosted(trees, X, start, gradient, rate):
    """Repeat boosting with given trees: the largest error of a leaf, the largest leaf, and the scores after every round."""
    z, worst, largest, scores = [start] * len(X), mpf(0), mpf(0), []
    for tree in trees:
        scores.append(z)
        reached, values = tree.apply(X), [number(v) for v in tree.tree_.value[:, 0, 0]]
        g, h = zip(*(gradient(i, v) for i, v in enumerate(z)), strict=True)
        for node in set(reached.tolist()):
            rows = np.flatnonzero(reached == node).tolist()
            # scikit-learn keeps the step in the leaf, and multiplies it by the rate when it predicts
            step = -mpmath.fsum(g[i] for i in rows) / mpmath.fsum(h[i] for i in rows)
            worst, largest = max(worst, abs(values[node] - step)), max(largest, abs(values[node]))
        z = [v + mpf(rate) * values[node] for v, node in zip(z, reached.tolist(), strict=True)]
    return worst, largest, [*scores, z]


def require_losses(claim, losses):
    require_upper(claim, losses[-1], losses[-1] * (1 + TINY) + TINY)
    rises = sum(b > a for a, b in pairwise(losses))
    assert rises <= claim.numbers["rises"] <= len(losses) and claim.numbers["rounds"] == len(losses) - 1


@pytest.mark.parametrize("shift", [0.0, 1e6])
@pytest.mark.parametrize("data", SAMPLES)
def test_boosted_trees(data, shift):
    X, y, c, _, _ = sample(data, n=12)
    X, y, n = np.float32(X).astype(float), y + shift, len(X)  # scikit-learn's trees read single precision
    model = GradientBoostingRegressor(n_estimators=4, learning_rate=0.3, max_depth=2).fit(X, y)
    t = numbers(y)
    trees, start = model.estimators_[:, 0], number(model.init_.constant_.ravel()[0])
    worst, largest, scores = boosted(trees, X, start, lambda i, v: (v - t[i], mpf(1)), 0.3)
    found = surefit.certify(model, X, y)
    require_upper(found["audit.boosting.leaves"], worst / largest, 1e-3)
    require_losses(
        found["audit.boosting.loss"],
        [mpmath.fsum((a - b) ** 2 for a, b in zip(t, z, strict=True)) / (2 * n) for z in scores],
    )
    model = GradientBoostingClassifier(n_estimators=4, learning_rate=0.3, max_depth=2).fit(X, c)
    trees, share = model.estimators_[:, 0], number(model.init_.class_prior_[1])

    def logistic(i, v):
        p = 1 / (1 + mpmath.exp(-v))
        return p - int(c[i]), p * (1 - p)

    start = number(surefit.certify(model, X, c)["audit.boosting.leaves"].witness["model.baseline_"][0])
    assert abs(start - mpmath.log(share / (1 - share))) < TINY
    worst, largest, scores = boosted(trees, X, start, logistic, 0.3)
    found = surefit.certify(model, X, c)
    require_upper(found["audit.boosting.leaves"], worst / largest, 1e-6)
    losses = [mpmath.fsum(mpmath.log1p(mpmath.exp(v)) - int(c[i]) * v for i, v in enumerate(z)) / n for z in scores]
    require_losses(found["audit.boosting.loss"], losses)


@pytest.mark.parametrize("shift", [0.0, 1e6])
@pytest.mark.parametrize("data", SAMPLES)
def test_leaves_of_forests(data, shift):
    X, y, _, k, w = sample(data, n=12)
    X, y, w = np.float32(X).astype(float), y + shift, w + 0.25
    for model, target in (
        (RandomForestRegressor(3, max_depth=2, random_state=0), y),
        (ExtraTreesRegressor(2, max_depth=2, random_state=0), y),
        (RandomForestClassifier(3, max_depth=2, random_state=0), k),
    ):
        weights = None if model.bootstrap else w  # releases of scikit-learn differ in how they draw weighted rows
        model.fit(X, target, sample_weight=weights)
        worst = Fraction(0)
        unit = 1 if target is k else max(Fraction(float(v)) for v in y) - min(Fraction(float(v)) for v in y)
        for member, drawn in zip(model.estimators_, model.estimators_samples_, strict=True):
            counts = np.bincount(drawn, minlength=len(X))
            reached = member.apply(X)
            for node in set(reached.tolist()):
                rows = [i for i in np.flatnonzero(reached == node).tolist() if counts[i]]
                s = [Fraction(int(counts[i])) if model.bootstrap else Fraction(float(w[i])) for i in rows]
                for j in range(member.tree_.value.shape[2]):
                    values = [Fraction(int(k[i] == j)) if target is k else Fraction(float(y[i])) for i in rows]
                    mean = sum(a * v for a, v in zip(s, values, strict=True)) / sum(s)
                    worst = max(worst, abs(Fraction(float(member.tree_.value[node, 0, j])) - mean))
        claim = surefit.certify(model, X, target, weights)["audit.forest.leaves"]
        require_upper(claim, number(worst / unit), 1e-6)
