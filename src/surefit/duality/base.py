"""What every convex programme can say of a point and of multipliers; minimisation throughout."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np


class Optimum(NamedTuple):
    """A solution of a programme with the multipliers that prove it."""

    x: np.ndarray
    multipliers: Any  # of the inequalities, >= 0 (or positive semidefinite)
    equality_multipliers: Any  # of the equalities, free


class Programme(ABC):
    r"""A convex programme :math:`\min_x g_0(x)` subject to :math:`g_j(x) \le 0` and :math:`Ax = b`.

    The six questions below are all that :func:`surefit.duality.kkt_report` and :func:`surefit.duality.weak_duality` ask.
    """

    @abstractmethod
    def objective(self, x) -> float:
        """Return the value to be minimised at ``x``."""

    @abstractmethod
    def infeasibility(self, x) -> float:
        """Return the largest violation of a constraint at ``x``; zero if it is feasible."""

    @abstractmethod
    def dual_infeasibility(self, multipliers, equality_multipliers) -> float:
        """Return by how much the multipliers of inequalities fail to be non-negative; zero if they are."""

    @abstractmethod
    def stationarity(self, x, multipliers, equality_multipliers) -> float:
        """Return the largest entry of the Lagrangian's gradient in ``x``, in absolute value."""

    @abstractmethod
    def complementarity(self, x, multipliers) -> float:
        """Return the largest product of a multiplier and its constraint, in absolute value."""

    @abstractmethod
    def lower_bound(self, x, multipliers, equality_multipliers) -> float:
        r"""Return a lower bound of :math:`\phi(\lambda, \nu) = \inf_x L`, minus infinity if none is known."""

    @abstractmethod
    def slater_point(self) -> np.ndarray | None:
        """Return a point at which every inequality is strict, None if none is known."""
