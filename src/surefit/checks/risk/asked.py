"""Predictions of the verified model: the tested rows, the split, and the losses."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.checks.risk.answers import class_trouble, row_losses
from surefit.checks.risk.marked import IN_MEMORY, answered, by_marks, mark_tags, mark_trouble
from surefit.checks.risk.split import drawn_order, size_trouble, split_trouble, unit_codes, unit_means, unit_tags
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.partitioned import PartitionedRows
from surefit.core.rows import take_rows
from surefit.core.sample import Data


class Tested(NamedTuple):
    """Models with the rows that each was tested on, the units, the assumptions and the losses of a claim."""

    parts: list[tuple[Any, np.ndarray]]
    codes: np.ndarray
    tags: tuple[str, ...]
    loss: dict[str, Any]
    losses: np.ndarray  # one per unit, in the order of testing
    rows: np.ndarray


def targets_of(found: Tested) -> np.ndarray:
    """Return the targets of the tested rows."""
    return found.loss["targets"]


def ask(certificate: Certificate, stated: Claim, data: Data) -> Tested | str:
    """Return the tested models with their losses, or a text that states why they are not available."""
    subject = certificate.subject
    if subject is None:
        return "this claim needs predictions of the model; pass verify(X, y, model=...)"
    loss = declared_loss(certificate, stated)
    if isinstance(loss, str):
        return loss
    assume = assumed(certificate, stated)
    if by_marks(subject) and certificate.estimator == "Certified":
        return _ask_marked(certificate, stated, loss, assume, data)
    if isinstance(data.X, PartitionedRows):
        return IN_MEMORY
    codes = unit_codes(subject, assume, data)
    if certificate.estimator != "Certified":
        parts, train = [(subject, np.arange(data.X.shape[0]))], None
        subject_tags = ("groups_iid",) if "groups_iid" in stated.numbers["assumes"] else unit_tags(subject, codes)
        codes = stated.witness["units"] if "units" in stated.witness else codes
    else:
        parts, train = _parts(certificate, stated, subject), subject.train_rows_
        subject_tags = unit_tags(subject, codes)
    rows = np.concatenate([part for _, part in parts])
    progressive = stated.name == "risk.progressive"
    trouble = class_trouble(subject, data) or split_trouble(codes, rows, None if progressive else train)
    trouble = trouble or _drawing_trouble(certificate, stated, codes, rows)
    if trouble:
        return trouble
    key = ("losses", stated.name, *sorted(loss.items()))  # a certificate may state one bound for several losses
    if key not in data.memo:
        function = certificate.subject.loss if loss["loss"] == "custom" else None
        each = [
            row_losses(model, take_rows(data.given, part), data.target[part], loss, function) for model, part in parts
        ]
        data.memo[key] = np.concatenate(each)
    losses = unit_means(data.memo[key], codes[rows])
    loss["targets"] = data.target[rows]
    return Tested(parts, codes, (*subject_tags, *assume), loss, losses, rows)


def _ask_marked(
    certificate: Certificate, stated: Claim, loss: dict[str, Any], assume: tuple[str, ...], data: Data
) -> Tested | str:
    """Evaluate a model on rows that were held out by their marks; these rows may be in partitions."""
    subject, rows = certificate.subject, certificate.subject.test_rows_
    trouble = class_trouble(subject, data) or mark_trouble(subject, certificate.params, assume, data, rows)
    if trouble:
        return trouble
    model = _parts(certificate, stated, subject)[0][0]
    function = subject.loss if loss["loss"] == "custom" else None
    losses, loss["targets"] = answered(data, rows, _losses_at, model, dict(loss), function)
    return Tested([(model, rows)], np.arange(len(rows)), (*mark_tags(assume), *assume), loss, losses, rows)


def _losses_at(table: Any, y: np.ndarray, model: Any, loss: dict[str, Any], function: Any) -> tuple[Any, np.ndarray]:
    return row_losses(model, table, y, loss, function), y


def _parts(certificate: Certificate, stated: Claim, subject: Any) -> list[tuple[Any, np.ndarray]]:
    if stated.name == "risk.progressive":
        ends = np.cumsum(subject.block_sizes_)
        blocks = np.split(subject.test_rows_, ends[:-1])
        return list(zip(subject.models_, blocks, strict=True))
    tested = subject.twin_ if stated.name in ("risk.holdout", "risk.quantile", "risk.transfer") else subject.estimator_
    if stated.name in ("risk.holdout", "risk.quantile") and not subject.refit:
        tested = subject.estimator_
    return [(tested, subject.test_rows_)]


def _drawing_trouble(certificate: Certificate, stated: Claim, codes: np.ndarray, rows: np.ndarray) -> str:
    """Redraw the split from the seed of the estimator; return why it differs, or an empty string."""
    if certificate.estimator != "Certified":
        return ""
    subject, total = certificate.subject, int(codes.max()) + 1
    order = drawn_order(certificate.params, total)
    order = subject.order_ if order is None else order
    half, units = total // 2, np.unique(codes[rows])
    if not np.array_equal(np.sort(order), np.arange(total)):
        return "the stored order of the units is not a permutation"
    if certificate.params["by"] in ("holdout", "transfer"):
        trouble = size_trouble(certificate.params, len(units), total)
        if trouble:
            return trouble
        same = np.array_equal(units, np.sort(order[: len(units)])) and len(
            np.unique(codes[subject.train_rows_])
        ) == total - len(units)
    elif certificate.params["by"] == "p2l":
        train = np.unique(codes[subject.train_rows_])
        same = bool(np.all(np.isin(units, order[half:]))) and np.array_equal(np.union1d(train, units), np.arange(total))
        same = same and bool(np.all(np.isin(order[:half], train)))
    else:
        firsts = np.sort(np.unique(codes[rows], return_index=True)[1])
        blocks = [len(part) for part in np.array_split(order[half:], len(subject.block_sizes_))]
        own = [len(np.unique(codes[part])) for part in np.split(rows, np.cumsum(subject.block_sizes_)[:-1])]
        same = np.array_equal(codes[rows][firsts], order[half:]) and blocks == own
    return "" if same else "the split is not the one that was drawn"


def pilot_losses(certificate: Certificate, found: Tested, data: Data) -> np.ndarray:
    """Return the losses of the pilot model, trained on the first part of the first half, on the rest of that half."""
    subject, total = certificate.subject, int(found.codes.max()) + 1
    order, half = subject.order_, total // 2
    cut = half - max(1, half // 4)
    chosen = np.isin(found.codes, order[cut:half])
    rows = np.flatnonzero(chosen)
    losses = row_losses(subject.pilot_, take_rows(data.given, rows), data.target[rows], found.loss)
    return unit_means(losses, found.codes[rows])


def declared_loss(certificate: Certificate, stated: Claim) -> dict[str, Any] | str:
    """Return the loss with the declared range, from the parameters of ``Certified`` or else as stated in the claim."""
    z, params = stated.numbers, certificate.params
    if certificate.estimator != "Certified":
        return {name: z.get(name, 0.0) for name in ("loss", "low", "high", "tolerance")}
    asked = params["loss"]
    named = asked if asked in ("zero_one", "brier", "squared", "absolute", "quantile", "miss") else None
    if (named is not None and named != z["loss"]) or (asked is not None and named is None and z["loss"] != "custom"):
        return f"the loss is {asked!r}, {z['loss']!r} was stated"
    low, high = (0.0, 1.0) if params["y_range"] is None else params["y_range"]
    return {"loss": z["loss"], "low": float(low), "high": float(high), "tolerance": float(params["tolerance"] or 0.0)}


def predictor(certificate: Certificate, stated: Claim) -> str:
    """Return the attribute of the estimator that contains the tested model; empty for a model that was given."""
    if certificate.estimator != "Certified":
        return ""
    if stated.name == "risk.progressive":
        return "models_"
    return "twin_" if stated.name == "risk.transfer" or certificate.params["refit"] else "estimator_"


def delta_of(certificate: Certificate, stated: Claim) -> float:
    """Return the failure probability that the parameters allow."""
    return (
        1.0 - certificate.params["confidence"]
        if certificate.estimator == "Certified"
        else float(stated.numbers["delta"])
    )


def spent_by(certificate: Certificate, stated: Claim) -> float:
    """Return the share of delta that the bound may use."""
    delta = delta_of(certificate, stated)
    return delta if certificate.estimator == "Certified" else min(delta, float(stated.numbers["delta_spent"]))


def assumed(certificate: Certificate, stated: Claim) -> tuple[str, ...]:
    """Return the assumptions that the caller declared."""
    declarable = ("equal_rows_are_draws", "fixed_scaling", "independent_times")
    listed = certificate.params["assume"] if certificate.estimator == "Certified" else stated.numbers["assumes"]
    return tuple(tag for tag in listed if tag in declarable)
