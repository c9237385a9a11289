r"""Checks of linear perceptrons: runs are repeated bit for bit, and the number of updates is bounded.

With :math:`\hat x = (x, c)` and steps :math:`a_j`, an update at a margin :math:`m_j \le \tau` gives :math:`\|\hat
w_j\|^2 \le \|\hat w_{j-1}\|^2 + 2 a_j \tau + a_j^2 \|\hat x\|^2`, while every unit vector :math:`u` of margin
:math:`\gamma` gains :math:`\langle \hat w_j - \hat w_{j-1}, u \rangle \ge \gamma a_j`. Together, these inequalities
bound the number of updates (theory: ``novikoff``).
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from surefit.checks.eigen import weights_of
from surefit.checks.enclosure import Bound, gamma, rounded_sum
from surefit.checks.judge import AtLeast, AtMost, Proof, claim, no_claim, refused
from surefit.checks.perceptrons import geometry
from surefit.checks.perceptrons.margins import aim_of, lengths_of
from surefit.checks.perceptrons.runs import Run, about, numbers, row_numbers, row_weights, run_of
from surefit.checks.perceptrons.textbook import rows_of, sweep, visit_unit, walk
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.integers import lifted_integers
from surefit.core.sample import Data

fact = partial(claim, kind="process_fact", side="exact", theory="novikoff", about=about)

no_claim("perceptron.zero", "The weights are zero: no update was needed, and no margin exists.", about=about)
no_claim(
    "perceptron.unfinished",
    "Every pass made mistakes, so nothing is claimed about the number of further updates.",
    about=about,
)
no_claim("perceptron.not_replayed",
         "Nothing is claimed about the run: its log is not complete, rows were dropped, or there is no kernel.", about=about)  # fmt: skip
no_claim("perceptron.schedule",
        "The schedule is not known to satisfy the conditions of the theorem, so the run may not terminate.", about=about)  # fmt: skip


@fact("perceptron.replay",
      says="{value:.0f} updates were made. The first {logged}, repeated in float64 arithmetic, were each made on a mistake.")  # fmt: skip
def replay(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Repeat the logged updates; a complete log must give the weights, bit for bit."""
    run = run_of(certificate, stated, data)
    log, w = run.log, run.log.start[:-1].copy()
    b, mistaken = walk(
        data.X, log.rows, run.t, run.rule, run.slack(len(log.rows)), log.factors, w, float(log.start[-1])
    )
    if not mistaken.all():
        return refused(f"update {int(np.argmin(mistaken))} was not made on a mistake")
    proof = Proof(
        float(log.updates), "exact", f"{len(log.rows)} updates repeated.", {**run.own, "logged": len(log.rows)}
    )
    return proof if log.counts is not None else _giving(run, w, b, proof)


def _giving(run: Run, w: np.ndarray, b: float, proof: Proof) -> Proof:
    """Return ``proof`` if the repeated run ends with the weights of the model."""
    same = np.array_equal(np.append(w, b), run.weights)
    return proof if same else refused("the repeated updates do not give the weights")


@fact("perceptron.batch_replay", theory="batch-perceptron",
      says="{value:.0f} steps, repeated in float64 arithmetic, each added exactly the mistaken rows; together they give the "
      "weights.")  # fmt: skip
def batch_replay(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Repeat the steps of a batch perceptron: start, step sizes and data determine the run."""
    run, s, d = run_of(certificate, stated, data), weights_of(data), data.X.shape[1]
    steps, start = stated.witness["steps"], numbers(stated.witness["start"], d + 1)
    steps = numbers(steps, *steps.shape[:1])
    w, b, total, rows = start[:-1].copy(), float(start[-1]), np.zeros(d), rows_of(data.X)
    slack = geometry.slack_of(data, run.beta, start, math.fsum(np.abs(steps)) * math.fsum(s))
    for eta in steps.tolist():
        signed = sweep(rows, run.t, s, slack, w, b, total)
        w += eta * total
        b += eta * signed * run.beta
    return _giving(run, w, b, Proof(float(len(steps)), "exact", f"{len(steps)} steps repeated.", run.own))


@fact("perceptron.margin_updates", theory="margin-perceptron",
      says="Each of the {value:.0f} updates, repeated in float64 arithmetic, was made inside the margin; together they give the "
      "weights.")  # fmt: skip
def margin_updates(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Repeat the updates on rows scaled to unit length."""
    run, rows = run_of(certificate, stated, data), row_numbers(stated.witness["rows"], data.X.shape[0])
    share = (1 - certificate.problem["epsilon"]) * aim_of(run)
    w, mistaken = np.zeros(data.X.shape[1]), np.zeros(len(rows), dtype=bool)
    b = visit_unit(rows_of(data.X), rows, run.t, lengths_of(run), share, run.beta, w, mistaken)
    if not mistaken.all():
        return refused("an update was not made inside the margin")
    return _giving(run, w, b, Proof(float(len(rows)), "exact", f"{len(rows)} updates repeated.", run.own))


@fact("perceptron.sum", side="upper",
      says="The weights are the sum of all updates to within {value:.3g}: the rounding of the run.")  # fmt: skip
def weights_are_sum(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that the weights are the sum of all updates, from the number of updates of each row."""
    run = run_of(certificate, stated, data)
    if run.log.counts is None or len(run.log.factors):
        return refused("this claim is about a log that was cut")
    return distance(run, run.log.counts * run.steps, run.weights, run.own)


def distance(run: Run, signed: np.ndarray, weights: np.ndarray, own: dict[str, Any], relative: float = 0.0) -> Proof:
    """Bound the largest difference between ``weights`` and the start plus the rows weighted by ``signed``."""
    start = run.log.start
    total, rad = geometry.sum_of_rows(run.data, signed, relative)
    shift, size = run.beta * rounded_sum(signed), run.beta * rounded_sum(np.abs(signed))
    largest = float(np.max(np.abs(start))) + float(np.max(np.abs(total), initial=0.0))
    rad = max(rad, (relative + gamma(4)) * size) + gamma(4) * (largest + size)
    off = float(np.max(np.abs(weights - start - np.append(total, shift))))
    return Proof(off + rad, "enclosed", "the updates were added up again.", own, spread=rad)


ALLOWED = "{value:.0f} updates were made; rows of norm <= {radius:.6g} with margin {gamma_low:.6g} allow {allowed:.6g}."


@fact("perceptron.novikoff", says=ALLOWED)
def novikoff(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Compare the number of updates with the bound of the theorem for the margin of the weights."""
    run = run_of(certificate, stated, data)
    if len(run.log.factors):
        return refused("the theorem is about constant steps")
    start = geometry.start_and_component(run.log.start, run.weights[:-1], run.weights[-1], run.beta)
    square = float(np.max(geometry.squared_lengths(data, run.beta)))
    steps = (run.rule.step_minus, run.rule.step_plus)
    most = geometry.most_updates(steps, run.rule.threshold, square, run.low, start)
    return bounded(run.log.updates, most, run.low, square, run.own, data)


def bounded(updates: int, most: Bound, low: Bound, square: float, own: dict[str, Any], data: Data) -> Proof:
    """Return the proof that ``updates`` updates were made and ``most`` are allowed."""
    radius = math.sqrt(square) * (1 + gamma(4))
    bounds = {"gamma_low": AtLeast(*low), "allowed": AtMost(*most)}
    own = {**own, "radius": AtMost(radius, gamma(data.X.shape[1] + 16) * radius), **bounds}
    note = f"{updates} updates; the theorem allows {most.value:.6g}."
    limit = most.value + 8 * most.spread
    return Proof(float(updates), "enclosed", note, own, limit=limit, limit_spread=most.spread)


@fact("perceptron.cycle", kind="data_fact", theory="gordan",
      says="The rows are not separable: {value:.0f} consecutive updates cancel exactly, and the run repeats itself forever.")  # fmt: skip
def cycle(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check, in integer arithmetic, that the updates of the cycle form a positive combination that vanishes."""
    run, alpha = run_of(certificate, stated, data), row_weights(stated, data)
    rows = np.flatnonzero(alpha)
    if len(rows) == 0 or np.any(alpha != np.rint(alpha)):
        return refused("a cycle has whole numbers of updates, and at least one")
    whole, _, _ = lifted_integers(data.X[rows], run.t[rows], run.beta > 0)
    counts = [int(alpha[i]) for i in rows]
    if any(sum(c * entry for c, entry in zip(counts, column, strict=True)) for column in zip(*whole, strict=True)):
        return refused("the updates do not cancel")
    return Proof(float(sum(counts)), "exact", "the updates cancel exactly.", run.own)
