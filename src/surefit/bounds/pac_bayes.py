r"""PAC-Bayes bounds for randomized classifiers, and for deterministic ones through their randomization.

For a prior :math:`P` fixed before the rows are seen and any posterior :math:`Q` chosen afterward, with probability at least :math:`1 -
\delta`,

.. math:: \mathrm{kl}(\hat q_Q \| p_Q) \le \frac{\mathrm{KL}(Q \| P) + \ln(2 \sqrt n / \delta)}{n} \quad\text{for all } Q.
"""

import math
from typing import Any

import numpy as np
from scipy.special import ndtr

from surefit.bounds.base import ROUND_OUT, RiskBound, check_delta
from surefit.bounds.binomial import clopper_pearson
from surefit.bounds.kl import kl_inverse
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import COUNT, FRACTION, NON_NEGATIVE

THETAS = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5)
TAUS = tuple(2.0**k for k in range(-2, 6))


def pac_bayes_kl(empirical: float, divergence: float, n: int, delta: float = 0.05) -> RiskBound:
    r"""Bound the risk of a randomized (Gibbs) classifier.

    .. math:: R(Q) \le \mathrm{kl}^{-1}\bigl(\hat q, (\mathrm{KL} + \ln(2\sqrt n/\delta))/n\bigr)

    Guarantee: simultaneously for all posteriors, so scale and direction of Q may be chosen after seeing the rows; the prior and the loss
    must be fixed in advance (theory: :ref:`pac-bayes`).

    Parameters
    ----------
    empirical : float in [0, 1]
        Mean loss on the rows, averaged over Q.
    divergence : float >= 0
        :math:`\mathrm{KL}(Q \| P)`.
    n : int
        Rows.
    delta : float in (0, 1)
        Failure probability.

    Examples
    --------
    >>> from surefit.bounds import pac_bayes_kl
    >>> round(pac_bayes_kl(0.1, 20.0, 2000).value, 4)
    0.1569
    """
    check_delta("pac_bayes_kl", delta)
    _check("pac_bayes_kl", n, empirical=empirical)
    if not NON_NEGATIVE.allows(divergence):
        raise InvalidParameter("pac_bayes_kl", "divergence", NON_NEGATIVE.words, divergence)
    return RiskBound(
        "pac_bayes_kl",
        _limit(empirical, divergence, n, -math.log(delta)),
        delta,
        "risk of the randomized classifier",
        ("iid", "prior_fixed_a_priori", "loss_in[0,1]"),
        inputs={"empirical": float(empirical), "divergence": float(divergence), "n": int(n)},
        terms={"empirical": float(empirical), "divergence": divergence / n},
    )


def pac_bayes_linear(margins: Any, delta: float = 0.05, *, deterministic: bool = False) -> RiskBound:
    r"""Return the PAC-Bayes bound of a linear classifier: prior :math:`N(0, I)`, posterior :math:`N(\mu w / \|w\|, I)`.

    With :math:`z_i = y_i w^\top x_i / (\|w\| \|x_i\|)`: :math:`\hat q = \frac1n \sum \Phi(\theta - \mu z_i)`, KL = :math:`\mu^2/2`;
    :math:`\mu` may be optimized. With ``deterministic=False`` (:math:`\theta = 0`) the bound is about the randomized classifier;
    otherwise the bound divided by :math:`\Phi(\theta)` holds for :math:`w` itself, with a union bound (:math:`\ln 6`) over six values of
    :math:`\theta`.

    Guarantee: with probability at least ``1 - delta``, if the features (or the kernel) were fixed before the rows were seen
    (theory: :ref:`pac-bayes`).

    Parameters
    ----------
    margins : array in [-1, 1]
        The cosines :math:`z_i`.
    delta : float in (0, 1)
        Failure probability.
    deterministic : bool
        Whether to bound the risk of the classifier itself or of its randomization.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.bounds import pac_bayes_linear
    >>> cosines = np.full(4000, 0.3)
    >>> round(pac_bayes_linear(cosines).value, 4), round(pac_bayes_linear(cosines, deterministic=True).value, 4)
    (0.0193, 0.0353)
    """
    check_delta("pac_bayes_linear", delta)
    z = _vector("pac_bayes_linear", margins, "margins")
    if np.max(np.abs(z)) > 1 + 1e-9:
        raise InvalidData("pac_bayes_linear: margins must be cosines in [-1, 1]; divide by both norms.")
    n, thetas = len(z), THETAS if deterministic else (0.0,)
    log_term = math.log(len(thetas)) - math.log(delta)
    trials = [
        (float(np.mean(ndtr(theta - mu * z))), mu * mu / 2, float(ndtr(theta)) if deterministic else 1.0, (mu, theta))
        for mu in np.geomspace(0.1, 10 * math.sqrt(n), 60).tolist()  # the posterior is free: any scale is valid
        for theta in thetas
    ]
    value, (mu, theta) = _smallest(trials, n, log_term)
    return RiskBound(
        "pac_bayes_linear",
        min(1.0, value),
        delta,
        "risk of the linear classifier" if deterministic else "risk of the randomized linear classifier",
        ("iid", "features_fixed_a_priori"),
        inputs={"n": n, "mu": mu, "theta": theta, "n_thetas": len(thetas), "deterministic": bool(deterministic)},
        terms={"empirical": float(np.mean(ndtr(theta - mu * z))), "divergence": mu * mu / (2 * n)},
        arrays={"margins": z},
    )


def pac_bayes_hybrid(
    first_errors: int,
    scaled_margins: Any,
    first_right: Any,
    distance: float,
    delta: float = 0.05,
    *,
    taus: Any = TAUS,
    thetas: Any = THETAS,
) -> RiskBound:
    r"""Return the risk bound of a model trained on *all* rows, with a prior centered at a model trained on the first part.

    The first part gives :math:`w_1` and a metric :math:`H`; :math:`w` is trained on all rows, :math:`\rho^2 = \|w - w_1\|_H^2`,
    :math:`s(x)^2 = x^\top H^{-1} x`. On the :math:`n_2` rows of the second part,

    .. math:: R(w) \le \mathrm{CP}(k_1, n_2, \delta/2) + \frac{1}{\Phi(\theta)}
              \mathrm{kl}^{-1}\Bigl(\hat e, \frac{1}{n_2} \Bigl(\frac{\rho^2}{2\tau} +
              \ln \frac{4 \sqrt{n_2}\, G_\tau G_\theta}{\delta}\Bigr)\Bigr),

    where :math:`\hat e` is the mean of :math:`\mathbf 1[w_1 \text{ right}]\, \Phi(\theta - y f / (\sqrt\tau s))`; the smallest bound over
    declared grids of :math:`\tau` and :math:`\theta` is returned.

    Guarantee: with probability at least ``1 - delta`` for the deterministic model (theory: :ref:`pac-bayes`).

    Parameters
    ----------
    first_errors : int
        Errors :math:`k_1` of :math:`w_1` on the second part.
    scaled_margins : array of shape (n2,)
        :math:`y f(x) / s(x)` of the final model on the second part.
    first_right : array of bool
        Rows of the second part that :math:`w_1` classifies correctly.
    distance : float >= 0
        :math:`\rho`.
    delta : float in (0, 1)
        Failure probability.
    taus, thetas : sequences
        Declared grids.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.bounds import pac_bayes_hybrid
    >>> right = np.arange(1000) >= 50
    >>> bound = pac_bayes_hybrid(50, np.where(right, 20.0, -5.0), right, distance=2.0)
    >>> round(bound.value, 3)
    0.077
    """
    check_delta("pac_bayes_hybrid", delta)
    z = _vector("pac_bayes_hybrid", scaled_margins, "scaled_margins")
    right = np.asarray(first_right, dtype=bool)
    if right.shape != z.shape or int(np.sum(~right)) != first_errors:
        raise InvalidData("pac_bayes_hybrid: first_right must mark all but first_errors of the rows of scaled_margins.")
    if not NON_NEGATIVE.allows(distance):
        raise InvalidParameter("pac_bayes_hybrid", "distance", NON_NEGATIVE.words, distance)
    n, log_term = len(z), math.log(2 * len(taus) * len(thetas)) - math.log(delta)

    trials = [
        (
            float(np.mean(right * ndtr(theta - z / math.sqrt(tau)))),
            distance**2 / (2 * tau),
            float(ndtr(theta)),
            (tau, theta),
        )
        for tau in taus
        for theta in thetas
    ]
    change, (tau, theta) = _smallest(trials, n, log_term)
    first = clopper_pearson(first_errors, n, delta / 2)
    return RiskBound(
        "pac_bayes_hybrid",
        min(1.0, (first + change) * (1 + ROUND_OUT)),
        delta,
        "risk of the model trained on all rows",
        ("iid", "first_part_independent"),
        inputs={
            "errors": int(first_errors),
            "n": n,
            "distance": float(distance),
            "tau": float(tau),
            "theta": float(theta),
        }
        | {"n_grid": len(taus) * len(thetas)},
        terms={"first_model": first, "change": change},
        arrays={"scaled_margins": z, "first_right": right},
    )


def _smallest(trials: Any, n: int, log_term: float) -> tuple[float, tuple[float, float]]:
    """Return the smallest bound and its setting over (empirical, divergence, share, setting) trials."""

    def rough(trial: Any) -> float:
        empirical, divergence, share, _ = trial
        c = (divergence + math.log(2) + 0.5 * math.log(n) + log_term) / n
        return (empirical + c + math.sqrt(c * (c + 2 * empirical))) / share

    best = sorted(trials, key=rough)[:6]
    return min((_limit(e, divergence, n, log_term) / share, setting) for e, divergence, share, setting in best)


def _limit(empirical: float, divergence: float, n: int, log_term: float) -> float:
    c = (divergence + math.log(2) + 0.5 * math.log(n) + log_term) / n
    return min(1.0, kl_inverse(min(1.0, empirical), c) * (1 + ROUND_OUT))


def _vector(who: str, values: Any, name: str) -> np.ndarray:
    vector = np.asarray(values, dtype=np.float64)
    if vector.ndim != 1 or len(vector) == 0 or not np.all(np.isfinite(vector)):
        raise InvalidData(f"{who}: {name} must be a non-empty vector of finite numbers; got shape {vector.shape}.")
    return vector


def _check(who: str, n: int, **fractions: float) -> None:
    if not COUNT.allows(n):
        raise InvalidParameter(who, "n", COUNT.words, n)
    for name, value in fractions.items():
        if not FRACTION.allows(value):
            raise InvalidParameter(who, name, FRACTION.words, value)
