"""What can be said about new rows without any: votes out of bag, few support vectors, rows left out one at a time; or that nothing can."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from surefit.audit.stating import claim as own_claim
from surefit.audit.stating import proved
from surefit.bounds import stable_compression, vote_first_order
from surefit.bounds.base import confidence_text
from surefit.checks.audited_free import (
    hidden_copies,
    leave_one_out,
    left_out,
    process_leave_one_out,
    support_of_optimum,
)
from surefit.checks.base import Data
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.risk.claims import WORDS
from surefit.risk.losses import comparable

Free = Callable[[Certificate, Data, float], list[Claim]]
LARGEST_FACTOR = 1 << 34  # operations up to which rows are left out one at a time
ESTIMATE = "an estimate of the error on new rows, no bound"


def nothing(reason: str = "") -> Claim:
    """Return the sentence that no bound on new rows comes with the fit."""
    words = "No bound on new data comes with this fit; pass rows that took no part in it as X_holdout and y_holdout."
    return Claim("audit.risk", "no_claim", f"{reason} {words}".strip())


def without_copies(claims: list[Claim], rows: Data, assume: tuple[str, ...]) -> list[Claim]:
    """Withdraw bounds where rows are equal, unless they were declared to be separate draws; then say so."""
    declared = "equal_rows_are_draws" in assume
    if not any(claim.kind == "risk_bound" for claim in claims) or (not declared and not hidden_copies((), rows)):
        return claims
    if declared:
        return [_declared(claim) if claim.kind == "risk_bound" else claim for claim in claims]
    why = "Equal rows may be copies of one observation (assume=('equal_rows_are_draws',) declares that they are not)."
    return [nothing(why) if claim.kind == "risk_bound" else claim for claim in claims]


def _declared(claim: Claim) -> Claim:
    words = f"{claim.statement}; {WORDS['equal_rows_are_draws']}"
    return replace(claim, statement=words, assumptions=(*claim.assumptions, "equal_rows_are_draws"))


def free_of_forest(draft: Certificate, rows: Data, delta: float) -> list[Claim]:
    """Out-of-bag error, and the bound of the vote; forests without bootstrap leave nothing out."""
    found = left_out(draft, rows)
    if not found.rows:
        return [nothing("Every tree was grown on all rows.")]
    classifier = draft.problem["classes"] is not None
    name = "error" if classifier else "mean squared error"
    words = f"The out-of-bag {name} is {found.error:.4g}, on {found.rows} rows: {ESTIMATE}."
    claims = [Claim("audit.forest.out_of_bag", "process_fact", words, value=found.error)]
    if not classifier or found.fewest == 0:
        return [*claims, nothing()]
    if rows.weights is not None or draft.problem["class_weights"] is not None:
        return [*claims, nothing("Rows were drawn by weights, which may come from their labels.")]
    bound = vote_first_order(found.member_loss, found.fewest, delta)
    words = (
        f"probability of error of the forest <= {bound.value:.4g} with confidence {confidence_text(delta)}{_empty(bound.value, rows)}, "
        "if the rows are independent draws from one law and the seed was not chosen by looking at them"
    )
    return [*claims, _risk("audit.forest.vote", words, bound, "this fitted model", ("iid", "seed_fixed"))]


def free_of_machine(chosen_before: bool, classes: int) -> Free:
    """Return the compression bound of two classes where the kernel did not come from the rows."""

    def state(draft: Certificate, rows: Data, delta: float) -> list[Claim]:
        if classes != 2:
            return [nothing("The bound by support vectors is for two classes.")]
        if not chosen_before or rows.weights is not None:
            return [
                nothing("Kernel, price or weights came from the rows: the number of support vectors bounds nothing.")
            ]
        (size, moved), n = support_of_optimum(draft, rows), rows.X.shape[0]
        bound, own = stable_compression(size, n, delta), moved < 1
        about = "this fitted model" if own else "the exact optimum of this problem"
        words = (
            f"probability of error of {about} <= {bound.value:.4g} with confidence {confidence_text(delta)}{_empty(bound.value, rows)}: "
            f"at most {size} of {n} rows are support vectors of the exact optimum; if the rows are independent draws from "
            "one law, and kernel and C were fixed before they were seen"
        )
        numbers = {"of_this_model": own, "moved": moved if math.isfinite(moved) else None}
        tags = ("iid", "kernel_fixed", "ties_broken_by_fixed_rule")
        return [_risk("audit.svm_compression", words, bound, about, tags, numbers)]

    return state


def free_of_squares(draft: Certificate, rows: Data, delta: float) -> list[Claim]:
    """Exact leave-one-out error of least squares with at most a ridge penalty."""
    n, d = rows.X.shape
    if rows.weights is not None or draft.problem["positive"] or n * min(n, d) ** 2 > LARGEST_FACTOR:
        return [nothing()]
    found = leave_one_out(draft, rows)
    if not math.isfinite(found):
        return [nothing("Some row alone decides its own prediction, so that leaving it out says nothing.")]
    words = f"The mean squared error of rows left out one at a time is {found:.6g}: {ESTIMATE}."
    return [Claim("audit.leave_one_out", "process_fact", words, value=found, about="refits without one row"), nothing()]


def free_of_kernel_ridge(draft: Certificate, rows: Data, delta: float) -> list[Claim]:
    """Exact leave-one-out error of kernel ridge regression."""
    if rows.X.shape[0] ** 3 > LARGEST_FACTOR:
        return [nothing()]
    found = proved(draft, rows, "kernel_ridge.leave_one_out").proved
    words = f"The mean squared error of rows left out one at a time is {found:.6g}: {ESTIMATE}."
    return [own_claim("kernel_ridge.leave_one_out", "process_fact", words, found), nothing()]


def free_of_process(draft: Certificate, rows: Data, delta: float) -> list[Claim]:
    """Exact leave-one-out error of the posterior mean, at the kernel that the model has."""
    if rows.X.shape[0] ** 3 > LARGEST_FACTOR:
        return [nothing()]
    found = process_leave_one_out(draft, rows)
    words = f"The mean squared error of rows left out one at a time, kernel kept, is {found:.6g}: {ESTIMATE}."
    name, about = "audit.gaussian_process.leave_one_out", "posterior means without one row"
    return [Claim(name, "process_fact", words, value=found, about=about), nothing()]


def _empty(value: float, rows: Data) -> str:
    """Say so where always naming the most frequent class does as well."""
    shares = np.unique(comparable(rows.target), return_counts=True)[1] / len(rows.target)
    return ", which is vacuous (a constant answer does as well)" if value >= 1.0 - shares.max() else ""


def _risk(name: str, words: str, bound, about: str, tags: tuple[str, ...], numbers: dict | None = None) -> Claim:
    z = {**bound.terms, **bound.inputs, **(numbers or {}), "delta": bound.delta}
    return Claim(
        name,
        "risk_bound",
        words,
        value=bound.value,
        about=about,
        assumptions=tags,
        confidence=1.0 - bound.delta,
        numbers=z,
    )
