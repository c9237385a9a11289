r"""Checks the claims of the multi-class perceptron, the two-class theorem on rows :math:`(0, .., x, .., -x, .., 0)`."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import sparse

from surefit.checks.base import Data, Finding, checker
from surefit.checks.enclosure import UNIT, Enclosed, gamma, times
from surefit.checks.perceptron import most_updates, outside
from surefit.checks.perceptron_replay import squared_lengths
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim


class JointReplay(NamedTuple):
    """The log of a joint run, replayed."""

    margins: Enclosed
    squares: Enclosed
    steps: np.ndarray
    W: Enclosed  # one line a class, the offset last


@checker("perceptron.joint_replay")
def check_replay(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Every update was made on a mistake, with the best wrong class as the rival, and all give the weights."""
    run = _replayed(certificate, data)
    cut = certificate.problem["cuts"][1]
    wrong = int(np.sum(run.margins.mid - run.margins.rad > cut))
    vague = int(np.sum(run.margins.mid + run.margins.rad > cut)) - wrong
    differs = outside(_final(certificate), run.W)
    message = f"{len(run.steps)} updates replayed; {wrong} were no mistakes, {differs} weights differ from their sum."
    level = "enclosed" if vague == 0 else "recomputed"
    return Finding(claim.name, claim.value, float(wrong + differs), wrong + differs == 0, level, message)


@checker("perceptron.joint_growth")
def check_growth(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """After every update the squared norm is at most what the theorem grants."""
    run = _replayed(certificate, data)
    largest = float(np.max(squared_lengths(data.X, certificate.problem["bias_step"]).magnitude))
    granted = _square(certificate["perceptron.joint_replay"].witness["start"], certificate) + np.cumsum(
        2 * run.steps**2 * largest
    ) * (1 + gamma(len(run.steps) + 4))
    excess = run.squares.mid - granted
    proved, surely = float(np.max(excess + run.squares.rad)), float(np.max(excess - run.squares.rad))
    ok = surely <= claim.value
    level = "enclosed" if proved <= claim.value else "recomputed"
    return Finding(claim.name, claim.value, proved if ok else surely, ok, level, f"after {len(excess)} updates.")


@checker("perceptron.joint_margin")
def check_margin(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The largest margin of any set of directions lies between ``value`` and ``limit``."""
    low, high = _lowest(certificate, data), _highest(certificate, data)
    limit = math.inf if claim.limit is None else claim.limit
    ok = claim.value <= low[1] and limit >= high[0]
    level = "enclosed" if claim.value <= low[0] and limit >= high[1] else "recomputed"
    message = f"margins of at most {high[1]:.6g} exist; the weights have {low[0]:.6g}."
    return Finding(claim.name, claim.value, low[0], ok, level, message)


@checker("perceptron.joint_novikoff")
def check_novikoff(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """No more updates were made than the theorem allows."""
    problem, log = certificate.problem, certificate["perceptron.joint_replay"].witness
    k, start, W = len(log["rows"]), log["start"], _final(certificate)
    norm = math.sqrt(_square(W, certificate))
    beta = problem["bias_step"]
    along = math.fsum((start[:, :-1] * W[:, :-1]).ravel()) + (float(start[:, -1] @ W[:, -1]) / beta if beta else 0.0)
    lengths, steps, low = squared_lengths(data.X, beta), problem["joint_steps"], _lowest(certificate, data)
    head = (_square(start, certificate), along / norm if norm else 0.0)
    least, most = (
        most_updates(min(steps), max(steps), 0.0, 2 * float(np.max(size)), margin, head, spread)
        for size, margin, spread in (
            (lengths.mid - lengths.rad, low[1], 1 - 1e-12),
            (lengths.magnitude, low[0], 1 + 1e-12),
        )
    )
    ok = claim.value == k and k <= most and claim.limit is not None and claim.limit >= least * (1 - 1e-9)
    message = f"{k} updates; the theorem allows {most:.6g} at margin {low[0]:.6g}."
    return Finding(claim.name, claim.value, float(k), ok, "enclosed" if k <= least else "recomputed", message)


def _replayed(certificate: Certificate, data: Data) -> JointReplay:
    if "joint" not in data.memo:
        data.memo["joint"] = _replay(certificate, data)
    return data.memo["joint"]


def _replay(certificate: Certificate, data: Data) -> JointReplay:
    problem, log = certificate.problem, certificate["perceptron.joint_replay"].witness
    codes = np.searchsorted(certificate.model["classes_"], np.asarray(data.y))
    beta, rows, rivals = problem["bias_step"], log["rows"], log["rivals"]
    W = log["start"].astype(np.float64)
    rad = np.zeros_like(W)
    d, k = data.X.shape[1], len(rows)
    steps = np.array(problem["joint_steps"])[codes[rows]]
    mid, margin_rad = np.zeros(k), np.zeros(k)
    for j in range(k):
        i, right, rival, a = rows[j], codes[rows[j]], rivals[j], steps[j]
        row = data.X[[i]].toarray().ravel() if sparse.issparse(data.X) else data.X[i]
        x = np.append(np.asarray(row, dtype=np.float64), 1.0)
        mid[j] = x @ (W[right] - W[rival]) if right != rival else math.inf
        size = np.abs(x) @ (np.abs(W[right]) + np.abs(W[rival]))
        margin_rad[j] = gamma(d + 5) * size + np.abs(x) @ (rad[right] + rad[rival])
        x[-1] = beta
        for line, signed in ((right, a), (rival, -a)):
            change = signed * x
            W[line] += change
            rad[line] += UNIT * (np.abs(W[line]) + np.abs(change)) * (1 + 1e-12)
    lengths = squared_lengths(data.X[rows], beta) if k else Enclosed(np.zeros(0), np.zeros(0))
    growth = 2 * steps * (mid + steps * lengths.mid)
    squares = _square(log["start"], certificate) + np.cumsum(growth)
    errors = 2 * steps * (margin_rad + steps * lengths.rad) + 8 * UNIT * (np.abs(growth) + np.abs(squares))
    return JointReplay(Enclosed(mid, margin_rad), Enclosed(squares, np.cumsum(errors)), steps, Enclosed(W, rad))


def _final(certificate: Certificate) -> np.ndarray:
    prefix = "last_" if "last_coef_" in certificate.model else ""
    return np.column_stack([certificate.model[prefix + "coef_"], certificate.model[prefix + "intercept_"]])


def _square(W: np.ndarray, certificate: Certificate) -> float:
    beta = certificate.problem["bias_step"]
    return math.fsum((W[:, :-1] ** 2).ravel()) + (math.fsum(W[:, -1] ** 2) / beta if beta else 0.0)


def _lowest(certificate: Certificate, data: Data) -> tuple[float, float]:
    W = _final(certificate)
    codes = np.searchsorted(certificate.model["classes_"], np.asarray(data.y))
    low = high = math.inf
    for right in range(len(W)):
        here = np.flatnonzero(codes == right)
        for rival in range(len(W)):
            if rival == right or len(here) == 0:
                continue
            parts = [times(data.X[here], W[line, :-1]) for line in (right, rival)]
            mid = parts[0].mid - parts[1].mid + (W[right, -1] - W[rival, -1])
            rad = parts[0].rad + parts[1].rad + 8 * UNIT * (np.abs(parts[0].mid) + np.abs(parts[1].mid))
            rad = rad + 8 * UNIT * (abs(W[right, -1]) + abs(W[rival, -1]))
            low, high = min(low, float(np.min(mid - rad))), min(high, float(np.min(mid + rad)))
    norm = math.sqrt(_square(W, certificate))
    spread = 1 + 16 * UNIT
    return low / norm / (spread if low > 0 else 1 / spread), high / norm * (spread if high > 0 else 1 / spread)


def _highest(certificate: Certificate, data: Data) -> tuple[float, float]:
    run, start = _replayed(certificate, data), certificate["perceptron.joint_replay"].witness["start"]
    total, moved = math.fsum(run.steps), run.W.mid - start
    rad = run.W.rad + UNIT * np.abs(moved)
    if total == 0.0:
        return math.inf, math.inf
    lower, upper = (math.sqrt(_square(np.maximum(np.abs(moved) + s * rad, 0.0), certificate)) for s in (-1, 1))
    return lower / total * (1 - 16 * UNIT), upper / total * (1 + 16 * UNIT)
