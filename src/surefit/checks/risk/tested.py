r"""Checks of risk claims: the model predicts again, and the stated limit is confirmed from its losses.

The checker needs the model, which stores the tested rows and the training rows. The split is redrawn if the parameters
have a seed. The limit is confirmed by summing tails (``surefit.checks.bounds``), not by inverting them.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from fractions import Fraction
from typing import Any

import numpy as np

from surefit.checks.bounds import CONFIRM
from surefit.checks.judge import Digits, Proof, claim, refused
from surefit.checks.risk.answers import constant_loss
from surefit.checks.risk.asked import Tested, ask, delta_of, pilot_losses, predictor, spent_by, targets_of
from surefit.checks.risk.pilot import pilot_rate
from surefit.checks.risk.sentences import about, says, says_quantile, scale_of
from surefit.checks.risk.transfer import transfer_counts
from surefit.checks.risk.words import assumptions_of
from surefit.checks.tail_sums import Evidence, binomial_tail
from surefit.core.catalog import Entry, register
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data

BUDGETS = 6  # declared numbers of picked rows among which Pick-to-Learn chooses


RISK: dict[str, Any] = {
    "kind": "risk_bound",
    "side": "upper",
    "says": says,
    "about": about,
    "assumptions": assumptions_of,
}
register(
    Entry(
        "risk.void",
        "no_claim",
        "none",
        "no bound is stated: these rows violate an assumption of the bound (the warning of fit says which one and what to do)",
    )
)
register(
    Entry(
        "risk.refit",
        "no_claim",
        "none",
        "no claim about the model refitted on all rows: the bound usually holds for it in practice but is not "
        "proved; use by='transfer' for a proof",
    )
)


@claim("risk.holdout", theory="concentration", partitioned=True, **RISK)
def holdout(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Bound the risk by the losses on rows that the model did not see."""
    found = ask(certificate, stated, data)
    if isinstance(found, str):
        return refused(found)
    counted = stated.numbers.get("loss") in ("zero_one", "miss") and "groups_iid" not in found.tags
    numbers = _count(found) if counted else _mean(found)
    more = () if counted else ("loss_in[0,1]",)
    return _confirmed(
        certificate, stated, found, "holdout" if counted else "holdout_loss", numbers, ("rows_untouched", *more)
    )


@claim("risk.progressive", theory="progressive-validation", **RISK)
def progressive(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Bound the mean risk of models that were each tested on the block after their training rows."""
    found = ask(certificate, stated, data)
    if isinstance(found, str):
        return refused(found)
    n, delta = len(found.losses), delta_of(certificate, stated)
    counted = found.loss["loss"] == "zero_one" and "groups_iid" not in found.tags
    pilot = pilot_losses(certificate, found, data)
    numbers = {**(_count(found) if counted else _mean(found)), "rate": pilot_rate(pilot, n, delta, counted)}
    numbers |= {
        "blocks": len(found.parts),
        "factor": 1 if found.loss["loss"] in ("brier", "squared", "absolute") else 2,
    }
    name, more = ("progressive_errors", ()) if counted else ("progressive_losses", ("loss_in[0,1]",))
    if not counted:
        numbers["start"] = 0.5
    return _confirmed(certificate, stated, found, name, numbers, ("order_fixed_before_testing", *more))


@claim("risk.pick_to_learn", theory="compression", **RISK)
def pick_to_learn(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Bound the risk by the number of rows that were picked or are misclassified."""
    found = ask(certificate, stated, data)
    if isinstance(found, str):
        return refused(found)
    total = int(found.codes.max()) + 1
    n = total - total // 2
    picked = n - len(found.losses)
    left = int(found.losses.sum())
    if not np.all((found.losses == 0) | (found.losses == 1)):
        return refused("a loss is neither 0 nor 1")
    numbers = {"n": n, "size": picked + left, "budgets": BUDGETS, "picked": picked}
    tags = ("rows_untouched", "worst_row_picked_by_fixed_rule")
    return _confirmed(certificate, stated, found, "pick_to_learn", numbers, tags)


@claim("risk.transfer", theory="transfer", **RISK)
def transfer(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Bound the risk of the model trained on all rows by a tested model and their differences on unlabeled inputs."""
    found = ask(certificate, stated, data)
    if isinstance(found, str):
        return refused(found)
    fresh = transfer_counts(certificate.subject, found.loss)
    if isinstance(fresh, str):
        return refused(fresh)
    counted = found.loss["loss"] == "zero_one"
    numbers = {
        **(_count(found) if counted else _mean(found)),
        **fresh,
        "twin": stated.numbers["twin"],
        "change": stated.numbers["change"],
    }
    tags = ("rows_untouched", "unlabeled_same_distribution", *(() if counted else ("loss_in[0,1]",)))
    return _confirmed(certificate, stated, found, "transfer" if counted else "transfer_losses", numbers, tags)


@claim(
    "risk.quantile", kind="risk_bound", side="upper", says=says_quantile, about=about, assumptions=assumptions_of, infinite=True,
    theory="conformal", partitioned=True,
)  # fmt: skip
def quantile(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Bound a quantile of the absolute error by an order statistic, whose rank follows from a binomial tail."""
    found = ask(certificate, stated, data)
    if isinstance(found, str):
        return refused(found)
    share, m = spent_by(certificate, stated), len(found.losses)
    coverage = certificate.params["coverage"] if certificate.estimator == "Certified" else stated.numbers["coverage"]
    ordered = np.sort(found.losses)
    rank = smallest_rank(m, coverage, Fraction(share))
    value = math.inf if rank is None else float(ordered[rank - 1])
    numbers = _numbers(certificate, stated, found, {"n": m, "coverage": coverage}, ("rows_untouched",))
    note = f"{m if rank is None else m - rank} of {m} errors are above the limit."
    return Proof(value, "recomputed", note, numbers, spread=0.0 if rank is None else 1e-13 * value)


def smallest_rank(m: int, coverage: float, share: Fraction) -> int | None:
    """Return the smallest rank whose order statistic covers, or None; the tail decreases with the rank."""
    ranks = range(1, m + 1)
    at = bisect_left(ranks, True, key=lambda r: binomial_tail(m - r, m, 1.0 - coverage, share).ok)
    return ranks[at] if at < m else None


def _confirmed(
    certificate: Certificate, stated: Claim, found: Tested, bound: str, numbers: dict[str, Any], tags: tuple[str, ...]
) -> Proof:
    """Confirm the stated limit from the checker's own counts."""
    factor, scale = numbers.get("factor", 1), scale_of(found.loss)
    if found.losses.min() < 0 or found.losses.max() > 1 + 1e-12:
        return refused("a loss is outside its range")
    whole = _numbers(certificate, stated, found, numbers, tags)
    whole |= {"bound": bound, "trivial": Digits(constant_loss(targets_of(found), found.loss))}
    limit = min(1.0, stated.value / (factor * scale) * (1 - 2**-50))
    inputs = {**numbers, "delta": spent_by(certificate, stated)}
    plain = {name: part.value if isinstance(part, Digits) else part for name, part in inputs.items()}
    vacuous = stated.value >= scale
    evidence = Evidence(math.inf, exact=True) if vacuous else CONFIRM[bound](limit, plain, {"losses": found.losses})
    if not evidence.ok:
        return refused("the limit does not follow from the losses at this confidence")
    return Proof(stated.value, evidence.level, "the limit follows from the losses, if the assumptions hold.", whole)


def _numbers(
    certificate: Certificate, stated: Claim, found: Tested, own: dict[str, Any], tags: tuple[str, ...]
) -> dict[str, Any]:
    """Return all numbers of the claim: the checker's counts, and values declared by the parameters or the call."""
    loss, z = found.loss, stated.numbers
    delta = delta_of(certificate, stated)
    assumes = (*found.tags, *(tag for tag in tags if tag not in found.tags))
    whole = {**own, "assumes": list(assumes), "delta": delta, "loss": loss["loss"], "tested": len(found.rows)}
    whole |= {"low": loss["low"], "high": loss["high"], "predictor": predictor(certificate, stated)}
    if loss["loss"] == "miss":
        whole["tolerance"] = loss["tolerance"]
    if certificate.estimator != "Certified":
        whole["delta_spent"] = z["delta_spent"] if 0 < z["delta_spent"] <= z["delta"] else delta
    return whole


def _count(found: Tested) -> dict[str, Any]:
    return {"n": len(found.losses), "errors": int(np.rint(found.losses.sum()))}


def _mean(found: Tested) -> dict[str, Any]:
    return {"n": len(found.losses), "empirical": Digits(math.fsum(found.losses) / len(found.losses))}
