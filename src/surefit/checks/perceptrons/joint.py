r"""Checks of the multi-class perceptron by the two-class theorem on :math:`(0, .., \hat x, .., -\hat x, .., 0)`.

A direction :math:`U` with one vector per class has margin :math:`\min_i \min_{r \ne y_i} (u_{y_i} - u_r)^\top \hat x_i
/ \|U\|_F`; an update has squared length :math:`2 \|\hat x\|^2`, so at most :math:`2 R^2 / \gamma^2` updates are made
from zero weights.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from surefit.checks.enclosure import UNIT, Bound, gamma
from surefit.checks.judge import AtMost, Proof, refused, shared
from surefit.checks.perceptrons import geometry
from surefit.checks.perceptrons.margins import bracket
from surefit.checks.perceptrons.replays import ALLOWED, bounded, fact
from surefit.checks.perceptrons.runs import codes_of, final_weights, numbers, row_numbers
from surefit.checks.perceptrons.textbook import rows_of, visit_classes
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data


class JointLog(NamedTuple):
    """Log of a joint run."""

    rows: np.ndarray
    rivals: np.ndarray  # class that lost weight at each update
    start: np.ndarray  # one line per class, with the intercept last

    def visit(self, certificate: Certificate, data: Data, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Process ``rows`` from the start; return the rival of each row (-1: no mistake) and the final weights."""
        problem, steps = certificate.problem, np.array(certificate.problem["joint_steps"])
        W, b = np.ascontiguousarray(self.start[:, :-1]), self.start[:, -1].copy()
        rivals, beta = np.empty(len(rows), dtype=np.int64), problem["bias_step"]
        slack = 2 * geometry.slack_of(data, beta, self.start, len(rows) * max(steps))
        codes = codes_of(certificate, data)
        visit_classes(rows_of(data.X), rows, codes, steps, (problem["cuts"][1], beta, slack), W, b, rivals)
        return rivals, np.column_stack([W, b])


def joint_log(certificate: Certificate, data: Data) -> JointLog:
    """Return the log stored in the witness of the replay claim."""
    witness, k = certificate["perceptron.joint_replay"].witness, len(certificate.model["classes_"])
    if certificate.problem["multi_class"] != "joint":
        raise ValueError("the classes were not fitted together")
    rows, rivals = row_numbers(witness["rows"], data.X.shape[0]), row_numbers(witness["rivals"], k)
    if rows.shape != rivals.shape:
        raise ValueError("the log must name one rival per update")
    return JointLog(rows, rivals, numbers(witness["start"], k, data.X.shape[1] + 1))


@fact("perceptron.joint_replay",
      says="Each of the {value:.0f} updates, repeated in float64 arithmetic, was made on a mistake; together they give the "
      "weights.")  # fmt: skip
def replay(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Repeat the updates; rival classes and weights must agree bit for bit."""
    log = joint_log(certificate, data)
    rivals, weights = log.visit(certificate, data, log.rows)
    if not np.array_equal(rivals, log.rivals):
        return refused(f"update {int(np.argmax(rivals != log.rivals))} was not a mistake, or had another rival")
    if not np.array_equal(weights, final_weights(certificate, data)):
        return refused("the logged updates do not give the weights")
    return Proof(float(len(log.rows)), "exact", f"{len(log.rows)} updates repeated.")


@bracket("perceptron.joint_margin", kind="optimality", theory="novikoff",
         says="One direction per class: their largest margin lies between {value:.6g} and {up:.6g} (constant feature "
         "included).")  # fmt: skip
def margin(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Bound the largest margin from below by the weights and from above by the sum of the updates."""
    low, up = _lowest(certificate, data), _highest(certificate, data)
    own = {"up": AtMost(*up)}
    return Proof(low.value, "enclosed", f"{low.value:.6g} <= margin <= {up.value:.6g}.", own, spread=low.spread)


@fact("perceptron.joint_novikoff", says=ALLOWED)
def novikoff(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Compare the number of updates with the bound of the theorem."""
    log, low, beta = joint_log(certificate, data), _lowest(certificate, data), certificate.problem["bias_step"]
    W, steps = final_weights(certificate, data), certificate.problem["joint_steps"]
    start = geometry.start_and_component(log.start, W[:, :-1], W[:, -1], beta)
    square = float(np.max(geometry.squared_lengths(data, beta)))
    most = geometry.most_updates((min(steps), max(steps)), 0.0, 2 * square, low, start)
    return bounded(len(log.rows), most, low, square, {}, data)


@shared
def _lowest(certificate: Certificate, data: Data) -> Bound:
    W, codes, beta = final_weights(certificate, data), codes_of(certificate, data), certificate.problem["bias_step"]
    scores, here = np.asarray(data.X @ W[:, :-1].T, dtype=np.float64) + W[:, -1], np.arange(len(codes))
    own = scores[here, codes]
    scores[here, codes] = -np.inf
    norm = geometry.norm_of(W[:, :-1].ravel(), math.hypot(*W[:, -1]), beta)
    if norm == 0.0:
        raise ValueError("the weights are zero and have no margin")
    longest = max(geometry.norm_of(line, 0.0, 0.0) for line in W[:, :-1]) * (1 + gamma(data.X.shape[1] + 4))
    size = np.sqrt(geometry.squared_lengths(data, 0.0)) * longest + float(np.max(np.abs(W[:, -1])))
    rad = 2 * gamma(data.X.shape[1] + 8) * size + 2 * (data.X.shape[1] + 2) * geometry.SUBNORMAL
    low, rounding = float(np.min(own - scores.max(axis=1) - rad)) / norm, float(np.max(rad)) / norm
    return Bound(low - 16 * UNIT * abs(low), rounding + 16 * UNIT * abs(low))


def _highest(certificate: Certificate, data: Data) -> Bound:
    """Return the norm of the sum of all updates, divided by the sum of their steps."""
    log, beta, codes = joint_log(certificate, data), certificate.problem["bias_step"], codes_of(certificate, data)
    if len(log.rows) == 0:
        raise ValueError("no update was made")
    steps, n = np.array(certificate.problem["joint_steps"])[codes[log.rows]], data.X.shape[0]
    parts, wiggles, total = [], [], math.fsum(steps)
    for line in range(len(log.start)):
        signed = np.bincount(log.rows, steps * (codes[log.rows] == line), minlength=n)
        signed -= np.bincount(log.rows, steps * (log.rivals == line), minlength=n)
        z, rad = geometry.sum_of_rows(data, signed, gamma(len(log.rows) + 4))
        shift = math.fsum(signed)
        parts += [*z.tolist(), math.sqrt(beta) * shift]
        wiggles += [rad, math.sqrt(beta) * gamma(len(log.rows) + 4) * total]
    length, wiggle = math.hypot(*parts), math.hypot(*wiggles)
    value = (length + wiggle) / total * (1 + 16 * UNIT)
    return Bound(value, wiggle / total + 16 * UNIT * value)
