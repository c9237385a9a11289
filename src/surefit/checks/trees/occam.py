"""Occam's bound for trees whose thresholds were declared before the data were seen."""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.enclosure import UNIT
from surefit.checks.judge import AtMost, Proof, claim, refused
from surefit.checks.tail_sums import binomial_tail
from surefit.checks.trees.nodes import LEAF, THRESHOLD, certified_nodes, read_rows, trained
from surefit.core.catalog import Entry, register
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data

register(
    Entry(
        "tree.occam_unclaimed",
        kind="no_claim",
        side="none",
        says="No risk bound follows from the declared thresholds: Occam's bound needs one target with classes, rows that count once "
        "each, and neither categorical columns nor missing values.",
    )
)


@claim(
    "tree.occam",
    kind="risk_bound",
    side="upper",
    high=1.0,
    theory="compression",
    assumptions=("iid", "code_fixed_a_priori", "thresholds_declared_beforehand"),
    says="With probability 1 - {delta:.4g} the error rate on new rows is at most {value:.4g}: the tree makes {errors} errors on {n} rows "
    "and can be written in {bits:.1f} bits.",
)
def occam(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Recount errors, splits and bits, and sum the binomial tail at the claimed limit."""
    problem, sample = certificate.problem, read_rows(certificate, data)
    edges, n = problem["thresholds"], len(sample.y)
    plain = (
        sample.y.ndim == 1
        and data.weights is None
        and problem["class_weights"] is None
        and not np.isnan(sample.X).any()
    )
    if edges is None or not sample.n_classes or problem["categorical"] or not plain:
        return refused(
            "the bound needs declared thresholds, one target with classes, rows that count once, and complete numeric columns"
        )
    shape = trained(certified_nodes(certificate), sample, sample.used)
    splits, leaves = np.flatnonzero(shape.tree.kind != LEAF), np.flatnonzero(shape.tree.kind == LEAF)
    for t in splits:
        if shape.tree.kind[t] != THRESHOLD or shape.tree.threshold[t] not in edges[shape.tree.feature[t]]:
            return refused(f"node {t} uses a threshold that was not declared")
    said = np.argmax(shape.tree.value, axis=1)
    errors = int(np.count_nonzero(said[shape.kept] != sample.y[shape.rows]))
    declared = max(1, max((len(line) for line in edges), default=0))
    bits = len(splits) + len(leaves) + len(leaves) * math.log2(max(sample.n_classes, 1))
    bits += len(splits) * (math.log2(max(sample.X.shape[1], 1)) + math.log2(declared))
    doubt = 16 * UNIT * bits
    delta, stated = float(problem["delta"]), claim.numbers.get("bits", math.inf)
    evidence = binomial_tail(errors, n, claim.value, math.log(delta) - stated * math.log(2))
    confirmed = evidence.exact or evidence.slack >= evidence.margin
    numbers = {"errors": errors, "n": n, "bits": AtMost(bits + doubt, doubt), "delta": delta}
    value = claim.value if evidence.ok and confirmed else 1.0
    return Proof(value, evidence.level, "the limit follows from the counts, if the assumptions hold.", numbers)
