"""Stopping rules and their descriptions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.core.budget import Reason


class State(NamedTuple):
    """Quantities that a rule may use, all at the point that would be returned."""

    value: float
    gradient_norm: float
    change: float  # norm of the last step
    fall: float  # decrease of the objective in the last step
    strong_convexity: float


class GradientNorm(NamedTuple):
    r"""Stop when :math:`\|\nabla f(w)\| \le` ``tol`` at the returned point.

    Examples
    --------
    >>> from surefit import GradientDescent
    >>> from surefit.optimizers import GradientNorm, Quadratic
    >>> outcome = GradientDescent(stopping=GradientNorm(1e-4)).minimize(Quadratic([[2.0, 0.0], [0.0, 1.0]], [1.0, 1.0]))
    >>> outcome.reason, outcome.gradient_norm <= 1e-4
    ('gradient_norm', True)
    """

    tol: float = 1e-6

    def met(self, state: State) -> bool:
        """Return whether to stop."""
        return state.gradient_norm <= self.tol

    def sentence(self) -> str:
        """Return why the descent stopped."""
        return f"the norm of the gradient is at most {self.tol:g}"


class IterateChange(NamedTuple):
    r"""Stop when :math:`\|w_{t+1} - w_t\| \le` ``tol``; for a fixed step this is the step times the gradient norm.

    Examples
    --------
    >>> from surefit import GradientDescent
    >>> from surefit.optimizers import IterateChange, Quadratic
    >>> GradientDescent(stopping=IterateChange(1e-4)).minimize(Quadratic([[2.0, 0.0], [0.0, 1.0]], [1.0, 1.0])).reason
    'iterate_change'
    """

    tol: float = 1e-8

    def met(self, state: State) -> bool:
        """Return whether to stop."""
        return state.change <= self.tol

    def sentence(self) -> str:
        """Return why the descent stopped."""
        return f"the length of the last step was at most {self.tol:g}"


class ObjectiveChange(NamedTuple):
    """Stop when the last step lowered the objective by at most ``tol``.

    Examples
    --------
    >>> from surefit import GradientDescent
    >>> from surefit.optimizers import ObjectiveChange, Quadratic
    >>> GradientDescent(stopping=ObjectiveChange(1e-8)).minimize(Quadratic([[2.0, 0.0], [0.0, 1.0]], [1.0, 1.0])).reason
    'objective_change'
    """

    tol: float = 1e-10

    def met(self, state: State) -> bool:
        """Return whether to stop."""
        return 0.0 <= state.fall <= self.tol

    def sentence(self) -> str:
        """Return why the descent stopped."""
        return f"the last step lowered the objective by at most {self.tol:g}"


class GapBound(NamedTuple):
    r"""Stop when :math:`\|\nabla f(w)\|^2 / (2\mu) \le` ``tol``, which bounds the distance of the value from the minimum.

    Examples
    --------
    >>> from surefit import GradientDescent
    >>> from surefit.optimizers import GapBound, Quadratic
    >>> outcome = GradientDescent(stopping=GapBound(1e-6)).minimize(Quadratic([[2.0, 0.0], [0.0, 1.0]], [1.0, 1.0]))
    >>> outcome.reason, outcome.gap <= 1e-6
    ('gap_bound', True)
    """

    tol: float = 1e-8

    def met(self, state: State) -> bool:
        """Return whether to stop."""
        return gap_of(state.gradient_norm, state.strong_convexity) <= self.tol

    def sentence(self) -> str:
        """Return why the descent stopped."""
        return f"the objective is proved to be within {self.tol:g} of the minimum"


def gap_of(gradient_norm: float, strong_convexity: float) -> float:
    """Return the proved bound on the gap; infinite without strong convexity, unless the gradient is zero."""
    if strong_convexity > 0.0:
        return gradient_norm**2 / (2.0 * strong_convexity)
    return np.inf


#: Sentences for other reasons to stop.
OTHER_REASONS = {
    "diverged": "the objective diverged; use a smaller step",
    "stuck": "no step along the negative gradient lowers the objective",
    str(Reason.MAX_ITER): "max_iter was reached before any stopping rule was satisfied",
    str(Reason.MAX_TIME): "max_time was reached before any stopping rule was satisfied",
    str(Reason.INTERRUPTED): "interrupted by Ctrl-C",
    str(Reason.CALLBACK): "stopped by a callback",
}
