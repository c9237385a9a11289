"""Karush-Kuhn-Tucker conditions for a program with one variable."""

from __future__ import annotations

import numpy as np

from surefit.core.errors import InvalidParameter
from surefit.duality.convex import Constraint, ConvexProgram


def nearest_to_origin(a: float) -> tuple[ConvexProgram, np.ndarray, np.ndarray]:
    r"""Return the program :math:`\min x^2` subject to :math:`(x - a)^2 \le 1`, its optimum and the multiplier.

    For :math:`a > 1` the optimum is :math:`a - 1` with multiplier :math:`a - 1`; for :math:`0 \le a \le 1` both are zero. At
    :math:`a = 1` the constraint is active with multiplier zero. The dual function is
    :math:`\phi(\lambda) = \lambda a^2 / (1 + \lambda) - \lambda`, and :math:`x = a` is a Slater point.

    Parameters
    ----------
    a : float
        Center of the feasible interval, at least zero.

    Returns
    -------
    program : ConvexProgram
        The program with its dual function.
    x, multiplier : array of shape (1,)
        The optimum and its multiplier.

    Examples
    --------
    >>> from surefit.duality import nearest_to_origin
    >>> program, x, multiplier = nearest_to_origin(3.0)
    >>> print(x, multiplier, program.objective(x))
    [2.] [2.] 4.0
    """
    if not a >= 0:
        raise InvalidParameter("nearest_to_origin", "a", "a number >= 0", a)
    a = float(a)
    within = Constraint(lambda x: float((x[0] - a) ** 2 - 1.0), lambda x: 2.0 * (x - a))
    program = ConvexProgram(
        lambda x: float(x[0] ** 2),
        lambda x: 2.0 * x,
        (within,),
        dual=lambda weights, _: float(weights[0] * a * a / (1.0 + weights[0]) - weights[0]),
        curvature=2.0,
        slater=np.array([a]),
    )
    optimum = np.array([max(a - 1.0, 0.0)])
    return program, optimum, optimum.copy()
