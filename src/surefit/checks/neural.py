r"""Checks a feed-forward network: objective, slopes, links and the last layer, by passes of its own.

The objective is that of :mod:`surefit.checks.output_layer` over all layers,
:math:`J = \frac1S [\sum_i s_i \varphi_i(f_i) + \frac{\alpha}{2} \|w\|^2]`, evaluated in double precision by plain products. Slopes are
taken twice: by the backward pass here, and by central differences in :mod:`surefit.checks.neural_slopes` (theory:
``network-stationarity``).
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit, ndtr, softmax

from surefit.checks.base import Data, Finding, checker
from surefit.checks.output_layer import free_squares, losses, output_layer_gap, projected
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import CertificateError
from surefit.core.threads import one_blas_thread

ROUNDING = 1e-9  # relative: two orders of summation in double precision, with room
BLOCK = 2048

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


class Net(NamedTuple):
    """A certified network as the checker reads it."""

    coefs: list[np.ndarray]
    intercepts: list[np.ndarray]
    tables: list[np.ndarray | None]
    problem: dict[str, Any]

    def moved(self, direction: np.ndarray, step: float) -> Net:
        """Return the network with its free parameters moved along ``direction``."""
        coefs, intercepts, at = [], [], 0
        for matrix, table in zip(self.coefs, self.tables, strict=True):
            size = matrix.size if table is None else int(table.max(initial=-1)) + 1
            part = direction[at : at + size]
            spread = part.reshape(matrix.shape) if table is None else np.where(table >= 0, part[table], 0.0)
            coefs.append(matrix + step * spread)
            at += size
        for bias in self.intercepts:
            intercepts.append(bias + step * direction[at : at + len(bias)])
            at += len(bias)
        return self._replace(coefs=coefs, intercepts=intercepts)


class Pass(NamedTuple):
    """What one walk over the rows gives."""

    objective: float
    gradient: np.ndarray
    features: np.ndarray


@checker("network.objective")
def check_objective(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """J is value."""
    found = walk(certificate, data).objective
    ok = abs(found - claim.value) <= ROUNDING * (abs(found) + abs(claim.value))
    return Finding(claim.name, claim.value, found, ok, "recomputed", f"J = {found:.9g} by the checker's forward pass.")


@checker("network.gradient")
def check_gradient(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """No slope of J is larger than value."""
    end = walk(certificate, data)
    steepest = float(np.max(np.abs(end.gradient), initial=0.0))
    size = float(np.linalg.norm(end.gradient))
    room = ROUNDING * (1 + column_size(certificate, data))
    ok = steepest <= claim.value * (1 + 1e-6) + room and abs(size - claim.numbers["norm"]) <= 1e-6 * size + room
    message = f"largest slope {steepest:.3g}, norm {size:.3g}, by the checker's backward pass."
    return Finding(claim.name, claim.value, steepest, ok, "recomputed", message)


@checker("network.output_gap")
def check_output_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """With the hidden features fixed, no other last layer has an objective smaller by more than value."""
    net, (Y, s) = read_net(certificate), targets(certificate, data)
    problem = certificate.problem
    found = output_layer_gap(
        walk(certificate, data).features,
        net.coefs[-1],
        net.intercepts[-1],
        net.tables[-1],
        Y,
        s,
        problem["alpha"],
        problem["output"],
        problem["loss"],
    )
    ok = found.gap <= claim.value * (1 + 1e-6) + ROUNDING * found.objective
    message = f"dual point of the last layer: at most {found.gap:.3g} of {found.objective:.3g} can be gained."
    return Finding(claim.name, claim.value, found.gap, ok, "recomputed", message)


@checker("network.links")
def check_links(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Weights are zero where there is no link and equal where they are shared, exactly."""
    net, wrong = read_net(certificate), 0
    for matrix, table in zip(net.coefs, net.tables, strict=True):
        if table is not None:
            linked = table >= 0
            _, first, number = np.unique(table[linked], return_index=True, return_inverse=True)
            wrong += int(np.count_nonzero(matrix[~linked]))
            wrong += int(np.count_nonzero(matrix[linked] != matrix[linked][first][number.ravel()]))
    return Finding(
        claim.name, claim.value, float(wrong), wrong <= claim.value, "exact", f"{wrong} weights off their link."
    )


@checker("network.monotone")
def check_monotone(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The log of the objective never rises by more than value, and ends at J."""
    log = claim.witness["log"]
    rise = float(np.max(np.diff(log), initial=0.0))
    found = walk(certificate, data).objective
    ends = certificate.problem["single"] or abs(log[-1] - found) <= ROUNDING * (abs(found) + abs(log[-1]))
    message = f"{len(log)} entries, largest rise {rise:.3g}; the last is J."
    return Finding(
        claim.name, claim.value, rise if ends else math.inf, ends and rise <= claim.value, "recomputed", message
    )


def read_net(certificate: Certificate) -> Net:
    """Return the certified network."""
    problem, packed = certificate.problem, np.asarray(certificate.model["packed_"], dtype=np.float64)
    sizes = problem["sizes"]
    shapes = list(pairwise(sizes))
    if len(packed) != sum(a * b + b for a, b in shapes) or not np.isfinite(packed).all():
        raise CertificateError("The packed weights are not those of a network of the sizes named.")
    table = certificate.model.get("packed_links_")
    coefs, tables, at = [], [], 0
    for a, b in shapes:
        coefs.append(packed[at : at + a * b].reshape(a, b))
        tables.append(None if table is None else np.asarray(table[at : at + a * b]).reshape(a, b))
        at += a * b
    ends = np.cumsum([at] + [b for _, b in shapes])
    intercepts = [packed[start:stop] for start, stop in pairwise(ends)]
    return Net(coefs, intercepts, tables, problem)


def targets(certificate: Certificate, data: Data) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the columns that the network was trained on, and the sample weights."""
    y = data.target
    classes = certificate.model.get("classes_")
    if classes is None or y.ndim == 2:
        return np.asarray(y, dtype=np.float64).reshape(len(y), -1), data.weights
    if len(classes) == 2:
        return (y == classes[1]).astype(np.float64).reshape(-1, 1), data.weights
    if len(classes) == 1:
        return np.zeros((len(y), 1)), data.weights
    return (np.asarray(y)[:, None] == classes[None, :]).astype(np.float64), data.weights


def walk(certificate: Certificate, data: Data) -> Pass:
    """Return objective, slopes and last features; remembered for further claims."""
    if "network" not in data.memo:
        Y, s = targets(certificate, data)
        with one_blas_thread():
            data.memo["network"] = _both_passes(read_net(certificate), data, Y, s)
    return data.memo["network"]


def column_size(certificate: Certificate, data: Data) -> float:
    """Size of the terms that the gradient sums up, for rounding."""
    X = data.X
    return float(abs(X).max()) if X.shape[0] else 0.0


def rows_of(data: Data, piece: slice) -> np.ndarray:
    """Return some rows as a plain float64 array."""
    part = data.X[piece]
    return part.toarray().astype(np.float64) if sparse.issparse(part) else np.asarray(part, dtype=np.float64)


def pieces(n: int) -> list[slice]:
    """Cut the rows into pieces of at most ``BLOCK``."""
    return [slice(start, min(start + BLOCK, n)) for start in range(0, n, BLOCK)]


def penalty_of(net: Net) -> float:
    """Return the weight decay, not yet divided by the number of rows."""
    squares = (free_squares(matrix, table) for matrix, table in zip(net.coefs, net.tables, strict=True))
    return 0.5 * net.problem["alpha"] * math.fsum(squares)


def total_weight(n: int, s: np.ndarray | None) -> float:
    """Return the sum of the sample weights."""
    return float(n) if s is None else math.fsum(s)


def _objective(net: Net, data: Data, Y: np.ndarray, s: np.ndarray | None) -> float:
    sigma, parts = SIGMA[net.problem["activation"]], []
    for piece in pieces(len(Y)):
        values = rows_of(data, piece)
        for k, (matrix, bias) in enumerate(zip(net.coefs, net.intercepts, strict=True)):
            scores = values @ matrix + bias
            values = sigma(scores) if k < len(net.coefs) - 1 else scores
        own = losses(values, Y[piece], net.problem["output"], net.problem["loss"])
        parts.append(float(np.sum(own if s is None else s[piece][:, None] * own)))
    return (math.fsum(parts) + penalty_of(net)) / total_weight(len(Y), s)


def _both_passes(net: Net, data: Data, Y: np.ndarray, s: np.ndarray | None) -> Pass:
    sigma, slope = SIGMA[net.problem["activation"]], SLOPE[net.problem["activation"]]
    of_coefs = [np.zeros_like(m) for m in net.coefs]
    of_biases = [np.zeros_like(b) for b in net.intercepts]
    features, last = [], len(net.coefs) - 1
    for piece in pieces(len(Y)):
        below, sums = [rows_of(data, piece)], []
        for k, (matrix, bias) in enumerate(zip(net.coefs, net.intercepts, strict=True)):
            sums.append(below[k] @ matrix + bias)
            below.append(sigma(sums[k]) if k < last else sums[k])
        features.append(below[last])
        delta = output_slopes(sums[last], Y[piece], net.problem["output"], net.problem["loss"])
        delta = delta if s is None else s[piece][:, None] * delta
        for k in range(last, -1, -1):
            of_coefs[k] += below[k].T @ delta
            of_biases[k] += delta.sum(axis=0)
            if k > 0:
                delta = (delta @ net.coefs[k].T) * slope(sums[k - 1])
    free = []
    for matrix, table, own in zip(of_coefs, net.tables, net.coefs, strict=True):
        penalty = own.ravel() if table is None else _first_of_each(own, table)
        free.append(projected(matrix, table) + net.problem["alpha"] * penalty)
    total = total_weight(len(Y), s)
    return Pass(_objective(net, data, Y, s), np.concatenate([*free, *of_biases]) / total, np.concatenate(features))


def _first_of_each(matrix: np.ndarray, table: np.ndarray) -> np.ndarray:
    linked = table >= 0
    return matrix[linked][np.unique(table[linked], return_index=True)[1]]


def output_slopes(F: np.ndarray, Y: np.ndarray, output: str, loss: str) -> np.ndarray:
    """Return the slopes of the losses with respect to the scores."""
    found = MEANS[output](F)
    if loss != "squared_error":
        return found - Y
    off = 2 * (found - Y)
    if output == "softmax":
        return found * (off - np.sum(off * found, axis=1, keepdims=True))
    return off * found * (1 - found) if output == "logistic" else off
