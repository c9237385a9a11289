r"""Risk bounds from Rademacher complexity for Lipschitz losses of real-valued predictors."""

import math

from surefit.bounds.base import ROUND_OUT, RiskBound, check_delta
from surefit.bounds.rademacher import Complexity
from surefit.core.errors import InvalidParameter
from surefit.core.validation import COUNT, NON_NEGATIVE, POSITIVE


def lp_lipschitz(p: float, residual_bound: float) -> float:
    r"""Return the Lipschitz constant :math:`p M^{p-1}` of :math:`|r|^p` on :math:`[-M, M]`, :math:`p \ge 1`.

    Examples
    --------
    >>> from surefit.bounds import lp_lipschitz
    >>> lp_lipschitz(2, 3.0), lp_lipschitz(1, 3.0)
    (6.0, 1.0)
    """
    if not (POSITIVE.allows(p) and p >= 1):
        raise InvalidParameter("lp_lipschitz", "p", "a finite number >= 1", p)
    if not POSITIVE.allows(residual_bound):
        raise InvalidParameter("lp_lipschitz", "residual_bound", POSITIVE.words, residual_bound)
    return float(p * residual_bound ** (p - 1))


def rademacher_risk(
    empirical: float,
    complexity: Complexity | float,
    n: int,
    delta: float = 0.05,
    *,
    lipschitz: float = 1.0,
    loss_bound: float = 1.0,
    data_dependent: bool = True,
) -> RiskBound:
    r"""Bound the risk of any member of a class by its empirical risk and the class's Rademacher complexity.

    .. math:: R \le \hat R + 2 \rho \, \mathfrak R + B \sqrt{\frac{\ln(1/\delta)}{2n}} \qquad\text{or}\qquad
              R \le \hat R + 2 \rho \, \hat{\mathfrak R} + 3 B \sqrt{\frac{\ln(2/\delta)}{2n}},

    where the second form applies if the complexity was measured on the same rows (``data_dependent``).

    Guarantee: with probability at least ``1 - delta``, for every member, for a loss in [0, B] that is :math:`\rho`-Lipschitz in the
    prediction (theory: :ref:`rademacher`). The :math:`L_p` loss with residuals in [-M, M] has :math:`\rho = p M^{p-1}` and :math:`B =
    M^p`; the epsilon-insensitive loss has :math:`\rho = 1`. A Monte Carlo complexity is replaced by its upper confidence limit, and its
    failure probability is added to ``delta``.

    Parameters
    ----------
    empirical : float
        Mean loss on the rows.
    complexity : Complexity or float
        Complexity of the class of predictors. With ``data_dependent=False`` a float: the expected complexity, from declared constants.
    n : int
        Rows.
    delta : float in (0, 1)
        Failure probability of the bound itself.
    lipschitz, loss_bound : float > 0
        :math:`\rho` and B.
    data_dependent : bool
        Which of the two forms to use.

    Examples
    --------
    >>> from surefit.bounds import rademacher_risk
    >>> round(rademacher_risk(0.1, 0.02, 1000, lipschitz=2.0, data_dependent=False).value, 5)
    0.2187
    """
    check_delta("rademacher_risk", delta)
    if not COUNT.allows(n):
        raise InvalidParameter("rademacher_risk", "n", COUNT.words, n)
    for name, number in (("lipschitz", lipschitz), ("loss_bound", loss_bound)):
        if not POSITIVE.allows(number):
            raise InvalidParameter("rademacher_risk", name, POSITIVE.words, number)
    if not (NON_NEGATIVE.allows(empirical) and empirical <= loss_bound):
        raise InvalidParameter(
            "rademacher_risk", "empirical", f"a number from 0 to loss_bound = {loss_bound:g}", empirical
        )
    value, extra = (
        (complexity.upper, complexity.delta) if isinstance(complexity, Complexity) else (float(complexity), 0.0)
    )
    if data_dependent:
        confidence = 3 * loss_bound * math.sqrt((math.log(2) - math.log(delta)) / (2 * n))
    else:
        confidence = loss_bound * math.sqrt(-math.log(delta) / (2 * n))
    capacity = 2 * lipschitz * value
    return RiskBound(
        "rademacher_risk",
        min(float(loss_bound), (empirical + capacity + confidence) * (1 + ROUND_OUT)),
        delta + extra,
        "risk of the chosen member of the class",
        ("iid", "class_fixed_a_priori", "range_declared"),
        inputs={
            "empirical": float(empirical),
            "complexity": value,
            "n": int(n),
            "lipschitz": float(lipschitz),
            "loss_bound": float(loss_bound),
            "data_dependent": bool(data_dependent),
            "delta_spent": delta,
        },
        terms={"empirical": float(empirical), "complexity": capacity, "confidence": confidence},
        ceiling=float(loss_bound),
    )
