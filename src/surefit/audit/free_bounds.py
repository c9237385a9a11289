"""Risk claims without hold-out rows: out-of-bag votes, support vectors, leave-one-out errors, or no claim."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from surefit.audit.stating import proved, stated
from surefit.bounds import stable_compression, vote_first_order
from surefit.checks.audits.free import hidden_copies, left_out, support_of_optimum, trivial_error
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data

Free = Callable[[Certificate, Data, float], list[Claim]]
LARGEST_FACTOR = 1 << 34  # number of operations up to which leave-one-out errors are computed


def nothing(why: str = "") -> Claim:
    """Return the claim that this fit does not bound the error on new data, with the reason."""
    return Claim("audit.risk", numbers={"why": why})


def without_copies(claims: list[Claim], rows: Data, assume: tuple[str, ...]) -> list[Claim]:
    """Replace risk bounds by no claim if some rows are equal, unless they are declared to be independent draws."""
    if not any(claim.kind == "risk_bound" for claim in claims):
        return claims
    if "equal_rows_are_draws" in assume:
        declared = [replace(claim, numbers={**claim.numbers, "draws": True}) for claim in claims]
    elif hidden_copies(rows):
        declared = [nothing("copies")] * len(claims)
    else:
        return claims
    return [other if claim.kind == "risk_bound" else claim for claim, other in zip(claims, declared, strict=True)]


def free_of_forest(draft: Certificate, rows: Data, delta: float) -> list[Claim]:
    """Return the out-of-bag error and the risk bound of the majority vote; there is no bound without bootstrap."""
    found = left_out(draft, rows)
    if not found.rows:
        return [nothing("no bootstrap")]
    claims = [stated(draft, rows, "forest.out_of_bag")]
    if draft.problem["classes"] is None or found.fewest == 0:
        return [*claims, nothing()]
    if rows.weights is not None or draft.problem["class_weights"] is not None:
        return [*claims, nothing("weights")]
    bound = vote_first_order(found.member_loss, found.fewest, delta)
    return [*claims, _risk("audit.forest.vote", bound, rows, empirical=found.member_loss, n=found.fewest)]


def free_of_machine(chosen_before: bool, classes: int) -> Free:
    """Return a function that states the compression bound for two classes and a kernel that was fixed in advance."""

    def state(draft: Certificate, rows: Data, delta: float) -> list[Claim]:
        if classes != 2:
            return [nothing("classes")]
        if not chosen_before or rows.weights is not None:
            return [nothing("chosen")]
        (size, moved), n = support_of_optimum(draft, rows), int(rows.X.shape[0])
        bound = stable_compression(size, n, delta)
        return [_risk("audit.svm_compression", bound, rows, size=size, n=n, own=bool(moved < 1))]

    return state


def free_of_squares(draft: Certificate, rows: Data, delta: float) -> list[Claim]:
    """Return the exact leave-one-out error of least squares or ridge regression."""
    n, d = rows.X.shape
    if rows.weights is not None or draft.problem["penalty"]["positive"]:
        return [nothing()]
    return _left_out(draft, rows, "leave_one_out", n * min(n, d) ** 2)


def free_of_kernel_ridge(draft: Certificate, rows: Data, delta: float) -> list[Claim]:
    """Return the exact leave-one-out error of kernel ridge regression."""
    return _left_out(draft, rows, "kernel_ridge.leave_one_out", rows.X.shape[0] ** 3)


def free_of_process(draft: Certificate, rows: Data, delta: float) -> list[Claim]:
    """Return the exact leave-one-out error of the posterior mean for the model's kernel."""
    return _left_out(draft, rows, "gaussian_process.leave_one_out", rows.X.shape[0] ** 3)


def _left_out(draft: Certificate, rows: Data, name: str, operations: int) -> list[Claim]:
    if operations > LARGEST_FACTOR:
        return [nothing()]
    return [stated(draft, rows, name), nothing()] if proved(draft, rows, name) else [nothing("leverage")]


def _risk(name: str, bound: Any, rows: Data, **counts: Any) -> Claim:
    numbers = {**counts, "delta": float(bound.delta), "draws": False, "trivial": trivial_error(rows)}
    return Claim(name, min(float(bound.value), 1.0), numbers=numbers)
