"""Values of sums of kernel functions on the training rows, enclosed, in memory that grows with the rows alone."""

from __future__ import annotations

import numpy as np

from surefit.checks.base import Data
from surefit.checks.enclosure import Enclosed, gamma
from surefit.checks.kernel_values import kernel_of, training_values
from surefit.core.certificate import Certificate

PIECE = 1 << 20  # kernel values that are held at a time


def enclosed_scores(certificate: Certificate, data: Data, coefficients: np.ndarray) -> Enclosed:
    """Enclose ``K c`` for each column ``c``; kernel values are computed anew."""
    kernel = kernel_of(certificate)
    A = kernel.read(data.X)
    n, used = A.shape[0], np.flatnonzero(np.any(coefficients != 0.0, axis=1))
    c, size = coefficients[used], np.abs(coefficients[used])
    mid, rad = np.zeros((n, c.shape[1])), np.zeros((n, c.shape[1]))
    step = max(1, PIECE // max(1, len(used)))
    for start in range(0, n if len(used) else 0, step):
        rows = np.arange(start, min(start + step, n))
        K = training_values(kernel, A, rows, used)
        mid[rows] = K.mid @ c
        rad[rows] = (K.rad + gamma(len(used) + 2) * np.abs(K.mid)) @ size * (1 + gamma(len(used) + 4))
    return Enclosed(mid, rad)
