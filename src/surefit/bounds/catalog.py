"""Classes of sets with their VC dimension, the reason for it, and their growth function if known."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from surefit.bounds import growth as counting
from surefit.bounds.growth import sauer
from surefit.core.errors import InvalidParameter
from surefit.core.validation import COUNT


class SetClass(NamedTuple):
    """Class of sets (classifiers): its VC dimension and the number of subsets of n points it can pick out.

    ``growth(n)`` is the exact growth function if it is known, else None. ``log_growth(n)`` uses the formula named by
    ``form`` (see :func:`log_growth`): the exact one if it is known, otherwise Sauer's lemma.

    Examples
    --------
    >>> from surefit.bounds import set_class
    >>> set_class("half_spaces", 2).dimension, set_class("intervals").growth(4)
    (3, 11)
    """

    name: str
    dimension: float
    reason: str
    growth: Callable[[int], int] | None = None
    form: str = "sauer"

    def log_growth(self, n: int) -> float:
        """Return the logarithm of the growth function at n, or of Sauer's bound on it."""
        return counting.log_growth(n, self.dimension, self.form)


def set_class(name: str, d: int = 1, k: int = 1) -> SetClass:
    r"""Return an entry of the catalog.

    Parameters
    ----------
    name : str
        ``"rays"`` :math:`(-\infty, a]`; ``"stumps"`` rays in both directions; ``"intervals"``; ``"unions_of_intervals"`` (k
        of them); ``"half_spaces"`` in d dimensions; ``"homogeneous_half_spaces"`` (boundary through the origin);
        ``"rectangles"`` with sides along the d axes; ``"balls"``; ``"polynomial_thresholds"`` of degree k in d variables;
        ``"finite"`` (k sets); ``"sines"`` :math:`\sin(ax) > 0`; ``"convex_polygons"``; ``"all_sets"``.
    d : int >= 1
        Dimension of the space.
    k : int >= 1
        Second parameter of some classes.

    Examples
    --------
    >>> from surefit.bounds import set_class
    >>> set_class("half_spaces", d=2).dimension, [set_class("half_spaces", d=2).growth(n) for n in range(1, 7)]
    (3, [2, 4, 8, 14, 22, 32])
    >>> set_class("rectangles", d=2).dimension, set_class("sines").dimension
    (4, inf)
    """
    if name not in CATALOG:
        raise InvalidParameter("set_class", "name", "one of " + ", ".join(map(repr, sorted(CATALOG))), name)
    for parameter, value in (("d", d), ("k", k)):
        if not COUNT.allows(value):
            raise InvalidParameter("set_class", parameter, COUNT.words, value)
    return CATALOG[name](int(d), int(k))


def vc_dimension(name: str, d: int = 1, k: int = 1) -> float:
    """Return the VC dimension of an entry of the catalog (see :func:`surefit.bounds.set_class`).

    Examples
    --------
    >>> from surefit.bounds import vc_dimension
    >>> vc_dimension("half_spaces", d=10), vc_dimension("homogeneous_half_spaces", d=10), vc_dimension("intervals")
    (11, 10, 2)
    """
    return set_class(name, d, k).dimension


def _half_spaces(d: int, k: int) -> SetClass:
    reason = "0 and the unit vectors are shattered; d + 2 points have a Radon partition"
    return SetClass("half_spaces", d + 1, reason, lambda n: 2 * sauer(n - 1, d) if n else 1, "cover")


def _homogeneous(d: int, k: int) -> SetClass:
    reason = "the unit vectors are shattered; d + 1 vectors are linearly dependent"
    return SetClass("homogeneous_half_spaces", d, reason, lambda n: 2 * sauer(n - 1, d - 1) if n else 1, "cover")


def _rectangles(d: int, k: int) -> SetClass:
    reason = "the 2d points plus and minus e_j are shattered; of 2d + 1 points, one is in the box of the others"
    return SetClass("rectangles", 2 * d, reason, (lambda n: n * (n + 1) // 2 + 1) if d == 1 else None)


CATALOG: dict[str, Callable[[int, int], SetClass]] = {
    "all_sets": lambda d, k: SetClass("all_sets", math.inf, "every finite set is shattered", lambda n: 2**n),
    "balls": lambda d, k: SetClass(
        "balls", d + 1, "balls that cut out the two parts of a Radon partition would give a hyperplane between them"
    ),
    "convex_polygons": lambda d, k: SetClass(
        "convex_polygons", math.inf, "every subset of points on a circle is cut out by a polygon", lambda n: 2**n
    ),
    "finite": lambda d, k: SetClass("finite", k.bit_length() - 1, "2^V labelings need 2^V sets; a bound on V"),
    "half_spaces": _half_spaces,
    "homogeneous_half_spaces": _homogeneous,
    "intervals": lambda d, k: SetClass(
        "intervals", 2, "no interval contains only the outer two of three points", lambda n: n * (n + 1) // 2 + 1
    ),
    "polynomial_thresholds": lambda d, k: SetClass(
        "polynomial_thresholds", math.comb(d + k, k), "half-spaces through 0 in the space of monomials"
    ),
    "rays": lambda d, k: SetClass("rays", 1, "no ray contains only the right one of two points", lambda n: n + 1),
    "rectangles": _rectangles,
    "sines": lambda d, k: SetClass("sines", math.inf, "the points 2^-i are shattered", lambda n: 2**n),
    "stumps": lambda d, k: SetClass(
        "stumps", 2, "no stump contains only the middle one of three points", lambda n: 2 * n if n else 1, "cover"
    ),
    "unions_of_intervals": lambda d, k: SetClass(
        "unions_of_intervals", 2 * k, "2k + 1 alternating labels need k + 1 intervals", lambda n: sauer(n, 2 * k)
    ),
}
