r"""Confirms limits without inverting anything: tails are summed, entropies and capitals evaluated, at the claimed value.

A limit :math:`p` is confirmed when the probability that the evidence would be as good under :math:`p` is at most
:math:`\delta`. Small binomial tails are summed as integers (``exact``), others in logarithms with a margin for every rounding
error (``enclosed``); where the margin is wider than the claim's own slack, the level is ``recomputed``.
"""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from surefit.checks.enclosure import UNIT

EXACT_UP_TO = 256  # trials whose tail is summed as integers
EXACT_CHOICES = 2000  # binomial coefficients up to this index are integers
MOST_TERMS = 1 << 17  # terms of a long sum that are evaluated; the others are bounded by their neighbours
ULPS = 16 * UNIT  # margin for one value of a library function (log, lgamma, erfc), relative


class Evidence(NamedTuple):
    """How far a statement is from failing: it holds if ``slack >= 0``, and provably so if ``slack >= margin``."""

    slack: float
    margin: float = 0.0
    exact: bool = False

    @property
    def ok(self) -> bool:
        """Whether the statement holds, up to rounding that could not be decided."""
        return self.slack >= 0

    @property
    def level(self) -> str:
        """Level of rigour reached."""
        return "exact" if self.exact else "enclosed" if self.slack >= self.margin else "recomputed"


def weakest(*parts: Evidence) -> Evidence:
    """Several statements together: as good as the worst of them."""
    proved = all(part.slack >= part.margin for part in parts)
    slack = min(part.slack for part in parts)
    return Evidence(slack, slack if proved else math.inf, all(part.exact for part in parts))


def binomial_tail(k: int, n: int, p: float, share: Fraction | float) -> Evidence:
    r"""Whether :math:`P(\mathrm{Bin}(n, p) \le k) \le` share; ``share`` is a Fraction, or the logarithm of one as a float."""
    if p >= 1.0:
        return Evidence(math.inf, exact=True)  # 1 is no claim
    if p <= 0.0 or not 0 <= k < n:
        return Evidence(-math.inf)
    if n <= EXACT_UP_TO and isinstance(share, Fraction):
        heads, whole = Fraction(p).numerator, Fraction(p).denominator
        tails = whole - heads
        total = sum(math.comb(n, j) * heads**j * tails ** (n - j) for j in range(k + 1))
        ratio = Fraction(total, whole**n) / share
        return Evidence(0.0 if ratio == 1 else -log_of(ratio), exact=True)
    log_share = log_of(share) if isinstance(share, Fraction) else float(share)
    log_tail, margin = _log_tail(k, n, p)
    return Evidence(log_share - log_tail, margin + ULPS * abs(log_share))


def log_of(value: Fraction) -> float:
    """Logarithm of a positive rational of any size."""
    shift = value.numerator.bit_length() - value.denominator.bit_length()
    return math.log(float(value / Fraction(2) ** shift)) + shift * math.log(2)


def _log_tail(k: int, n: int, p: float) -> tuple[float, float]:
    """``ln P(Bin(n, p) <= k)`` by direct summation from the largest term down, and a bound of its rounding error."""
    if k >= n * p:
        return 0.0, 0.0  # not a small tail; one is an upper bound
    if k <= EXACT_CHOICES:
        choices: tuple[float, ...] = (math.log(math.comb(n, k)),)
    else:
        choices = (math.lgamma(n + 1.0), -math.lgamma(k + 1.0), -math.lgamma(n - k + 1.0))
    parts = (*choices, k * math.log(p), (n - k) * math.log1p(-p))
    odds, total, last, at, terms = (1 - p) / p, 1.0, 1.0, k, 0
    while at > 0:
        j = np.arange(at, max(at - 65536, 0), -1, dtype=np.float64)
        products = last * np.cumprod(j / (n - j + 1) * odds)
        total += float(np.sum(products))
        at, last, terms = at - len(j), float(products[-1]), terms + len(j)
        ratio = at / (n - at + 1) * odds
        if last * ratio < 1e-17 * (1 - ratio) * total:  # the rest is below a geometric series
            total += last * ratio / (1 - ratio)
            break
    margin = ULPS * math.fsum(map(abs, parts)) + 8 * UNIT * (terms + 2)
    return math.fsum(parts) + math.log(total), margin


def relative_entropy(q: float, p: float, needed: float) -> Evidence:
    r"""Whether :math:`\mathrm{kl}(q \| p) \ge` needed with :math:`p \ge q`: then the mean is below p."""
    if p >= 1.0:
        return Evidence(math.inf, exact=True)
    if not q <= p or p <= 0.0:
        return Evidence(-math.inf)
    first = q * math.log(q / p) if q > 0 else 0.0
    second = (1 - q) * (math.log1p(-q) - math.log1p(-p))
    margin = ULPS * (abs(first) + q + (1 - q) * (-math.log1p(-q) - math.log1p(-p)) + abs(needed))
    return Evidence(first + second - needed, margin)


def relative_entropy_below(q: float, p: float, needed: float) -> Evidence:
    r"""Whether :math:`\mathrm{kl}(q \| p) \ge` needed with :math:`p \le q`: then the mean is above p."""
    return relative_entropy(1 - q, 1 - p, needed) if p > 0 else Evidence(math.inf, exact=True)


def mixture(exponents: np.ndarray, needed: float) -> Evidence:
    """Whether the logarithm of the mean of ``exp(exponents)`` is at least ``needed``."""
    top = float(np.max(exponents))
    log_mean = top + math.log(math.fsum(np.exp(exponents - top)) / len(exponents))
    return Evidence(log_mean - needed, 4 * ULPS * (float(np.max(np.abs(exponents))) + abs(needed) + 1))


def error_capital(q: float, p: float, rows: float, rates: np.ndarray, needed: float) -> Evidence:
    r"""Whether the exponential martingale of error rate q, at mean risk p, has reached :math:`e^{\text{needed}}`."""
    if p >= 1.0:
        return Evidence(math.inf, exact=True)
    return mixture(rows * (-rates * q - np.log1p(p * np.expm1(-rates))), needed)


def loss_capital(losses: np.ndarray, p: float, start: float, rates: np.ndarray, needed: float) -> Evidence:
    """The same for losses in [0, 1], with the running mean as the guess of each."""
    if p >= 1.0:
        return Evidence(math.inf, exact=True)
    total, surprise = start, 0.0
    for t, loss in enumerate(losses.tolist(), start=1):
        surprise += (loss - min(max(total / t, 0.0), 1.0)) ** 2
        total += loss
    mean, n = math.fsum(losses) / len(losses), len(losses)
    psi = -np.log1p(-rates) - rates
    evidence = mixture(rates * n * (p - mean) - psi * surprise, needed)
    return Evidence(evidence.slack, evidence.margin + 8 * UNIT * n * float(np.max(psi)) * (1 + surprise))


def stable_sum(size: int, n: int, eps: float, needed: float) -> Evidence:
    r"""Whether :math:`\ln \sum_{m=s}^{n-1} \binom ms \binom ns^{-1} (1 - \varepsilon)^{-(n-m)} \ge` needed."""
    if eps >= 1.0:
        return Evidence(math.inf, exact=True)
    if not 0 <= size < n or eps <= 0.0:
        return Evidence(-math.inf)
    terms = n - size
    j = np.unique(np.round(np.linspace(1, terms, min(terms, MOST_TERMS))))
    logs = gammaln(n - j + 1) - gammaln(n - j - size + 1)
    parts = (math.lgamma(n - size + 1.0), -math.lgamma(n + 1.0))
    exponents = logs + math.fsum(parts) - j * math.log1p(-eps)
    if len(j) < terms:  # the terms are log-concave in j, so none between two of them is below both
        exponents = np.minimum(exponents[1:], exponents[:-1]) + np.log(np.diff(j))
    top = float(np.max(exponents))
    log_sum = top + math.log(math.fsum(np.exp(exponents - top)))
    margin = ULPS * (4 * math.lgamma(n + 1.0) - terms * math.log1p(-eps) + abs(needed))
    return Evidence(log_sum - needed, margin)


def log_labelings(n: int, d: int, form: str) -> float:
    """Logarithm of the bound on the labelings of n points, at most 2^n."""
    everything = n * math.log(2)
    if d >= n or d == 0:
        return everything if d >= n else 0.0
    if form == "cover":  # half-spaces and stumps
        return math.log(2) + log_labelings(n - 1, d - 1, "sauer")
    if form == "sauer":
        logs = [math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) for i in range(d + 1)]
        return min(everything, max(logs) + math.log(math.fsum(math.exp(v - max(logs)) for v in logs)))
    return min(everything, d * math.log(n + 1) if form == "power" else d * (1 + math.log(n / d)))


def at_least(value: float, parts: tuple[float, ...]) -> Evidence:
    """Whether ``value`` is at least the sum of ``parts``."""
    total = math.fsum(parts)
    return Evidence(value - total, 4 * ULPS * (math.fsum(map(abs, parts)) + abs(value)))


def normal_cdf(z: np.ndarray) -> np.ndarray:
    """Standard normal distribution function."""
    return np.array([0.5 * math.erfc(-v / math.sqrt(2)) for v in np.asarray(z, dtype=np.float64).tolist()])
