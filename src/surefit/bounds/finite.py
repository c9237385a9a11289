r"""Finite classes: Hoeffding's inequality for all members simultaneously, by the union bound."""

import math

from surefit.bounds.base import Deviation, check_delta
from surefit.bounds.three_forms import two_of_three
from surefit.core.errors import InvalidParameter
from surefit.core.validation import COUNT, POSITIVE


def finite_class(
    size: int,
    *,
    n: int | None = None,
    radius: float | None = None,
    delta: float | None = None,
    loss_bound: float = 1.0,
    sides: int = 2,
) -> Deviation:
    r"""Bound the uniform deviation between risk and empirical risk over ``size`` models.

    .. math:: P\Bigl(\max_{f \in F} |R(f) - \hat R_n(f)| > \varepsilon\Bigr) \le 2 |F| e^{-2 n \varepsilon^2 / M^2}, \qquad
              \varepsilon = M \sqrt{\frac{\ln |F| + \ln (2/\delta)}{2n}};

    the one-sided bound (:math:`R - \hat R_n`) does not have the factor 2.

    Guarantee: holds for any chosen member, however it is chosen, if the class was fixed before the ``n`` rows were seen (theory:
    :ref:`vc-inequality`). ``.risk(train_error)`` bounds the risk of the chosen member; ``.erm_excess()`` (two-sided) bounds the excess
    risk of the minimizer over the best member. On a development set, the class is the list of candidates, which were fitted on other
    rows.

    Parameters
    ----------
    size : int >= 1
        Number of models; may be a huge integer.
    n, radius, delta : two of the three
        Rows, deviation, failure probability.
    loss_bound : float > 0
        Upper bound M of the loss.
    sides : {1, 2}
        1: risk above empirical risk. 2: both directions.

    Examples
    --------
    >>> from surefit.bounds import finite_class
    >>> round(finite_class(100, n=1000, delta=0.05).radius, 7)
    0.0643974
    >>> finite_class(100, radius=0.05, delta=0.05).n  # excess of the minimizer below 0.1
    1659
    """
    if not COUNT.allows(size):
        raise InvalidParameter("finite_class", "size", COUNT.words, size)
    if not POSITIVE.allows(loss_bound):
        raise InvalidParameter("finite_class", "loss_bound", POSITIVE.words, loss_bound)
    if sides not in (1, 2):
        raise InvalidParameter("finite_class", "sides", "1 or 2", sides)
    log_factor = math.log(size) + math.log(sides)
    count, eps, log_delta = two_of_three(
        "finite_class",
        n=n,
        radius=radius,
        delta=delta,
        log_tail=lambda n, eps: log_factor - 2 * n * (eps / loss_bound) ** 2,
        radius_of=lambda n, log_delta: loss_bound * math.sqrt((log_factor - log_delta) / (2 * n)),
    )
    return Deviation(
        "finite_class",
        count,
        eps,
        log_delta,
        "largest deviation of risk from empirical risk in the class",
        ("iid", "class_fixed_a_priori", "range_declared"),
        sides,
        float(loss_bound),
        inputs={"log_size": math.log(size), "sides": sides},
    )


def random_search(*, n: int | None = None, fraction: float | None = None, delta: float | None = None) -> Deviation:
    r"""Bound the number of draws needed to hit the best fraction of a search space: :math:`P(\text{miss}) = (1 - q)^n`.

    Guarantee: exact for independent draws; ``radius`` of the result is the fraction q.

    Examples
    --------
    >>> from surefit.bounds import random_search
    >>> round(random_search(n=60, fraction=0.05).confidence, 3), random_search(fraction=0.05, delta=0.05).n
    (0.954, 59)
    """
    if fraction is not None and not 0 < fraction < 1:
        raise InvalidParameter("random_search", "fraction", "a number > 0 and < 1", fraction)
    if delta is not None:
        check_delta("random_search", delta)
    count, share, log_delta = two_of_three(
        "random_search",
        n=n,
        radius=fraction,
        delta=delta,
        log_tail=lambda n, q: n * math.log1p(-q),
        radius_of=lambda n, log_delta: -math.expm1(log_delta / n),
    )
    about, assumptions = "rank of the best draw", ("independent_draws",)
    return Deviation("random_search", count, share, log_delta, about, assumptions, of_a_risk=False)
