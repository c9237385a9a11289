from __future__ import annotations

from surefit.core.errors import InvalidParameter
from surefit.optimisers.loop import descend, read_stopping
from surefit.optimisers.outcome import Descent
from surefit.optimisers.steps import read_step, require_admissible
from surefit.optimisers.stopping import GradientNorm

DEFAULT = GradientNorm(1e-6)


class GradientDescent:
    r"""Gradient descent :math:`w_{t+1} = w_t - \eta_t\nabla f(w_t)` on any smooth function.

    Guarantee: with :math:`\eta \le 1/L` and :math:`f` convex the value never rises and
    :math:`f(w_t) - \min f \le \|w_0 - w^*\|^2 / (2\eta t)`; a fixed step from :math:`2/L` on is refused with the number; with strong
    convexity the outcome has a proved gap (theory: :ref:`gradient-descent`).

    Parameters
    ----------
    step : float, "1/L" or step rule, default="1/L"
        How far to go: a fixed number, the reciprocal of the smoothness, ``DecayingStep`` or ``LineSearch``.
    stopping : stopping rule or several, default=GradientNorm(1e-6)
        ``GradientNorm``, ``IterateChange``, ``ObjectiveChange``, ``GapBound``; the first that is met ends the descent and gives the reason.
    max_iter : int >= 1, default=10000
        Steps; reaching them is a ``ConvergenceWarning``.
    max_time : float > 0 or None, default=None
        Seconds. Ctrl-C also stops with the point reached.
    any_step : bool, default=False
        Take a step that theory does not admit, to see what happens.

    Examples
    --------
    The step 1/2 solves :math:`(1 - w)^2` at once; 1.1 would diverge and is refused.

    >>> from surefit import GradientDescent
    >>> from surefit.optimisers import Quadratic
    >>> parabola = Quadratic([[2.0]], [2.0])
    >>> GradientDescent(step=0.5).minimise(parabola).n_iter
    1
    >>> GradientDescent(step=1.1).minimise(parabola)
    Traceback (most recent call last):
    surefit.core.errors.InvalidParameter: GradientDescent: step must be below 2/L = 1, from which on the descent diverges or never
    settles (best: 0.5; any_step=True takes it all the same); got 1.1.
    """

    def __init__(self, step="1/L", *, stopping=DEFAULT, max_iter: int = 10_000, max_time=None, any_step: bool = False):
        self.step = read_step("GradientDescent", step)
        self.stopping = read_stopping("GradientDescent", stopping)
        if not (isinstance(max_iter, int) and max_iter >= 1):
            raise InvalidParameter("GradientDescent", "max_iter", "an integer >= 1", max_iter)
        self.max_iter, self.max_time, self.any_step = max_iter, max_time, any_step

    def minimise(self, function, start=None) -> Descent:
        """Descend on ``function`` from ``start`` (default: zero); returns the outcome with its history."""
        if not self.any_step:
            require_admissible("GradientDescent", self.step, function)

        def move(w, value, gradient, t):
            length = self.step.length(function, w, value, gradient, t)
            w = w - length * gradient
            return w, w, length

        return descend("GradientDescent", function, start, move, self.stopping, self.max_iter, self.max_time)
