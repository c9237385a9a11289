"""Smoothing-spline problems: a curve with noise, and how well an answer predicts new values of it.

Good answers to different penalized problems differ in their distance from the truth by chance, a tenth of a distance that is a
fiftieth of the noise. What is compared is the error on a new observation, noise included.
"""

from typing import NamedTuple

import numpy as np

from benchmarks.workload import Quality

SEED = 0
NOISE = 0.3


class CurveData(NamedTuple):
    """Sorted points, noisy values of a curve, and the curve."""

    x: np.ndarray
    y: np.ndarray
    truth: np.ndarray


def make(n: int, equal: bool = False) -> CurveData:
    rng = np.random.default_rng(SEED)
    x = np.linspace(0, 1, n) if equal else np.sort(rng.random(n))
    truth = np.sin(12 * x) + 0.5 * np.cos(40 * x) * x
    return CurveData(x, truth + NOISE * rng.standard_normal(n), truth)


def measure(data: CurveData, answer) -> Quality:
    """Root mean squared error of the fitted values as predictions of new observations at the same points."""
    return Quality(float(np.sqrt(NOISE**2 + np.mean((np.asarray(answer) - data.truth) ** 2))))
