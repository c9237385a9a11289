r"""Output units with their loss: predictions, loss, and its derivative with respect to the scores.

========== ================ =========================================================== ==============================
output     loss             :math:`\varphi(f)` of one row                               derivative
========== ================ =========================================================== ==============================
softmax    log_loss         :math:`-\sum_k y_k \ln g_k(f)`                              :math:`g_k - y_k`
logistic   log_loss         :math:`\sum_k \ln(1 + e^{f_k}) - y_k f_k`                   :math:`l(f_k) - y_k`
identity   half_squares     :math:`\tfrac12 \sum_k (f_k - y_k)^2`                       :math:`f_k - y_k`
identity   squared_error    :math:`\sum_k (f_k - y_k)^2`                                :math:`2 (f_k - y_k)`
softmax    squared_error    :math:`\sum_k (g_k(f) - y_k)^2`                             see below
logistic   squared_error    :math:`\sum_k (l(f_k) - y_k)^2`                             :math:`2 (l - y) l (1 - l)`
exp        poisson          :math:`\sum_k y_k \ln(y_k / e^{f_k}) - y_k + e^{f_k}`       :math:`e^{f_k} - y_k`
========== ================ =========================================================== ==============================

For softmax with squared error, :math:`d_k = 2 g_k [(g_k - y_k) - \sum_s (g_s - y_s) g_s]`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.core.jit import compiled


class Output(NamedTuple):
    """Output units and loss."""

    activation: str  # softmax, logistic, identity or exp
    loss: str  # log_loss, half_squares, squared_error or poisson

    @property
    def convex(self) -> bool:
        """Whether the loss is convex in the scores, so that the last layer alone is a convex problem."""
        return self.loss != "squared_error" or self.activation == "identity"


def predict(output: Output, scores: np.ndarray) -> np.ndarray:
    """Convert scores to predictions, in place."""
    if output.activation != "identity":
        _PREDICT[output.activation](scores)
    return scores


def loss_and_derivative(output: Output, scores: np.ndarray, Y: np.ndarray, weights: np.ndarray) -> float:
    """Return ``sum_i s_i phi_i`` and overwrite ``scores`` by ``s_i phi_i'``; ``weights`` may be empty (all one)."""
    return _SLOPES[output](scores, Y, weights)


@compiled
def _softmax(f):
    for i in range(f.shape[0]):
        largest = f[i].max()
        total = 0.0 * largest
        for k in range(f.shape[1]):
            f[i, k] = np.exp(f[i, k] - largest)
            total += f[i, k]
        for k in range(f.shape[1]):
            f[i, k] /= total


@compiled
def _logistic(f):
    for i in range(f.shape[0]):
        for k in range(f.shape[1]):
            tail = np.exp(-abs(f[i, k]))
            f[i, k] = (1.0 if f[i, k] >= 0 else tail) / (1.0 + tail)


@compiled
def _exp(f):
    for i in range(f.shape[0]):
        for k in range(f.shape[1]):
            f[i, k] = np.exp(f[i, k])


@compiled
def _softmax_log(f, Y, weights):
    loss = 0.0
    for i in range(f.shape[0]):
        s = weights[i] if len(weights) else 1.0
        largest = f[i, 0]
        for k in range(f.shape[1]):
            largest = max(largest, f[i, k])
        own, total = 0.0, 0.0
        for k in range(f.shape[1]):
            f[i, k] -= largest
            own += Y[i, k] * f[i, k]
            f[i, k] = np.exp(f[i, k])
            total += f[i, k]
        loss += s * (np.log(total) - own)
        for k in range(f.shape[1]):
            f[i, k] = s * (f[i, k] / total - Y[i, k])
    return loss


@compiled
def _logistic_log(f, Y, weights):
    loss = 0.0
    for i in range(f.shape[0]):
        s = weights[i] if len(weights) else 1.0
        for k in range(f.shape[1]):
            score = f[i, k]
            tail = np.exp(-abs(score))
            loss += s * (np.log1p(tail) + max(score, 0.0) - Y[i, k] * score)
            f[i, k] = s * ((1.0 if score >= 0 else tail) / (1.0 + tail) - Y[i, k])
    return loss


@compiled
def _identity_half_squares(f, Y, weights):
    loss = 0.0
    for i in range(f.shape[0]):
        s = weights[i] if len(weights) else 1.0
        for k in range(f.shape[1]):
            off = f[i, k] - Y[i, k]
            loss += 0.5 * s * off * off
            f[i, k] = s * off
    return loss


@compiled
def _identity_squares(f, Y, weights):
    loss = 0.0
    for i in range(f.shape[0]):
        s = weights[i] if len(weights) else 1.0
        for k in range(f.shape[1]):
            off = f[i, k] - Y[i, k]
            loss += s * off * off
            f[i, k] = 2 * s * off
    return loss


@compiled
def _softmax_squares(f, Y, weights):
    loss = 0.0
    _softmax(f)
    for i in range(f.shape[0]):
        s = weights[i] if len(weights) else 1.0
        mean = 0.0
        for k in range(f.shape[1]):
            off = f[i, k] - Y[i, k]
            loss += s * off * off
            mean += off * f[i, k]
        for k in range(f.shape[1]):
            f[i, k] = 2 * s * f[i, k] * (f[i, k] - Y[i, k] - mean)
    return loss


@compiled
def _logistic_squares(f, Y, weights):
    loss = 0.0
    for i in range(f.shape[0]):
        s = weights[i] if len(weights) else 1.0
        for k in range(f.shape[1]):
            tail = np.exp(-abs(f[i, k]))
            p = (1.0 if f[i, k] >= 0 else tail) / (1.0 + tail)
            off = p - Y[i, k]
            loss += s * off * off
            f[i, k] = 2 * s * off * tail / ((1.0 + tail) * (1.0 + tail))
    return loss


@compiled
def _exp_poisson(f, Y, weights):
    loss = 0.0
    for i in range(f.shape[0]):
        s = weights[i] if len(weights) else 1.0
        for k in range(f.shape[1]):
            y, mean = Y[i, k], np.exp(f[i, k])
            loss += s * (mean - y + (y * (np.log(y) - f[i, k]) if y > 0 else 0.0))
            f[i, k] = s * (mean - y)
    return loss


_PREDICT = {"softmax": _softmax, "logistic": _logistic, "exp": _exp}

_SLOPES = {
    Output("softmax", "log_loss"): _softmax_log,
    Output("logistic", "log_loss"): _logistic_log,
    Output("identity", "half_squares"): _identity_half_squares,
    Output("identity", "squared_error"): _identity_squares,
    Output("softmax", "squared_error"): _softmax_squares,
    Output("logistic", "squared_error"): _logistic_squares,
    Output("exp", "poisson"): _exp_poisson,
}

OUTPUTS = tuple(_SLOPES)
