"""Coverage as claims: on average over everything, and given the calibration rows."""

from __future__ import annotations

import math

import numpy as np

from surefit.bounds.base import confidence_text
from surefit.bounds.conformal import ConformalQuantile
from surefit.core.claims import Claim
from surefit.risk.claims import sentence


def split_claims(
    quantile: ConformalQuantile, delta: float, tags: tuple[str, ...], witness: dict[str, np.ndarray], group: str = ""
) -> list[Claim]:
    """Return both statements about the sets of one quantile; ``group`` names the class they are restricted to."""
    whose = f" of class {group}" if group else ""
    marginal = 1.0 - quantile.marginal_coverage
    numbers = {
        "rank": quantile.rank,
        "m": quantile.m,
        "alpha": quantile.alpha,
        "threshold": quantile.value,
        "group": group,
    }
    exchangeable = ("exchangeable", *(tag for tag in tags if tag != "iid"), "calibration_untouched")
    given = (*tags, "calibration_untouched")
    limit = quantile.miscoverage(delta).value
    return [
        Claim(
            "conformal.coverage",
            "uncertainty",
            f"the set misses the truth{whose} with probability at most {marginal:.4g}, on average over calibration rows and the row "
            f"to come, {sentence(exchangeable)}",
            value=marginal,
            about=f"the prediction sets{whose}",
            assumptions=exchangeable,
            numbers=numbers,
            witness=witness,
        ),
        Claim(
            "conformal.conditional",
            "risk_bound",
            f"given these calibration rows, the set misses the truth{whose} with probability at most {limit:.4g}, with confidence "
            f"{confidence_text(delta)}, {sentence(given)}",
            value=limit,
            about=f"the prediction sets{whose}",
            assumptions=given,
            confidence=1.0 - delta,
            numbers={**numbers, "delta": delta},
            witness=witness,
        ),
    ]


def folds_claim(n: int, n_folds: int, alpha: float, tags: tuple[str, ...], witness: dict[str, np.ndarray]) -> Claim:
    r"""Return the statement of jackknife+ (``n_folds = n``) and CV+.

    Miscoverage at most :math:`2\alpha + \min\{2(1 - 1/K)/(n/K + 1), (1 - K/n)/(K + 1)\}` for K folds of n/K rows.
    """
    value = folds_miscoverage(n, n_folds, alpha)
    assumptions = ("exchangeable", *(tag for tag in tags if tag != "iid"))
    empty = ", which is vacuous" if value >= 1 else ""
    return Claim(
        "conformal.folds",
        "uncertainty",
        f"the set misses the truth with probability at most {value:.4g}{empty}, on average over all rows and the row to come, "
        f"{sentence(assumptions)}; in practice about {alpha:.4g}, which is not proved",
        value=value,
        about="the prediction sets",
        assumptions=assumptions,
        numbers={"n": n, "folds": n_folds, "alpha": alpha},
        witness=witness,
    )


def folds_miscoverage(n: int, n_folds: int, alpha: float) -> float:
    """Proved miscoverage of CV+ with equal folds; twice alpha for jackknife+."""
    per_fold = n / n_folds
    extra = min(2 * (1 - 1 / n_folds) / (per_fold + 1), (1 - n_folds / n) / (n_folds + 1))
    return min(1.0, math.fsum([2 * alpha, max(extra, 0.0)]))
