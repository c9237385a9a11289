r"""Checks what a batch perceptron claims, by stepping again through its mistaken sets.

With :math:`m_k = \eta_k \sum_{i \in Y_k} s_i` the weights obey :math:`\|\hat w\|^2 \le R^2 \sum m_k^2`, and every direction of
margin :math:`\gamma` has :math:`\gamma \sum m_k \le \langle \hat w, u \rangle` (theory: ``batch-perceptron``).
"""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.enclosure import UNIT, Enclosed, gamma, times, transposed_times
from surefit.checks.perceptron import labels_of, outside, problem_of
from surefit.checks.perceptron_replay import squared_lengths
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim


@checker("perceptron.batch_replay")
def check_replay(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Each step added the mistaken rows and no others, and all steps together give the weights."""
    t, s, beta = labels_of(certificate, claim, data), _weights(data), certificate.problem["bias_step"]
    log, wrong, vague = claim.witness, 0, 0
    if "sets" in log:
        wrong, vague, counts = _walk(certificate, claim, data)
        wrong += int(np.any(np.abs(counts - log["counts"]) > gamma(len(log["steps"]) + 4) * np.abs(counts)))
    w, b = _sum_of_rows(data, t, s * log["counts"], beta, log["start"], len(log["steps"]))
    model, p = certificate.model, problem_of(claim)
    differs = outside(model["coef_"][p], w) + outside(np.array([model["intercept_"][p]]), b)
    message = f"{len(log['steps'])} steps replayed; {wrong} rows were on the wrong side, {differs} weights differ."
    level = "enclosed" if vague == 0 else "recomputed"
    return Finding(claim.name, claim.value, float(wrong + differs), wrong + differs == 0, level, message)


@checker("perceptron.batch_margin", "perceptron.batch_margin_at_most")
def check_margin(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Bounds of the largest margin of any direction on the rows of positive weight."""
    up = _upper(certificate, claim, data)
    if claim.name == "perceptron.batch_margin_at_most":
        level = "enclosed" if claim.value >= up[1] else "recomputed"
        return Finding(claim.name, claim.value, up[1], claim.value >= up[0], level, "from the sum of the steps.")
    low = _lower(certificate, claim, data)
    limit = math.inf if claim.limit is None else claim.limit
    ok = claim.value <= low[1] and limit >= up[0]
    level = "enclosed" if claim.value <= low[0] and limit >= up[1] else "recomputed"
    return Finding(claim.name, claim.value, low[0], ok, level, f"margins from {low[0]:.6g} to {up[1]:.6g}.")


@checker("perceptron.batch_bound")
def check_bound(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Margin times the summed steps is at most R times their root sum of squares."""
    log = _log(certificate, claim)
    s, low = _weights(data), _lower(certificate, claim, data)
    sets = np.unpackbits(log["sets"], axis=1)[:, : len(s)]
    masses = log["steps"] * (sets @ s)
    largest = float(np.max(squared_lengths(data.X, certificate.problem["bias_step"]).magnitude[s > 0]))
    proved = low[0] * float(masses.sum()) / math.sqrt(largest * float((masses**2).sum()))
    ok = low[0] > 0 and not np.any(log["start"]) and proved * (1 - 1e-9) <= min(claim.value, 1.0)
    return Finding(claim.name, claim.value, proved, ok, "enclosed", f"{len(masses)} steps, recounted.")


def _log(certificate: Certificate, claim: Claim) -> dict[str, np.ndarray]:
    return next(
        other.witness
        for other in certificate.claims
        if other.name == "perceptron.batch_replay" and problem_of(other) == problem_of(claim)
    )


def _weights(data: Data) -> np.ndarray:
    return np.ones(data.X.shape[0]) if data.weights is None else data.weights


def _walk(certificate: Certificate, claim: Claim, data: Data) -> tuple[int, int, np.ndarray]:
    """Step through the sets; returns rows on the wrong side, rows too close to tell, and the summed steps a row."""
    t, s, beta, log = (
        labels_of(certificate, claim, data),
        _weights(data),
        certificate.problem["bias_step"],
        claim.witness,
    )
    sets = np.unpackbits(log["sets"], axis=1)[:, : len(t)].astype(bool)
    counts, wrong, vague = np.zeros(len(t)), 0, 0
    used = s > 0
    for k, eta in enumerate(log["steps"]):
        w, b = _sum_of_rows(data, t, s * counts, beta, log["start"], k + 1)
        scores = times(data.X, w.mid)
        size = np.asarray(abs(data.X) @ w.rad).ravel()
        mid = t * (scores.mid + b.mid[0])
        rad = scores.rad + size + b.rad[0] + 4 * UNIT * (np.abs(scores.mid) + abs(b.mid[0]))
        wrong += int(np.sum(used & sets[k] & (mid - rad > 0))) + int(
            np.sum(used & ~sets[k] & (mid + rad <= 0) & (rad > 0))
        )
        vague += int(np.sum(used & (np.abs(mid) <= rad) & (rad > 0)))
        wrong += int(np.any(sets[k] & ~used))
        counts = counts + eta * sets[k]
    return wrong, vague, counts


def _sum_of_rows(data: Data, t, weights, beta: float, start, steps: int) -> tuple[Enclosed, Enclosed]:
    """Start plus ``sum_i weights_i t_i x_i``, with the rounding that a run of ``steps`` sums may have collected."""
    rows = np.flatnonzero(weights)
    part = data.X[rows]
    total = transposed_times(part, (weights * t)[rows])
    size = transposed_times(abs(part), weights[rows]).magnitude + np.abs(start[:-1])
    bound = gamma(len(rows) + 2 * steps + 8)
    mass = float(np.sum(weights))
    b = float(start[-1]) + beta * math.fsum((weights * t)[rows])
    w = Enclosed(start[:-1] + total.mid, total.rad + bound * size)
    return w, Enclosed(np.array([b]), np.array([bound * (abs(float(start[-1])) + beta * mass)]))


def _upper(certificate: Certificate, claim: Claim, data: Data) -> tuple[float, float]:
    t, s, beta, log = (
        labels_of(certificate, claim, data),
        _weights(data),
        certificate.problem["bias_step"],
        _log(certificate, claim),
    )
    mass = float(np.sum(s * log["counts"]))
    if mass == 0.0 or np.any(log["counts"] < 0):
        return math.inf, math.inf
    w, b = _sum_of_rows(data, t, s * log["counts"], beta, np.zeros(data.X.shape[1] + 1), 1)
    norms = []
    for sign in (-1, 1):
        size, shift = np.maximum(np.abs(w.mid) + sign * w.rad, 0.0), max(abs(b.mid[0]) + sign * b.rad[0], 0.0)
        norms.append(math.sqrt(math.fsum(size * size) + (shift**2 / beta if beta else 0.0)) / mass * (1 + sign * 1e-14))
    return norms[0], norms[1]


def _lower(certificate: Certificate, claim: Claim, data: Data) -> tuple[float, float]:
    model, p, beta = certificate.model, problem_of(claim), certificate.problem["bias_step"]
    w, b = model["coef_"][p].astype(np.float64), float(model["intercept_"][p])
    t, used = labels_of(certificate, claim, data), _weights(data) > 0
    scores = times(data.X, w)
    mid = (t * (scores.mid + b))[used]
    rad = (scores.rad + 4 * UNIT * (np.abs(scores.mid) + abs(b)))[used]
    norm = math.sqrt(math.fsum(w * w) + (b * b / beta if beta else 0.0))
    if norm == 0.0:
        return -math.inf, -math.inf
    low, high = float(np.min(mid - rad)) / norm, float(np.min(mid + rad)) / norm
    return low - 16 * UNIT * abs(low), high + 16 * UNIT * abs(high)
