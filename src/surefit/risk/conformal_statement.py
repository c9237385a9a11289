"""Claims about coverage: on average, and given the calibration rows."""

from __future__ import annotations

import math

from surefit.bounds.conformal import ConformalQuantile
from surefit.core.claims import Claim


def split_claims(quantile: ConformalQuantile, delta: float, tags: tuple[str, ...], group: str = "") -> list[Claim]:
    """Return the marginal and the conditional claim about sets with one quantile, for the class ``group`` if given."""
    exchangeable = ["exchangeable", *(tag for tag in tags if tag != "iid"), "calibration_untouched"]
    given = [*tags, "calibration_untouched"]
    limit = quantile.miscoverage(delta).value
    return [
        Claim(
            "conformal.coverage", 1.0 - quantile.marginal_coverage, numbers={"assumes": exchangeable, "group": group}
        ),
        Claim("conformal.conditional", limit, numbers={"assumes": given, "group": group, "delta": delta}),
    ]


def folds_claim(n: int, n_folds: int, alpha: float, tags: tuple[str, ...]) -> Claim:
    r"""Return the claim of jackknife+ (``n_folds = n``) or CV+.

    The miscoverage is at most :math:`2\alpha + \min\{2(1 - 1/K)/(n/K + 1), (1 - K/n)/(K + 1)\}` for K folds of n/K
    rows.
    """
    assumes = ["exchangeable", *(tag for tag in tags if tag != "iid")]
    value = min(1.0, math.nextafter(folds_miscoverage(n, n_folds, alpha) * (1 + 1e-14), math.inf))
    return Claim("conformal.folds", value, numbers={"assumes": assumes, "n": n, "folds": n_folds, "alpha": alpha})


def folds_miscoverage(n: int, n_folds: int, alpha: float) -> float:
    """Return the proved miscoverage of CV+ with equal folds; twice alpha for jackknife+."""
    per_fold = n / n_folds
    extra = min(2 * (1 - 1 / n_folds) / (per_fold + 1), (1 - n_folds / n) / (n_folds + 1))
    return min(1.0, math.fsum([2 * alpha, max(extra, 0.0)]))
