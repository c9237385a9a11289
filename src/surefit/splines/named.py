"""Splines under their textbook names."""

from __future__ import annotations

from surefit.splines.smoothing_spline import SmoothingSpline


def linear_spline(x, y, lam: float | str = "gcv", sample_weight=None) -> SmoothingSpline:
    r"""Fit the smoothing spline of degree 1: piecewise linear, with a knot at every distinct x.

    .. math:: \min_f \; \frac1n \sum_i (y_i - f(x_i))^2 + \lambda \int f'(t)^2 dt

    Guarantee: that of :class:`SmoothingSpline` (theory: :ref:`smoothing-splines`).

    Parameters
    ----------
    x, y : arrays of shape (n,)
        Inputs and targets.
    lam : {"gcv", "loo", "reml"} or float > 0, default="gcv"
        The penalty, or the criterion by which it is chosen.
    sample_weight : array of shape (n,) or None, default=None
        Frequency weights.

    Examples
    --------
    >>> from surefit import linear_spline
    >>> spline = linear_spline([0.0, 1.0, 3.0], [0.0, 2.0, 1.0], lam=1e-9)  # nearly interpolation
    >>> spline.predict([0.5, 2.0]).round(6).tolist()
    [1.0, 1.5]
    """
    return SmoothingSpline(1, lam=lam).fit(x, y, sample_weight=sample_weight)
