"""Result of a descent: the point, its accuracy, the stopping reason, and the history."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.optimizers.steps import StepTheory


class Descent(NamedTuple):
    r"""Result of a descent.

    Attributes
    ----------
    w : ndarray
        The returned point; with averaging, the mean of the iterates.
    value, gradient_norm : float
        Objective, and norm of its full gradient, at ``w``.
    gap : float
        Upper bound on ``value`` minus the minimum, :math:`\|\nabla f\|^2 / (2\mu)`; infinite if :math:`\mu = 0`.
    n_iter : int
        Steps of gradient descent, passes of stochastic gradient descent.
    reason, sentence : str
        Stopping reason, as a keyword and as a sentence.
    converged : bool
        Whether a stopping rule was satisfied.
    history : ndarray of shape (n_iter + 1, 4)
        Seconds, value, gradient norm and last step length, including the start.
    path : ndarray of shape (n_iter + 1, dimension)
        The iterates, including the start.
    theory : StepTheory
        Step sizes that the constants of the function admit.

    Examples
    --------
    >>> from surefit.optimizers import GradientDescent, Quadratic
    >>> outcome = GradientDescent().minimize(Quadratic([[2.0]], [2.0]))
    >>> print(outcome.w, outcome.n_iter, outcome.reason)
    [1.] 1 gradient_norm
    """

    w: np.ndarray
    value: float
    gradient_norm: float
    gap: float
    n_iter: int
    reason: str
    sentence: str
    converged: bool
    history: np.ndarray
    path: np.ndarray
    theory: StepTheory
