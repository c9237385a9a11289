"""The verbs of a loss: what a solver and a checker may ask of it.

A loss is a convex function of the score ``z`` for a target ``y``; margin losses take ``y`` in {-1, +1} and depend on
``u = y z`` alone. Every verb works on scalars, in Python and in compiled loops, and is registered in the file of its class.
"""

from surefit.core.dispatch import generic


@generic
def value(loss, y, z):
    """Return the loss of score ``z`` for target ``y``."""


@generic
def slope(loss, y, z):
    """Return the derivative in ``z``; at a kink, a subgradient."""


@generic
def curvature(loss, y, z):
    """Return the second derivative in ``z`` (almost everywhere); defined for smooth losses only."""


@generic
def conjugate(loss, y, v):
    """Return ``sup_z v z - value(y, z)``; infinite outside the set of slopes."""


@generic
def smoothness(loss):
    """Return the Lipschitz constant of ``slope``; infinite if there is a kink or unbounded curvature."""


@generic
def lipschitz(loss):
    """Return the Lipschitz constant of ``value`` in ``z``; infinite if slopes are unbounded."""


@generic
def is_margin_loss(loss):
    """Return True if the loss takes labels -1 and +1, False if it takes real targets."""
