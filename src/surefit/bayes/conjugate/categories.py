"""Conjugate priors for probabilities: of a coin, and of several categories."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats
from scipy.special import betaln, gammaln

from surefit.bayes.conjugate.base import Conjugate, Mode
from surefit.core.errors import InvalidData


@dataclass(frozen=True)
class BetaBernoulli(Conjugate):
    r"""Beta prior for a coin's probability of heads.

    The posterior is :math:`\mathrm{Beta}(\alpha + N_H, \beta + N_T)`. For the mode, the prior is equivalent to
    :math:`\alpha - 1` additional heads and :math:`\beta - 1` additional tails; for the mean, to :math:`\alpha` and
    :math:`\beta`.

    Examples
    --------
    >>> from surefit import conjugate
    >>> posterior = conjugate.BetaBernoulli(2, 2).update([1, 1, 0])
    >>> posterior
    BetaBernoulli(alpha=4.0, beta=3.0)
    >>> posterior.mode, round(posterior.mean, 4)
    (Mode(value=0.6, inside=True, unique=True), 0.5714)
    """

    alpha: float = 1.0
    beta: float = 1.0

    def __post_init__(self):
        self._positive(alpha=self.alpha, beta=self.beta)

    def update(self, x) -> BetaBernoulli:
        """Return the posterior after tosses, 1 for heads and 0 for tails."""
        x = self._read(x)
        if not np.all((x == 0) | (x == 1)):
            raise InvalidData(f"BetaBernoulli: tosses must be 0 or 1; got {x!r}.")
        return replace(self, alpha=float(self.alpha + x.sum()), beta=float(self.beta + len(x) - x.sum()))

    @property
    def distribution(self):
        """The distribution of the parameter."""
        return stats.beta(self.alpha, self.beta)

    @property
    def mode(self) -> Mode:
        """Most probable value; 0 if the density is largest at both ends, and 1/2 if it is flat."""
        a, b = self.alpha - 1, self.beta - 1
        if a > 0 and b > 0:
            return Mode(a / (a + b), True)
        if a <= 0 < b or (a < b <= 0):
            return Mode(0.0, False)
        if b <= 0 < a or (b < a <= 0):
            return Mode(1.0, False)
        return Mode(0.5, True, False) if a == b == 0 else Mode(0.0, False, False)

    def map_mle_bound(self, n: int) -> float:
        r"""Bound :math:`|\theta_{MAP} - \theta_{MLE}|` after n tosses under this prior.

        .. math:: |\theta_{MAP} - \theta_{MLE}| \le \frac{\max(\alpha, \beta) - 1}{n + \alpha + \beta - 2}, \qquad \alpha, \beta \ge 1
        """
        if self.alpha < 1 or self.beta < 1 or n < 1:
            raise InvalidData(
                f"BetaBernoulli: the bound needs alpha >= 1, beta >= 1 and a toss; got {self.alpha}, {self.beta} and n = {n}."
            )
        return (max(self.alpha, self.beta) - 1) / (n + self.alpha + self.beta - 2)

    def predictive(self) -> float:
        """Return the probability that the next toss shows heads."""
        return self.alpha / (self.alpha + self.beta)

    def log_evidence(self, x) -> float:
        """Return the logarithm of the probability of these tosses, in this order."""
        after = self.update(x)
        return float(betaln(after.alpha, after.beta) - betaln(self.alpha, self.beta))


@dataclass(frozen=True)
class DirichletMultinomial(Conjugate):
    r"""Dirichlet prior for the probabilities of categories; posterior :math:`\mathrm{Dir}(\alpha + \text{counts})`.

    Examples
    --------
    >>> from surefit import conjugate
    >>> posterior = conjugate.DirichletMultinomial((1.0, 1.0, 1.0)).update([0, 2, 2])
    >>> posterior.alpha, posterior.predictive().round(3)
    ((2.0, 1.0, 3.0), array([0.333, 0.167, 0.5  ]))
    """

    alpha: tuple[float, ...] = (1.0, 1.0)

    def __post_init__(self):
        object.__setattr__(self, "alpha", tuple(float(a) for a in self.alpha))
        self._positive(alpha=self.alpha)

    def update(self, x) -> DirichletMultinomial:
        """Return the posterior after observed categories 0, 1, ..."""
        x = self._read(x)
        if not np.all((x >= 0) & (x < len(self.alpha)) & (x == np.floor(x))):
            raise InvalidData(
                f"DirichletMultinomial: categories must be integers from 0 to {len(self.alpha) - 1}; got {x!r}."
            )
        counts = np.bincount(x.astype(np.int64), minlength=len(self.alpha))
        return DirichletMultinomial(tuple(np.asarray(self.alpha) + counts))

    @property
    def distribution(self):
        """The distribution of the probabilities."""
        return stats.dirichlet(np.asarray(self.alpha))

    @property
    def mean(self) -> np.ndarray:
        """Mean of the probabilities."""
        return self.predictive()

    @property
    def mode(self) -> Mode:
        """Most probable vector of probabilities; it is inside the simplex if all entries of ``alpha`` exceed 1."""
        extra = np.asarray(self.alpha) - 1
        if np.all(extra > 0):
            return Mode(extra / extra.sum(), True)
        kept = np.maximum(extra, 0)
        if kept.sum() > 0:
            return Mode(kept / kept.sum(), False)
        flat = bool(np.all(extra == 0))
        return Mode(
            np.full(len(kept), 1 / len(kept)) if flat else np.eye(len(kept))[int(np.argmin(-extra))], flat, False
        )

    def interval(self, confidence: float = 0.95):
        """Return the central interval of each category's probability."""
        total = sum(self.alpha)
        return [tuple(map(float, stats.beta(a, total - a).interval(confidence))) for a in self.alpha]

    def predictive(self) -> np.ndarray:
        """Return the probabilities of the next category."""
        return np.asarray(self.alpha) / sum(self.alpha)

    def log_evidence(self, x) -> float:
        """Return the logarithm of the probability of these categories, in this order."""
        after = self.update(x)
        return float(_log_beta(after.alpha) - _log_beta(self.alpha))


def _log_beta(alpha) -> float:
    return math.fsum(gammaln(np.asarray(alpha))) - float(gammaln(sum(alpha)))
