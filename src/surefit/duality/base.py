"""Interface of convex programs (minimization)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np


class Optimum(NamedTuple):
    """Solution of a program with the multipliers that prove its optimality."""

    x: np.ndarray
    multipliers: Any  # of the inequalities, >= 0 (or positive semidefinite)
    equality_multipliers: Any  # of the equalities, free


class Program(ABC):
    r"""A convex program :math:`\min_x g_0(x)` subject to :math:`g_j(x) \le 0` and :math:`Ax = b`.

    :func:`surefit.kkt_report` and :func:`surefit.weak_duality` use only the six methods below.

    Examples
    --------
    >>> from surefit.duality import LinearProgram, Program
    >>> program = LinearProgram([1.0, 2.0], [[1.0, 1.0]], [1.0])
    >>> isinstance(program, Program), program.objective([1.0, 0.0]), program.infeasibility([1.0, 0.0])
    (True, 1.0, 0.0)
    """

    @abstractmethod
    def objective(self, x) -> float:
        """Return the objective at ``x``."""

    @abstractmethod
    def infeasibility(self, x) -> float:
        """Return the largest violation of a constraint at ``x``; zero if ``x`` is feasible."""

    @abstractmethod
    def dual_infeasibility(self, multipliers, equality_multipliers) -> float:
        """Return the largest violation of non-negativity by the inequality multipliers; zero if there is none."""

    @abstractmethod
    def stationarity(self, x, multipliers, equality_multipliers) -> float:
        """Return the largest absolute entry of the gradient of the Lagrangian in ``x``."""

    @abstractmethod
    def complementarity(self, x, multipliers) -> float:
        """Return the largest absolute product of a multiplier and its constraint."""

    @abstractmethod
    def lower_bound(self, x, multipliers, equality_multipliers) -> float:
        r"""Return a lower bound on :math:`\phi(\lambda, \nu) = \inf_x L`, minus infinity if none is known."""

    @abstractmethod
    def slater_point(self) -> np.ndarray | None:
        """Return a point at which every inequality is strict, or None if none is known."""
