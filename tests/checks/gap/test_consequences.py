"""What a gap implies, against the optimum of an independent solver."""

import numpy as np
import pytest
from tests.checks.gap.terms import MARGIN, NUMBERS, optimum, penalty_of, targets

from surefit.checks.gap import (
    Dual,
    Point,
    certain_labels,
    coefficient_distance,
    loss_of,
    operator_of,
    prove,
    score_distance,
    zero_in_every_solution,
)

LOSSES = ("squared_error", "huber", "logistic", "squared_hinge")


@pytest.mark.parametrize("seed", range(12))
def test_consequences_are_true_of_the_optimum(seed):
    rng = np.random.default_rng(seed)
    n, d, name = 50, 12, LOSSES[seed % 4]
    X, truth = rng.normal(size=(n, d)), np.zeros(d)
    truth[:4] = rng.normal(size=4)
    y, c, intercept = targets(name, X @ truth + 0.5, rng), rng.random(n) + 0.1, bool(seed % 2)
    l2 = 0.5 if name in MARGIN or seed > 5 else 0.0
    p, loss = penalty_of(d, l1=3.0, l2=l2), loss_of({"loss": name, **NUMBERS})
    _, best, offset, _ = optimum(name, p, X, y, c, intercept)
    w = np.where(np.abs(best) > 1e-6, best, 0.0) * (1 + 1e-4 * rng.normal(size=d))
    b = offset + 1e-4 * intercept
    operator = operator_of(X)
    gap = prove(operator, loss, p, Point(y, c, w, b, intercept), Dual())

    zero = zero_in_every_solution(gap.value, loss, p, gap.correlations, operator.norms(c))
    assert not np.any(zero & (np.abs(best) > 1e-6)) and zero.sum() >= np.sum(np.abs(best) < 1e-6) // 2
    scores = X @ best + offset
    assert np.all(np.abs(X @ w + b - scores) <= score_distance(gap.value, loss, c) + 1e-9)
    assert np.linalg.norm(w - best) <= coefficient_distance(gap.value, p) + 1e-7
    if name == "logistic":
        sure = certain_labels(gap, y, c)
        assert sure.sum() > n // 2
        assert np.all(np.sign(scores[sure]) == np.sign((X @ w + b)[sure]))
