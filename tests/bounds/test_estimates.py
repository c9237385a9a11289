"""Estimates are labeled estimates, and the arithmetic of BIC, evidence and leave-one-out is right."""

import math

import numpy as np
import pytest

from surefit.bounds import bic, generalized_cross_validation, leave_one_out_limit, model_probabilities
from surefit.core.errors import InvalidData, InvalidParameter


def test_bic_of_the_exercise():
    # l1 = -100 with 3 parameters, l2 = -50 with 6: the complex model wins iff n < exp(100/3) = 2.9956e14
    limit = math.exp(100 / 3)
    assert limit == pytest.approx(2.9956e14, rel=1e-4)
    for n, better in ((int(limit * 0.999), True), (int(limit * 1.001), False)):
        assert (bic(-50.0, 6, n, "maximize").value > bic(-100.0, 3, n, "maximize").value) == better
        assert bic(-50.0, 6, n).value == pytest.approx(-2 * bic(-50.0, 6, n, "maximize").value)


def test_evidence_minus_bic_tends_to_a_constant_not_to_zero():
    # y ~ N(theta, 1), prior N(0, 1): evidence in closed form, BIC with one parameter
    gaps = []
    for n in (10**3, 10**5, 10**7):
        mean, square = 0.5, 1.25  # sample mean and mean square, held fixed
        log_likelihood = -n / 2 * math.log(2 * math.pi) - n / 2 * (square - mean**2)
        evidence = (
            -n / 2 * math.log(2 * math.pi) - 0.5 * math.log(n + 1) - n / 2 * square + (n * mean) ** 2 / (2 * (n + 1))
        )
        gaps.append(evidence - bic(log_likelihood, 1, n, "maximize").value)
    # log prior at the estimate + (1/2) ln 2 pi - (1/2) ln I = -mean^2 / 2 here
    assert gaps[-1] == pytest.approx(-0.125, abs=1e-2) and abs(gaps[-1]) > 0.1


def test_probabilities():
    p = model_probabilities([-1e6, -1e6 + math.log(3)])
    assert p == pytest.approx([0.25, 0.75]) and p.sum() == pytest.approx(1)
    assert model_probabilities([0.0, 0.0], [math.log(0.9), math.log(0.1)]) == pytest.approx([0.9, 0.1])
    assert model_probabilities([-np.inf, 3.0]).tolist() == [0.0, 1.0]


def test_estimates_prove_nothing():
    for estimate in (bic(-1.0, 1, 10), leave_one_out_limit(3, 4)):
        assert "not a bound" in estimate.statement and repr(estimate) == estimate.statement
    assert leave_one_out_limit(3, 4).value == 0.75  # tight on the four points of the notes


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: bic(0.0, 1, 0), InvalidParameter, "n >= 1"),
        (lambda: bic(math.nan, 1, 5), InvalidParameter, "log_likelihood"),
        (lambda: bic(0.0, 1, 5, "smaller"), InvalidParameter, "convention"),
        (lambda: leave_one_out_limit(5, 4), InvalidParameter, "n_support"),
        (lambda: model_probabilities([]), InvalidData, "vector"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_generalized_cross_validation_is_leave_one_out_where_rows_weigh_the_same():
    y = np.array([1.0, 4.0, -2.0, 3.5])
    left_out = [(y[i] - np.delete(y, i).mean()) ** 2 for i in range(4)]
    found = generalized_cross_validation(float(np.var(y)), 4, 1)
    assert found.value == pytest.approx(np.mean(left_out), rel=1e-14)
    assert "not a bound" in found.statement


@pytest.mark.parametrize("wrong", [(-1.0, 4, 1), (1.0, 0, 0), (1.0, 4, 4), (1.0, 4, -0.5), (math.nan, 4, 1)], ids=str)
def test_generalized_cross_validation_refuses_what_it_cannot_say(wrong):
    with pytest.raises(InvalidParameter, match="generalized_cross_validation"):
        generalized_cross_validation(*wrong)
