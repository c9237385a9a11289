"""Exponents of rows and columns in the time of a fit."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from surefit import InvalidParameter, timing_study


class Slow(BaseEstimator):
    """Its fits take as long, on a clock of its own, as a power law says."""

    now = 0.0

    def __init__(self, rows=1.0, columns=2.0):
        self.rows, self.columns = rows, columns

    def fit(self, X, y):
        m, d = X.shape
        Slow.now += 3.0 * m**self.rows * d**self.columns
        return self


@pytest.mark.parametrize("rows, columns", [(1.0, 2.0), (2.0, 1.0), (3.0, 0.0)])
def test_a_power_law_is_found_exactly(rows, columns):
    study = timing_study(Slow(rows, columns), (3, 10, 40), (2, 7, 11), clock=lambda: Slow.now)
    assert (study.row_exponent, study.column_exponent) == pytest.approx((rows, columns), abs=1e-9)
    assert study.seconds[0] == pytest.approx(3.0 * 3**rows * 2**columns)
    assert study.predict(100, 5) == pytest.approx(3.0 * 100**rows * 5**columns)
    assert list(zip(study.rows, study.columns, strict=True))[:3] == [(3, 2), (3, 7), (3, 11)]


def test_what_it_refuses():
    for wrong in ({"rows": (10,)}, {"columns": (3, 3)}, {"rows": (0, 5)}, {"repeats": 0}):
        with pytest.raises(InvalidParameter, match="timing_study"):
            timing_study(Slow(), **{"rows": (3, 9), "columns": (1, 2), **wrong})
    assert np.isfinite(timing_study(Slow(), (3, 9), (1, 2), clock=lambda: Slow.now).row_exponent)
