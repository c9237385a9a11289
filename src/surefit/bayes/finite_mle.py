"""Maximum likelihood over finitely many distributions, with a bound on the probability of error."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from surefit.bayes.divergence import kl_divergence, probabilities
from surefit.core.errors import InvalidData, InvalidParameter


class FiniteMLE:
    r"""Maximum likelihood among finitely many candidates; ties go to the first one.

    .. math:: \hat\jmath = \min \operatorname*{argmax}_j \sum_i \ln p_j(x_i)

    Guarantee: all candidates are compared. Suppose the candidates are distributions on finitely many values, the
    relative entropy of every two of them is at least :math:`\varepsilon`, and log-ratios lie in an interval of width B.
    Then the probability that another candidate than the true one is chosen is at most :math:`2 k e^{-n \varepsilon^2 /
    (2 B^2)}`, where k is the number of other candidates (theory: :ref:`maximum-likelihood`).

    Parameters
    ----------
    candidates : sequence
        Probability vectors on the values 0, 1, ..., or functions that return the logarithm of a density.

    Attributes
    ----------
    log_likelihoods_ : ndarray
        One per candidate.
    index_ : int
        Index of the chosen candidate.

    Examples
    --------
    A coin that shows heads with probability 0.4 or 0.6, after heads, heads, tails:

    >>> import numpy as np
    >>> from surefit import FiniteMLE
    >>> model = FiniteMLE([[0.6, 0.4], [0.4, 0.6]]).fit([1, 1, 0])
    >>> model.index_, np.exp(model.log_likelihoods_).round(3)
    (1, array([0.096, 0.144]))
    """

    def __init__(self, candidates: Sequence):
        if len(candidates) == 0:
            raise InvalidParameter("FiniteMLE", "candidates", "at least one distribution", candidates)
        self.candidates = [c if callable(c) else probabilities("FiniteMLE", "a candidate", c) for c in candidates]

    def fit(self, x) -> FiniteMLE:
        """Compare all candidates on the observations. Returns the object."""
        x = np.asarray(x)
        if len(x) == 0:
            raise InvalidData("FiniteMLE: no observation; every candidate is as likely as any other.")
        self.log_likelihoods_ = np.array([math.fsum(np.atleast_1d(self._log(c, x))) for c in self.candidates])
        self.index_ = int(np.argmax(self.log_likelihoods_))
        return self

    def _log(self, candidate: Callable | np.ndarray, x: np.ndarray) -> np.ndarray:
        if callable(candidate):
            return np.asarray(candidate(x), dtype=np.float64)
        if x.dtype.kind not in "iub" or np.any(x < 0) or np.any(x >= len(candidate)):
            raise InvalidData(f"FiniteMLE: observations must be integers from 0 to {len(candidate) - 1}; got {x!r}.")
        with np.errstate(divide="ignore"):
            return np.log(candidate[x.astype(np.int64)])

    @property
    def separation(self) -> float:
        r"""Smallest relative entropy :math:`\varepsilon` between two candidates."""
        distributions = self._vectors()
        return min((kl_divergence(p, q) for p in distributions for q in distributions if p is not q), default=math.inf)

    def error_bound(self, n: int) -> float:
        """Return an upper bound on the probability that n observations of one candidate favor another; 1 is vacuous."""
        distributions = self._vectors()
        if any(np.any(p == 0) for p in distributions):
            raise InvalidData(
                "FiniteMLE: the bound needs candidates without zero probabilities; log-ratios are unbounded."
            )
        width = max(
            (float(np.ptp(np.log(p / q))) for p in distributions for q in distributions if p is not q), default=0.0
        )
        if width == 0:
            return 0.0 if len(distributions) == 1 else 1.0
        return min(1.0, 2 * (len(distributions) - 1) * math.exp(-n * self.separation**2 / (2 * width**2)))

    def _vectors(self) -> list[np.ndarray]:
        if any(callable(c) for c in self.candidates):
            raise InvalidData("FiniteMLE: this needs candidates given as probability vectors, not as functions.")
        return self.candidates  # type: ignore[return-value]
