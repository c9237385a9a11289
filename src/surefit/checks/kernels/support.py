"""Checks what the support and the slacks of a classifier say: a budget of slack, left-out rows, and new ones."""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.bounds import CONFIRM
from surefit.checks.enclosure import UNIT, Bound, upper_sum
from surefit.checks.judge import AtMost, Proof, claim, refused
from surefit.checks.kernels.machines import bound, examine, machines_of
from surefit.checks.kernels.values import about_kernel
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data

DELTA = 0.05  # failure probability of the bound that comes with every fit


@bound(
    "svc.budget",
    says="Slacks add up to at most {slack:.6g} (budget {budget:.6g}), and half the squared norm is within {value:.3g} of the smallest "
    "within the budget.",
)  # fmt: skip
def budget(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Half the squared norm is within value of the smallest one whose slacks keep the budget."""
    m, found = machines_of(certificate, data)[0], examine(certificate, data)[0]
    B, C, s = certificate.problem["budget"], certificate.problem["C"], m.c / certificate.problem["C"]
    slack = np.maximum(1 - m.y * (found.scores.mid + m.b), 0.0)
    total = math.fsum(s * slack)
    error = upper_sum(s * (found.scores.rad + 8 * UNIT * (1 + np.abs(found.scores.mid) + abs(m.b)))) + 8 * UNIT * total
    left = C * (max(B - total, 0.0) + error) * (1 + 8 * UNIT)
    square = found.objective - C * (total - error)  # at least half the squared norm
    limit = certificate.problem["tol"] * max(square, 0.0)
    value = Bound((found.gap + left) * (1 + 4 * UNIT), found.spread + 2 * C * error + 16 * UNIT * left)
    numbers = {"slack": AtMost(total + error, error), "budget": B}
    rounding = certificate.problem["tol"] * (found.objective_spread + 2 * C * error) + 8 * UNIT * limit
    note = f"slacks add up to {total:.6g}, the budget is {B:.6g}."
    return about_kernel(certificate, value, note, numbers=numbers, limit=limit, limit_spread=rounding)


@claim(
    "svc.loo", kind="estimate", side="exact", high=1.0, about="leave-one-out error of the exact optimum", theory="svm-gap",
    says="{support} of {rows} rows are support vectors; an exact optimum with these misclassifies at most a "
    "fraction {value:.4g} of left-out rows.",
)  # fmt: skip
def leave_one_out(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """The share of support rows."""
    support, n = int(np.size(certificate.model["support_"])), int(data.X.shape[0])
    return Proof(support / n, "exact", "support rows counted.", {"support": support, "rows": n})


@claim(
    "svc.compression", kind="risk_bound", side="upper", high=1.0, theory="compression",
    about="probability that a new row changes the support of the exact optimum",
    assumptions=("iid", "stable_compression", "ties_broken_by_fixed_rule"),
    says="With probability {confidence:g} a new row is a margin error with probability at most {value:.4g}: {support} of {rows} rows are "
    "support vectors.",
)  # fmt: skip
def compression(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """The support is a stable compression of the rows, if the kernel and C do not depend on them."""
    params, problem = certificate.params, certificate.problem
    given = isinstance(params["kernel"], dict) or params["kernel"] == "linear" or not isinstance(params["gamma"], str)
    if not given or len(problem["classes"]) != 2 or params["class_weight"] == "balanced":
        return refused("the bound needs two classes, and a kernel and class weights that do not come from the rows")
    support, n = int(np.size(certificate.model["support_"])), int(data.X.shape[0])
    evidence = CONFIRM["stable_compression"](claim.value, {"size": support, "n": n, "delta": DELTA}, {})
    follows = claim.value >= 1.0 or (evidence.ok and (evidence.exact or evidence.slack >= evidence.margin))
    numbers = {"support": support, "rows": n, "delta": DELTA, "confidence": 1.0 - DELTA}
    return Proof(
        claim.value if follows else 1.0, evidence.level, "the sum of binomials was evaluated at the limit.", numbers
    )
