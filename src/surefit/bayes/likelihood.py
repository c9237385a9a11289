"""Maximum likelihood: the parameters of a family under which the observations are most probable."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from surefit.bayes.divergence import kl_divergence, probabilities
from surefit.bayes.families import ON_A_LINE, Family
from surefit.bayes.vector_families import Multinomial, MultivariateNormal, OwnDensity
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import read_weights

FAMILIES: dict[str, Family] = {
    **ON_A_LINE,
    "multinomial": Multinomial(),
    "multivariate_normal": MultivariateNormal(),
}


class LikelihoodFit(NamedTuple):
    """A maximum-likelihood estimate with its evidence."""

    family: str
    parameters: dict[str, Any]
    log_likelihood: float
    score: np.ndarray | None  # score at the estimate: zero in the interior, None if not smooth
    information: np.ndarray | None  # Fisher information of one observation, from the formula
    outer_product: np.ndarray | None  # the same from the scores of the observations
    standard_errors: dict[str, float] | None
    inside: bool  # False on the boundary of the parameter space, where the normal approximation is invalid


class MaximumLikelihood:
    r"""The parameters under which the observations are most probable.

    .. math:: \hat\theta = \operatorname*{argmax}_\theta \sum_i w_i \ln p_\theta(x_i)

    Guarantee: estimates have a closed form for the named families. In the interior of the parameter space, the score is
    zero up to rounding. The information is computed in two ways, by the formula :math:`-E \ell''` and as the mean outer
    product of scores; a large difference indicates that the family does not fit (theory: :ref:`maximum-likelihood`).
    For a user-defined log-density, the estimate is a local maximum found by a search from ``start``.

    Parameters
    ----------
    family : {"bernoulli", "exponential", "laplace", "multinomial", "multivariate_normal", "normal", "poisson", "uniform"} or callable
        Default "normal". Variances and covariances have divisor n; "uniform" is uniform on [0, end]; "multinomial"
        takes category indices 0, 1, ... or rows of counts. A function ``f(x, theta)`` that returns log-densities is
        maximized numerically.
    start : array or None, default=None
        Starting point of the search, for a function.
    bounds : sequence of pairs or None, default=None
        Lower and upper bound of each parameter, for a function.

    Attributes
    ----------
    fit_ : LikelihoodFit
        Estimate, log-likelihood, score, information computed in two ways, standard errors.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import MaximumLikelihood
    >>> model = MaximumLikelihood("normal").fit([1.0, 2.0, 3.0])
    >>> {name: round(value, 4) for name, value in model.fit_.parameters.items()}
    {'mean': 2.0, 'variance': 0.6667}
    >>> MaximumLikelihood("multinomial").fit([0, 2, 2, 1]).fit_.parameters["probabilities"]
    array([0.25, 0.25, 0.5 ])
    >>> cauchy = MaximumLikelihood(lambda x, t: -np.log1p((x - t[0]) ** 2), start=[0.0]).fit([-1.0, 0.0, 3.0])
    >>> bool(abs(cauchy.fit_.score[0]) < 1e-8)
    True
    """

    def __init__(self, family: str | Callable = "normal", *, start=None, bounds=None):
        if callable(family):
            if start is None:
                raise InvalidParameter(
                    "MaximumLikelihood", "start", "an array, the starting point of the search", start
                )
            self._family: Family = OwnDensity(family, start, bounds)
        elif family in FAMILIES:
            self._family = FAMILIES[family]
        else:
            words = f"one of {', '.join(FAMILIES)}, or a function f(x, theta)"
            raise InvalidParameter("MaximumLikelihood", "family", words, family)
        self.family, self.start, self.bounds = family, start, bounds

    def fit(self, x, sample_weight=None) -> MaximumLikelihood:
        """Estimate the parameters. Returns the object."""
        family, x = self._family, self._read(x)
        w = read_weights("MaximumLikelihood", sample_weight, len(x))
        w = np.ones(len(x)) if w is None else w
        x, w = x[w > 0], w[w > 0]
        family.check(x)
        theta, total = family.estimate(x, w), float(w.sum())
        inside = family.inside(theta)
        density = family.log_density(x, theta)
        log_likelihood = (
            math.inf if not inside and self.family in ("normal", "multivariate_normal") else float(w @ density)
        )
        scores = family.scores(x, theta) if inside else None
        information = family.information(theta) if inside else None
        if isinstance(family, OwnDensity):
            information = family.observed_information(x, w, theta)
        self.fit_ = LikelihoodFit(
            self.family if isinstance(self.family, str) else "own",
            family.named(theta),
            log_likelihood,
            None if scores is None else w @ scores,
            information,
            None if scores is None else (scores * w[:, None]).T @ scores / total,
            self._errors(information, total),
            inside,
        )
        return self

    def _read(self, x) -> np.ndarray:
        x = np.asarray(x, dtype=np.float64)
        if x.size == 0:
            raise InvalidData("MaximumLikelihood: no observation.")
        if self.family == "multinomial":
            if x.ndim > 1:
                return x
            self._family.check(x + 1)
            return np.eye(int(x.max()) + 1)[x.astype(np.int64)]
        if self.family == "multivariate_normal":
            return x[:, None] if x.ndim == 1 else x
        if x.ndim == 2 and x.shape[1] == 1:
            return x[:, 0]
        if x.ndim > 1 and self._family.columns == 1:
            raise InvalidData(
                f"MaximumLikelihood: family={self.family!r} is for one column; got an array of shape {x.shape}. "
                "Fit each column, or use family='multivariate_normal'."
            )
        return np.atleast_1d(x)

    def _errors(self, information: np.ndarray | None, total: float) -> dict[str, float] | None:
        if information is None or self.family == "multivariate_normal":
            return None
        try:
            variances = np.diag(np.linalg.inv(information)) / total
        except np.linalg.LinAlgError:
            return None
        if not np.all(variances > 0):
            return None
        return {name: math.sqrt(value) for name, value in zip(self._family.names, variances, strict=True)}

    def interval(self, confidence: float = 0.95) -> dict[str, tuple[float, float]]:
        """Return approximate intervals, estimate -+ z standard errors; raise an error on the boundary."""
        found = self.fit_
        if found.standard_errors is None:
            raise InvalidData(
                f"MaximumLikelihood: the estimate of a {found.family} distribution is on the boundary or not a smooth maximum, where no "
                "normal approximation holds; use a conjugate prior for an interval."
            )
        z = float(stats.norm.ppf(0.5 + confidence / 2))
        return {
            n: (v - z * found.standard_errors[n], v + z * found.standard_errors[n]) for n, v in found.parameters.items()
        }


class LikelihoodRatioPath(NamedTuple):
    """Mean log-likelihood ratio after 1, 2, ..., n observations, and its limit."""

    ratios: np.ndarray
    limit: float | None  # minus the relative entropy, if both distributions are probability vectors


def likelihood_ratio_path(x, p, q) -> LikelihoodRatioPath:
    r"""Return :math:`\frac1m \sum_{i \le m} \ln (q(x_i) / p(x_i))` for m = 1, ..., n observations from p.

    Guarantee: the path converges to :math:`-D(p \| q) \le 0` almost surely, which is why maximum likelihood is
    consistent (theory: :ref:`maximum-likelihood`).

    Parameters
    ----------
    x : array of shape (n,)
        Observations from ``p``; integers 0, 1, ... if the distributions are vectors.
    p, q : array of probabilities, or callable
        The true distribution and another one: probability vectors, or functions that return log-densities.

    Examples
    --------
    >>> from surefit import likelihood_ratio_path
    >>> path = likelihood_ratio_path([1, 1, 0], [0.4, 0.6], [0.6, 0.4])
    >>> path.ratios.round(4), round(path.limit, 4)
    (array([-0.4055, -0.4055, -0.1352]), -0.0811)
    """
    x = np.asarray(x)
    logs = []
    for name, given in (("p", p), ("q", q)):
        if callable(given):
            logs.append(np.asarray(given(x), dtype=np.float64).ravel())
            continue
        vector = probabilities("likelihood_ratio_path", name, given)
        if x.dtype.kind not in "iub" or np.any(x < 0) or np.any(x >= len(vector)):
            raise InvalidData(
                f"likelihood_ratio_path: observations must be integers from 0 to {len(vector) - 1}; got {x!r}."
            )
        with np.errstate(divide="ignore"):
            logs.append(np.log(vector[x.astype(np.int64)]))
    limit = None if callable(p) or callable(q) else -kl_divergence(p, q)
    return LikelihoodRatioPath(np.cumsum(logs[1] - logs[0]) / np.arange(1, len(x) + 1), limit)
