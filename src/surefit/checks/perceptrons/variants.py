"""Checks of additional claims of averaged and voted perceptrons and of step schedules."""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.enclosure import UNIT, gamma
from surefit.checks.judge import Proof, refused
from surefit.checks.perceptrons import geometry
from surefit.checks.perceptrons.replays import distance, fact
from surefit.checks.perceptrons.runs import Run, all_runs, numbers, run_of
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data


def visits_of(run: Run, stated: Claim) -> tuple[np.ndarray, int]:
    """Return the visit number of each logged update, and the number of visits."""
    total, visits, k = stated.numbers["visits"], stated.witness["visits"], len(run.log.rows)
    if visits.shape != (k,) or visits.dtype.kind not in "iu" or type(total) is not int or total < 1:
        raise ValueError("there must be one visit per update")
    if k and (np.any(np.diff(visits) <= 0) or visits[0] < 0 or visits[-1] >= total):
        raise ValueError("the visits of the updates are not in order")
    return visits.astype(np.float64), total


@fact("perceptron.average", side="upper",
      says="The weights are the mean of those held after each of the {visits} visits, to within {value:.3g}.")  # fmt: skip
def average(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check the average weights: each update counts for all visits from it on."""
    run, lines = run_of(certificate, stated, data), len(certificate.problem["steps"])
    visits, total = visits_of(run, stated)
    signed = np.bincount(run.log.rows, (total - visits) / total * run.steps[run.log.rows], minlength=len(run.t))
    coef = numbers(certificate.model["coef_"], lines, data.X.shape[1])[run.p]
    weights = np.append(coef, numbers(certificate.model["intercept_"], lines)[run.p])
    return distance(run, signed, weights, {**run.own, "visits": total}, gamma(len(run.log.rows) + 8))


@fact("perceptron.votes", theory="progressive-validation",
      says="{value:.0f} weight vectors vote, each with the visits that it survived; they add up to {visits}.")  # fmt: skip
def votes(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Recount the visits between updates, and compare signs and rows of the updates."""
    run, model = run_of(certificate, stated, data), certificate.model
    rows, p, starts = run.log.rows, run.p, model["problem_starts_"]
    visits, total = visits_of(run, stated)
    if starts.shape != (len(certificate.problem["steps"]) + 1,) or starts[p + 1] - starts[p] != len(rows):
        return refused("problem_starts_ does not fit the log")
    begin, end = int(starts[p]), int(starts[p + 1])
    survivals = np.diff(np.concatenate([[0.0], visits, [float(total)]]))
    updated = np.unique(np.concatenate([one.log.rows for one in all_runs(certificate, data)]))  # as support_vectors_
    for name, stored, own in (
        ("survivals_", model["survivals_"][begin + p : end + p + 1], survivals),
        ("update_sign_", model["update_sign_"][begin:end], run.t[rows]),
        ("update_support_", updated[model["update_support_"][begin:end]], rows),
    ):
        if not np.array_equal(stored, own):
            return refused(f"{name} are not those of the logged updates")
    return Proof(float(len(survivals)), "exact", "voters counted again.", {**run.own, "visits": total})


@fact("perceptron.prefix", side="upper", theory="variable-increment",
      says="After every update, margin times sum of steps was at most {value:.6g} times what the theorem allows.")  # fmt: skip
def prefix(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that after every update, margin times sum of steps <= sqrt(2 threshold S + R^2 Q)."""
    run = run_of(certificate, stated, data)
    if np.any(run.log.start) or run.log.counts is not None or not len(run.log.factors):
        return refused("this claim needs a start from zero, a schedule and a complete log")
    steps = run.log.factors * np.abs(run.steps[run.log.rows])
    S, Q = np.cumsum(steps), np.cumsum(steps**2)
    # What the theorem allows is rounded down, and the margin of the weights up.
    square = geometry.longest_square(data, run.beta)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = S / np.sqrt(2 * run.rule.threshold * S + square * Q)
    worst = float(np.max(shares)) * (1 + gamma(2 * len(S) + 16))
    value = max(run.low.value + 2 * run.low.spread, 0.0) * worst
    if not math.isfinite(value):
        return refused("the steps overflow")
    spread = 2 * run.low.spread * worst + (gamma(data.X.shape[1] + 2 * len(S) + 32) + 8 * UNIT) * value
    return Proof(value, "enclosed", f"checked after {len(S)} updates.", run.own, limit=1.0, spread=spread)
