"""How folds are drawn: independently of the data, stratified by class (with a correction), or without a valid bound."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from surefit.risk.units import Units

BLIND = "folds_drawn_independently_of_rows"


class Drawing(NamedTuple):
    """Effect on a bound of how the folds are drawn.

    ``weight`` multiplies delta. It is 1 if folds depend on neither labels nor inputs, and smaller if they are
    stratified. ``part`` is the fraction of each class intended for a fold (zero if classes were not used). ``trouble``
    is the reason why nothing is proved, or None.
    """

    weight: float = 1.0
    part: Fraction = Fraction(0)
    tag: str = BLIND
    trouble: str | None = None


def drawing_of(splitter: Any, y: np.ndarray, tests: Iterable[np.ndarray], units: Units) -> Drawing:
    """Return how the folds with tested rows ``tests`` were drawn."""
    name = type(splitter).__name__
    by_size = name == "GroupKFold" and not splitter.shuffle and len(set(np.bincount(units.codes).tolist())) > 1
    if by_size or name == "StratifiedGroupKFold":
        words = "draws folds by the sizes or classes of groups; use GroupKFold(shuffle=True), or a number of folds"
        return Drawing(trouble=f"{name} {words}")
    if "Stratified" not in name:
        return Drawing()
    if units.kind != "rows":
        return Drawing(
            trouble=f"{name} counts equal rows, or rows of a group, separately; use folds that do not depend on classes"
        )
    found, codes = np.unique(y, return_inverse=True)
    counts = np.bincount(codes)
    folds = [np.bincount(codes[test], minlength=len(found)) for test in tests]
    if name == "StratifiedKFold":
        part = Fraction(1, len(folds))
    elif name == "StratifiedShuffleSplit":
        part = Fraction(int(folds[0].sum()), len(y))
    else:
        return Drawing(trouble=f"it is not known how {name} draws its folds; use StratifiedKFold or KFold")
    weights = [share_weight(counts, fold, part) for fold in folds]
    if min(weights) == 0.0:
        return Drawing(trouble="a stratified fold does not have the class fractions of the data")
    # By the inequality of arithmetic and geometric means, the folds can share the geometric mean of the factors.
    return Drawing(math.exp(math.fsum(map(math.log, weights)) / len(weights)), part, "classes_known")


def share_weight(counts: np.ndarray, fold: np.ndarray, part: Fraction) -> float:
    r"""Return the factor of delta for a fold drawn by class, at most 1; zero if the fold does not have the class fractions.

    With :math:`n_c` rows of class c, :math:`m_c` of them in the fold and :math:`r_c = n_c - m_c` elsewhere,

    .. math:: w = \binom{n - m}{r_1 \dots r_K} \Big/ \binom{n}{n_1 \dots n_K} \prod_c \Bigl(\frac{m_c}m\Bigr)^{m_c} N(r),

    where :math:`N(r)` counts the folds that differ from the exact fractions by less than one row in every class (theory:
    :ref:`stratified-folds`).
    """
    rest, m = counts - fold, int(fold.sum())
    if any(not low <= k <= high for k, (low, high) in zip(fold.tolist(), allowed_range(rest, part), strict=True)):
        return 0.0
    mode = math.fsum(k * math.log(k / m) for k in fold.tolist() if k)
    log_weight = log_arrangements(rest) - log_arrangements(counts) - mode - math.log(folds_like(rest, m, part))
    return min(1.0, math.exp(log_weight - 1e-13 * float(counts.sum()) * math.log(counts.sum() + 1)))  # lgamma rounds


def allowed_range(rest: np.ndarray, part: Fraction) -> list[tuple[int, int]]:
    """Return the range of the number of rows of each class in a fold that differs from ``part`` of the class by less than one row."""
    p, q = part.numerator, part.denominator
    return [(max(0, (r * p - q) // (q - p) + 1), -((-r * p - q) // (q - p)) - 1) for r in rest.tolist()]


def folds_like(rest: np.ndarray, m: int, part: Fraction) -> int:
    """Return the number of class counts of a fold of m rows with the right class fractions, given the other rows."""
    ways = {0: 1}
    for low, high in allowed_range(rest, part):
        longer: dict[int, int] = {}
        for total, count in ways.items():
            for k in range(low, high + 1):
                if total + k <= m:
                    longer[total + k] = longer.get(total + k, 0) + count
        ways = longer
    return ways[m]


def log_arrangements(counts: np.ndarray) -> float:
    """Return the logarithm of the multinomial coefficient."""
    return math.lgamma(int(counts.sum()) + 1) - math.fsum(math.lgamma(k + 1) for k in counts.tolist())
