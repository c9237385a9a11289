"""Claims of a finished perceptron run, with names and witnesses; the checker computes the proved values."""

from __future__ import annotations

import math

import numpy as np

from surefit.core.claims import Claim
from surefit.perceptrons.problem import Labeled
from surefit.solvers.perceptron.run import CYCLE, SEPARATED

CLEAR = 1e-9  # margins above this fraction of the radius are positive beyond rounding errors


def walk_claims(walk, data: Labeled, start: np.ndarray, number: int, aside: bool) -> list[Claim]:
    """Return the claims about the run on one two-class problem that started from the weights and intercept ``start``.

    ``aside`` means that some rows were held out, so a pass without mistakes does not prove that all rows are separated.
    """
    own = problem_number(data, number)
    claims = []
    if walk.ending == SEPARATED and not aside:
        claims += _separated(walk, data, start, own)
    claims += _run(walk, start, own)
    if walk.ending == SEPARATED and not aside:
        return claims
    if walk.ending == CYCLE and walk.logged == walk.updates:
        begin, end = walk.cycle
        first = walk.after_pass[begin - 1] if begin else 0
        alpha = np.bincount(walk.log.row[first : walk.after_pass[end - 1]], minlength=len(walk.t))
        if _cancels(data, walk.t, alpha, walk.rule):
            claims.append(Claim("perceptron.cycle", numbers=own, witness={"alpha": alpha}))
    if walk.updates:
        claims.append(Claim("perceptron.margin_at_most", numbers=own, witness={"alpha": _step_sums(walk)}))
    return [*claims, Claim("perceptron.unfinished")]


def problem_number(data: Labeled, number: int) -> dict:
    """Return the number that identifies the two-class problem of a claim; empty if there is only one problem."""
    return {"problem": number} if len(data.classes) > 2 else {}


def _run(walk, start: np.ndarray, own: dict) -> list[Claim]:
    witness = {"rows": walk.log.row[: walk.logged].copy(), "after_pass": np.array(walk.after_pass), "start": start}
    if walk.schedule is not None:
        witness["factors"] = np.asarray(walk.schedule(np.arange(1.0, walk.logged + 1)), dtype=np.float64)
    cut = walk.logged < walk.updates
    if cut:
        witness["counts"] = walk.counts.copy()
    # The loop is the textbook algorithm bit for bit, so its numbers are exact.
    replay = Claim("perceptron.replay", float(walk.updates), numbers={**own, "logged": walk.logged}, witness=witness)
    return [replay, Claim("perceptron.sum", numbers=own)] if cut and walk.schedule is None else [replay]


def _separated(walk, data: Labeled, start: np.ndarray, own: dict) -> list[Claim]:
    """Return the margin bracket and the mistake bound of a run that ended with a pass without mistakes."""
    if not (np.any(walk.w) or walk.offset):  # a rule that accepts zero margins can end at zero weights
        return [Claim("perceptron.zero")]
    beta = walk.rule.bias_step
    claims = [Claim("perceptron.margin", numbers=own, witness={"alpha": _best_row_weights(walk, start)})]
    if beta and np.any(walk.w) and abs(walk.t.sum()) < len(walk.t):
        claims.append(Claim("perceptron.geometric_margin", numbers=own, witness={"alpha": _step_sums(walk)}))
    if walk.schedule is None and separates(walk, data):
        claims.append(Claim("perceptron.novikoff", numbers=own))
    return claims


def separates(walk, data: Labeled) -> bool:
    """Whether the final weights have a margin that is positive beyond rounding errors."""
    beta, w, b = walk.rule.bias_step, walk.w, walk.offset
    norm = math.sqrt(float(w @ w) + (b * b / beta if beta else 0.0))
    least = float(np.min(walk.t * (np.asarray(data.X @ w).ravel() + b)))
    return least > CLEAR * norm * math.sqrt(walk.rule.radius_square)


def _step_sums(walk) -> np.ndarray:
    """Return the row weights of an upper bound on every margin: sums of steps, or ones if there are no updates."""
    if walk.updates == 0:
        return np.ones(len(walk.t))
    steps = np.where(walk.t > 0, walk.rule.step_plus, walk.rule.step_minus)
    if walk.schedule is None:
        return steps * walk.counts
    rows = walk.log.row[: walk.logged]
    return np.bincount(rows, walk.steps_taken(), minlength=len(steps))


def _best_row_weights(walk, start: np.ndarray) -> np.ndarray:
    """Return the row weights after the update with the smallest ``|w_j| / sum of steps``, or the last row weights."""
    if np.any(start) or walk.logged < walk.updates or walk.schedule is not None or walk.updates == 0:
        return _step_sums(walk)
    steps = walk.steps_taken()
    norms = np.sqrt(np.maximum(walk.squared_norms(), 0.0)) / np.cumsum(steps)
    at = int(np.argmin(norms)) + 1
    return np.bincount(walk.log.row[:at], steps[:at], minlength=len(walk.t))


def _cancels(data: Labeled, t: np.ndarray, alpha: np.ndarray, rule) -> bool:
    """Whether the updates of a cycle sum exactly to zero, which is required for a proof of inseparability."""
    if rule.step_minus != rule.step_plus:
        return False
    rows = np.flatnonzero(alpha)
    part = data.X[rows].toarray() if hasattr(data.X, "toarray") else data.X[rows]
    # Each product is split into two floats without error, so that fsum adds exact terms.
    signed, values = (alpha * t)[rows], np.asarray(part, dtype=np.float64)
    small = np.max(np.abs(signed), initial=0.0) < 2**20
    exact = small and all(_exact_sum(signed, column) == 0.0 for column in values.T)
    return bool(exact and (rule.bias_step == 0.0 or signed.sum() == 0))


def _exact_sum(whole: np.ndarray, column: np.ndarray) -> float:
    head = np.frexp(column)
    high = np.ldexp(
        np.rint(np.ldexp(head[0], 26)), head[1] - 26
    )  # 26 bits, so that the product with a small integer is exact
    return math.fsum(np.concatenate([whole * high, whole * (column - high)]))


def joint_claims(walk, data: Labeled, start: np.ndarray, aside: bool) -> list[Claim]:
    """Return the claims about a finished joint run; ``start`` has one row per class, with the intercept last."""
    k, claims = walk.logged, []
    complete = k == walk.updates
    W, b = walk.weights
    if walk.ending == SEPARATED and not aside and complete:
        if not (np.any(W) or np.any(b)):
            claims.append(Claim("perceptron.zero"))
        elif k:
            claims.append(Claim("perceptron.joint_margin"))
            claims += [Claim("perceptron.joint_novikoff")] if _joint_separates(walk, data) else []
    if complete:
        witness = {"rows": walk.log.row[:k].copy(), "rivals": walk.rivals[:k].copy(), "start": start}
        claims.append(Claim("perceptron.joint_replay", float(k), witness=witness))
    else:
        claims.append(Claim("perceptron.not_replayed"))
    if walk.ending != SEPARATED:
        claims.append(Claim("perceptron.unfinished"))
    return claims


def _joint_separates(walk, data: Labeled) -> bool:
    (W, b), beta, here = walk.weights, walk.rule.bias_step, np.arange(len(data.codes))
    scores = np.asarray(data.X @ W.T) + b
    own = scores[here, data.codes]
    scores[here, data.codes] = -np.inf
    norm = math.sqrt(float(np.sum(W * W)) + (float(b @ b) / beta if beta else 0.0))
    return float(np.min(own - scores.max(axis=1))) > CLEAR * norm * math.sqrt(walk.rule.radius_square)
