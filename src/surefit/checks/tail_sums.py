r"""Confirmation of limits without inversion: tails, entropies and martingales are evaluated at the claimed value.

A limit :math:`p` is confirmed if, under :math:`p`, results at least as favorable have probability at most
:math:`\delta`. Small binomial tails are summed in integers (``exact``), others in logarithms with a margin for every
rounding error (``enclosed``).
"""

import functools
import math
from decimal import Context, Decimal
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from surefit.checks.enclosure import UNIT

EXACT_UP_TO = 256  # largest number of trials whose tail is summed in integers
EXACT_CHOICES = 2000  # largest index for which binomial coefficients are computed as integers
WIDE = Context(prec=40, Emax=10**9, Emin=-(10**9))
HALF = Decimal("0.5")
LOG_ROOT_OF_2_PI = Decimal("0.9189385332046727417803297364056176398614")
STIRLING = ((1, 12, 1), (-1, 360, 3), (1, 1260, 5), (-1, 1680, 7), (1, 1188, 9))  # numerator, denominator, power of 1/k
ULPS = 16 * UNIT  # relative margin for one value of a library function (log, lgamma, erfc)


class Evidence(NamedTuple):
    """Slack of an inequality, and a bound ``margin`` on its rounding error."""

    slack: float
    margin: float = 0.0
    exact: bool = False

    @property
    def ok(self) -> bool:
        """Whether the statement holds despite all rounding errors."""
        return self.slack >= self.margin

    @property
    def level(self) -> str:
        """Level of rigor of the evidence."""
        return "exact" if self.exact else "enclosed"


def weakest(*parts: Evidence) -> Evidence:
    """Return the evidence that all statements hold: that of the weakest one."""
    proved = all(part.slack >= part.margin for part in parts)
    slack = min(part.slack for part in parts)
    return Evidence(slack, slack if proved else math.inf, all(part.exact for part in parts))


def binomial_tail(k: int, n: int, p: float, share: Fraction | float) -> Evidence:
    r"""Return the evidence for :math:`P(\mathrm{Bin}(n, p) \le k) \le` share (a Fraction, or its log as a float)."""
    if p >= 1.0:
        return Evidence(math.inf, exact=True)  # a limit of 1 is always true
    if p <= 0.0 or not 0 <= k < n:
        return Evidence(-math.inf)
    if n <= EXACT_UP_TO and isinstance(share, Fraction):
        heads, whole = Fraction(p).numerator, Fraction(p).denominator
        tails = whole - heads
        total = sum(math.comb(n, j) * heads**j * tails ** (n - j) for j in range(k + 1))
        ratio = Fraction(total, whole**n) / share
        return Evidence(0.0 if ratio == 1 else -log_of(ratio), exact=True)
    log_share = WIDE.subtract(_ln(share.numerator), _ln(share.denominator)) if isinstance(share, Fraction) else share
    log_tail, margin = _log_tail(k, n, p)
    slack = WIDE.subtract(WIDE.create_decimal(log_share), log_tail)
    return Evidence(float(slack), margin + (0.0 if isinstance(share, Fraction) else ULPS * abs(share)))


def log_of(value: Fraction) -> float:
    """Return the logarithm of a positive rational of any size."""
    shift = value.numerator.bit_length() - value.denominator.bit_length()
    return math.log(float(value / Fraction(2) ** shift)) + shift * math.log(2)


def _log_tail(k: int, n: int, p: float) -> tuple[Decimal, float]:
    """Return ``ln P(Bin(n, p) <= k)`` by summation from the largest term down, and a bound on its rounding error.

    The largest term is computed in 40-digit arithmetic, the sum relative to it in floating point.
    """
    if k >= n * p:
        return Decimal(0), 0.0  # not a small tail; its upper bound of 1 is used
    odds, total, last, at, terms, block = (1 - p) / p, 1.0, 1.0, k, 0, 64
    while at > 0:
        j = np.arange(at, max(at - block, 0), -1, dtype=np.float64)
        products = last * np.cumprod(j / (n - j + 1) * odds)
        total += float(np.sum(products))
        at, last, terms, block = at - len(j), float(products[-1]), terms + len(j), min(2 * block, 65536)
        ratio = at / (n - at + 1) * odds
        if last * ratio < 1e-17 * (1 - ratio) * total:  # the remainder is below a geometric series
            total += last * ratio / (1 - ratio)
            break
    return WIDE.add(_log_term(k, n, Decimal(p)), Decimal(math.log(total))), 8 * UNIT * (terms + 2) if terms else UNIT**2


def _log_term(k: int, n: int, p: Decimal) -> Decimal:
    """Return ``ln P(Bin(n, p) = k)`` to at least 30 digits."""
    parts = [_log_choices(n, k), WIDE.multiply(k, _ln(p)), WIDE.multiply(n - k, _ln(WIDE.subtract(1, p)))]
    return functools.reduce(WIDE.add, parts)


def _ln(value: int | Decimal) -> Decimal:
    return WIDE.ln(WIDE.create_decimal(value))


def _log_choices(n: int, k: int) -> Decimal:
    """Return ``ln (n choose k)`` to at least 30 digits: exactly for small indices, otherwise by Stirling's series."""
    if min(k, n - k) <= EXACT_CHOICES:
        return _ln(math.comb(n, k))
    return WIDE.subtract(_log_factorial(n), WIDE.add(_log_factorial(k), _log_factorial(n - k)))


def _log_factorial(count: int) -> Decimal:
    """Return ``ln k!`` by Stirling's series; the error is below 691 / (360360 k^11), thus below 1e-38 for k >= 2000."""
    k = WIDE.create_decimal(count)
    start = WIDE.subtract(WIDE.multiply(WIDE.add(k, HALF), _ln(k)), k)
    series = [WIDE.divide(c, WIDE.multiply(d, WIDE.power(k, e))) for c, d, e in STIRLING]
    return functools.reduce(WIDE.add, [start, LOG_ROOT_OF_2_PI, *series])


def relative_entropy(q: float, p: float, needed: float) -> Evidence:
    r"""Return the evidence for :math:`\mathrm{kl}(q \| p) \ge` needed with :math:`p \ge q`: the mean is below p."""
    if p >= 1.0:
        return Evidence(math.inf, exact=True)
    if not 0.0 <= q <= p or p <= 0.0:
        return Evidence(-math.inf)
    return _entropy(Decimal(q), Decimal(p), needed)


def relative_entropy_below(q: float, p: float, needed: float) -> Evidence:
    r"""Return the evidence for :math:`\mathrm{kl}(q \| p) \ge` needed with :math:`p \le q`: the mean is above p."""
    if p <= 0.0:
        return Evidence(math.inf, exact=True)
    if not p <= q <= 1.0 or p >= 1.0:
        return Evidence(-math.inf)
    return _entropy(Decimal(q), Decimal(p), needed)


def _entropy(q: Decimal, p: Decimal, needed: float) -> Evidence:
    """Return the evidence for kl(q || p) >= ``needed``; the margin covers the rounding of ``p`` and ``needed``."""
    total = Decimal(0)
    for a, b in ((q, p), (WIDE.subtract(1, q), WIDE.subtract(1, p))):
        if a > 0:
            total = WIDE.add(total, WIDE.multiply(a, WIDE.subtract(_ln(a), _ln(b))))
    slope = abs(float(p - q)) / float(WIDE.subtract(1, p))  # p times the derivative in p
    return Evidence(float(WIDE.subtract(total, WIDE.create_decimal(needed))), ULPS * (abs(needed) + slope))


def mixture(exponents: np.ndarray, needed: float, sizes: np.ndarray | None = None, wrong: float = 0.0) -> Evidence:
    """Return the evidence that the logarithm of the mean of ``exp(exponents)`` is at least ``needed``.

    ``sizes`` bound the terms of each exponent, for their rounding; ``wrong`` bounds the errors of their inputs.
    """
    top = float(np.max(exponents))
    shares = np.exp(exponents - top)
    log_mean = top + math.log(math.fsum(shares) / len(exponents))
    sizes = np.abs(exponents) if sizes is None else sizes
    moved = math.fsum(shares * sizes) / math.fsum(shares)  # weighted mean of the errors of the exponents
    return Evidence(log_mean - needed, 4 * ULPS * (moved + abs(needed) + 1) + wrong)


def error_capital(q: float, p: float, rows: float, rates: np.ndarray, needed: float) -> Evidence:
    r"""Return the evidence that the martingale of error rate q at mean risk p has reached :math:`e^{\text{needed}}`."""
    if p >= 1.0:
        return Evidence(math.inf, exact=True)
    gained = -np.log1p(p * np.expm1(-rates))
    return mixture(rows * (gained - rates * q), needed, rows * (gained + rates * q))


def loss_capital(losses: np.ndarray, p: float, start: float, rates: np.ndarray, needed: float) -> Evidence:
    """Return the same for losses in [0, 1], with the running mean as the prediction of each loss."""
    if p >= 1.0:
        return Evidence(math.inf, exact=True)
    total, lost, surprises = start, 0.0, []
    for t, loss in enumerate(losses.tolist(), start=1):
        surprises.append(loss - min(max((total + lost) / t, 0.0), 1.0))  # compensated summation
        before, total = total, total + loss
        lost += (before - total) + loss if before >= loss else (loss - total) + before
    surprise = math.fsum(d * d for d in surprises)
    wrong = 16 * UNIT * math.fsum(map(abs, surprises)) + 4 * UNIT * surprise
    mean, n = math.fsum(losses) / len(losses), len(losses)
    psi = -np.log1p(-rates) - rates
    # psi is a difference of numbers of the size of the rates
    sizes = rates * (n * (p + mean) + surprise) + psi * surprise
    return mixture(rates * n * (p - mean) - psi * surprise, needed, sizes, float(np.max(psi)) * wrong)


def stable_sum(size: int, n: int, eps: float, needed: float) -> Evidence:
    r"""Check :math:`\ln \sum_{m=s}^{n-1} \binom ms \binom ns^{-1} (1 - \varepsilon)^{-(n-m)} \ge` needed.

    The sum is :math:`P(K > s) / (\varepsilon P(K = s))` for :math:`K \sim \mathrm{Bin}(n, \varepsilon)`, because its
    terms are proportional to those of a negative binomial distribution.
    """
    if eps >= 1.0:
        return Evidence(math.inf, exact=True)
    if not 0 <= size < n or eps <= 0.0:
        return Evidence(-math.inf)
    log_below, margin = _log_tail(size, n, eps)
    above = -math.expm1(min(float(log_below) + margin, 0.0))  # P(K > s), rounded down
    if above == 0.0:
        return Evidence(-math.inf)
    log_above, chance = math.log(above), Decimal(eps)
    log_sum = WIDE.subtract(Decimal(log_above), WIDE.add(_ln(chance), _log_term(size, n, chance)))
    return Evidence(float(WIDE.subtract(log_sum, Decimal(needed))), ULPS * (abs(needed) + abs(log_above) + 1))


def log_labelings(n: int, d: int, form: str) -> float:
    """Return the logarithm of a bound on the number of labelings of n points, at most 2^n."""
    everything = n * math.log(2)
    if d >= n or d == 0:
        return everything if d >= n else 0.0
    if form == "cover":  # half-spaces and stumps
        return math.log(2) + log_labelings(n - 1, d - 1, "sauer")
    if form == "sauer" and d <= EXACT_CHOICES:
        return min(everything, math.log(sum(math.comb(n, i) for i in range(d + 1))))
    if form == "sauer":
        logs = [math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) for i in range(d + 1)]
        return min(everything, max(logs) + math.log(math.fsum(math.exp(v - max(logs)) for v in logs)))
    return min(everything, d * math.log(n + 1) if form == "power" else d * (1 + math.log(n / d)))


def at_least(value: float, parts: tuple[float, ...]) -> Evidence:
    """Return the evidence that ``value`` is at least the sum of ``parts``."""
    total = math.fsum(parts)
    return Evidence(value - total, 4 * ULPS * (math.fsum(map(abs, parts)) + abs(value)))
