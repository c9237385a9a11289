"""Number of partitions of a finite set."""

import math
import numbers

from surefit.core.errors import InvalidParameter


def partition_count(n: int, k: int) -> int:
    r"""Return the number of partitions of ``n`` objects into ``k`` non-empty groups.

    .. math:: S(n, k) = \frac{1}{k!} \sum_{j=0}^{k} (-1)^{k-j} \binom{k}{j} j^n

    computed in exact integers (a Stirling number of the second kind). By inclusion-exclusion, the sum counts the
    assignments to labeled groups that leave no group empty; :math:`k!` is the number of labelings.

    Parameters
    ----------
    n : int >= 0
        Number of objects.
    k : int >= 0
        Number of groups.

    Examples
    --------
    >>> from surefit import partition_count
    >>> partition_count(10, 4), partition_count(19, 4)
    (34105, 11259666950)
    """
    for name, value in (("n", n), ("k", k)):
        if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 0:
            raise InvalidParameter("partition_count", name, "an integer >= 0", value)
    n, k = int(n), int(k)
    if k > n:
        return 0
    total = sum((-1) ** (k - j) * math.comb(k, j) * j**n for j in range(k + 1))
    return total // math.factorial(k)
