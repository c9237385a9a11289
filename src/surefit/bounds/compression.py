r"""Sample compression: models that can be reconstructed from few of their training rows."""

import math

from surefit.bounds.base import ROUND_OUT, RiskBound, check_count, check_delta
from surefit.bounds.binomial import binomial_tail_inverse, log_binomial_sf, log_pmf, root
from surefit.bounds.growth import log_choose
from surefit.core.errors import InvalidParameter
from surefit.core.validation import COUNT

LOG_ROUNDING = 2.0**-46  # relative; covers the rounding of both sides if the sum hardly changes with epsilon


def sample_compression(size: int, errors: int, n: int, delta: float = 0.05) -> RiskBound:
    r"""Return the risk bound of a model that can be reconstructed from ``size`` of its ``n`` training rows.

    .. math:: R \le \max\Bigl\{p : P(\mathrm{Bin}(n - s, p) \le k) \ge \frac{\delta}{n \binom ns}\Bigr\},

    with :math:`k` errors among the :math:`n - s` other rows.

    Guarantee: holds if the same procedure, given those rows alone (as a set, or in their order), returns the same model
    (theory: :ref:`compression`). Support vectors and perceptron mistakes are examples of such rows.

    Parameters
    ----------
    size : int from 0 to n
        Number of rows from which the model is reconstructed.
    errors : int
        Errors among the other rows.
    n : int
        Training rows.
    delta : float in (0, 1)
        Failure probability.

    Examples
    --------
    >>> from surefit.bounds import sample_compression
    >>> round(sample_compression(10, 0, 1000).value, 4), sample_compression(600, 0, 1000).vacuous
    (0.0624, False)
    """
    check_delta("sample_compression", delta)
    _check_size("sample_compression", size, n)
    if size == n:
        value = 1.0
        check_count("sample_compression", errors, n)
    else:
        check_count("sample_compression", errors, n - size)
        log_share = math.log(delta) - math.log(n) - log_choose(int(n), int(size))
        value = binomial_tail_inverse(int(errors), int(n - size), log_share)
    return RiskBound(
        "sample_compression",
        value,
        delta,
        "risk of the model rebuilt from its compression set",
        ("iid", "rebuilt_from_compression_set"),
        inputs={"size": int(size), "errors": int(errors), "n": int(n)},
        terms={"empirical": errors / max(n - size, 1)},
    )


def stable_compression(size: int, n: int, delta: float = 0.05) -> RiskBound:
    r"""Bound the probability that a new row would change the compression set of a *stable* scheme, from the size of that set.

    The bound is the :math:`\varepsilon` that solves

    .. math:: \frac\delta n \sum_{m=s}^{n-1} \frac{\binom ms}{\binom ns} (1 - \varepsilon)^{-(n - m)} = 1, \qquad
              \varepsilon = 1 \text{ if } s = n.

    Guarantee: holds for a scheme whose set does not change when rows outside it are removed. For a support vector
    machine with a fixed kernel and a fixed tie rule, the support vectors form such a set. A new row with :math:`y f(x)
    < 1` always changes this set, so the bound also applies to the risk (theory: :ref:`compression`). Errors are not
    counted.

    Parameters
    ----------
    size : int from 0 to n
        Rows in the compression set.
    n : int
        Training rows.
    delta : float in (0, 1)
        Failure probability.

    Examples
    --------
    >>> from surefit.bounds import sample_compression, stable_compression
    >>> round(stable_compression(10, 1000).value, 4), round(stable_compression(300, 1000).value, 4)
    (0.0217, 0.3483)
    """
    check_delta("stable_compression", delta)
    _check_size("stable_compression", size, n)
    return RiskBound(
        "stable_compression",
        _stable_root(int(size), int(n), math.log(delta)),
        delta,
        "probability that a new row changes the compression set",
        ("iid", "stable_compression", "ties_broken_by_fixed_rule"),
        inputs={"size": int(size), "n": int(n)},
        terms={"fraction": size / n},
    )


def pick_to_learn(picked: int, errors_left: int, n: int, delta: float = 0.05, budgets: int = 1) -> RiskBound:
    r"""Return the risk bound of Pick-to-Learn, which moves rows of a second half into training until few errors remain there.

    The bound is that of :func:`stable_compression` with :math:`s` = rows picked + errors left among the ``n`` rows of
    the second half, at :math:`\delta / J` for J declared budgets.

    Guarantee: for the model trained on the first half and the picked rows (theory: :ref:`compression`). If no row is picked, the second
    half is a test set.

    Examples
    --------
    >>> from surefit.bounds import pick_to_learn
    >>> round(pick_to_learn(picked=20, errors_left=15, n=1000).value, 4)
    0.0548
    """
    check_delta("pick_to_learn", delta)
    _check_size("pick_to_learn", picked, n)
    check_count("pick_to_learn", errors_left, n)
    if picked + errors_left > n:
        raise InvalidParameter("pick_to_learn", "errors_left", f"at most n - picked = {n - picked}", errors_left)
    if not COUNT.allows(budgets):
        raise InvalidParameter("pick_to_learn", "budgets", COUNT.words, budgets)
    size = int(picked + errors_left)
    return RiskBound(
        "pick_to_learn",
        _stable_root(size, int(n), math.log(delta) - math.log(budgets)),
        delta,
        "risk of the model trained on the first half and the picked rows",
        ("iid", "rows_untouched", "worst_row_picked_by_fixed_rule"),
        inputs={"size": size, "n": int(n), "budgets": int(budgets)},
        terms={"fraction": size / n},
    )


def _stable_root(size: int, n: int, log_delta: float) -> float:
    r"""Return the smallest epsilon, rounded up, at which the sum reaches ``n / delta``.

    The terms are those of a negative binomial distribution: with :math:`K \sim \mathrm{Bin}(n, \varepsilon)`, the sum is
    :math:`P(K > s) / (\varepsilon P(K = s))`.
    """
    if size == n:
        return 1.0

    needed = (math.log(n) - log_delta) * (1 + LOG_ROUNDING) + LOG_ROUNDING

    def missing(eps: float) -> float:
        return needed - log_binomial_sf(size, n, eps) + math.log(eps) + log_pmf(size, n, eps, 1.0 - eps)

    high = math.nextafter(1.0, 0.0)
    if missing(high) > 0:
        return 1.0
    low = -math.expm1(log_delta / (n - size))  # each of the n - s terms is at most the last factor
    return min(1.0, root(missing, low, high) * (1 + ROUND_OUT))


def _check_size(who: str, size: int, n: int) -> None:
    if not COUNT.allows(n):
        raise InvalidParameter(who, "n", COUNT.words, n)
    if not (size == 0 or COUNT.allows(size)) or size > n:
        raise InvalidParameter(who, "size", f"an integer from 0 to n = {n}", size)
