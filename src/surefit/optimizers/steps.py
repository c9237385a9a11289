r"""Step rules, and the theory of fixed steps: admissible range, best step, and convergence rate.

Theory: :ref:`gradient-descent`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.core.errors import InvalidParameter


class StepTheory(NamedTuple):
    r"""Consequences of the constants of a function for fixed steps.

    Examples
    --------
    The mean squared error of :math:`x = (1, 2, 3)` with an intercept:

    >>> from surefit.optimizers import Quadratic, StepTheory
    >>> theory = StepTheory.of(Quadratic([[28 / 3, 4.0], [4.0, 2.0]]))
    >>> print(f"{theory.limit:.6f} {theory.best:.6f} {theory.rate(theory.best):.6f}")
    0.180295 0.176471 0.957578
    """

    smoothness: float
    strong_convexity: float
    exact: bool

    @classmethod
    def of(cls, function) -> StepTheory:
        """Return the theory for the constants of a function."""
        return cls(float(function.smoothness), float(function.strong_convexity), bool(function.exact))

    @property
    def limit(self) -> float:
        """Limit 2/L of the fixed steps that converge; on a quadratic, longer steps do not converge."""
        return 2.0 / self.smoothness if self.smoothness > 0 else np.inf

    @property
    def best(self) -> float:
        """The fixed step with the best rate: 2/(L + mu)."""
        return 2.0 / (self.smoothness + self.strong_convexity) if self.smoothness > 0 else np.inf

    def rate(self, step: float) -> float:
        """Return the worst-case factor by which one step reduces the distance to the minimizer."""
        return max(abs(1.0 - step * self.smoothness), abs(1.0 - step * self.strong_convexity))

    def bound(self, step: float, distance: float, n_iter: int) -> float:
        """Bound ``f - min f`` after ``n_iter`` steps from a point at ``distance`` from a minimizer; needs step <= 1/L."""
        if step * self.smoothness > 1.0 + 1e-12:
            raise InvalidParameter("StepTheory", "step", f"at most 1/L = {1.0 / self.smoothness:.6g}", step)
        return distance**2 / (2.0 * step * n_iter) if n_iter else np.inf


class FixedStep(NamedTuple):
    """Constant step size.


    Examples
    --------
    >>> from surefit import GradientDescent
    >>> from surefit.optimizers import FixedStep, Quadratic
    >>> GradientDescent(step=FixedStep(0.5)).minimize(Quadratic([[2.0]], [2.0])).w
    array([1.])
    """

    size: float

    def length(self, function, w, value, gradient, t: int) -> float:
        """Return the step at iteration ``t`` = 0, 1, ..."""
        return self.size

    def longest(self, function) -> float:
        """Return the longest step of this rule."""
        return self.size


class SmoothnessStep(NamedTuple):
    """Step ``share / L``; by default 1/L, for which the objective decreases at every step.

    Examples
    --------
    >>> from surefit.optimizers import Quadratic, SmoothnessStep
    >>> SmoothnessStep().longest(Quadratic([[4.0]])), SmoothnessStep(1.5).longest(Quadratic([[4.0]]))
    (0.25, 0.375)
    """

    share: float = 1.0

    def length(self, function, w, value, gradient, t: int) -> float:
        """Return the step at iteration ``t`` = 0, 1, ..."""
        return self.longest(function)

    def longest(self, function) -> float:
        """Return the longest step of this rule."""
        if not np.isfinite(function.smoothness):
            raise InvalidParameter(
                "SmoothnessStep", "smoothness", "a finite number (or use LineSearch, which needs none)", np.inf
            )
        return self.share / function.smoothness if function.smoothness > 0 else 1.0


class DecayingStep(NamedTuple):
    """Steps ``size / (1 + decay t) ** power``, which decrease so that the iterates converge.

    Examples
    --------
    >>> from surefit.optimizers import DecayingStep
    >>> [DecayingStep(1.0).length(None, None, None, None, t) for t in (0, 3, 8)]
    [1.0, 0.5, 0.3333333333333333]
    """

    size: float
    decay: float = 1.0
    power: float = 0.5

    def length(self, function, w, value, gradient, t: int) -> float:
        """Return the step at iteration ``t`` = 0, 1, ..."""
        return self.size / (1.0 + self.decay * t) ** self.power

    def longest(self, function) -> float:
        """Return zero: eventually every step is admissible."""
        return 0.0


class LineSearch(NamedTuple):
    r"""Backtracking line search: halve the step until :math:`f(w - \eta g) \le f(w) - c\,\eta\|g\|^2` (Armijo); needs no constants.

    Examples
    --------
    >>> from surefit import GradientDescent
    >>> from surefit.optimizers import LineSearch, SmoothFunction
    >>> quartic = SmoothFunction(lambda w: float(w[0] ** 4), lambda w: 4 * w**3, 1)
    >>> GradientDescent(step=LineSearch()).minimize(quartic, [1.0]).value < 1e-6
    True
    """

    first: float = 1.0
    decrease: float = 0.5
    shrink: float = 0.5

    def length(self, function, w, value, gradient, t: int) -> float:
        """Return the step at iteration ``t`` = 0, 1, ...; zero if no step decreases the function."""
        square, step = float(gradient @ gradient), self.first
        while step * square > 0.0 and np.any(w - step * gradient != w):
            if function.value(w - step * gradient) <= value - self.decrease * step * square:
                return step
            step *= self.shrink
        return 0.0

    def longest(self, function) -> float:
        """Return 0: every step is tested before it is taken."""
        return 0.0


def read_step(who: str, step):
    """Return a step rule: a number is a fixed step, "1/L" the reciprocal of the smoothness."""
    if isinstance(step, str) and step == "1/L":
        return SmoothnessStep()
    if hasattr(step, "length") and hasattr(step, "longest"):
        return step
    if isinstance(step, (int, float)) and not isinstance(step, bool) and 0 < step < np.inf:
        return FixedStep(float(step))
    raise InvalidParameter(who, "step", "a number > 0, '1/L' or a step rule", step)


def require_admissible(who: str, rule, function) -> None:
    """Raise ``InvalidParameter`` for a fixed step of 2/L or more."""
    theory, longest = StepTheory.of(function), rule.longest(function)
    if longest > 0.0 and longest >= theory.limit:
        fate = "does not converge" if theory.exact else "may not converge"
        raise InvalidParameter(
            who, "step",
            f"below 2/L = {theory.limit:.6g}; at or above it the descent {fate} (best: {theory.best:.6g}; "
            "any_step=True allows it)",
            longest,
        )  # fmt: skip
