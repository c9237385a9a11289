"""Functions of one partition for Newton's method: sums at a point, losses along a direction, and gradients of the intercepts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.partitioned import Part, by_blocks, weights_in
from surefit.core.sample import read_target
from surefit.problems.labels import class_codes
from surefit.problems.partitioned import RowTarget
from surefit.solvers.newton.scalar_scores import ScalarScores
from surefit.solvers.newton.softmax_scores import SoftmaxScores

STEPS = 0.5 ** np.array([*range(8), 9.0, 11.0, 15.0, 20.0])  # step lengths that one pass compares


class Setting(NamedTuple):
    """Data that a partition needs in addition to the point."""

    problem: dict[str, Any]  # classes, their weights, and the weight of the loss
    middle: np.ndarray  # subtracted from the columns
    target: RowTarget | None = None  # target of one score; None for the softmax
    loss: Any = None  # of one score

    def here(self, part: Part) -> tuple[np.ndarray, SoftmaxScores | ScalarScores]:
        """Return the centered columns with a column of ones, and the loss."""
        X = np.asarray(part.X, dtype=np.float64) - self.middle
        Z = np.column_stack([X, np.ones(len(X))])
        if self.target is not None:
            return Z, ScalarScores(self.loss, *self.target.rows(part))
        codes, classes = class_codes(read_target(part.y), self.problem["classes"]), self.problem["classes"]
        c = weights_in(part) * np.asarray(self.problem["class_weights"])[codes] * self.problem["strength"]
        return Z, SoftmaxScores(codes, len(classes), c)


class Sums(NamedTuple):
    """Sums over the rows at a point; the last column of a matrix belongs to the intercepts."""

    loss: float
    size: float  # of the derivatives
    young: float  # Fenchel-Young terms of a smoothed loss
    gradient: np.ndarray  # (K, d + 1)
    hessian: np.ndarray  # (K, d + 1, K, d + 1)


@by_blocks
def derivatives(part: Part, setting: Setting, W: np.ndarray) -> Sums:
    """Return loss, gradient and Hessian at ``W``, and the Fenchel-Young terms of a smoothed loss."""
    (Z, scores), (K, m) = setting.here(part), W.shape
    value, D, P = scores.evaluate(Z @ W.T)
    hessian = np.zeros((K, m, K, m))
    for k in range(K):
        for j in range(k + 1):
            sign, h = scores.hessian_block(P, k, j)
            hessian[k, :, j, :] = sign * (Z * h[:, None]).T @ Z
            hessian[j, :, k, :] = hessian[k, :, j, :].T
    young = scores.young(Z @ W.T, D) if scores.width else 0.0
    return Sums(value, float(np.abs(D).sum()), young, D.T @ Z, hessian)


@by_blocks
def along(part: Part, setting: Setting, W: np.ndarray, dW: np.ndarray, scale: float) -> np.ndarray:
    """Return the losses at all step lengths, and the Fenchel-Young terms at ``W`` with the derivatives scaled by ``scale``."""
    Z, scores = setting.here(part)
    F, V = Z @ W.T, Z @ dW.T
    young = scores.young(F, scale * scores.evaluate(F)[1]) if scale < 1.0 else 0.0
    return np.array([*(scores.value(F + step * V) for step in STEPS), young])


@by_blocks
def balance(part: Part, setting: Setting, W: np.ndarray) -> np.ndarray:
    """Return the gradient with respect to the intercepts, followed by the rows of the Hessian with respect to them."""
    Z, scores = setting.here(part)
    _, D, P = scores.evaluate(Z @ W.T)
    H = np.zeros((len(W), len(W)))
    for k in range(len(W)):
        for j in range(k + 1):
            sign, h = scores.hessian_block(P, k, j)
            H[k, j] = H[j, k] = sign * float(np.sum(h))
    return np.vstack([D.sum(axis=0), H])


@by_blocks
def total_loss(part: Part, setting: Setting, W: np.ndarray) -> float:
    """Return the sum of the losses."""
    Z, scores = setting.here(part)
    return scores.value(Z @ W.T)
