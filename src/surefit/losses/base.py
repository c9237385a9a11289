"""Verbs of a loss: the functions that solvers use, and the methods for users.

A loss is a convex function of the score ``z`` for a target ``y``; margin losses take ``y`` in {-1, +1} and depend on
``u = y z`` alone. Every verb works on numbers, in Python and in compiled loops, and is registered in the file of its class;
``value``, ``slope``, ``curvature`` and ``fenchel_conjugate`` take arrays in Python too.
The class decorator :func:`usable` adds ``loss(y, z)``, ``loss.gradient(y, z)`` and ``loss.conjugate(y, v)`` for arrays and scalars.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from surefit.core.dispatch import elementwise, generic
from surefit.core.jit import compiled


@elementwise
def value(loss, y, z):
    """Return the loss of score ``z`` for target ``y``.

    Examples
    --------
    >>> from surefit.losses import Squared, value
    >>> value(Squared(), 3.0, 1.0)
    2.0
    """


@elementwise
def slope(loss, y, z):
    """Return the derivative in ``z``; at a kink, a subgradient.

    Examples
    --------
    >>> from surefit.losses import Squared, slope
    >>> slope(Squared(), 3.0, 1.0)
    -2.0
    """


@elementwise
def curvature(loss, y, z):
    """Return the second derivative in ``z`` (almost everywhere); defined for smooth losses only.

    Examples
    --------
    >>> from surefit.losses import Logistic, curvature
    >>> float(curvature(Logistic(), 1.0, 0.0))
    0.25
    """


@elementwise
def fenchel_conjugate(loss, y, v):
    """Return ``sup_z v z - value(y, z)``; infinite outside the set of subgradients.

    Examples
    --------
    >>> from surefit.losses import Hinge, fenchel_conjugate
    >>> fenchel_conjugate(Hinge(), 1.0, -0.5), fenchel_conjugate(Hinge(), 1.0, 0.5)
    (-0.5, inf)
    """


@generic
def smoothness(loss):
    """Return the Lipschitz constant of ``slope``; infinite if there is a kink or unbounded curvature.

    Examples
    --------
    >>> from surefit.losses import Hinge, Logistic, smoothness
    >>> smoothness(Logistic()), smoothness(Hinge())
    (0.25, inf)
    """


@generic
def lipschitz(loss):
    """Return the Lipschitz constant of ``value`` in ``z``; infinite if derivatives are unbounded.

    Examples
    --------
    >>> from surefit.losses import Huber, Squared, lipschitz
    >>> lipschitz(Huber(2.0)), lipschitz(Squared())
    (2.0, inf)
    """


@generic
def is_margin_loss(loss):
    """Return True if the loss takes labels -1 and +1, False if it takes real targets.

    Examples
    --------
    >>> from surefit.losses import Hinge, Squared, is_margin_loss
    >>> is_margin_loss(Hinge()), is_margin_loss(Squared())
    (True, False)
    """


@generic
def smoothed(loss, y, z, mu):
    """Return value, derivative and curvature in ``z`` of the loss, with its kinks smoothed by a logarithmic barrier of weight ``mu``.

    Examples
    --------
    >>> from surefit.losses import Hinge, smoothed
    >>> [round(float(number), 4) for number in smoothed(Hinge(), 1.0, 0.5, 1e-3)]  # near value 0.5 and derivative -1
    [0.4928, -0.998, 0.004]
    """


@compiled
def kink(a, top, mu):
    r"""Return value, derivative and curvature of :math:`\mathrm{top} \cdot a_+`, smoothed by a barrier:

    :math:`\max_p\, pa + \mu\ln p + \mu\ln(\mathrm{top} - p)`.

    The derivative ``p`` lies strictly between 0 and ``top``: it is a feasible dual variable of the loss before smoothing.
    """
    root = math.sqrt(a * a * top * top + 4.0 * mu * mu)
    small = (
        2.0 * mu * top / (root + abs(a) * top + 2.0 * mu)
    )  # the distance of p from the nearer end, without cancellation
    p, q = (top - small, small) if a > 0.0 else (small, top - small)
    value = a * p + mu * (math.log(p / top) + math.log(q / top))
    return value, p, 1.0 / (mu / (p * p) + mu / (q * q))


def make_smoothed(loss: Any) -> None:
    """Derive ``smoothed`` for a loss with a second derivative; a loss with kinks registers it in its own file.

    Examples
    --------
    >>> from surefit.losses import Logistic, make_smoothed, smoothed, value
    >>> make_smoothed(Logistic())
    >>> bool(smoothed(Logistic(), 1.0, 0.5, 0.1)[0] == value(Logistic(), 1.0, 0.5))
    True
    """
    if type(loss) not in smoothed.classes:
        smoothed.register(type(loss))(_as_it_is)


def _as_it_is(loss, y, z, mu):
    return value(loss, y, z), slope(loss, y, z), curvature(loss, y, z)


def usable(name: str) -> Callable[[type], type]:
    """Set the name of a loss and add methods for scalars and arrays (class decorator).

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.losses import Hinge
    >>> Hinge()(1.0, 0.25), Hinge()(np.array([1, -1]), 0.5), Hinge().gradient(1, 0.25), Hinge().conjugate(1, -0.5)
    (0.75, array([0.5, 1.5]), -1.0, -0.5)
    """

    def add(cls: Any) -> Any:
        cls.name, cls.__call__ = name, _loss
        if name != "zero_one":
            cls.gradient, cls.conjugate = _gradient, _conjugate
        return cls

    return add


def _loss(loss, y, z):
    """Return the loss of scores ``z`` for targets ``y``; both may be arrays."""
    return _evaluated(value, _values, loss, y, z)


def _gradient(loss, y, z):
    """Return the derivative in ``z``; at a kink, a subgradient."""
    return _evaluated(slope, _slopes, loss, y, z)


def _conjugate(loss, y, v):
    """Return ``sup_z v z - loss(y, z)``; infinite outside the set of subgradients."""
    return _evaluated(fenchel_conjugate, _conjugates, loss, y, v)


def _evaluated(verb, loop, loss, y, z):
    if np.ndim(y) == 0 and np.ndim(z) == 0:
        return float(verb(loss, float(y), float(z)))
    y, z = np.broadcast_arrays(np.asarray(y, dtype=np.float64), np.asarray(z, dtype=np.float64))
    out = np.empty(y.size)
    loop(loss, np.ascontiguousarray(y).ravel(), np.ascontiguousarray(z).ravel(), out)
    return out.reshape(y.shape)


@compiled
def _values(loss, y, z, out):
    for i in range(len(y)):
        out[i] = value(loss, y[i], z[i])


@compiled
def _slopes(loss, y, z, out):
    for i in range(len(y)):
        out[i] = slope(loss, y[i], z[i])


@compiled
def _conjugates(loss, y, v, out):
    for i in range(len(y)):
        out[i] = fenchel_conjugate(loss, y[i], v[i])
