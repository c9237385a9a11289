"""Maximum-determinant completion of a band matrix."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import toeplitz

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.duality.base import Optimum, Program


class DeterminantCompletion(Program):
    r"""Minimize :math:`-\log\det K` over symmetric :math:`K` with :math:`K_{ij} = S_{ij}` for :math:`|i - j| \le l`.

    The Lagrangian with multipliers :math:`N` on the band has its minimum at :math:`K = N^{-1}`: the optimum is the completion whose
    *inverse is zero outside the band*, which is the Gaussian distribution of maximum entropy. The dual is :math:`\max_N \log\det N + n -
    \operatorname{tr}(NS)` over positive definite band matrices :math:`N`.

    The main diagonal belongs to the band; otherwise the determinant would be unbounded.

    Parameters
    ----------
    S : array of shape (n, n)
        Symmetric matrix; entries outside the band are ignored.
    bandwidth : int
        :math:`l \ge 0`.

    Examples
    --------
    >>> from surefit.duality import DeterminantCompletion
    >>> program = DeterminantCompletion.from_lags([1.0, 0.5], size=3)
    >>> float(program.solve().x[0, 2])
    0.25
    """

    def __init__(self, S, bandwidth: int):
        S = np.atleast_2d(np.asarray(S, float))
        n = S.shape[0]
        if S.shape != (n, n):
            raise InvalidData(f"DeterminantCompletion: S must be square; got shape {S.shape}.")
        if not 0 <= int(bandwidth) < n:
            raise InvalidParameter("DeterminantCompletion", "bandwidth", f"an integer from 0 to {n - 1}", bandwidth)
        self.band = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= int(bandwidth)
        self.S, self.bandwidth = np.where(self.band, S, 0.0), int(bandwidth)
        if not np.array_equal(self.S, self.S.T):
            raise InvalidData("DeterminantCompletion: S must be symmetric within the band.")

    @classmethod
    def from_lags(cls, lags, size: int) -> DeterminantCompletion:
        """Return the program with diagonal ``k`` of the matrix equal to ``lags[k]``, k = 0, 1, ..."""
        lags = np.asarray(lags, float)
        column = np.zeros(size)
        column[: len(lags)] = lags
        return cls(toeplitz(column), len(lags) - 1)

    def solve(self) -> Optimum:
        """Return the optimum in closed form: its inverse is a signed sum of inverses of diagonal blocks of S."""
        n, width = len(self.S), self.bandwidth + 1
        N = np.zeros((n, n))
        for start in range(n - width + 1):
            block = slice(start, start + width)
            N[block, block] += self._inverse(block)
            if start:
                shared = slice(start, start + width - 1)
                N[shared, shared] -= self._inverse(shared)
        K = np.linalg.inv(N)
        return Optimum(np.where(self.band, self.S, (K + K.T) / 2), None, (N + N.T) / 2)

    def objective(self, x) -> float:
        return -_log_determinant(x)

    def infeasibility(self, x) -> float:
        x = np.asarray(x, float)
        outside = max(0.0, -float(np.linalg.eigvalsh(x)[0]))
        return max(outside, float(np.max(np.abs(np.where(self.band, x - self.S, 0.0)))))

    def dual_infeasibility(self, multipliers, equality_multipliers) -> float:
        N = np.asarray(equality_multipliers, float)
        outside = float(np.max(np.abs(np.where(self.band, 0.0, N))))
        return max(outside, -float(np.linalg.eigvalsh(N)[0]), 0.0)

    def stationarity(self, x, multipliers, equality_multipliers) -> float:
        return float(np.max(np.abs(np.linalg.inv(np.asarray(x, float)) - np.asarray(equality_multipliers, float))))

    def complementarity(self, x, multipliers) -> float:
        return 0.0  # the constraints are equalities

    def lower_bound(self, x, multipliers, equality_multipliers) -> float:
        N = np.where(self.band, np.asarray(equality_multipliers, float), 0.0)
        value = _log_determinant(N)
        return value if math.isinf(value) else value + len(N) - float(np.sum(N * self.S))

    def slater_point(self) -> np.ndarray | None:
        """Return the optimum itself; positive definiteness is the only inequality."""
        return self.solve().x

    def _inverse(self, block: slice) -> np.ndarray:
        part = self.S[block, block]
        if part.size and np.linalg.eigvalsh(part)[0] <= 0:
            raise InvalidData(
                f"DeterminantCompletion: no completion is positive definite, because rows {block.start} to "
                f"{block.stop - 1} of the band are not."
            )
        return np.linalg.inv(part) if part.size else part


def _log_determinant(K) -> float:
    """Return the log-determinant of a positive definite matrix, minus infinity otherwise."""
    values = np.linalg.eigvalsh(np.asarray(K, float))
    return float(np.sum(np.log(values))) if values[0] > 0 else -math.inf
