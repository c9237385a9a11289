r"""Checks of risk statements from training rows alone: out-of-bag votes, leave-one-out errors, support vectors.

If a vote by mean class probabilities errs, it gives the true class at most one half. The risk of the vote is thus at
most twice the mean of :math:`1 - p_y` over the trees, each tested on the rows that were not drawn for it. For two
classes and a kernel that was fixed in advance, the support vectors of the exact optimum are a stable compression. Every
row that is not proved to lie beyond the margin counts as a support vector (theory: ``audit-risk``).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit import kernels
from surefit.checks.audits.machines import excess_of, intercepts_of, radii_of, solved
from surefit.checks.audits.reading import inner
from surefit.checks.bounds import CONFIRM
from surefit.checks.enclosure import UNIT, gamma
from surefit.checks.ensembles.packed import leaves_of, packed_trees
from surefit.checks.judge import AtMost, Digits, Proof, claim, refused, shared
from surefit.checks.kernels.values import kernel_of
from surefit.core.assumptions import ASSUMPTIONS, confidence_text
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.rows import row_keys
from surefit.core.sample import Data
from surefit.problems.labels import class_codes

BOUNDED = (kernels.RBF, kernels.Laplacian)  # k(x, x) = 1 for every new row
#: Reasons why a fit does not bound the error on new data.
REASONS = {
    "": "",
    "steps": "Steps before the model were fitted to the same rows.",
    "copies": "Equal rows may be copies of one observation (assume=('equal_rows_are_draws',) declares that they are not).",
    "no bootstrap": "Every tree was grown on all rows.",
    "weights": "Rows were drawn by weights, which may come from their labels.",
    "classes": "The bound by support vectors holds for two classes only.",
    "chosen": "The kernel, C or the weights depend on the rows, so the number of support vectors gives no bound.",
    "leverage": "Some row determines its own prediction, so leave-one-out errors are not informative.",
}


class LeftOut(NamedTuple):
    """Results of the trees on the rows that were not drawn for them."""

    error: float  # of the mean of those trees: misclassification rate or mean squared error
    rows: int  # number of rows left out by at least one tree
    member_loss: float  # mean over trees of the mean of 1 - p_y; nan for regression
    fewest: int  # smallest number of rows that a tree left out


def _nothing(claim: Claim) -> str:
    words = "This fit does not bound the error on new data; pass rows that were not used in the fit as X_holdout and y_holdout."
    return f"{REASONS[claim.numbers['why']]} {words}".strip()


@claim("audit.risk", kind="no_claim", side="none", says=_nothing)
def nothing(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that the stated reason is a known one."""
    why = stated.numbers.get("why")
    return (
        Proof(math.nan, "stated", "no_claim: nothing to prove.", {"why": why})
        if why in REASONS
        else refused("no reason")
    )


@claim("audit.forest.out_of_bag", kind="estimate", side="digits", theory="audit-risk",
       says=lambda c: f"The out-of-bag {'error' if c.numbers['classes'] else 'mean squared error'} is {c.value:.4g}, on "
                      f"{c.numbers['rows']} rows: an estimate of the error on new rows, not a bound.")  # fmt: skip
def out_of_bag(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that the error of the trees on rows that were not drawn for them is ``value``."""
    found, classes = left_out(certificate, data), inner(certificate, data)[0].problem["classes"] is not None
    note = f"{found.rows} rows were left out by some tree."
    return Proof(
        found.error, "recomputed", note, {"rows": found.rows, "classes": classes}, spread=8 * UNIT * found.error
    )


def _assumed(*tags: str) -> Any:
    return lambda claim: (*tags, "equal_rows_are_draws") if claim.numbers["draws"] else tags


def _limit(claim: Claim) -> str:
    z = claim.numbers
    empty = ", which is vacuous (a constant prediction is as good)" if claim.value >= z["trivial"] else ""
    return f"<= {claim.value:.4g} with confidence {confidence_text(z['delta'])}{empty}"


def _draws(claim: Claim) -> str:
    return f"; {ASSUMPTIONS['equal_rows_are_draws']}" if claim.numbers["draws"] else ""


def _vote(claim: Claim) -> str:
    words = "if the rows are independent draws from one distribution and the seed was not chosen by looking at them"
    return f"probability of error of the forest {_limit(claim)}, {words}{_draws(claim)}"


def _few(claim: Claim) -> str:
    z = claim.numbers
    return (
        f"probability of error of {_whose(claim)} {_limit(claim)}: at most {z['size']} of {z['n']} rows are support vectors of the exact "
        "optimum; if the rows are independent draws from one distribution, and kernel and C were fixed before they were seen"
        + _draws(claim)
    )


def _whose(claim: Claim) -> str:
    return "this fitted model" if claim.numbers["own"] else "the exact optimum of this problem"


@claim("audit.forest.vote", kind="risk_bound", side="upper", theory="audit-risk", high=1.0, says=_vote,
       assumptions=_assumed("iid", "seed_fixed"))  # fmt: skip
def vote(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that, with the stated confidence, the forest errs on new rows with probability at most ``value``."""
    found, problem = left_out(certificate, data), inner(certificate, data)[0].problem
    if data.weights is not None or problem["class_weights"] is not None:
        return refused(REASONS["weights"])
    if problem["classes"] is None or not found.fewest:
        return refused("the bound needs classes, and rows that every tree left out")
    z = {"empirical": found.member_loss, "n": found.fewest, "divergence": 0.0}
    numbers = {"empirical": Digits(found.member_loss, gamma(data.X.shape[0] + 8)), "n": found.fewest}
    note = f"mean loss {found.member_loss:.4g} on at least {found.fewest} rows per tree; the limit follows, if the assumptions hold."
    return _follows("vote_first_order", stated, data, z, numbers, note)


@claim("audit.svm_compression", kind="risk_bound", side="upper", theory="audit-risk", high=1.0, says=_few, about=_whose,
       assumptions=_assumed("iid", "kernel_fixed", "ties_broken_by_fixed_rule"))  # fmt: skip
def compression(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check the number of possible support vectors of the exact optimum, and the bound that follows from it."""
    if data.weights is not None:
        return refused(REASONS["chosen"])
    (size, moved), n = support_of_optimum(certificate, data), int(data.X.shape[0])
    own = bool(stated.numbers.get("own")) and moved < 1
    z = {"size": stated.numbers.get("size"), "n": n}
    note = f"at most {size} rows are support vectors of the exact optimum; the limit follows, if the assumptions hold."
    return _follows("stable_compression", stated, data, z, {"size": AtMost(size), "n": n, "own": own}, note)


def _follows(
    theorem: str, stated: Claim, data: Data, counts: dict[str, Any], numbers: dict[str, Any], note: str
) -> Proof:
    """Confirm a bound from counts at its stated confidence."""
    delta, draws = stated.numbers.get("delta"), bool(stated.numbers.get("draws"))
    if not isinstance(delta, float) or not 0 < delta < 1:
        return refused("delta must be a number between 0 and 1")
    if not draws and hidden_copies(data):
        return refused(REASONS["copies"])
    evidence = CONFIRM[theorem](stated.value, {**counts, "delta": delta}, {})
    proved = evidence.ok and (evidence.exact or evidence.slack >= evidence.margin)
    numbers = {**numbers, "delta": delta, "draws": draws, "trivial": trivial_error(data)}
    return Proof(stated.value if proved else 1.0, evidence.level, note, numbers)


def trivial_error(data: Data) -> float:
    """Return the fraction of rows that do not belong to the most frequent class."""
    counts = np.unique(data.target if data.target.dtype.kind != "O" else data.target.astype(str), return_counts=True)[1]
    return float(counts.sum() - counts.max()) / float(counts.sum())


@shared
def left_out(certificate: Certificate, data: Data) -> LeftOut:
    """Evaluate every tree on the rows that were not drawn for it."""
    return _left_out(*inner(certificate, data))


def _left_out(read_as: Certificate, rows: Data) -> LeftOut:
    model, classes = read_as.model, read_as.problem["classes"]
    X = np.asarray(rows.X.toarray() if hasattr(rows.X, "toarray") else rows.X)
    y = np.asarray(rows.target, dtype=np.float64) if classes is None else class_codes(rows.target, classes)
    sums, heard = np.zeros((len(X), model["tree_value_"].shape[1])), np.zeros(len(X), dtype=np.int64)
    losses, fewest = [], len(X)
    for drawn, tree in zip(model["drawn_"], packed_trees(model, X.shape[1]), strict=True):
        out = np.ones(len(X), dtype=bool)
        out[drawn] = False
        fewest = min(fewest, int(out.sum()))
        answers = tree.value[leaves_of(X, np.flatnonzero(out), tree)]
        sums[out] += answers
        heard += out
        if classes is not None and out.any():
            losses.append(float(np.mean(1.0 - answers[np.arange(len(answers)), y[out]])))
    known = heard > 0
    means = sums[known] / heard[known, None]
    wrong = (means[:, 0] - y[known]) ** 2 if classes is None else means.argmax(axis=1) != y[known]
    error = float(np.mean(wrong)) if known.any() else math.nan
    return LeftOut(error, int(known.sum()), float(np.mean(losses)) if losses else math.nan, fewest)


def support_of_optimum(certificate: Certificate, data: Data) -> tuple[int, float]:
    """Bound the number of support vectors of the exact optimum, and the distance of its scores from the model's."""
    own, best = solved(certificate, data, False), solved(certificate, data, True)
    m, radius = best.machines[0], radii_of(certificate, data)[0]
    f = best.scores.mid[m.rows, 0]
    low, high = intercepts_of(m, f, radius[m.rows])
    margins = np.where(m.y > 0, f - radius[m.rows] + low, -(f + radius[m.rows] + high))
    size = 1 + 8 * UNIT * (np.abs(f) + abs(low) + abs(high))  # rounding of the two sums
    away = math.sqrt(2 * max(excess_of(certificate, data).most, 0.0)) * (1 + 8 * UNIT)  # strong convexity of |f|^2 / 2
    b = own.machines[0].b
    moved = (away + max(abs(b - low), abs(high - b))) * (1 + 8 * UNIT)
    bounded = isinstance(kernel_of(inner(certificate, data)[0]), BOUNDED)
    return int(np.sum(~(margins > size))), moved if bounded else math.inf


def hidden_copies(data: Data) -> bool:
    """Return whether some rows are equal, so that a left-out row may have a copy among the training rows."""
    keys = row_keys(data.X, data.y)
    return len(set(keys)) < len(keys)
