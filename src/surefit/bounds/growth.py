r"""Growth functions: Sauer's lemma and the bounds derived from it, exact and in logarithms."""

import math

from surefit.bounds.binomial import stirling_error
from surefit.core.errors import InvalidParameter
from surefit.core.validation import COUNT, one_of

FORMS = one_of("sauer", "power", "euler", "cover")
EXACT_BELOW = 64  # binomials with an index below this are exact integers


def sauer(n: int, dimension: int) -> int:
    r"""Return Sauer's bound :math:`\Phi_d(n) = \sum_{i=0}^{d} \binom ni` on the number of labelings of n points, as an exact integer.

    Guarantee: a class of VC dimension ``dimension`` realizes at most this many labelings of any ``n`` points (theory:
    :ref:`sauer-lemma`). The sum starts at 0.

    Parameters
    ----------
    n : int >= 0
        Number of points.
    dimension : int >= 0
        VC dimension.

    Examples
    --------
    >>> from surefit.bounds import sauer
    >>> [sauer(n, 2) for n in range(1, 7)]
    [2, 4, 7, 11, 16, 22]
    """
    _check("sauer", n, dimension)
    return sum(math.comb(n, i) for i in range(min(n, dimension) + 1))


def log_growth(n: int, dimension: float, form: str = "sauer") -> float:
    r"""Return the logarithm of a bound on the number of labelings of n points by a class of the given VC dimension.

    ``"sauer"``: :math:`\sum_{i \le d} \binom ni`; ``"power"``: :math:`(n + 1)^d`; ``"euler"``: :math:`(en/d)^d` for :math:`n \ge d`;
    ``"cover"``: :math:`2 \sum_{i < d} \binom{n-1}i`, which is exact for half-spaces and stumps, and not a bound for other classes. All
    are capped at :math:`2^n`, and accurate up to :math:`n = 10^9`.

    Examples
    --------
    >>> import math
    >>> from surefit.bounds import log_growth
    >>> [round(math.exp(log_growth(5, 2, form)), 6) for form in ("sauer", "power", "euler")]
    [16.0, 32.0, 32.0]
    >>> log_growth(1000, math.inf) == 1000 * math.log(2)
    True
    """
    if not FORMS.allows(form):
        raise InvalidParameter("log_growth", "form", FORMS.words, form)
    everything = n * math.log(2)
    if math.isinf(dimension):
        return everything
    _check("log_growth", n, dimension)
    d = int(dimension)
    if d >= n:
        return everything
    if d == 0:
        return 0.0
    if form == "cover":
        return math.log(2) + log_growth(n - 1, d - 1)
    if form == "power":
        return min(everything, d * math.log(n + 1))
    if form == "euler":
        return min(everything, d * (1 + math.log(n / d)))
    if 2 * d >= n:  # most subsets are included: subtract the others
        rest = log_growth(n, n - d - 1)
        return everything + math.log1p(-math.exp(rest - everything))
    ratio, total, i = 1.0, 1.0, d
    while i > 0 and ratio > 1e-18 * total:
        ratio *= i / (n - i + 1)
        total += ratio
        i -= 1
    return log_choose(n, d) + math.log(total)


def log_choose(n: int, k: int) -> float:
    r"""Return :math:`\ln \binom nk` without cancellation.

    Examples
    --------
    >>> import math
    >>> from surefit.bounds import log_choose
    >>> round(log_choose(10**9, 2) - math.log(10**9 * (10**9 - 1) // 2), 12)
    0.0
    """
    if not 0 <= k <= n:
        raise InvalidParameter("log_choose", "k", f"an integer from 0 to n = {n}", k)
    k = min(k, n - k)
    if k < EXACT_BELOW:
        return math.log(math.comb(n, k))
    entropy = k * math.log(n / k) - (n - k) * math.log1p(-k / n)
    stirling = stirling_error(n) - stirling_error(k) - stirling_error(n - k)
    return entropy + 0.5 * math.log(n / (2 * math.pi * k * (n - k))) + stirling


def _check(who: str, n: int, dimension: float) -> None:
    for name, value in (("n", n), ("dimension", dimension)):
        if not (value == 0 or COUNT.allows(value)):
            raise InvalidParameter(who, name, "an integer >= 0", value)
