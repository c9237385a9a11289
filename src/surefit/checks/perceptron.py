r"""Checks what online perceptrons claim: that every update was a mistake, how fast the weights grew, and what follows.

With :math:`\hat x = (x, c)`, :math:`\hat w = (w, b/c)` and steps :math:`a_j`, an update at a margin :math:`m_j \le \tau` gives

.. math::

    \|\hat w_j\|^2 = \|\hat w_{j-1}\|^2 + 2 a_j m_j + a_j^2 \|\hat x\|^2, \qquad
    \langle \hat w_k - \hat w_0, u \rangle \ge \gamma \sum_j a_j

for every unit vector :math:`u` of margin :math:`\gamma`. The first bounds the growth, the second every margin; together they
bound the number of updates (theory: ``novikoff``).
"""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.enclosure import UNIT, Enclosed, gamma, times
from surefit.checks.integers import lifted_integers
from surefit.checks.margin_bracket import hull_distance, margin_of
from surefit.checks.perceptron_replay import Path, Replay, replay, squared_lengths, sum_of_counts
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim


@checker("perceptron.replay")
def check_replay(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Every logged update was made on a mistake, and all updates together give the weights of the model."""
    run, path = replayed(certificate, claim, data), path_of(certificate, claim, data)
    cut = np.array(certificate.problem["cuts"])[(path.t[path.rows] > 0).astype(int)]
    wrong = int(np.sum(run.margins.mid - run.margins.rad > cut))
    vague = int(np.sum(run.margins.mid + run.margins.rad > cut)) - wrong
    w, b = final_weights(certificate, claim, data)
    expected_w, expected_b = run.w, run.b
    if "counts" in claim.witness:
        minus, plus = certificate.problem["steps"][problem_of(claim)]
        expected_w, expected_b = sum_of_counts(path, claim.witness["counts"], minus, plus)
    differs = outside(w, expected_w) + outside(np.array([b]), expected_b)
    level = "exact" if run.exact else "enclosed" if vague == 0 else "recomputed"
    message = f"{len(path.rows)} updates replayed: all were mistakes, and they add up to the weights."
    if wrong or differs:
        message = f"{wrong} updates were no mistakes; {differs} weights are not the sum of the updates."
    elif vague:
        message += f" Rounding leaves {vague} margins undecided."
    return Finding(claim.name, claim.value, float(wrong + differs), wrong + differs == 0, level, message)


@checker("perceptron.growth")
def check_growth(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """After every update the squared norm is at most what the theorem grants."""
    run, path = replayed(certificate, claim, data), path_of(certificate, claim, data)
    if len(path.rows) == 0:
        return Finding(claim.name, claim.value, 0.0, True, "exact", "no update was made.")
    granted = granted_squares(certificate, claim, data)
    excess = run.squares.mid - granted.mid
    rad = 0.0 if run.exact and granted.rad.max() == 0 else run.squares.rad + granted.rad
    proved, surely = float(np.max(excess + rad)), float(np.max(excess - rad))
    level = "exact" if np.ndim(rad) == 0 else "enclosed" if proved <= claim.value else "recomputed"
    ok = surely <= claim.value
    return Finding(
        claim.name, claim.value, proved if ok else surely, ok, level, f"checked after {len(excess)} updates."
    )


@checker("perceptron.margin")
def check_margin(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The largest margin of any direction lies between ``value`` and ``limit`` (constant feature included)."""
    low, high = lowest_margin(certificate, claim, data), highest_margin(certificate, claim, data)
    limit = math.inf if claim.limit is None else claim.limit
    ok = claim.value <= low[1] and limit >= high[0]
    level = "enclosed" if claim.value <= low[0] and limit >= high[1] else "recomputed"
    message = f"every direction has margin <= {high[1]:.6g}; the weights have >= {low[0]:.6g}."
    return Finding(claim.name, claim.value, low[0] if ok else low[1], ok, level, message)


@checker("perceptron.margin_at_most")
def check_margin_at_most(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """No direction has a larger margin than ``value``."""
    high = highest_margin(certificate, claim, data)
    level = "enclosed" if claim.value >= high[1] else "recomputed"
    return Finding(claim.name, claim.value, high[1], claim.value >= high[0], level, "from the sum of the updates.")


@checker("perceptron.geometric_margin")
def check_geometric_margin(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The largest distance of all rows from a hyperplane lies between ``value`` and ``limit``."""
    t = labels_of(certificate, claim, data)
    w, b = final_weights(certificate, claim, data)
    low, high = margin_of(data.X, t, w, b), hull_distance(data.X, t, claim.witness["alpha"], True)
    limit = math.inf if claim.limit is None else claim.limit
    ok = claim.value <= low.up and limit >= high.down
    level = "enclosed" if claim.value <= low.down and limit >= high.up else "recomputed"
    return Finding(claim.name, claim.value, low.down, ok, level, f"distances from {low.down:.6g} to {high.up:.6g}.")


@checker("perceptron.novikoff")
def check_novikoff(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """No more updates were made than the theorem allows for the margin that the weights have."""
    problem, path = certificate.problem, path_of(certificate, claim, data)
    k = int(np.sum(log_of(certificate, claim).get("counts", np.zeros(0)))) or len(path.rows)
    low = lowest_margin(certificate, claim, data)
    w, b = final_weights(certificate, claim, data)
    steps = problem["steps"][problem_of(claim)]
    threshold = max(0.0, *problem["cuts"])
    lengths = squared_lengths(data.X, problem["bias_step"])
    bounds = [
        most_updates(min(steps), max(steps), threshold, size, margin, _start(path, w, b), 1.0 + sign * 1e-12)
        for size, margin, sign in (
            (float(np.max(lengths.mid - lengths.rad)), low[1], -1),
            (float(np.max(lengths.mid + lengths.rad)), low[0], 1),
        )
    ]
    ok = claim.value == k and k <= bounds[1] and claim.limit is not None and claim.limit >= bounds[0] * (1 - 1e-9)
    level = "enclosed" if k <= bounds[0] and low[0] > 0 else "recomputed"
    message = f"{k} updates; the theorem allows {bounds[1]:.6g} at margin {low[0]:.6g}."
    return Finding(claim.name, claim.value, float(k), ok, level, message)


@checker("perceptron.cycle")
def check_cycle(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The updates of the cycle add up to nothing, exactly: a proof that no direction separates the rows."""
    alpha = claim.witness["alpha"].astype(object)
    rows = np.flatnonzero(claim.witness["alpha"])
    t = labels_of(certificate, claim, data)
    whole, _, _ = lifted_integers(data.X[rows], t[rows], certificate.problem["bias_step"] > 0)
    sums = [
        sum(int(alpha[i]) * entry for i, entry in zip(rows, column, strict=True)) for column in zip(*whole, strict=True)
    ]
    left = sum(1 for total in sums if total)
    ok = bool(len(rows)) and bool(np.all(claim.witness["alpha"] >= 0)) and left == 0
    message = "the cycle's updates cancel exactly, so no direction has all margins > 0."
    return Finding(
        claim.name, claim.value, float(left), ok, "exact", message if ok else f"{left} columns do not cancel."
    )


# --- shared ---------------------------------------------------------------------------------------------------------------


def problem_of(claim: Claim) -> int:
    """Number of the two-class problem that the claim is about."""
    return int(claim.numbers.get("problem", 0))


def log_of(certificate: Certificate, claim: Claim) -> dict[str, np.ndarray]:
    """Witness of the replay claim of the same problem: the log that other claims refer to."""
    for other in certificate.claims:
        if other.name == "perceptron.replay" and problem_of(other) == problem_of(claim):
            return other.witness
    return claim.witness


def labels_of(certificate: Certificate, claim: Claim, data: Data) -> np.ndarray:
    """Labels of the problem as -1 and 1."""
    positive = certificate.problem["positives"][problem_of(claim)]
    return np.where(data.y == certificate.model["classes_"][positive], 1.0, -1.0)


def path_of(certificate: Certificate, claim: Claim, data: Data) -> Path:
    """The updates of the problem that the claim is about."""
    log, t = log_of(certificate, claim), labels_of(certificate, claim, data)
    minus, plus = certificate.problem["steps"][problem_of(claim)]
    rows = log["rows"].astype(np.int64)
    steps = np.where(t[rows] > 0, plus, minus) * log.get("factors", np.ones(len(rows)))
    start = log["start"].astype(np.float64)
    return Path(data.X, t, rows, steps, certificate.problem["bias_step"], start[:-1], float(start[-1]))


def replayed(certificate: Certificate, claim: Claim, data: Data) -> Replay:
    """The replay of a problem's log, done once for all claims about it."""
    key = ("perceptron", problem_of(claim))
    if key not in data.memo:
        data.memo[key] = replay(path_of(certificate, claim, data))
    return data.memo[key]


def final_weights(certificate: Certificate, claim: Claim, data: Data) -> tuple[np.ndarray, float]:
    """Last weights of the run; an averaged model stores them besides its own."""
    model, p = certificate.model, problem_of(claim)
    prefix = "last_" if "last_coef_" in model else ""
    return model[prefix + "coef_"][p].astype(np.float64), float(model[prefix + "intercept_"][p])


def outside(values: np.ndarray, expected: Enclosed) -> int:
    """How many values a float run cannot have reached: its own rounding is as large as ours."""
    return int(
        np.sum(
            ~(np.abs(values - expected.mid) <= 2 * expected.rad + 4 * UNIT * np.abs(expected.mid) * (expected.rad > 0))
        )
    )


def granted_squares(certificate: Certificate, claim: Claim, data: Data) -> Enclosed:
    """What the theorem lets the squared norm be after each update."""
    path, problem = path_of(certificate, claim, data), certificate.problem
    lengths = squared_lengths(data.X, problem["bias_step"])
    threshold = max(0.0, *problem["cuts"])
    start = math.fsum(path.w * path.w) + (path.b * path.b / path.bias_step if path.bias_step else 0.0)
    largest = float(np.max(lengths.mid))
    mid = start + np.cumsum(path.steps * (2 * threshold + path.steps * largest))
    whole = mid[-1] < 2.0**50 and all(
        float(v).is_integer() for v in (start, largest, threshold, *np.unique(path.steps))
    )
    return Enclosed(mid, np.zeros(len(mid)) if whole else mid * gamma(data.X.shape[1] + len(mid) + 8))


def lowest_margin(certificate: Certificate, claim: Claim, data: Data) -> tuple[float, float]:
    """Enclose ``min_i t_i f(x_i) / |w|``, the constant feature included in the norm."""
    w, b = final_weights(certificate, claim, data)
    beta, t = certificate.problem["bias_step"], labels_of(certificate, claim, data)
    scores = times(data.X, w)
    mid = t * (scores.mid + b)
    rad = scores.rad + 4 * UNIT * (np.abs(scores.mid) + abs(b))
    norm = math.sqrt(math.fsum(w * w) + (b * b / beta if beta else 0.0))
    if norm == 0.0:
        return -math.inf, -math.inf
    spread = 1 + 16 * UNIT
    low, high = float(np.min(mid - rad)), float(np.min(mid + rad))
    return low / norm / (spread if low > 0 else 1 / spread), high / norm * (spread if high > 0 else 1 / spread)


def highest_margin(certificate: Certificate, claim: Claim, data: Data) -> tuple[float, float]:
    """Enclose ``|w_j - w_0| / sum of steps`` at the update the claim names: no direction has a larger margin."""
    path, log = path_of(certificate, claim, data), log_of(certificate, claim)
    minus, plus = certificate.problem["steps"][problem_of(claim)]
    j = int(claim.numbers.get("at_update", -1))
    if j < 0 and "counts" in log:
        counts = log["counts"]
        total = float(np.sum(counts * np.where(path.t > 0, plus, minus)))
        w, b = sum_of_counts(path._replace(w=np.zeros(len(path.w)), b=0.0), counts, minus, plus)
    else:
        short = path if j < 0 else path._replace(rows=path.rows[:j], steps=path.steps[:j])
        total = math.fsum(short.steps)
        run = replay(short._replace(w=np.zeros(len(path.w)), b=0.0))
        w, b = run.w, run.b
    if total == 0.0:
        return math.inf, math.inf
    norms = []
    for sign in (-1, 1):
        size, offset = np.maximum(np.abs(w.mid) + sign * w.rad, 0.0), max(abs(b.mid[0]) + sign * b.rad[0], 0.0)
        square = math.fsum(size * size) + (offset * offset / path.bias_step if path.bias_step else 0.0)
        norms.append(math.sqrt(square) / total * (1 + sign * 16 * UNIT))
    return norms[0], norms[1]


def most_updates(least_step, largest_step, threshold, radius_square, margin, start, spread) -> float:
    """Return Novikoff's bound for any start: the largest ``k`` with ``k A + a <= sqrt(s^2 + k B)``."""
    if margin <= 0:
        return math.inf
    square, along = start
    A = least_step * margin
    B = largest_step * largest_step * radius_square + 2 * largest_step * threshold
    head = B - 2 * along * A
    root = math.sqrt(head * head + 4 * A * A * max(square - along * along, 0.0))
    return (head + root) / (2 * A * A) * spread


def _start(path: Path, w: np.ndarray, b: float) -> tuple[float, float]:
    """Squared norm of the start, and its component along the final weights."""
    beta = path.bias_step
    square = math.fsum(path.w * path.w) + (path.b * path.b / beta if beta else 0.0)
    norm = math.sqrt(math.fsum(w * w) + (b * b / beta if beta else 0.0))
    along = (math.fsum(path.w * w) + (path.b * b / beta if beta else 0.0)) / norm if norm else 0.0
    return square, along
