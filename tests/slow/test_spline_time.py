"""Smoothing splines take time in proportion to the number of points."""

import time

import numpy as np

from surefit.solvers import spline
from surefit.solvers.spline import profile


def test_time_is_linear():
    """Sixteen times the points take about sixteen times as long: the exponent is near one."""

    def seconds(n):
        x = np.linspace(0, 1, n)
        problem = spline.fold(x, np.sin(9 * x), None, 3, None)
        times = []
        for _ in range(5):
            start = time.thread_time()
            profile.squares_and_trace(problem, np.array([1e-6]))
            times.append(time.thread_time() - start)
        return min(times)

    seconds(1000)
    exponent = np.log(seconds(320_000) / seconds(20_000)) / np.log(16)
    assert exponent < 1.25
