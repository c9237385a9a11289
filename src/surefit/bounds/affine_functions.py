"""Points that affine functions pseudo-shatter, with one function per sign pattern."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

from surefit.core.errors import InvalidParameter
from surefit.core.validation import COUNT

MOST = 16  # limit on points, because all patterns are enumerated


class AffineWitness(NamedTuple):
    """Points that affine functions shatter with thresholds zero, and one function per sign pattern.

    Examples
    --------
    >>> from surefit.bounds import affine_witness
    >>> found = affine_witness(1)
    >>> found.points.tolist(), len(found.patterns)
    ([[0.0], [1.0]], 4)
    """

    points: np.ndarray  # (m, d)
    thresholds: np.ndarray  # (m,), zeros
    patterns: np.ndarray  # (2^m, m) of -1 and 1
    coefs: np.ndarray  # (2^m, d)
    intercepts: np.ndarray  # (2^m,)

    @property
    def holds(self) -> bool:
        """Whether every function realizes its sign pattern on the points."""
        values = self.coefs @ self.points.T + self.intercepts[:, None] - self.thresholds
        return bool(np.all(values * self.patterns > 0))


def affine_witness(n_features: int, *, intercept: bool = True) -> AffineWitness:
    r"""Return points :math:`0, e_1, \dots, e_d` (without intercept :math:`e_1, \dots, e_d`) that affine functions shatter.

    Guarantee: the points prove that pseudo-dimension and VC dimension of affine functions are at least d + 1 (d without
    intercept); Radon's theorem shows that they are no larger (:func:`surefit.bounds.linear_pseudo_dimension`,
    :func:`surefit.bounds.radon_partition`).

    Examples
    --------
    >>> from surefit.bounds import affine_witness
    >>> witness = affine_witness(3)
    >>> len(witness.points), len(witness.patterns), witness.holds
    (4, 16, True)
    """
    if not COUNT.allows(n_features) or n_features + intercept > MOST:
        raise InvalidParameter("affine_witness", "n_features", f"an integer from 1 to {MOST - intercept}", n_features)
    d = int(n_features)
    points = np.vstack([np.zeros((1, d)), np.eye(d)]) if intercept else np.eye(d)
    patterns = np.array(list(product((-1.0, 1.0), repeat=len(points))))
    offsets = patterns[:, 0] if intercept else np.zeros(len(patterns))
    coefs = (patterns[:, 1:] - offsets[:, None]) if intercept else patterns
    return AffineWitness(points, np.zeros(len(points)), patterns, coefs, offsets)
