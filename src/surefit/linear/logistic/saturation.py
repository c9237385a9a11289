"""Saturation of probabilities when a separating direction is scaled up."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from surefit.core.errors import InvalidData


class Saturation(NamedTuple):
    """Probabilities along the ray of a direction, one line per scale."""

    scales: np.ndarray
    probabilities: np.ndarray  # (scales, rows), of the second class
    exactly_one: np.ndarray  # (scales,), rows whose probability of their class is exactly 1 in double precision
    losses: np.ndarray | None  # (scales,), sum of the logistic losses, if labels were given

    @property
    def saturated(self) -> bool:
        """Whether all probabilities are exactly 0 or 1 at the largest scale: near and far points are no longer distinguished."""
        return bool(self.exactly_one[-1] == self.probabilities.shape[1])


def saturation_report(direction, X, y=None, *, intercept: float = 0.0, scales=(1.0, 10.0, 1e5)) -> Saturation:
    r"""Follow the probabilities :math:`\sigma(c (\langle w, x\rangle + b))` as the scale c of a direction grows.

    On separable data the likelihood increases with c without end, so an unpenalized fit has no finite estimate: near and far rows end with
    the same confidence. A penalty stops this (theory: :ref:`separation-and-mle`).

    Parameters
    ----------
    direction : array of shape (n_features,), or a fitted linear classifier of two classes
        w; a model brings its own intercept, and one without a finite estimate its first diverging direction.
    X : array of shape (n, n_features)
        Rows.
    y : array of shape (n,) or None, default=None
        Labels; the larger one is the second class. With them the losses are reported.
    intercept : float, default=0.0
        b.
    scales : sequence of float > 0, default=(1, 10, 1e5)
        Scales c.

    Examples
    --------
    The weights (1, -2) on a point near the boundary and on a far one:

    >>> from surefit import saturation_report
    >>> report = saturation_report([1.0, -2.0], [[0.1, 0.0], [3.0, 0.0]], [1, 1])
    >>> report.probabilities[:2].round(5), report.saturated
    (array([[0.52498, 0.95257],
           [0.73106, 1.     ]]), True)
    """
    if hasattr(direction, "coef_"):
        levels: Any = getattr(direction, "diverging_coef_", ())
        if len(levels):  # no finite estimate: the first direction is the one that grows
            intercept, direction = float(np.ravel(direction.diverging_intercept_[0])[0]), levels[0]
        else:
            intercept, direction = float(np.ravel(direction.intercept_)[0]), direction.coef_
    w, X = np.ravel(np.asarray(direction, dtype=np.float64)), np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or X.shape[1] != len(w):
        raise InvalidData(f"saturation_report: X needs {len(w)} columns, one per weight; got shape {X.shape}.")
    c = np.asarray(scales, dtype=np.float64)
    z = c[:, None] * (X @ w + intercept)
    p, losses, own = expit(z), None, expit(np.abs(z))
    if y is not None:
        classes, codes = np.unique(np.asarray(y), return_inverse=True)
        if len(codes) != len(X) or len(classes) > 2:
            raise InvalidData(
                f"saturation_report: one label of two classes per row is needed; got {len(codes)} labels of {len(classes)}."
            )
        sign = np.where(codes == len(classes) - 1, 1.0, -1.0)
        losses = np.logaddexp(0.0, -sign * z).sum(axis=1)
        own = expit(sign * z)
    return Saturation(c, p, np.sum(own == 1.0, axis=1), losses)
