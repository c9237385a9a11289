r"""Checks back-propagation without any formula for a slope: central differences of forward passes along drawn directions.

A rectified unit has a kink where its sum is zero, and among many rows some sum crosses zero within any step. The slope at the
network itself is that of the *gated* network, in which every rectifier is replaced by :math:`z \mapsto g z` with the gates
:math:`g \in \{0, 1\}` that it has there: both agree at the network, and the gated one is smooth, so central differences apply. Steps
begin where no sum of the first layer moves far, and are shortened until two successive quotients agree, or until rounding is
all they differ by (theory: ``network-stationarity``).
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.directions import sign_direction
from surefit.checks.enclosure import gamma
from surefit.checks.neural import (
    ROUNDING,
    SIGMA,
    SLOPE,
    Net,
    column_size,
    output_slopes,
    penalty_of,
    pieces,
    read_net,
    rows_of,
    targets,
    total_weight,
    walk,
)
from surefit.checks.output_layer import losses
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.threads import one_blas_thread

SHORTENING = 8.0
STEPS = 7  # the shortest is four millionths of the first


class Gated:
    """The objective of networks near a given one, whose rectified units stay on or off as they are there."""

    def __init__(self, net: Net, data: Data, Y: np.ndarray, s: np.ndarray | None):
        self.net, self.data, self.Y, self.s = net, data, Y, s
        self.total = total_weight(len(Y), s)
        self.gates: list[list[np.ndarray]] = []  # of each piece of rows and hidden layer
        self.rounding = 0.0  # of one value of the objective, to first order
        for piece in pieces(len(Y)):
            self._open(piece)
        self.rounding = (self.rounding + gamma(8) * penalty_of(net)) / self.total

    def _open(self, piece: slice) -> None:
        """Note the gates of some rows, and how far rounding of their forward pass moves the objective."""
        net, gates = self.net, []
        values = rows_of(self.data, piece)
        error = np.zeros_like(values)
        for k, (matrix, bias) in enumerate(zip(net.coefs, net.intercepts, strict=True)):
            sums = values @ matrix + bias
            sizes = np.abs(values) @ np.abs(matrix) + np.abs(bias)
            error = error @ np.abs(matrix) + gamma(len(matrix) + 8) * sizes
            if k < len(net.coefs) - 1:
                gates.append(sums > 0)
                values = SIGMA[net.problem["activation"]](sums)
                error = SLOPE[net.problem["activation"]](sums) * error + error**2  # no second derivative exceeds two
        self.gates.append(gates)
        output, loss = net.problem["output"], net.problem["loss"]
        own = _sizes_of_terms(sums, self.Y[piece], output, loss) * gamma(8 + len(net.coefs[-1]))
        moved = (np.abs(output_slopes(sums, self.Y[piece], output, loss)) + error) * error
        each = np.sum(own, axis=1) + np.sum(moved, axis=1)
        self.rounding += float(np.sum(each if self.s is None else self.s[piece] * each))

    def objective(self, net: Net) -> float:
        """Return J of a network near the given one."""
        activation, parts = net.problem["activation"], []
        for piece, gates in zip(pieces(len(self.Y)), self.gates, strict=True):
            values = rows_of(self.data, piece)
            for k, (matrix, bias) in enumerate(zip(net.coefs, net.intercepts, strict=True)):
                values = values @ matrix + bias
                if k < len(gates):
                    values = np.where(gates[k], values, 0.0) if activation == "relu" else SIGMA[activation](values)
            own = losses(values, self.Y[piece], net.problem["output"], net.problem["loss"])
            parts.append(float(np.sum(own if self.s is None else self.s[piece][:, None] * own)))
        return (math.fsum(parts) + penalty_of(net)) / self.total

    def slope(self, direction: np.ndarray, longest: float, wanted: float) -> tuple[float, float]:
        """Return the slope along ``direction`` and how far it may be off; no better than ``wanted`` is aimed at."""
        best, steps = (math.nan, math.inf), [longest / SHORTENING**k for k in range(STEPS)]
        quotients: dict[float, float] = {}
        for long, short in pairwise(steps):
            for h in (long, short):
                if h not in quotients:
                    ahead, behind = (self.objective(self.net.moved(direction, d)) for d in (h, -h))
                    quotients[h] = (ahead - behind) / (2 * h)
            doubt = abs(quotients[long] - quotients[short]) + self.rounding / short
            if doubt < best[1]:
                best = (quotients[short], doubt)
            if doubt <= wanted:
                break
        return best


@checker("network.gradient_check")
def check_slopes(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The slopes that back-propagation found along random directions are those of central differences, up to value."""
    net, (Y, s), end = read_net(certificate), targets(certificate, data), walk(certificate, data)
    longest = _longest_step(net, data, len(end.gradient))
    room = ROUNDING * (1 + column_size(certificate, data))  # of the backward pass that the claim is about
    off, doubts = [], []
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        gated = Gated(net, data, Y, s)
        for seed, claimed in enumerate(claim.witness["slopes"]):
            slope, doubt = gated.slope(sign_direction(seed, len(end.gradient)), longest, claim.value / 8)
            off.append(abs(float(claimed) - slope))
            doubts.append(doubt)
    resolved = bool(np.all(np.isfinite(doubts)))
    worst = max(max(o - d - room, 0.0) for o, d in zip(off, doubts, strict=True)) if resolved else math.inf
    message = f"{len(off)} directions, forward passes only; resolved to {max(doubts):.2g}."
    return Finding(claim.name, claim.value, worst, worst <= claim.value, "recomputed", message)


def _longest_step(net: Net, data: Data, size: int) -> float:
    """Return a step small beside the weights, and one that moves no sum of a curved unit of the first layer by much."""
    theta = np.concatenate([*(m.ravel() for m in net.coefs), *net.intercepts])
    step = 1e-4 * max(1.0, float(np.linalg.norm(theta)))
    if net.problem["activation"] in ("relu", "identity"):  # straight lines, gates being held
        return step
    speed = 1 + max(float(np.max(np.sum(np.abs(rows_of(data, piece)), axis=1))) for piece in pieces(data.X.shape[0]))
    return min(step, 0.1 * math.sqrt(size) / speed)


def _sizes_of_terms(F: np.ndarray, Y: np.ndarray, output: str, loss: str) -> np.ndarray:
    """Return the sizes of what each loss adds up: its rounding is relative to them."""
    own = losses(F, Y, output, loss)
    if loss == "poisson":
        return own + 2 * np.abs(Y) * (1 + np.abs(F)) + 2 * np.exp(F)
    return own if output == "identity" else np.abs(own) + np.abs(F) * (1 + np.abs(Y))
