from __future__ import annotations

from surefit.core.errors import InvalidParameter
from surefit.optimizers.loop import descend, read_stopping
from surefit.optimizers.outcome import Descent
from surefit.optimizers.steps import read_step, require_admissible
from surefit.optimizers.stopping import GradientNorm

DEFAULT = GradientNorm(1e-6)


class GradientDescent:
    r"""Gradient descent :math:`w_{t+1} = w_t - \eta_t\nabla f(w_t)` on any smooth function.

    Guarantee: with :math:`\eta \le 1/L` and convex :math:`f`, the value never increases and :math:`f(w_t) - \min f \le \|w_0 - w^*\|^2 /
    (2\eta t)`. A fixed step of :math:`2/L` or more raises an error. With strong convexity, the result has a proved gap (theory:
    :ref:`gradient-descent`).

    Parameters
    ----------
    step : float, "1/L" or step rule, default="1/L"
        Step size: a fixed number, the reciprocal of the smoothness, ``DecayingStep`` or ``LineSearch``.
    stopping : stopping rule or several, default=GradientNorm(1e-6)
        ``GradientNorm``, ``IterateChange``, ``ObjectiveChange``, ``GapBound``; the first rule that is satisfied stops the descent.
    max_iter : int >= 1, default=10000
        Maximum number of steps; reaching it issues a ``ConvergenceWarning``.
    max_time : float > 0 or None, default=None
        Time limit in seconds. Ctrl-C also stops and returns the current point.
    any_step : bool, default=False
        Allow a step for which convergence is not proved.

    Examples
    --------
    The step 1/2 solves :math:`(1 - w)^2` in one iteration; 1.1 would diverge and raises an error.

    >>> from surefit import GradientDescent
    >>> from surefit.optimizers import Quadratic
    >>> parabola = Quadratic([[2.0]], [2.0])
    >>> GradientDescent(step=0.5).minimize(parabola).n_iter
    1
    >>> GradientDescent(step=1.1).minimize(parabola)
    Traceback (most recent call last):
    surefit.core.errors.InvalidParameter: GradientDescent: step must be below 2/L = 1; at or above it the descent does not
    converge (best: 0.5; any_step=True allows it); got 1.1.
    """

    def __init__(self, step="1/L", *, stopping=DEFAULT, max_iter: int = 10_000, max_time=None, any_step: bool = False):
        self.step = read_step("GradientDescent", step)
        self.stopping = read_stopping("GradientDescent", stopping)
        if not (isinstance(max_iter, int) and max_iter >= 1):
            raise InvalidParameter("GradientDescent", "max_iter", "an integer >= 1", max_iter)
        self.max_iter, self.max_time, self.any_step = max_iter, max_time, any_step

    def minimize(self, function, start=None) -> Descent:
        """Minimize ``function`` from ``start`` (default: zero); return the result with its history."""
        if not self.any_step:
            require_admissible("GradientDescent", self.step, function)

        def move(w, value, gradient, t):
            length = self.step.length(function, w, value, gradient, t)
            w = w - length * gradient
            return w, w, length

        return descend("GradientDescent", function, start, move, self.stopping, self.max_iter, self.max_time)
