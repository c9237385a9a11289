"""Checks of bounds on the error of a majority vote, from out-of-bag errors (theory: ``majority-vote``)."""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.bounds import CONFIRM
from surefit.checks.enclosure import UNIT
from surefit.checks.ensembles.forest import by_index, votes_of
from surefit.checks.ensembles.forest_left_out import unseen_losses
from surefit.checks.ensembles.forest_parts import refusal
from surefit.checks.judge import Digits, Proof, claim, refused
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.partitioned import PartitionedRows
from surefit.core.sample import Data


def _of_votes(claim: Claim) -> str:
    words = f"The majority vote misclassifies a new row with probability at most {claim.value:.4g}"
    return words + (" (vacuous)." if claim.value >= 1 else f", with confidence {1 - claim.numbers['delta']:.4g}.")


_RISK = {
    "kind": "risk_bound",
    "side": "upper",
    "theory": "majority-vote",
    "partitioned": True,
    "assumptions": ("iid", "members_tested_on_unseen_rows"),
    "about": "the majority vote of the members",
    "says": _of_votes,
}


@claim("forest.vote_first_order", **_RISK)
def first_order(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Bound the error probability of the majority vote on new data by the mean error of the members, with the stated confidence."""
    if by_index(certificate, data):
        return _vote_in_parts(certificate, claim, data, pairs=False)
    votes = votes_of(certificate, data)
    counts = votes.left_out.sum(axis=1)
    lost = (votes.wrong & votes.left_out).sum(axis=1)
    return _vote(certificate, claim, data, lost / np.maximum(counts, 1), int(counts.min()))


@claim("forest.vote_tandem", **_RISK)
def tandem(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Bound the error probability of the majority vote on new data by the joint errors of pairs of members."""
    if by_index(certificate, data):
        return _vote_in_parts(certificate, claim, data, pairs=True)
    votes = votes_of(certificate, data)
    out, lost = votes.left_out.astype(np.float64), (votes.wrong & votes.left_out).astype(np.float64)
    joint = out @ out.T  # integer counts: sums are exact in any order
    return _vote(certificate, claim, data, (lost @ lost.T) / np.maximum(joint, 1), int(joint.min()))


def _vote_in_parts(certificate: Certificate, claim: Claim, data: Data, pairs: bool) -> Proof:
    why = refusal(certificate, data)
    if why or not certificate.problem["bootstrap"] or not certificate.problem["classes"]:
        return refused(why or "the bound is about votes of members that drew rows")
    return _vote(certificate, claim, data, *unseen_losses(certificate, data, pairs))


def _vote(certificate: Certificate, claim: Claim, data: Data, losses: np.ndarray, n: int) -> Proof:
    weighted = data.X.weighted if isinstance(data.X, PartitionedRows) else data.weights is not None
    if weighted or n < 1:
        return refused("the bound needs rows that count once, and rows that were left out")
    mean, delta = math.fsum(losses.ravel()) / losses.size, float(certificate.problem["delta"]) / 2
    z = {"empirical": mean, "n": n, "divergence": 0.0, "delta": delta}
    evidence = CONFIRM[claim.name.removeprefix("forest.")](claim.value, z, claim.witness)
    proved = evidence.ok and (evidence.exact or evidence.slack >= evidence.margin)
    numbers = {"empirical": Digits(mean, 4 * UNIT * mean), "n": n, "delta": delta}
    note = f"mean loss {mean:.4g} on at least {n} unseen rows; the limit follows, if the assumptions hold."
    return Proof(claim.value if proved else 1.0, evidence.level, note, numbers)
