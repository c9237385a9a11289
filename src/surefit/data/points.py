"""Small labeled point sets with known separators, margins and Bayes risks."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from surefit.core.errors import InvalidParameter
from surefit.core.validation import COUNT, POSITIVE


class Sample(NamedTuple):
    """Rows, their labels, and known properties of their distribution or set.

    Examples
    --------
    >>> from surefit.data import make_four_points
    >>> X, y, truth = make_four_points()
    >>> X.shape, sorted(truth)
    ((4, 2), ['coef', 'intercept', 'margin', 'separable'])
    """

    X: np.ndarray
    y: np.ndarray
    truth: dict[str, Any]


def make_two_gaussians(
    n_samples: int = 100, *, distance: float = 1.0, variance: float = 0.5, random_state=None
) -> Sample:
    r"""Draw two isotropic Gaussian classes around ``(d, d)`` and ``(-d, -d)``, with labels 1 and -1.

    The Bayes rule is :math:`\operatorname{sign}(x_1 + x_2)`; its error is :math:`\Phi(-d\sqrt2 / \sigma)`, so a sample is usually not
    separable.

    Parameters
    ----------
    n_samples : int >= 2, default=100
        Number of rows, half in each class; an odd row goes to the first class.
    distance : float > 0, default=1.0
        Coordinate :math:`d` of the centers.
    variance : float > 0, default=0.5
        Variance :math:`\sigma^2` of each coordinate.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    Sample
        ``truth`` has ``coef``, ``intercept`` and ``bayes_risk``.

    Examples
    --------
    >>> from surefit.data import make_two_gaussians
    >>> X, y, truth = make_two_gaussians(random_state=0)
    >>> X.shape, round(truth["bayes_risk"], 5)
    ((100, 2), 0.02275)
    """
    require(
        "make_two_gaussians", n_samples=(n_samples, COUNT), distance=(distance, POSITIVE), variance=(variance, POSITIVE)
    )
    random = check_random_state(random_state)
    first = n_samples - n_samples // 2
    y = np.where(np.arange(n_samples) < first, 1, -1)
    X = y[:, None] * float(distance) + math.sqrt(variance) * random.standard_normal((n_samples, 2))
    signal = distance * math.sqrt(2 / variance)
    risk = 0.5 * math.erfc(signal / math.sqrt(2))
    return Sample(X, y, {"coef": np.array([1.0, 1.0]), "intercept": 0.0, "bayes_risk": risk})


def make_four_points(kind: str = "plane", epsilon: float = 0.5) -> Sample:
    r"""Return four labeled points for calculations by hand.

    ``plane``: :math:`(0, 0), (0, \epsilon), (1, \epsilon)` positive, :math:`(1, 0)` negative: separable, with margin
    :math:`\epsilon / (2\sqrt{1 + \epsilon^2})`, but not through the origin. ``line``: :math:`2, -1` positive,
    :math:`1, -2` negative: not separable, and a perceptron with an R-squared bias step cycles forever.

    Parameters
    ----------
    kind : {"plane", "line"}, default="plane"
        Configuration of the four points.
    epsilon : float > 0, default=0.5
        Height of the upper points in the plane.

    Returns
    -------
    Sample
        ``truth`` has ``separable``, and ``coef``, ``intercept``, ``margin`` or ``farkas`` and ``best_cut_error``.

    Examples
    --------
    >>> from surefit.data import make_four_points
    >>> X, y, truth = make_four_points()
    >>> round(truth["margin"], 6), truth["coef"], truth["intercept"]
    (0.223607, array([-2.,  4.]), 1.0)
    >>> make_four_points("line").truth["farkas"]
    array([1, 2, 2, 1])
    """
    if kind not in ("plane", "line"):
        raise InvalidParameter("make_four_points", "kind", "'plane' or 'line'", kind)
    require("make_four_points", epsilon=(epsilon, POSITIVE))
    if kind == "line":
        X, y = np.array([[2.0], [-1.0], [1.0], [-2.0]]), np.array([1, 1, -1, -1])
        return Sample(
            X, y, {"separable": False, "farkas": np.array([1, 2, 2, 1]), "best_cut_error": 0.25, "bayes_risk": 0.0}
        )
    e = float(epsilon)
    X, y = np.array([[0.0, 0.0], [0.0, e], [1.0, e], [1.0, 0.0]]), np.array([1, 1, 1, -1])
    truth = {
        "separable": True,
        "coef": np.array([-2.0, 2 / e]),
        "intercept": 1.0,
        "margin": e / (2 * math.sqrt(1 + e * e)),
    }
    return Sample(X, y, truth)


def make_alternating(n_samples: int = 6, *, scaled: bool = False) -> Sample:
    r"""Return points :math:`1, 3, 5, \dots` with alternating labels, which are separable with the kernel min(x, x').

    Parameters
    ----------
    n_samples : int >= 2, default=6
        Number of points.
    scaled : bool, default=False
        Divide by ``2 n - 1``, so that all points lie in (0, 1]. Integers keep kernel values, and mistake counts, exact.

    Returns
    -------
    Sample
        ``truth`` has ``best_cut_error``; for the kernel min(x, x') on the scaled points also ``square_norm`` (of the
        interpolant), ``square_norm_with_constant``, ``margin`` (in feature space, with a constant) and ``novikoff_bound``.

    Examples
    --------
    >>> from surefit.data import make_alternating
    >>> X, y, truth = make_alternating(6)
    >>> truth["square_norm"], truth["square_norm_with_constant"], truth["novikoff_bound"]
    (121, 110, 440)
    """
    if not COUNT.allows(n_samples) or n_samples < 2:
        raise InvalidParameter("make_alternating", "n_samples", "an integer >= 2", n_samples)
    n = int(n_samples)
    X = np.arange(1.0, 2 * n, 2.0)[:, None]
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    with_constant = 2 * (n - 1) * (2 * n - 1)
    truth = {
        "best_cut_error": 0.5 - 1 / n if n % 2 == 0 else 0.5 - 1 / (2 * n),
        "square_norm": (2 * n - 1) ** 2,
        "square_norm_with_constant": with_constant,
        "margin": 1 / math.sqrt(with_constant),
        "novikoff_bound": 4 * with_constant,
    }
    return Sample(X / (2 * n - 1) if scaled else X, y, truth)


def make_xor(n_samples: int | None = None, *, random_state=None) -> Sample:
    r"""Return the XOR problem: points of a square, positive if :math:`x_1 x_2 < 0`.

    Parameters
    ----------
    n_samples : int >= 1 or None, default=None
        None: the four corners :math:`(\pm1, \pm1)`. Otherwise, the number of points drawn uniformly from the square
        with these corners.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    Sample
        ``truth`` has ``separable``, ``bayes_risk``, the weight ``product_coef`` of :math:`x_1 x_2`, and for the corners the
        weights ``farkas`` that prove that no line separates them.

    Examples
    --------
    >>> from surefit.data import make_xor
    >>> X, y, truth = make_xor()
    >>> y, (truth["farkas"] * y) @ X
    (array([-1,  1,  1, -1]), array([0., 0.]))
    """
    truth = {"separable": False, "bayes_risk": 0.0, "product_coef": -1.0}
    if n_samples is None:
        X = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
        return Sample(X, np.array([-1, 1, 1, -1]), {**truth, "farkas": np.array([1, 1, 1, 1])})
    require("make_xor", n_samples=(n_samples, COUNT))
    X = check_random_state(random_state).uniform(-1, 1, (n_samples, 2))
    return Sample(X, np.where(X[:, 0] * X[:, 1] < 0, 1, -1), truth)


def make_two_triangles(epsilon: float = 0.1) -> Sample:
    r"""Return two triangles separable with margin :math:`\frac{\sqrt3}2 \epsilon`, but not by Fisher's discriminant.

    Parameters
    ----------
    epsilon : float > 0, default=0.1
        Shift that separates the triangles; below 1/3 Fisher's discriminant misclassifies a third of the points.

    Returns
    -------
    Sample
        Labels -1 and 1; ``truth`` has ``coef``, ``intercept``, ``margin`` and ``radius_square``.

    Examples
    --------
    >>> from surefit.data import make_two_triangles
    >>> X, y, truth = make_two_triangles(0.1)
    >>> round(truth["margin"], 6), round(truth["radius_square"] * 900)
    (0.086603, 3109)
    """
    require("make_two_triangles", epsilon=(epsilon, POSITIVE))
    third = 1 / math.sqrt(3)
    corners = np.array([[5 / 3, -third], [-1 / 3, -third], [2 / 3, 2 * third]]) + np.array([float(epsilon), 0.0])
    truth = {
        "coef": np.array([-math.sqrt(3) / 2, 0.5]),
        "intercept": 0.0,
        "margin": math.sqrt(3) / 2 * epsilon,
        "radius_square": (5 / 3 + epsilon) ** 2 + 1 / 3,
    }
    return Sample(np.vstack([corners, -corners]), np.array([-1, -1, -1, 1, 1, 1]), truth)


def require(who: str, **checked) -> None:
    """Validate each value by its rule."""
    for name, (value, rule) in checked.items():
        if not rule.allows(value):
            raise InvalidParameter(who, name, rule.words, value)
