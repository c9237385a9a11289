"""Folds drawn by class: the price is right in every world of a few rows, and both routes to it agree."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import multinomial, multivariate_hypergeom
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.naive_bayes import GaussianNB

from surefit import DataWarning, cross_validate
from surefit.checks.risk.search import _log_weight
from surefit.risk.units import Units
from surefit.selection.drawn_folds import allowed_range, drawing_of, folds_like, share_weight


def rows(n):
    return Units(np.arange(n), n, "rows")


def folds_of_scikit_learn(y, k, j):
    """Classes of fold j: scikit-learn deals out the labels, sorted by first appearance, like cards."""
    _, first, inverse = np.unique(y, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))[inverse]
    dealt = np.bincount(np.sort(rank)[j::k], minlength=rank.max() + 1)
    fold = np.zeros(3, dtype=np.int64)
    for name in np.unique(y):
        fold[name] = dealt[rank[y == name][0]]
    return fold


def test_dealing_is_what_scikit_learn_does():
    rng = np.random.default_rng(0)
    for _ in range(20):
        y = rng.integers(0, 3, size=30)
        for j, (_, test) in enumerate(StratifiedKFold(4).split(y[:, None], y)):
            assert np.array_equal(np.bincount(y[test], minlength=3), folds_of_scikit_learn(y, 4, j))


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.1, 0.9), (0.01, 0.99), (0.2, 0.3, 0.5), (0.05, 0.05, 0.9)], ids=str)
@pytest.mark.parametrize("k", [2, 3])
def test_weighted_capital_is_at_most_one_for_the_worst_rule(shares, k):
    # Over all label sequences: the rule that knows the fold's classes and errs accordingly has capital prod (s / pi)^m.
    K, n = len(shares), 8 if len(shares) == 2 else 6
    for j in range(k):
        total = 0.0
        for labels in itertools.product(range(K), repeat=n):
            y = np.array(labels)
            fold = folds_of_scikit_learn(y, k, j)[:K]
            share = fold / fold.sum()
            capital = math.prod((share[c] / shares[c]) ** int(fold[c]) for c in range(K))
            chance = math.prod(shares[c] for c in labels)
            total += chance * capital * share_weight(np.bincount(y, minlength=K), fold, Fraction(1, k))
        assert 0.4 < total <= 1 + 1e-9  # not lazy either


@pytest.mark.parametrize(("n", "k", "K"), [(40, 5, 2), (211, 4, 3), (1000, 10, 10), (97, 2, 5), (200_000, 5, 3)])
def test_weight_by_three_routes(n, k, K):
    rng = np.random.default_rng(n)
    y = rng.integers(0, K, size=n)
    counts, near = (
        np.bincount(y, minlength=K),
        1e-8 + 3e-12 * n,
    )  # the weight is rounded down by what its logarithms may lose
    for _, test in StratifiedKFold(k).split(y[:, None], y):
        fold, part = np.bincount(y[test], minlength=K), Fraction(1, k)
        weight = share_weight(counts, fold, part)
        blind = multivariate_hypergeom.logpmf(fold, counts, len(test))
        likeliest = multinomial.logpmf(fold, len(test), fold / len(test))
        number = sum(
            1
            for f in itertools.product(*(range(a, b + 1) for a, b in allowed_range(counts - fold, part)))
            if sum(f) == len(test)
        )
        assert folds_like(counts - fold, len(test), part) == number
        assert math.log(weight) == pytest.approx(min(0.0, blind - likeliest - math.log(number)), abs=near)
        assert _log_weight(y, test, part) == pytest.approx(math.log(weight), abs=near)


@pytest.mark.parametrize("size", [0.1, 0.25, 0.5, 0.9])
def test_single_splits_by_class_keep_the_shares(size):
    y = np.random.default_rng(1).integers(0, 3, size=211)
    for seed in range(20):
        splitter = StratifiedShuffleSplit(1, test_size=size, random_state=seed)
        _, test = next(splitter.split(y[:, None], y))
        drawing = drawing_of(splitter, y, [test], rows(211))
        assert drawing.trouble is None and 0 < drawing.weight < 1 and drawing.part == Fraction(len(test), 211)
        assert _log_weight(y, test, drawing.part) == pytest.approx(math.log(drawing.weight), abs=1e-8)


def test_what_is_not_proved():
    y = np.repeat([0, 1], 20)
    lopsided = [np.arange(10), np.arange(10, 40)]
    assert "class fractions" in str(drawing_of(StratifiedKFold(2), y, lopsided, rows(40)).trouble)
    assert "not known" in str(drawing_of(RepeatedStratifiedKFold(), y, lopsided, rows(40)).trouble)
    assert "groups" in str(drawing_of(StratifiedGroupKFold(2), y, lopsided, rows(40)).trouble)
    copies = Units(np.arange(40) // 2, 20, "copies")
    assert "separately" in str(drawing_of(StratifiedKFold(2), y, lopsided, copies).trouble)
    uneven = Units(np.minimum(np.arange(40), 30), 31, "groups")
    assert "sizes" in str(drawing_of(GroupKFold(2), y, lopsided, uneven).trouble)
    for splitter, units in ((KFold(2), rows(40)), (GroupKFold(2), copies), (GroupKFold(2, shuffle=True), uneven)):
        assert drawing_of(splitter, y, lopsided, units) == (1.0, 0, "folds_drawn_independently_of_rows", None)


def test_cross_validation_pays_for_folds_drawn_by_class():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, size=200)
    X = rng.normal(size=(200, 2)) + y[:, None]
    models = {"bayes": GaussianNB(), "logistic": LogisticRegression()}
    plain, by_class = (cross_validate(models, X, y, cv=cv) for cv in (KFold(4), StratifiedKFold(4)))
    assert plain.folds.drawing.weight == 1 > by_class.folds.drawing.weight
    assert by_class.bound("bayes").inputs["delta_spent"] == pytest.approx(0.05 * by_class.folds.drawing.weight)
    assert "no other classes" in repr(by_class) and "drawn at random" in repr(plain)
    low, high = by_class.interval("bayes")
    assert 0 < low < by_class.means[0] < high < 1


def test_no_interval_where_nothing_is_proved():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, size=60)
    X, groups = rng.normal(size=(60, 2)) + y[:, None], np.minimum(np.arange(60) // 4, 12)
    result = cross_validate(GaussianNB(), X, y, cv=GroupKFold(3), groups=groups)
    with pytest.warns(DataWarning, match="no interval is valid: GroupKFold draws folds by the sizes"):
        assert result.interval() == (0.0, 1.0) and result.bound().vacuous and "No interval is valid" in repr(result)
    result = cross_validate([GaussianNB(), GaussianNB(var_smoothing=1.0)], X - X.mean(axis=0), y, cv=3, random_state=0)
    with pytest.warns(DataWarning, match="mean zero"):
        assert result.interval() == (0.0, 1.0)
    assert result.compare("GaussianNB 1", "GaussianNB 2").interval == (-1.0, 1.0)
