r"""Vapnik-Chervonenkis inequalities with explicit constants, for any class with a known growth function."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from surefit.bounds.base import Deviation, NoBound, RiskBound
from surefit.bounds.catalog import SetClass
from surefit.bounds.growth import FORMS, log_growth
from surefit.bounds.three_forms import two_of_three
from surefit.core.errors import InvalidParameter


class Theorem(NamedTuple):
    r"""Tail :math:`c \, s(kn) e^{-n \varepsilon^2 / e}` for the deviation of risk and empirical risk."""

    factor: float  # c
    divisor: float  # e
    samples: int  # k
    sides: int


#: Constants of the theorems: ghost sample and random signs (factor 8, divisor 32); double sample (4, 8, one-sided).
THEOREMS = {"symmetrized": Theorem(8.0, 32.0, 1, 2), "double_sample": Theorem(4.0, 8.0, 2, 1)}


def vc(
    dimension: float | SetClass,
    *,
    n: int | None = None,
    radius: float | None = None,
    delta: float | None = None,
    theorem: str = "symmetrized",
    form: str = "sauer",
) -> Deviation | NoBound:
    r"""Bound the uniform deviation of risk and empirical 0-1 risk over a class of finite VC dimension.

    ============== ========================================================== =======================================
    ``theorem``    statement                                                  radius
    ============== ========================================================== =======================================
    symmetrized    :math:`P(\sup |R - \hat R| > \varepsilon) \le              :math:`\sqrt{\frac{32}{n} \ln
                   8 s(n) e^{-n \varepsilon^2 / 32}`                          \frac{8 s(n)}{\delta}}`
    double_sample  :math:`P(\sup (R - \hat R) > \varepsilon) \le              :math:`\sqrt{\frac{8}{n} \ln
                   4 s(2n) e^{-n \varepsilon^2 / 8}`                          \frac{4 s(2n)}{\delta}}`
    rademacher     :math:`\sup (R - \hat R) \le \varepsilon`                  :math:`\sqrt{\frac{2 \ln s(n)}{n}} +
                                                                              \sqrt{\frac{\ln(1/\delta)}{2n}}`
    ============== ========================================================== =======================================

    Guarantee: for every distribution of the data and for *any* member of the class, however chosen, if the class
    (features, kernel, degree, scaling) was fixed before the data were seen (theory: :ref:`vc-inequality`). For an
    infinite dimension (RBF kernels, sines), :class:`NoBound` is returned.

    Parameters
    ----------
    dimension : int or SetClass
        VC dimension, or an entry of :func:`set_class`, whose exact growth function is used if it is known.
    n, radius, delta : two of the three
        Rows, deviation, failure probability.
    theorem : {"symmetrized", "double_sample", "rademacher"}
        Which inequality.
    form : {"sauer", "power", "euler", "cover"}
        How labelings are counted if only the dimension is given: see :func:`log_growth`.

    Examples
    --------
    >>> from surefit.bounds import set_class, vc
    >>> round(vc(set_class("stumps"), n=1000, delta=0.05).radius, 4), vc(3, radius=0.1, delta=0.05, form="power").n
    (0.6369, 129227)
    >>> vc(11, n=20_000, delta=0.05, theorem="rademacher").risk(0.1)
    risk of the model <= 0.2043 with confidence 0.95 (assumes iid, class_fixed_a_priori)
    """
    if not FORMS.allows(form):
        raise InvalidParameter("vc", "form", FORMS.words, form)
    finite = dimension.dimension if isinstance(dimension, SetClass) else dimension
    if not (isinstance(finite, (int, float)) and finite >= 0 and (math.isinf(finite) or finite == int(finite))):
        raise InvalidParameter("vc", "dimension", "an integer >= 0, inf, or a SetClass", dimension)
    if math.isinf(finite):
        return NoBound("vc", "an infinite VC dimension admits no distribution-free bound")

    counted = dimension.form if isinstance(dimension, SetClass) else form

    def log_count(size: int) -> float:
        return log_growth(size, int(finite), counted)

    log_tail, radius_of, sides = _inequality(theorem, log_count)
    count, eps, log_delta = two_of_three("vc", n=n, radius=radius, delta=delta, log_tail=log_tail, radius_of=radius_of)
    inputs = {"dimension": int(finite), "theorem": theorem, "form": counted}
    about = "largest deviation of risk from empirical risk in the class"
    return Deviation("vc", count, eps, log_delta, about, ("iid", "class_fixed_a_priori"), sides, inputs=inputs)


def vc_bound(
    train_error: float, n: int, vc_dim: float, delta: float = 0.05, *, form: str = "power"
) -> RiskBound | NoBound:
    r"""Bound the risk of a classifier by its training error and the VC dimension of its class.

    .. math:: R \le \hat R + \sqrt{\tfrac{32}{n} \ln \tfrac{8 (n + 1)^V}{\delta}}

    for ``form="power"``. The value is at most 1, and a value of 1 is ``vacuous``. :func:`surefit.bounds.vc` has the
    other theorems and the sample size.

    Guarantee: with probability :math:`1 - \delta`, for independent rows, however the classifier was chosen from a class
    that was fixed before the rows were seen (theory: :ref:`vc-inequality`). For an infinite dimension,
    :class:`surefit.bounds.NoBound` is returned.

    Parameters
    ----------
    train_error : float from 0 to 1
        Share of wrong training predictions.
    n : int
        Training rows.
    vc_dim : int or inf
        VC dimension, d + 1 for half-spaces in d dimensions.
    delta : float, default=0.05
        Failure probability.
    form : {"power", "sauer", "euler", "cover"}, default="power"
        How labelings are counted.

    Examples
    --------
    >>> from surefit.bounds import vc_bound
    >>> round(vc_bound(0.02, 100_000, 3).value, 3), vc_bound(0.02, 500, 3).vacuous
    (0.133, True)
    """
    return vc(vc_dim, n=n, delta=delta, form=form).risk(train_error)


def vc_consistent(
    dimension: int,
    *,
    n: int | None = None,
    radius: float | None = None,
    delta: float | None = None,
    form: str = "sauer",
) -> Deviation:
    r"""Bound the risk of any member without training errors: :math:`\frac2n \bigl(\log_2 s(2n) + \log_2 \frac2\delta\bigr)`.

    Guarantee: with probability at least ``1 - delta``, every consistent member has risk at most ``radius``, which
    decreases like :math:`1/n` instead of :math:`1/\sqrt n` (theory: :ref:`vc-inequality`).

    Examples
    --------
    >>> from surefit.bounds import vc_consistent
    >>> round(vc_consistent(3, n=10_000, delta=0.05).radius, 4), vc_consistent(3, radius=0.0092, delta=0.05).n
    (0.0091, 9904)
    """
    count, eps, log_delta = two_of_three(
        "vc_consistent",
        n=n,
        radius=radius,
        delta=delta,
        log_tail=lambda n, eps: math.log(2) + log_growth(2 * n, dimension, form) - n * eps / 2 * math.log(2),
        radius_of=lambda n, ld: 2 / (n * math.log(2)) * (math.log(2) - ld + log_growth(2 * n, dimension, form)),
    )
    about = "risk of every member of the class without training errors"
    assumptions = ("iid", "class_fixed_a_priori", "no_training_error")
    return Deviation("vc_consistent", count, eps, log_delta, about, assumptions, of_a_risk=False)


def _inequality(theorem: str, log_count: Callable[[int], float]) -> tuple[Any, Any, Any]:
    if theorem in THEOREMS:
        factor, divisor, samples, sides = THEOREMS[theorem]

        def tail_of_counts(n: int, eps: float) -> float:
            return math.log(factor) + log_count(samples * n) - n * eps * (eps / divisor)

        def radius_of_counts(n: int, log_delta: float) -> float:
            return math.sqrt(divisor / n * (math.log(factor) + log_count(samples * n) - log_delta))

        return tail_of_counts, radius_of_counts, sides
    if theorem != "rademacher":
        raise InvalidParameter("vc", "theorem", "'symmetrized', 'double_sample' or 'rademacher'", theorem)

    def log_tail(n: int, eps: float) -> float:
        left = eps - math.sqrt(2 * log_count(n) / n)
        return 0.0 if left <= 0 else -2 * n * left * left

    def radius_of(n: int, log_delta: float) -> float:
        return math.sqrt(2 * log_count(n) / n) + math.sqrt(-log_delta / (2 * n))

    return log_tail, radius_of, 1
