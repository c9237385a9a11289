"""Losses of a margin against the 0-1 loss they stand for: which dominate it, and what a dominating one says of errors."""

import numpy as np
import pytest

from surefit import LinearSVC, losses
from surefit.losses import is_margin_loss, value

MARGINS = np.concatenate([np.linspace(-6, 6, 481), [-1e-300, 0.0, 1e-300]])
DOMINATING = {
    "hinge": (losses.Hinge(), 1.0),
    "squared hinge": (losses.SquaredHinge(), 1.0),
    "exponential": (losses.ExponentialLoss(), 1.0),
    "modified Huber": (losses.ModifiedHuber(), 1.0),
    "logistic, in bits": (losses.Logistic(), np.log(2)),
}


@pytest.mark.parametrize("name", DOMINATING)
def test_no_margin_has_less_loss_than_error(name):
    loss, unit = DOMINATING[name]
    found = np.array([value(loss, 1.0, z) for z in MARGINS]) / unit
    assert is_margin_loss(loss) and np.all(found >= (MARGINS <= 0)) and np.min(found) >= 0
    assert value(loss, 1.0, 0.0) / unit == pytest.approx(1.0)  # and none is larger than needed where the label turns
    assert value(loss, -1.0, 0.7) == value(loss, 1.0, -0.7)


def test_two_do_not():
    # The perceptron's loss forgives a score of zero; the logistic loss needs its unit.
    assert value(losses.PerceptronLoss(), 1.0, 0.0) == 0.0 < value(losses.ZeroOne(), 1.0, 0.0)
    assert value(losses.Logistic(), 1.0, 0.0) < 1.0


def test_the_errors_of_a_machine_are_at_most_its_mean_hinge_and_slacks_are_hinges():
    rng = np.random.default_rng(0)
    X, t = rng.normal(size=(80, 2)), np.where(rng.random(80) < 0.5, -1.0, 1.0)
    X[:, 0] += t
    for C in (0.01, 0.3, 5.0):
        model = LinearSVC(C=C, loss="hinge", tol=1e-8, max_iter=100_000).fit(X, t)
        margins = t * model.decision_function(X)
        hinge = np.array([value(losses.Hinge(), 1.0, m) for m in margins])
        assert np.mean(margins <= 0) <= hinge.mean()
        slack = np.maximum(0.0, 1.0 - margins)  # the least slack that meets every constraint
        assert hinge == pytest.approx(slack, abs=1e-15) and np.all(margins >= 1 - slack - 1e-15)
