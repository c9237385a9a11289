"""Checks of bounds on the largest margin: final weights bound it from below, row weights from above.

Rows are augmented by the constant feature. Variants use only rows of positive weight (batch), rows scaled to unit
length (margin perceptron), or a free intercept instead of the constant feature (theory: ``novikoff``,
``margin-bracket``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from surefit.checks.eigen import weights_of
from surefit.checks.enclosure import UNIT, Bound, gamma
from surefit.checks.judge import AtMost, Proof, claim
from surefit.checks.perceptrons import geometry
from surefit.checks.perceptrons.runs import Run, about, row_weights, run_of
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data
from surefit.problems.perceptrons import squared_norms

bracket = partial(claim, side="lower", low=-math.inf, about=about)
BETWEEN = "The largest margin of any direction lies between {value:.6g} and {up:.6g} (constant feature included)."
AT_MOST = "No direction has a margin of more than {value:.6g} (constant feature included)."


@bracket("perceptron.margin", kind="optimality", theory="novikoff", says=BETWEEN)
def margin(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Bound the largest margin from below by the final weights and from above by row weights."""
    run = run_of(certificate, stated, data)
    return _bracketed(run, run.low, up(run, row_weights(stated, data)))


@bracket("perceptron.batch_margin", kind="optimality", theory="batch-perceptron", says=BETWEEN)
def batch_margin(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Bound the largest margin on rows of positive weight."""
    run, used = run_of(certificate, stated, data), weights_of(data) > 0
    return _bracketed(run, low(run, used=used), up(run, row_weights(stated, data) * used))


@bracket("perceptron.unit_margin", kind="optimality", theory="margin-perceptron",
         says="On rows of unit length the margin reached is at least {value:.6g}, and no direction has more than {up:.6g}.")  # fmt: skip
def unit_margin(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Bound the largest margin on unit rows; the limit is (1 - epsilon) gamma, up to rounding."""
    run = run_of(certificate, stated, data)
    reached = low(run, scale=lengths_of(run))
    limit = (1 - certificate.problem["epsilon"]) * aim_of(run) - 8 * reached.spread
    proof = _bracketed(run, reached, unit_up(run, row_weights(stated, data)))
    return proof._replace(limit=limit, limit_spread=reached.spread)


@bracket("perceptron.geometric_margin", kind="data_fact", theory="margin-bracket",
         says="The widest hyperplane has a smallest distance between {value:.6g} and {up:.6g} to the rows.")  # fmt: skip
def geometric_margin(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Bound the largest distance of a hyperplane from the rows; a class without row weights gets equal ones."""
    run, alpha = run_of(certificate, stated, data), row_weights(stated, data)
    for group in (run.t > 0, run.t < 0):  # the intercept is free if both classes have the same weight
        alpha[group] = alpha[group] if np.any(alpha[group]) else 1.0
        alpha[group] /= math.fsum(alpha[group])
    widest = geometry.hull_length(data, run.t * alpha, 0.0, 4 * UNIT)
    return _bracketed(run, low(run, constant=False), widest)


def _bracketed(run: Run, least: Bound, most: Bound) -> Proof:
    note, own = f"{least.value:.6g} <= margin <= {most.value:.6g}.", {**run.own, "up": AtMost(*most)}
    return Proof(least.value, "enclosed", note, own, spread=least.spread)


def _only_from_above(bound: Callable[..., Any], certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Bound the largest margin from above by row weights."""
    run = run_of(certificate, stated, data)
    most = bound(run, row_weights(stated, data))
    return Proof(most.value, "enclosed", "from the sum of the updates.", run.own, spread=most.spread)


def low(run: Run, scale: Any = None, used: Any = None, constant: bool = True) -> Bound:
    """Bound the margin of the final weights from below, on scaled or some rows, with or without constant feature."""
    w, b = run.weights[:-1], float(run.weights[-1])
    norm = geometry.norm_of(w, b, run.beta) if constant else geometry.norm_of(w, 0.0, 0.0)
    return geometry.lowest_margin(run.data, run.t, w, b, norm, scale=scale, used=used)


def up(run: Run, alpha: np.ndarray) -> Bound:
    """Bound every margin from above by row weights."""
    return geometry.hull_length(run.data, alpha * run.t, run.beta)


def unit_up(run: Run, alpha: np.ndarray) -> Bound:
    """Bound every margin on unit rows; the bound is normalized by the sum of the row weights."""
    signed = alpha * run.t / lengths_of(run)
    found = geometry.hull_length(run.data, signed, run.beta, gamma(run.data.X.shape[1] + 8))
    factor = math.fsum(np.abs(signed)) / math.fsum(alpha) * (1 + gamma(8))
    return Bound(found.value * factor, found.spread * factor + gamma(8) * found.value * factor)


def _batch_up(run: Run, alpha: np.ndarray) -> Bound:
    return up(run, alpha * (weights_of(run.data) > 0))


for _name, _theory, _says, _up in (
    ("perceptron.margin_at_most", "novikoff", AT_MOST, up),
    ("perceptron.batch_margin_at_most", "batch-perceptron", AT_MOST, _batch_up),
    ("perceptron.unit_margin_at_most", "margin-perceptron",
     "On rows of unit length no direction has a margin of more than {value:.6g}.", unit_up),
):  # fmt: skip
    claim(_name, kind="data_fact", side="upper", theory=_theory, about=about, says=_says)(
        partial(_only_from_above, _up)
    )


def lengths_of(run: Run) -> np.ndarray:
    """Return the lengths of the augmented rows, computed as in the run."""
    memo = run.data.memo
    if "lengths" not in memo:
        memo["lengths"] = np.sqrt(squared_norms(run.data.X) + run.beta)
    if not np.all(memo["lengths"] > 0):
        raise ValueError("a row has length zero")
    return memo["lengths"]


def aim_of(run: Run) -> float:
    """Return the target margin of this problem's run."""
    aims = run.certificate.model["gamma_"]
    aim = float(aims[run.p])
    if aims.ndim != 1 or not 0 < aim <= 1:
        raise ValueError("gamma_ must be numbers in (0, 1]")
    return aim
