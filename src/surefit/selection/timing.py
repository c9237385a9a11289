"""Growth of the fitting time with the numbers of rows and columns."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from surefit.core.errors import DataWarning, InvalidParameter
from surefit.core.validation import COUNT


class TimingStudy(NamedTuple):
    """Shortest fitting time for each size, and the fitted exponents of the numbers of rows and columns."""

    rows: np.ndarray
    columns: np.ndarray
    seconds: np.ndarray
    row_exponent: float
    column_exponent: float

    def predict(self, n_rows: int, n_columns: int) -> float:
        """Return the time in seconds that the fitted power law predicts for another size."""
        logs = (
            np.log(self.seconds) - self.row_exponent * np.log(self.rows) - self.column_exponent * np.log(self.columns)
        )
        power = n_rows**self.row_exponent * n_columns**self.column_exponent
        return float(np.exp(np.mean(logs)) * power)


def timing_study(
    estimator: Any,
    rows: Sequence[int] = (1000, 4000, 16000),
    columns: Sequence[int] = (10, 40),
    *,
    repeats: int = 3,
    random_state: int = 0,
    clock: Callable[[], float] = time.perf_counter,
) -> TimingStudy:
    r"""Time the fits of a regressor on Gaussian data, and fit the power law :math:`t = c\, m^a N^b` (m rows, N columns).

    Least squares by an orthogonal factorization or by the normal equations costs :math:`O(mN^2 + N^3)`: for many more rows than columns
    the exponents approach 1 and 2. Small sizes are dominated by overhead, and machines differ. This is an illustration,
    not a theorem.

    Parameters
    ----------
    estimator : regressor
        The estimator; a clone is fitted to each data set.
    rows, columns : sequences of int
        Numbers of rows and of columns, at least two of each; all combinations are timed.
    repeats : int >= 1, default=3
        Number of fits for each size, of which the shortest time is used. Additional untimed fits at the smallest size
        exclude the time of compilation.
    random_state : int, default=0
        Seed of the data.
    clock : callable, default=time.perf_counter
        Function that returns seconds (``time.process_time`` measures processor time).

    Returns
    -------
    TimingStudy
        ``rows``, ``columns``, ``seconds`` (one entry per combination), ``row_exponent``, ``column_exponent``, and ``predict``.

    Examples
    --------
    >>> from surefit import LinearRegression, timing_study
    >>> study = timing_study(LinearRegression(), rows=(100, 400), columns=(2, 8), repeats=1)
    >>> study.seconds.shape, bool((study.seconds > 0).all())
    ((4,), True)
    """
    sizes = [(int(m), int(d)) for m in rows for d in columns]
    if len(set(rows)) < 2 or len(set(columns)) < 2 or not all(COUNT.allows(v) for size in sizes for v in size):
        raise InvalidParameter("timing_study", "rows, columns", "at least two integers >= 1 each", (rows, columns))
    if not COUNT.allows(repeats):
        raise InvalidParameter("timing_study", "repeats", "an integer >= 1", repeats)
    rng = np.random.default_rng(random_state)
    seconds = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # wide data interpolate
        for k, (m, d) in enumerate([min(sizes), *sizes]):
            X = rng.standard_normal((m, d))
            y = X @ rng.standard_normal(d) + rng.standard_normal(m)
            found = [_timed(estimator, X, y, clock) for _ in range(repeats)]
            if k:
                seconds.append(min(found))
    m, d = np.array(sizes).T
    design = np.column_stack([np.ones(len(sizes)), np.log(m), np.log(d)])
    _, a, b = np.linalg.lstsq(design, np.log(np.maximum(seconds, 1e-9)), rcond=None)[0]
    return TimingStudy(m, d, np.array(seconds), float(a), float(b))


def _timed(estimator: Any, X: np.ndarray, y: np.ndarray, clock: Callable[[], float]) -> float:
    model = clone(estimator)
    start = clock()
    model.fit(X, y)
    return clock() - start
