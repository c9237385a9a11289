"""What a descent returns: the point, how good it is, why it stopped, and the way there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.optimisers.steps import StepTheory


class Descent(NamedTuple):
    r"""Outcome of a descent.

    Attributes
    ----------
    w : ndarray
        The point; with averaging the mean of the iterates.
    value, gradient_norm : float
        Objective, and norm of its full gradient, at ``w``.
    gap : float
        Proved bound of the distance of ``value`` from the smallest one, :math:`\|\nabla f\|^2 / (2\mu)`; infinite if :math:`\mu = 0`.
    n_iter : int
        Steps of a gradient descent, passes of a stochastic one.
    reason, sentence : str
        Why it stopped, as a word and in words.
    converged : bool
        Whether a stopping rule was met.
    history : ndarray of shape (n_iter + 1, 4)
        Seconds, value, gradient norm and last step length, from the start on.
    path : ndarray of shape (n_iter + 1, dimension)
        The iterates, from the start on.
    theory : StepTheory
        What the constants of the function say about steps.

    Examples
    --------
    >>> from surefit.optimisers import GradientDescent, Quadratic
    >>> outcome = GradientDescent().minimise(Quadratic([[2.0]], [2.0]))
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
