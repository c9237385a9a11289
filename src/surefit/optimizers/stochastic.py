from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.optimizers.loop import descend, read_stopping
from surefit.optimizers.outcome import Descent
from surefit.optimizers.steps import DecayingStep, LineSearch, read_step, require_admissible
from surefit.optimizers.stopping import GradientNorm

DEFAULT = GradientNorm(1e-3)  # norm of the full gradient, after a pass


class StochasticGradientDescent:
    r"""Stochastic gradient descent: :math:`w \leftarrow w - \eta_t \frac1B\sum_{i\in\text{batch}}\nabla f_i(w)`.

    One iteration is one pass over the rows. Stopping rules use the full gradient at the end of a pass, not the gradient of a batch: the
    gradient of a fitted row is zero even if the sum is not.

    Guarantee: the expected gradient of a random batch is the full gradient; with ``batch_size=None`` the iterates are those of
    :class:`GradientDescent`. With a constant step, the iterates do not converge unless all rows can be fitted; use ``DecayingStep`` or
    ``average`` (theory: :ref:`gradient-descent`).

    Parameters
    ----------
    step : float, "1/L" or step rule, default=DecayingStep(0.1, 0.01)
        Step size; ``LineSearch`` needs the full gradient and raises an error.
    batch_size : int >= 1 or None, default=1
        Number of rows per step; None: all rows.
    order : {"shuffled", "cyclic", "random"}, default="shuffled"
        A new permutation in each pass, the order of the data, or random draws with replacement.
    average : bool, default=False
        Whether to return the mean of all iterates.
    stopping : stopping rule or several, default=GradientNorm(1e-3)
        Checked after each pass.
    max_iter : int >= 1, default=1000
        Maximum number of passes; reaching it issues a ``ConvergenceWarning``.
    max_time : float > 0 or None, default=None
        Time limit in seconds. Ctrl-C also stops and returns the current point.
    random_state : int, RandomState or None, default=None
        Seed of the order.
    any_step : bool, default=False
        Allow a step for which convergence is not proved.

    Examples
    --------
    >>> from surefit import StochasticGradientDescent
    >>> from surefit.losses import Squared
    >>> from surefit.optimizers import LinearScores
    >>> line = LinearScores([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0], Squared())
    >>> outcome = StochasticGradientDescent(0.2, random_state=0).minimize(line)
    >>> outcome.w.round(2)
    array([2., 1.])
    """

    def __init__(
        self, step=None, *, batch_size: int | None = 1, order: str = "shuffled", average: bool = False,
        stopping=DEFAULT, max_iter: int = 1000, max_time=None, random_state=None, any_step: bool = False,
    ):  # fmt: skip
        who = "StochasticGradientDescent"
        self.step = DecayingStep(0.1, 0.01) if step is None else read_step(who, step)
        if isinstance(self.step, LineSearch):
            raise InvalidParameter(who, "step", "a rule that does not use the objective", step)
        if order not in ("shuffled", "cyclic", "random"):
            raise InvalidParameter(who, "order", "'shuffled', 'cyclic' or 'random'", order)
        for name, number in (("batch_size", batch_size), ("max_iter", max_iter)):
            if not (isinstance(number, int) and number >= 1) and not (name == "batch_size" and number is None):
                raise InvalidParameter(who, name, "an integer >= 1", number)
        self.batch_size, self.order, self.average = batch_size, order, average
        self.stopping, self.max_iter, self.max_time = read_stopping(who, stopping), max_iter, max_time
        self.random_state, self.any_step = random_state, any_step

    def minimize(self, function, start=None) -> Descent:
        """Minimize a ``FiniteSum`` from ``start`` (default: zero); return the result with its history."""
        who = "StochasticGradientDescent"
        if not hasattr(function, "batch_gradient"):
            raise InvalidData(
                f"{who}: function must be a FiniteSum, which has batch gradients; use GradientDescent for other functions."
            )
        if not self.any_step:
            require_admissible(who, self.step, function)
        random, n = check_random_state(self.random_state), function.n_rows
        size = n if self.batch_size is None else min(self.batch_size, n)
        steps, total = 0, np.zeros(function.dimension)

        def move(w, value, gradient, t):
            nonlocal steps, total
            rows = np.arange(n) if self.order == "cyclic" or size == n else random.permutation(n)
            rows = random.randint(n, size=n) if self.order == "random" else rows
            length = 0.0
            for first in range(0, n, size):
                length = self.step.length(function, w, value, gradient, steps)
                w = w - length * function.batch_gradient(w, rows[first : first + size])
                steps += 1
                total += w
            return w, total / steps if self.average else w, length

        return descend(who, function, start, move, self.stopping, self.max_iter, self.max_time)
