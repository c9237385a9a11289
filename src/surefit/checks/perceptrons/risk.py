r"""Checks of the risk bound of a perceptron by repeating its first pass.

Each row is tested by weights that depend on earlier rows only, so mistakes of the first pass are progressive errors. A
risk is refuted if the exponential martingale at that risk exceeds :math:`1/\delta` (theory:
``progressive-validation``).
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from surefit.checks.bounds import error_rates
from surefit.checks.enclosure import UNIT, Bound
from surefit.checks.judge import Proof, claim, refused
from surefit.checks.perceptrons.joint import joint_log
from surefit.checks.perceptrons.passes import first_errors, in_order
from surefit.checks.perceptrons.runs import all_runs, codes_of, row_numbers
from surefit.checks.perceptrons.textbook import walk
from surefit.checks.tail_sums import error_capital
from surefit.core.assumptions import sentence as assumed
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.partitioned import PartitionedRows
from surefit.core.sample import Data

HALVINGS = 40  # bisection steps; the interval of risks then has a width of about 1e-12
ITERATE = "risk of a random iterate of the first pass"


def sentence(whose: str, stated: Claim) -> str:
    """Return the sentence of the bound with its assumptions; a bound that a constant prediction attains is vacuous."""
    ceiling = stated.numbers["ceiling"]
    tail = f", which is vacuous (not below {ceiling:.4g})" if stated.value >= ceiling else ""
    return f"{whose} <= {stated.value:.4g} with confidence {stated.confidence:g}{tail}, {assumed(stated.assumptions)}"


def assumptions(stated: Claim) -> tuple[str, ...]:
    """Return the assumptions of the bound, which include given initial weights or a given kernel."""
    more = tuple(name for name in ("start_independent_of_rows", "kernel_fixed") if stated.numbers.get(name))
    return ("iid", "order_fixed_before_testing", *more)


risk_bound = partial(
    claim, kind="risk_bound", side="upper", theory="progressive-validation", high=1.0, assumptions=assumptions
)


@risk_bound("perceptron.risk", partitioned=True, about=ITERATE, says=partial(sentence, ITERATE))
def risk(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Bound the risk by the mistakes of the first pass; cached for the vote."""
    if "risk" not in data.memo:
        data.memo["risk"] = _risk(certificate, stated, data)
    return data.memo["risk"]


def _risk(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    n, problem = data.X.shape[0], certificate.problem
    if problem["looks_ahead"]:
        return refused("the first pass depended on later rows, so it gives no risk bound")
    if in_order(certificate):
        return progressive(first_errors(certificate, data), problem["delta"], n, _most_common(data), {})
    order, mistaken = order_of(stated, n), np.zeros(n, dtype=bool)
    if problem["multi_class"] == "joint":
        joint = joint_log(certificate, data)
        mistaken[order] = joint.visit(certificate, data, order)[0] >= 0
        starts = bool(np.any(joint.start))
    else:
        runs = all_runs(certificate, data)
        starts = any(bool(np.any(run.log.start)) for run in runs)
        for run in runs:
            w, log = run.log.start[:-1].copy(), run.log
            b, found = walk(data.X, order, run.t, run.rule, run.slack(n), log.factors, w, float(log.start[-1]))
            met = order[found]
            logged = log.rows[: len(met)]
            if b != b or not np.array_equal(met[: len(logged)], logged):
                return refused("the first pass does not begin with the updates of the log")
            mistaken[met] = True
    more = {"start_independent_of_rows": True} if starts else {}
    largest = int(np.bincount(codes_of(certificate, data)).max())
    return progressive(int(mistaken.sum()), problem["delta"], n, largest, more)


def _most_common(data: Data) -> int:
    """Return the number of rows in the largest class."""
    if isinstance(data.X, PartitionedRows):
        assert data.X.counts is not None
        return int(np.rint(data.X.counts.max()))
    return int(np.unique(data.target, return_counts=True)[1].max())


def order_of(stated: Claim, n: int) -> np.ndarray:
    """Return the order of the first pass, which contains each row once."""
    order = row_numbers(stated.witness["order"], n) if "order" in stated.witness else np.arange(n)
    if len(order) != n or not np.all(np.bincount(order, minlength=n) == 1):
        raise ValueError("the first pass did not visit each row once")
    return order


def progressive(errors: int, delta: float, n: int, largest: int, more: dict[str, Any]) -> Proof:
    """Return the bound from ``errors`` progressive errors on ``n`` rows; ``largest`` is the largest class size."""
    value, spread = refuted_from(errors, n, delta)
    ceiling = 1 - largest / n
    own = {"errors": errors, "n": n, "delta": delta, "ceiling": ceiling, **more}
    note = f"{errors} of {n} rows were misclassified in the first pass; the bound holds if the assumptions do."
    return up_to_one(Proof(value, "enclosed", note, own, spread=spread))


def up_to_one(proof: Proof) -> Proof:
    """Return ``proof``, or a risk bound of one if it is not smaller beyond rounding."""
    return proof._replace(value=1.0, spread=0.0) if proof.value + 3 * proof.spread >= 1.0 else proof


def refuted_from(errors: int, n: int, delta: float) -> Bound:
    """Return a risk such that all larger risks are refuted; 1 if there is none."""
    rates, needed = error_rates({"delta": delta, "n": n}), -math.log(delta)
    low, high = errors / n, math.nextafter(1.0, 0.0)
    if not error_capital(errors / n, high, n, rates, needed).ok:
        return Bound(1.0, 0.0)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if error_capital(errors / n, middle, n, rates, needed).ok else (middle, high)
    # Two evaluations of the log capital differ by their margins; it grows by at least ``slope`` per unit of risk.
    margin, slope = error_capital(errors / n, high, n, rates, needed).margin, -n * math.expm1(-float(rates[0]))
    return Bound(high, 4 * margin / slope + (high - low))


@risk_bound("perceptron.vote_risk", says=partial(sentence, "risk of the vote"))
def vote_risk(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Bound the risk of the vote, whose voters differ from the tested weights in at most two visits."""
    single = risk(certificate, certificate["perceptron.risk"], data)
    if single.refusal:
        return single
    if "start_independent_of_rows" in single.numbers or len(certificate.model["classes_"]) > 2:
        return refused("the vote has a bound only for two classes and zero initial weights")
    if certificate["perceptron.replay"].witness["after_pass"].shape != (1,):
        return refused("the run made more than one pass")
    own = {name: single.numbers[name] for name in ("delta", "ceiling")}
    value, note = 2 * (single.value + 1 / single.numbers["n"]) * (1 + 8 * UNIT), "twice the mean risk of the voters."
    return up_to_one(Proof(value, "enclosed", note, own, spread=2 * single.spread + 8 * UNIT * value))
