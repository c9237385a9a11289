"""Subtrees that threads grow are those of one thread."""

import sys

import numpy as np
import pytest

from surefit.solvers import trees
from surefit.solvers.trees import subtrees


@pytest.mark.parametrize("target", ["two classes", "three classes", "numbers"])
def test_subtrees_of_threads_are_those_of_one(target, monkeypatch):
    monkeypatch.setattr(subtrees, "LEAST", 500)
    monkeypatch.setattr(sys.modules["surefit.solvers.trees.grow"], "LEAST", 500)
    rng = np.random.default_rng(3)
    X = rng.standard_normal((900, 4))
    X[:, 1] = np.round(X[:, 1])
    X[rng.random(X.shape) < 0.05] = np.nan
    score = np.nan_to_num(X[:, 0]) + rng.standard_normal(900)
    if target == "numbers":
        goal = trees.real_target(score)
    else:
        k = 2 if target == "two classes" else 3
        goal = trees.class_target(np.digitize(score, [-0.5, 0.5][: k - 1]), k)
    for rules in (trees.Rules(), trees.Rules(max_depth=3), trees.Rules(min_samples_leaf=10)):
        one, three = (trees.grow_exact(X.T, goal, rules, n_jobs=n) for n in (1, 3))
        for name in one._fields:
            np.testing.assert_array_equal(getattr(one, name), getattr(three, name))
