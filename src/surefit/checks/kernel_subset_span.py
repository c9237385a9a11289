r"""Functions in the span of landmarks as the checker sees them: norms, images of dual points, and what the span misses of those.

For :math:`g = \sum_i \theta_i k(x_i, \cdot)`, dealt into groups of rows, any :math:`p_b = \sum_j e_{bj} k(z_j, \cdot)` and their
sum :math:`p`,

.. math:: \|f - g\|^2 \le \|f - p\|^2 + 2 \langle f - p, p - g \rangle + \Bigl(\sum_b \|g_b - p_b\|\Bigr)^2 ,

where everything is a sum of kernel values with landmarks and within groups (theory: ``kernel-subset-machines``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import linalg

from surefit.checks.base import Data
from surefit.checks.enclosure import UNIT, Enclosed, gamma
from surefit.checks.kernel_scores import PIECE
from surefit.checks.kernel_values import enclosed_diagonal, kernel_of, training_values
from surefit.core.certificate import Certificate

RANK = 1e-11  # eigenvalues of the landmarks' kernel values below this share of the largest are left out: coefficients stay small


class Proof(NamedTuple):
    """What the data prove about one problem."""

    gap: float
    gap_mid: float
    subset: float
    objective: float
    wobble: float  # by how much the gap of a dual point read off scores of other rounding can differ

    @classmethod
    def of(cls, gap: float, mid: float, subset: float, objective: float, most: float, wobble: float = 0.0) -> Proof:
        """Collect what was found; no minimum is below zero, so no gap exceeds the objective, which is at ``most`` so much."""
        mid = min(mid, objective)
        return cls(max(min(gap, most), mid), mid, min(subset, objective), objective, wobble)


def group_rows(theta: np.ndarray, groups: int) -> Iterator[np.ndarray]:
    """Yield the rows with a coefficient, group by group: every so-many-th row, whatever the order of the data means."""
    for first in range(groups):
        rows = np.arange(first, len(theta), groups)
        rows = rows[theta[rows] != 0.0]
        if len(rows):
            yield rows


class Image(NamedTuple):
    """The function of a dual point as the landmarks see it."""

    e: np.ndarray  # coefficients of its approximation in the span
    pulled: Enclosed  # its inner products with the landmarks
    missed: float  # bound of the distance between the two
    missed_mid: float


class LandmarkSpan(NamedTuple):
    """The landmarks with their kernel values."""

    kernel: object
    A: object
    landmarks: np.ndarray
    inner: Enclosed
    inverse: np.ndarray
    largest: float  # of the norms of all rows

    @classmethod
    def of(cls, certificate: Certificate, data: Data) -> LandmarkSpan:
        """Read the landmarks of a certificate."""
        kernel, landmarks = kernel_of(certificate), certificate.model["landmarks_"]
        A = kernel.read(data.X)
        inner = training_values(kernel, A, landmarks, landmarks)
        eigenvalues, vectors = linalg.eigh(inner.mid)
        # as many directions as the fit kept: an eigenvalue at the cut must not fall on one side there and on the other here
        rank = certificate.problem.get("rank", np.sum(eigenvalues > RANK * eigenvalues[-1]))
        kept = (np.arange(len(landmarks)) >= len(landmarks) - rank) & (eigenvalues > 0.0)
        inverse = (vectors[:, kept] / eigenvalues[kept]) @ vectors[:, kept].T
        largest = math.sqrt(float(np.max(enclosed_diagonal(kernel, A).magnitude))) * (1 + 4 * UNIT)
        return cls(kernel, A, landmarks, inner, inverse, largest)

    def form(self, v: np.ndarray) -> Enclosed:
        """Enclose the squared norm of the function with coefficients ``v``."""
        size, m = np.abs(v), len(v)
        rad = size @ (self.inner.rad + gamma(2 * m + 4) * np.abs(self.inner.mid)) @ size * (1 + gamma(2 * m + 4))
        return Enclosed(v @ self.inner.mid @ v, rad)

    def apart(self, a: np.ndarray, image: Image, scale: float) -> tuple[float, float]:
        """Bound the norm of the function with coefficients ``a`` less ``scale`` times that of a dual point; and its square in floats."""
        v = a - scale * image.e
        near = self.form(v)
        off = self.inner.mid @ image.e - image.pulled.mid
        off_rad = (self.inner.rad + gamma(len(v) + 2) * np.abs(self.inner.mid)) @ np.abs(image.e) + image.pulled.rad
        cross = 2 * scale * float(np.abs(v) @ (np.abs(off) + 2 * off_rad))
        rounded = 8 * UNIT * float(np.sum(np.abs(a)) + np.sum(np.abs(image.e))) * self.largest
        square = max(float(near.mid + near.rad), 0.0) + cross + (scale * image.missed) ** 2
        mid = max(float(near.mid), 0.0) + (scale * image.missed_mid) ** 2
        return math.sqrt(square) * (1 + 16 * UNIT) + rounded, mid

    def square(self, image: Image) -> tuple[float, float]:
        """Bound the squared norm of the function of a dual point; and the same in floats."""
        near, pairing = self.form(image.e), float(image.e @ image.pulled.mid)
        rad = float(near.rad + 2 * np.abs(image.e) @ image.pulled.rad)
        rad += gamma(len(image.e) + 4) * (2 * float(np.abs(image.e) @ np.abs(image.pulled.mid)) + abs(float(near.mid)))
        mid = max(2 * pairing - float(near.mid), 0.0)
        return (mid + rad + image.missed**2) * (1 + 8 * UNIT), mid + image.missed_mid**2

    def image(self, theta: np.ndarray, groups: int) -> Image:
        """Approximate the function of ``theta`` in the span, group by group."""
        m = len(self.landmarks)
        e, pulled, rad, sizes, missed, mid = np.zeros(m), np.zeros(m), np.zeros(m), 0.0, 0.0, 0.0
        count = 0
        for rows in group_rows(theta, groups):
            part = theta[rows]
            inside, with_marks = self._square(rows, part), self._pulled(rows, part)
            own = self.inverse @ with_marks.mid
            near = self.form(own)
            square = float(inside.mid - 2 * own @ with_marks.mid + near.mid)
            sums = float(np.abs(own) @ np.abs(with_marks.mid))
            error = float(inside.rad + 2 * np.abs(own) @ with_marks.rad + near.rad) + gamma(2 * m + 8) * (
                abs(float(inside.mid)) + 2 * sums + abs(float(near.mid))
            )
            missed += math.sqrt(max(square, 0.0) + error) * (1 + 4 * UNIT)
            mid += math.sqrt(max(square, 0.0))
            e += own
            pulled += with_marks.mid
            rad += with_marks.rad + gamma(groups + 2) * np.abs(with_marks.mid)
            sizes += float(np.sum(np.abs(own)))
            count += 1
        missed = missed * (1 + gamma(count + 2)) + gamma(count + 2) * sizes * self.largest  # e is a rounded sum
        return Image(e, Enclosed(pulled, rad), missed, mid)

    def _square(self, rows: np.ndarray, part: np.ndarray) -> Enclosed:
        """Enclose the squared norm of the function with coefficients ``part`` at ``rows``."""
        mid = rad = 0.0
        step, bound, size = max(1, PIECE // len(rows)), gamma(len(rows) + 4), np.abs(part)
        for start in range(0, len(rows), step):
            some = slice(start, start + step)
            K = training_values(self.kernel, self.A, rows[some], rows)  # type: ignore[arg-type]
            mid += float(part[some] @ (K.mid @ part))
            rad += float(size[some] @ ((K.rad + 3 * bound * np.abs(K.mid)) @ size)) * (1 + 2 * bound)
        return Enclosed(np.asarray(mid), np.asarray(rad))

    def _pulled(self, rows: np.ndarray, part: np.ndarray) -> Enclosed:
        """Enclose the inner products of that function with the landmarks."""
        mid, rad = np.zeros(len(self.landmarks)), np.zeros(len(self.landmarks))
        step, bound, size = max(1, PIECE // len(self.landmarks)), gamma(len(rows) + 4), np.abs(part)
        for start in range(0, len(rows), step):
            some = slice(start, start + step)
            K = training_values(self.kernel, self.A, rows[some], self.landmarks)  # type: ignore[arg-type]
            mid += K.mid.T @ part[some]
            rad += (K.rad + bound * np.abs(K.mid)).T @ size[some] * (1 + 2 * bound)
        return Enclosed(mid, rad)
