"""Weights of a perceptron after every update, and their progress towards a given separating direction."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.core.errors import InvalidData


def perceptron_path(model, X, y) -> np.ndarray:
    """Return the initial weights and those after each update, intercept last, with shape (n_updates + 1, d + 1).

    Parameters
    ----------
    model : fitted Perceptron of two classes
        The model, with a complete ``mistake_log_`` (a large enough ``max_log``).
    X, y : arrays
        Training data of the model.

    Examples
    --------
    >>> from surefit import Perceptron, perceptron_path
    >>> X, y = [[1.0, 2.0], [2.0, -1.0], [-1.0, 1.0], [-2.0, -1.0]], [1, 1, -1, -1]
    >>> perceptron_path(Perceptron(fit_intercept=False, order="cyclic").fit(X, y), X, y)
    array([[0., 0., 0.],
           [1., 2., 0.],
           [3., 1., 0.]])
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    if len(model.classes_) != 2:
        raise InvalidData(f"perceptron_path: two classes are needed; got {len(model.classes_)}.")
    replay = model.certificate_["perceptron.replay"]
    rows, start = replay.witness["rows"], replay.witness["start"]
    if len(rows) < replay.value:
        raise InvalidData("perceptron_path: the log of mistakes is incomplete; fit again with a larger max_log.")
    problem = model.certificate_.problem
    minus, plus = problem["steps"][0]
    t = np.where(y == model.classes_[1], 1.0, -1.0)
    signed = np.where(t[rows] > 0, plus, -minus) * replay.witness.get("factors", np.ones(len(rows)))
    steps = np.column_stack([signed[:, None] * X[rows], signed * problem["bias_step"]])
    return np.cumsum(np.vstack([np.ravel(start), steps]), axis=0)


class PerceptronProgress(NamedTuple):
    """Quantities in the two inequalities of Novikoff's proof after every update."""

    along: np.ndarray  # (k + 1,) inner products with the comparator, at least k * margin
    square_norms: np.ndarray  # (k + 1,) squared norms of the weights, at most k * radius^2
    cosines: (
        np.ndarray
    )  # (k + 1,) cosines of the angles, nan for zero weights; at least sqrt(k) margin / (|comparator| radius)
    margin: float  # functional margin of the comparator
    radius: float
    bound: float  # largest possible number of updates

    @property
    def holds(self) -> bool:
        """Whether both inequalities hold after every update, up to rounding."""
        k = np.arange(len(self.along))
        slack = 1e-9 * (1 + np.abs(self.along).max() + self.square_norms.max())
        return bool(
            np.all(self.along >= k * self.margin - slack) and np.all(self.square_norms <= k * self.radius**2 + slack)
        )


def perceptron_progress(model, X, y, comparator) -> PerceptronProgress:
    r"""Trace the progress of a perceptron from zero, without intercept, towards a separating vector :math:`\theta^*`.

    Guarantee: :math:`\langle\theta^*, \theta_k\rangle \ge k \gamma` and :math:`\|\theta_k\|^2 \le k R^2` after every
    update, so :math:`1 \ge \cos \ge \sqrt k\, \gamma / (\|\theta^*\| R)` and
    :math:`k \le R^2 \|\theta^*\|^2 / \gamma^2` (theory: :ref:`novikoff`).

    Parameters
    ----------
    model : fitted Perceptron
        The model, fitted from zero with ``fit_intercept=False`` (for an intercept, append a constant with
        :func:`surefit.augment`).
    X, y : arrays
        Training data of the model.
    comparator : array of shape (d,)
        Separating vector :math:`\theta^*`.

    Examples
    --------
    >>> from surefit import Perceptron, perceptron_progress
    >>> X, y = [[1.0, 2.0], [2.0, -1.0], [-1.0, 1.0], [-2.0, -1.0]], [1, 1, -1, -1]
    >>> model = Perceptron(fit_intercept=False, order="cyclic").fit(X, y)
    >>> progress = perceptron_progress(model, X, y, [1.0, 0.0])
    >>> progress.holds, round(progress.bound, 9), progress.along
    (True, 5.0, array([0., 1., 3.]))
    """
    X, theta = np.asarray(X, dtype=np.float64), np.asarray(comparator, dtype=np.float64)
    path = perceptron_path(model, X, y)[:, :-1]
    if model.fit_intercept or np.any(path[0]):
        raise InvalidData(
            "perceptron_progress: a run from zero without intercept is needed; use surefit.augment for an intercept."
        )
    if theta.shape != (X.shape[1],):
        raise InvalidData(f"perceptron_progress: comparator must have {X.shape[1]} numbers; got shape {theta.shape}.")
    t = np.where(np.asarray(y) == model.classes_[1], 1.0, -1.0)
    margin, radius = float(np.min(t * (X @ theta))), float(np.max(np.linalg.norm(X, axis=1)))
    along, squares = path @ theta / model.eta0, np.sum(path**2, axis=1) / model.eta0**2
    with np.errstate(invalid="ignore"):
        cosines = along / (np.sqrt(squares) * np.linalg.norm(theta))
    bound = radius**2 * float(theta @ theta) / margin**2 if margin > 0 else np.inf
    return PerceptronProgress(along, squares, cosines, margin, radius, bound)
