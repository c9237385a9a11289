"""Derivatives of boosting losses against many digits: near a probability of 1, and where mean and target cancel."""

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from surefit.checks.ensembles.losses import derivatives, gradient_terms

pytestmark = pytest.mark.usefixtures("digits")
ULP = mpf(2) ** -53
SCORES = (-300.0, -40.0, -37.5, -3.25, -1e-9, 0.0, 1e-17, 0.7, 20.0, 36.9, 38.0, 300.0)


def near(found, true, room):
    assert abs(mpf(float(found)) - true) <= room * abs(true), (found, true)


@pytest.mark.parametrize("y", [0.0, 1.0])
def test_logistic_derivatives_keep_their_digits(y):
    problem, z = {"loss": "log_loss", "scores": 1}, np.array([SCORES])
    g, h = derivatives(problem, np.full(len(SCORES), y), z)
    for k, score in enumerate(SCORES):
        p, q = (1 / (1 + mpmath.exp(sign * mpf(score))) for sign in (-1, 1))
        near(g[0, k], -q if y else p, 8 * ULP)
        near(h[0, k], p * q, 8 * ULP)


@pytest.mark.parametrize("shift", [0.0, 100.0])
@pytest.mark.parametrize("own", range(4))
def test_softmax_derivatives_keep_their_digits(own, shift):
    z = np.array([[s + shift, -s + shift, 0.5 * s + shift, shift] for s in SCORES]).T
    g, h = derivatives({"loss": "log_loss", "scores": 4}, np.full(len(SCORES), float(own)), z)
    for i, column in enumerate(z.T):
        e = [mpmath.exp(mpf(float(v))) for v in column]
        room = (16 + 2 * float(np.ptp(column))) * ULP  # an argument of the exponential is rounded once
        for k in range(4):
            others = sum(v for j, v in enumerate(e) if j != k) / sum(e)
            near(g[k, i], -others if k == own else e[k] / sum(e), room)
            near(h[k, i], e[k] / sum(e) * others, 2 * room)


@pytest.mark.parametrize("loss", ["poisson", "gamma"])
def test_rounding_is_relative_to_the_terms_that_cancel(loss):
    z = np.array([[1e-9, -3e-12, 0.3, 2.0, -5.0]])
    y = np.exp(z[0]) * (1 + 1e-14)
    problem = {"loss": loss, "scores": 1}
    g, h = derivatives(problem, y, z)
    terms = gradient_terms(problem, g, h)
    for k in range(z.shape[1]):
        e, t = mpmath.exp(mpf(float(z[0, k]))), mpf(float(y[k]))
        true = e - t if loss == "poisson" else 1 - t / e
        assert abs(mpf(float(g[0, k])) - true) <= 4 * ULP * mpf(float(terms[0, k]))
