r"""Functions in the span of landmarks: norms, projections of dual points, and norms of the residuals.

For :math:`g = \sum_i \theta_i k(x_i, \cdot)`, divided into groups of rows, any :math:`p_b = \sum_j e_{bj} k(z_j,
\cdot)` and their sum :math:`p`,

.. math:: \|f - g\|^2 \le \|f - p\|^2 + 2 \langle f - p, p - g \rangle + \Bigl(\sum_b \|g_b - p_b\|\Bigr)^2 ,

where all terms are sums of kernel values with landmarks and within groups (theory: ``kernel-subset-machines``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import linalg

from surefit.checks.enclosure import UNIT, Bound, Enclosed, gamma
from surefit.checks.kernels.model import spread_out
from surefit.checks.kernels.operator import Gram
from surefit.core.errors import CertificateError
from surefit.core.partitioned import add
from surefit.operators.aligned import LENGTH

SMALL_GROUP = 1000  # rows
MOST_VALUES = 5e8  # kernel values that dual="auto" may compute, unless small groups need more


class Image(NamedTuple):
    """Projection of the function of a dual point on the span of the landmarks."""

    e: np.ndarray  # coefficients of its approximation in the span
    pulled: Enclosed  # its inner products with the landmarks
    missed: Bound  # distance between the two
    size: float = 0.0  # sum of the absolute coefficients over the groups
    parts: int = 0  # number of groups

    def rounded(self, largest: float) -> Image:
        """Add the rounding error of summing ``e`` over the groups, for functions whose norms are at most ``largest``."""
        k = gamma(self.parts + 2)
        value = self.missed.value * (1 + k) + k * self.size * largest
        return self._replace(missed=Bound(value, value - (self.missed.value - self.missed.spread)))


class Landmarks(NamedTuple):
    """The landmarks with their kernel values, and directions of their span that are numerically independent."""

    gram: Gram
    rows: np.ndarray
    inner: Enclosed
    whiten: np.ndarray  # coefficients of nearly orthonormal directions
    slant: float  # distance of their inner products from the identity

    @classmethod
    def of(cls, gram: Gram, rows: np.ndarray, rank: int) -> Landmarks:
        """Return the landmarks of a certificate with ``rank`` directions, as many as the fit used."""
        spread_out(np.zeros((1, len(rows))), rows, gram.n)  # must be distinct rows of X
        inner = gram.values(rows, rows)
        eigenvalues, vectors = linalg.eigh(inner.mid)
        if not 0 <= rank <= len(rows) or np.any(eigenvalues[len(rows) - rank :] <= 0.0):
            raise CertificateError(f"The span of {len(rows)} landmarks does not have {rank} directions.")
        kept = slice(len(rows) - rank, None)
        whiten = vectors[:, kept] / np.sqrt(eigenvalues[kept])
        size = np.abs(whiten)
        noise = size.T @ (inner.rad + gamma(2 * len(rows) + 4) * np.abs(inner.mid)) @ size
        off = np.abs(whiten.T @ inner.mid @ whiten - np.eye(rank)) + noise * (1 + gamma(2 * len(rows) + 8))
        return cls(gram, rows, inner, whiten, float(np.linalg.norm(off)) * (1 + gamma(rank * rank + 8)))

    def form(self, v: np.ndarray) -> Enclosed:
        """Enclose the squared norm of the function with coefficients ``v``."""
        size, m = np.abs(v), len(v)
        rad = size @ (self.inner.rad + gamma(2 * m + 4) * np.abs(self.inner.mid)) @ size * (1 + gamma(2 * m + 4))
        return Enclosed(v @ self.inner.mid @ v, rad)

    def apart(self, a: np.ndarray, image: Image, scale: float) -> Bound:
        """Bound the norm of the function with coefficients ``a`` minus ``scale`` times that of a dual point."""
        v = a - scale * image.e
        near = self.form(v)
        off, off_rad = self._off(image.e, image.pulled)
        rounded = 8 * UNIT * float(np.sum(np.abs(a)) + np.sum(np.abs(image.e))) * float(np.max(self.gram.lengths()))
        squares, mids = [max(float(near.mid), 0.0)], max(float(near.mid), 0.0)
        squares += [float(near.rad), 2 * scale * float(np.abs(v) @ (np.abs(off) + 2 * off_rad))]
        squares.append((scale * image.missed.value) ** 2)
        mids += (scale * max(image.missed.value - image.missed.spread, 0.0)) ** 2
        value = math.sqrt(math.fsum(squares)) * (1 + 16 * UNIT) + rounded
        return Bound(value, value - math.sqrt(mids) * (1 - 16 * UNIT))

    def gradient(self, a: np.ndarray, image: Image, slip: float) -> Bound:
        r"""Bound half the squared gradient in the span, :math:`\tfrac12 \|W^\top (K a - p)\|^2 / (1 - \epsilon)`."""
        if not self.slant < 0.5:
            return Bound(math.inf, 0.0)
        off, off_rad = self._off(a, image.pulled)
        t = self.whiten.T @ off
        rad = np.abs(self.whiten).T @ (off_rad + gamma(len(off) + 4) * np.abs(off)) * (1 + gamma(len(off) + 8))
        value, mid = (float(np.linalg.norm(np.abs(t) + rad)) + 1.5 * slip) ** 2, float(t @ t)
        value = 0.5 * value / (1 - self.slant) * (1 + gamma(len(t) + 16))
        return Bound(value, value - 0.5 * mid * (1 - gamma(len(t) + 16)))

    def _off(self, a: np.ndarray, pulled: Enclosed) -> tuple[np.ndarray, np.ndarray]:
        """Return ``K a - pulled`` at the landmarks and its radius."""
        off = self.inner.mid @ a - pulled.mid
        rad = (self.inner.rad + gamma(len(a) + 4) * np.abs(self.inner.mid)) @ np.abs(a) + pulled.rad
        return off, (rad + 4 * UNIT * np.abs(pulled.mid)) * (1 + gamma(len(a) + 4))

    def image(self, theta: np.ndarray, groups: int) -> Image:
        """Approximate the function of ``theta`` in the span, group by group."""
        m = len(self.rows)
        found = Image(np.zeros(m), Enclosed(np.zeros(m), np.zeros(m)), Bound(0.0, 0.0))
        for rows in group_rows(theta, groups):
            found = add(found, self.group(theta, rows, groups))
        return found.rounded(float(np.max(self.gram.lengths())))

    def group(self, theta: np.ndarray, rows: np.ndarray, groups: int) -> Image:
        """Approximate the part of the function that belongs to one group of rows; at most ``groups`` parts are summed."""
        m, part = len(self.rows), np.zeros(self.gram.n)
        part[rows] = theta[rows]
        inside, with_marks = self.gram.square(part), self.gram.times(part, self.rows)
        own = self.whiten @ (self.whiten.T @ with_marks.mid)
        near = self.form(own)
        square = float(inside.mid - 2 * own @ with_marks.mid + near.mid)
        sums = float(np.abs(own) @ np.abs(with_marks.mid))
        error = float(inside.rad + 2 * np.abs(own) @ with_marks.rad + near.rad) + gamma(2 * m + 8) * (
            abs(float(inside.mid)) + 2 * sums + abs(float(near.mid))
        )
        missed = math.sqrt(max(square, 0.0) + error) * (1 + 4 * UNIT)
        rad = with_marks.rad + gamma(groups + 2) * np.abs(with_marks.mid)
        return Image(
            own,
            Enclosed(with_marks.mid, rad),
            Bound(missed, missed - math.sqrt(max(square - error, 0.0))),
            float(np.sum(np.abs(own))),
            1,
        )


def group_rows(theta: np.ndarray, groups: int) -> Iterator[np.ndarray]:
    """Yield groups of rows with a non-zero coefficient; each group takes every k-th row."""
    for first in range(groups):
        rows = np.arange(first, len(theta), groups)
        rows = rows[theta[rows] != 0.0]
        if len(rows):
            yield rows


def count_groups(support: int, dual: str) -> int:
    """Return the number of groups for the rows with a dual coefficient."""
    if dual == "exact":
        return 1
    most = SMALL_GROUP if dual == "bounded" else max(SMALL_GROUP, MOST_VALUES / max(support, 1))
    return max(1, math.ceil(support / most))


def group_length(n: int, dual: str) -> int:
    """Return the number of rows per group: 1000, doubled for ``dual="auto"`` while ``MOST_VALUES`` kernel values suffice."""
    if dual == "exact":
        raise ValueError("one group of all rows needs a dual point in memory")
    found = SMALL_GROUP
    while dual == "auto" and LENGTH % (2 * found) == 0 and 2 * found * n <= MOST_VALUES:
        found *= 2
    return found
