"""Stopping rules: each says when a point is good enough, and in which words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.core.budget import Reason


class State(NamedTuple):
    """What a rule may look at, all of it at the point that would be returned."""

    value: float
    gradient_norm: float
    change: float  # length of the last move
    fall: float  # by how much the last move lowered the value
    strong_convexity: float


class GradientNorm(NamedTuple):
    r"""Stop when :math:`\|\nabla f(w)\| \le` ``tol`` at the returned point."""

    tol: float = 1e-6

    def met(self, state: State) -> bool:
        """Whether to stop."""
        return state.gradient_norm <= self.tol

    def sentence(self) -> str:
        """Say why it stopped."""
        return f"the norm of the gradient is at most {self.tol:g}"


class IterateChange(NamedTuple):
    r"""Stop when :math:`\|w_{t+1} - w_t\| \le` ``tol``; for a fixed step that is the gradient times the step."""

    tol: float = 1e-8

    def met(self, state: State) -> bool:
        """Whether to stop."""
        return state.change <= self.tol

    def sentence(self) -> str:
        """Say why it stopped."""
        return f"the last step was at most {self.tol:g} long"


class ObjectiveChange(NamedTuple):
    """Stop when the last move lowered the value by no more than ``tol``."""

    tol: float = 1e-10

    def met(self, state: State) -> bool:
        """Whether to stop."""
        return 0.0 <= state.fall <= self.tol

    def sentence(self) -> str:
        """Say why it stopped."""
        return f"the last step lowered the objective by at most {self.tol:g}"


class GapBound(NamedTuple):
    r"""Stop when :math:`\|\nabla f(w)\|^2 / (2\mu) \le` ``tol``: then the value is proved to be that close to the smallest one."""

    tol: float = 1e-8

    def met(self, state: State) -> bool:
        """Whether to stop."""
        return gap_of(state.gradient_norm, state.strong_convexity) <= self.tol

    def sentence(self) -> str:
        """Say why it stopped."""
        return f"the value is proved to be within {self.tol:g} of the smallest one"


def gap_of(gradient_norm: float, strong_convexity: float) -> float:
    """Return the proved gap; infinite without strong convexity, unless the gradient is zero."""
    if strong_convexity > 0.0:
        return gradient_norm**2 / (2.0 * strong_convexity)
    return np.inf


#: Words for what is no stopping rule.
OTHER_REASONS = {
    "diverged": "the objective grew beyond all bounds: the step is too long",
    "stuck": "no step along the gradient lowers the objective any more",
    str(Reason.MAX_ITER): "max_iter was reached before any stopping rule was met",
    str(Reason.MAX_TIME): "max_time was used up before any stopping rule was met",
    str(Reason.INTERRUPTED): "interrupted by Ctrl-C",
    str(Reason.CALLBACK): "stopped by a callback",
}
