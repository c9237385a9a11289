r"""The checker's own forward and backward passes of a feed-forward network: objective and gradient, with rounding.

:math:`J = \frac1S [\sum_i s_i \varphi_i(f_i) + \frac{\alpha}{2} \|w\|^2]` is evaluated in double precision. Every
number has a radius: the error of a sum of products is at most :math:`\gamma_k` times the sizes of its terms,
activations multiply errors by at most their Lipschitz constant, and for a rectifier whose input may have either sign
both cases are considered (theory: ``network-stationarity``).
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, ndtr, softmax

from surefit.checks.eigen import dense
from surefit.checks.enclosure import UNIT, gamma, row_blocks
from surefit.checks.judge import shared
from surefit.checks.networks.last_layer import free_squares, losses, projected
from surefit.core.certificate import Certificate
from surefit.core.sample import Data
from surefit.core.threads import one_blas_thread

SIGMA: dict[str, Any] = {
    "identity": lambda z: z,
    "logistic": expit,
    "tanh": np.tanh,
    "relu": lambda z: np.where(z > 0, z, 0.0),
    "standard": lambda z: np.tanh(z / 2),
    "arctan": lambda z: 2 / np.pi * np.arctan(z),
    "cauchy_cdf": lambda z: 0.5 + np.arctan(z) / np.pi,
    "gaussian": lambda z: 2 * ndtr(z) - 1,
    "normal_cdf": ndtr,
}
SLOPE: dict[str, Any] = {
    "identity": np.ones_like,
    "logistic": lambda z: expit(z) * expit(-z),
    "tanh": lambda z: 1 / np.cosh(np.clip(z, -300, 300)) ** 2,
    "relu": lambda z: np.where(z > 0, 1.0, 0.0),
    "standard": lambda z: 0.5 / np.cosh(np.clip(z, -300, 300) / 2) ** 2,
    "arctan": lambda z: 2 / (np.pi * (1 + z**2)),
    "cauchy_cdf": lambda z: 1 / (np.pi * (1 + z**2)),
    "gaussian": lambda z: 2 * np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi),
    "normal_cdf": lambda z: np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi),
}
MEANS: dict[str, Any] = {
    "softmax": lambda f: softmax(f, axis=1),
    "logistic": expit,
    "exp": np.exp,
    "identity": lambda f: f,
}


LIPSCHITZ = {"logistic": 0.25, "standard": 0.5, "cauchy_cdf": 0.32, "normal_cdf": 0.4, "gaussian": 0.8, "arctan": 0.64}
#: Upper bounds on the second derivative of a loss with respect to its scores.
CURVATURE = {"log_loss": 1.0, "half_squares": 1.0, "squared_error": 4.0}


class Net(NamedTuple):
    """A certified network."""

    coefs: list[np.ndarray]
    intercepts: list[np.ndarray]
    tables: list[np.ndarray | None]
    problem: dict[str, Any]


class Pass(NamedTuple):
    """Result of one pass over the rows, with the radii of both numbers."""

    objective: float
    objective_radius: float
    gradient: np.ndarray
    gradient_radius: np.ndarray
    features: np.ndarray


class Layer(NamedTuple):
    """Inputs of the units of a layer, and the values of the layer below, each with its radius."""

    below: np.ndarray
    below_radius: np.ndarray
    sums: np.ndarray
    radius: np.ndarray


NO_NETWORK = "weights, links or classes are not those of a network of the sizes named"


def read_net(certificate: Certificate, data: Data) -> Net:
    """Return the certified network; raise an error for arrays that do not have the stated sizes."""
    problem, packed = certificate.problem, np.asarray(certificate.model["packed_"], dtype=np.float64)
    sizes, table = problem["sizes"], certificate.model.get("packed_links_")
    shapes = list(pairwise(sizes))
    links = sum(a * b for a, b in shapes)
    fits = packed.shape == (links + sum(sizes[1:]),) and np.isfinite(packed).all() and sizes[0] == data.X.shape[1]
    if table is not None:
        fits = fits and table.shape == (links,) and table.dtype.kind in "iu" and not np.any(table >= links)
    if not fits:
        raise ValueError(NO_NETWORK)
    coefs, tables, at = [], [], 0
    for a, b in shapes:
        coefs.append(packed[at : at + a * b].reshape(a, b))
        tables.append(None if table is None else np.asarray(table[at : at + a * b]).reshape(a, b))
        at += a * b
    ends = np.cumsum([at] + [b for _, b in shapes])
    return Net(coefs, [packed[start:stop] for start, stop in pairwise(ends)], tables, problem)


def targets(certificate: Certificate, data: Data) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the target columns and the sample weights; the labels must be the network's classes."""
    y, classes = data.target, certificate.model.get("classes_")
    if classes is None or y.ndim == 2:
        Y = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        if Y.shape[1] != certificate.problem["sizes"][-1]:
            raise ValueError(NO_NETWORK)
        return Y, data.weights
    y = y if y.dtype.kind in "biuf" or classes.dtype.kind == "O" else y.astype(str)
    if len(np.unique(classes)) != len(classes) or np.any(np.sort(classes) != classes) or not np.isin(y, classes).all():
        raise ValueError(NO_NETWORK)
    if len(classes) <= 2:
        return (y == classes[-1]).astype(np.float64).reshape(-1, 1) * (len(classes) == 2), data.weights
    return (np.asarray(y)[:, None] == classes[None, :]).astype(np.float64), data.weights


@shared
def examine(certificate: Certificate, data: Data) -> Pass:
    """Return objective, gradient and last hidden features."""
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        return _both_passes(read_net(certificate, data), data, *targets(certificate, data))


def penalty_of(net: Net) -> float:
    """Return the weight decay before division by the number of rows."""
    squares = (free_squares(matrix, table) for matrix, table in zip(net.coefs, net.tables, strict=True))
    return 0.5 * net.problem["alpha"] * math.fsum(squares)


def forward(net: Net, rows: np.ndarray) -> list[Layer]:
    """Return the inputs of each layer of units."""
    activation, layers = net.problem["activation"], []
    values, radius = rows, np.zeros_like(rows)
    for matrix, bias in zip(net.coefs, net.intercepts, strict=True):
        size, sums = np.abs(matrix), values @ matrix + bias
        off = radius @ size + gamma(len(matrix) + 4) * (np.abs(values) @ size + np.abs(bias))
        layers.append(Layer(values, radius, sums, off))
        values = SIGMA[activation](sums)
        radius = LIPSCHITZ.get(activation, 1.0) * off + 8 * UNIT * np.abs(values)
    return layers


def _both_passes(net: Net, data: Data, Y: np.ndarray, s: np.ndarray | None) -> Pass:
    last, alpha = len(net.coefs) - 1, net.problem["alpha"]
    sums = [[np.zeros_like(m), np.zeros_like(m)] for m in (*net.coefs, *net.intercepts)]
    parts, roundings, features = [], [], []
    for piece in row_blocks(len(Y)):
        layers = forward(net, dense(data.X[piece]))
        features.append(layers[last].below)
        weights = np.ones(len(layers[0].below)) if s is None else s[piece]
        value, rounding, delta, off = _losses(net, layers[last], Y[piece])
        parts.append(float(np.sum(weights[:, None] * value)))
        roundings.append(float(np.sum(weights[:, None] * rounding)))
        delta, off = weights[:, None] * delta, weights[:, None] * off
        for k in range(last, -1, -1):
            below, radius = layers[k].below, layers[k].below_radius
            size = np.abs(delta)
            sums[k][0] += below.T @ delta
            sums[k][1] += radius.T @ (size + off) + np.abs(below).T @ (off + gamma(len(Y) + 8) * size)
            sums[last + 1 + k][0] += delta.sum(axis=0)
            sums[last + 1 + k][1] += (off + gamma(len(Y) + 8) * size).sum(axis=0)
            if k > 0:
                delta, off = _behind(net, k, layers[k - 1], delta, off)
    gradient: list[np.ndarray] = []
    radii: list[np.ndarray] = []
    for (mid, rad), table, own in zip(sums[: last + 1], net.tables, net.coefs, strict=True):
        decay = alpha * (own.ravel() if table is None else _first_of_each(own, table))
        gradient.append(projected(mid, table) + decay)
        radii.append(projected(rad, table) + gamma(mid.size + 8) * (projected(np.abs(mid), table) + np.abs(decay)))
    total = float(len(Y)) if s is None else math.fsum(s)
    gradient += [mid for mid, _ in sums[last + 1 :]]
    radii += [rad for _, rad in sums[last + 1 :]]
    J = (math.fsum(parts) + penalty_of(net)) / total
    spread = (math.fsum(roundings) + gamma(128) * (penalty_of(net) + math.fsum(map(abs, parts)))) / total
    return Pass(
        J,
        spread * (1 + gamma(64)),
        np.concatenate(gradient) / total,
        np.concatenate(radii) / total * (1 + gamma(64)),
        np.concatenate(features),
    )


def _losses(net: Net, layer: Layer, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return losses and their derivatives with respect to the scores, each with its rounding."""
    output, loss, F = net.problem["output"], net.problem["loss"], layer.sums
    off = np.max(layer.radius, axis=1, keepdims=True) if output == "softmax" else layer.radius
    value, slopes = losses(F, Y, output, loss), output_slopes(F, Y, output, loss)
    curve = np.exp(F + off) if loss == "poisson" else CURVATURE[loss]
    sizes = np.abs(value) + np.sum(np.abs(F) * (1 + np.abs(Y)), axis=1, keepdims=True) * (output != "identity")
    if loss == "poisson":
        sizes = sizes + 2 * np.abs(Y) * (1 + np.abs(F)) + 2 * np.exp(F)
    moved = (np.abs(slopes) + curve * off) * off
    rounding = gamma(16 + F.shape[1]) * sizes + (np.sum(moved, axis=1, keepdims=True) if output == "softmax" else moved)
    return (
        value,
        rounding,
        slopes,
        curve * off + 16 * UNIT * (np.abs(slopes) + np.abs(Y) + 1.0 * (output != "identity")),
    )


def _behind(net: Net, k: int, layer: Layer, delta: np.ndarray, off: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return derivatives with respect to the inputs of the layer below, with their radius."""
    activation, size = net.problem["activation"], np.abs(net.coefs[k]).T
    through = delta @ net.coefs[k].T
    radius = off @ size + gamma(len(size) + 4) * (np.abs(delta) @ size)
    slope = SLOPE[activation](layer.sums)
    if activation == "relu":  # the input may have either sign
        change = np.where(np.abs(layer.sums) <= layer.radius, 1.0, 0.0)
    else:
        change = (
            np.zeros_like(slope) if activation == "identity" else 2 * layer.radius + 8 * UNIT
        )  # no second derivative exceeds two
    return through * slope, radius * (slope + change) + np.abs(through) * (change + 4 * UNIT)


def _first_of_each(matrix: np.ndarray, table: np.ndarray) -> np.ndarray:
    linked = table >= 0
    return matrix[linked][np.unique(table[linked], return_index=True)[1]]


def output_slopes(F: np.ndarray, Y: np.ndarray, output: str, loss: str) -> np.ndarray:
    """Return the derivatives of the losses with respect to the scores."""
    found = MEANS[output](F)
    if loss != "squared_error":
        return found - Y
    off = 2 * (found - Y)
    if output == "softmax":
        return found * (off - np.sum(off * found, axis=1, keepdims=True))
    return off * found * (1 - found) if output == "logistic" else off
