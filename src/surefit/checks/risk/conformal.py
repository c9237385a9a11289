"""Checks of conformal claims: scores are recomputed, ranks counted, tails summed, and left-out fits repeated."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.base import clone

from surefit.checks.judge import Proof, claim, refused
from surefit.checks.risk.answers import class_trouble, labels_of
from surefit.checks.risk.marked import IN_MEMORY, answered, by_marks, mark_tags, mark_trouble, targets_at
from surefit.checks.risk.split import drawn_order, size_trouble, split_trouble, unit_codes, unit_tags
from surefit.checks.risk.words import assumptions_of, confidence_text, sentence
from surefit.checks.tail_sums import binomial_tail
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.partitioned import PartitionedRows
from surefit.core.rows import take_rows
from surefit.core.sample import Data

REFITS = 7  # number of leave-one-out fits that are repeated


def _whose(stated: Claim) -> str:
    return f" of class {stated.numbers['group']}" if stated.numbers.get("group") else ""


def _says_coverage(stated: Claim) -> str:
    return (
        f"the set misses the truth{_whose(stated)} with probability at most {stated.value:.4g}, on average over calibration rows and "
        f"the new row, {sentence(stated.numbers['assumes'])}"
    )


def _says_conditional(stated: Claim) -> str:
    z = stated.numbers
    return (
        f"given these calibration rows, the set misses the truth{_whose(stated)} with probability at most {stated.value:.4g}, with "
        f"confidence {confidence_text(z['delta'])}, {sentence(z['assumes'])}"
    )


def _says_folds(stated: Claim) -> str:
    empty = ", which is vacuous" if stated.value >= 1 else ""
    return (
        f"the set misses the truth with probability at most {stated.value:.4g}{empty}, on average over all rows and the new row, "
        f"{sentence(stated.numbers['assumes'])}; in practice about {stated.numbers['alpha']:.4g}, which is not proved"
    )


def _about(stated: Claim) -> str:
    return f"the prediction sets{_whose(stated)}"


COMMON: dict[str, Any] = {
    "side": "upper",
    "about": _about,
    "assumptions": assumptions_of,
    "theory": "conformal",
    "high": 1.0,
}
SPLIT = {**COMMON, "partitioned": True}


@claim(
    "conformal.unseen_class", kind="no_claim", side="none",
    says="no claim about class {group}: no calibration row has it; it is in every set",
)  # fmt: skip
def unseen_class(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that no calibration row has the class."""
    subject = certificate.subject
    if subject is None:
        return refused("this claim needs the calibration rows of the model; pass verify(X, y, model=...)")
    seen = [str(t) for t in labels_of(targets_at(data, subject.calibration_rows_)).tolist()]
    absent = [str(t) for t in labels_of(subject.classes_).tolist() if str(t) not in seen]
    group = stated.numbers["group"]
    return Proof(math.nan, "exact", "no calibration row has it.", {"group": group if group in absent else ""})


@claim("conformal.coverage", kind="uncertainty", says=_says_coverage, **SPLIT)
def coverage(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check the miscoverage from the rank of the threshold among the calibration scores."""
    found = _calibrated(certificate, stated, data)
    if isinstance(found, str):
        return refused(found)
    rank, m, tags = found
    numbers = {
        "assumes": ["exchangeable", *(t for t in tags if t != "iid"), "calibration_untouched"],
        "group": stated.numbers["group"],
    }
    return Proof(
        1.0 - min(1.0, rank / (m + 1)), "exact", f"{min(rank, m)} of {m} calibration scores are within.", numbers
    )


@claim("conformal.conditional", kind="risk_bound", says=_says_conditional, **SPLIT)
def conditional(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check the miscoverage given the calibration rows by a binomial tail."""
    found = _calibrated(certificate, stated, data)
    if isinstance(found, str):
        return refused(found)
    rank, m, tags = found
    groups = len(certificate.subject.classes_) if stated.numbers["group"] else 1
    delta = (1.0 - certificate.params["confidence"]) / groups
    evidence = binomial_tail(m - rank, m, stated.value, Fraction(delta)) if rank <= m else None
    if evidence is not None and not evidence.ok:
        return refused("the limit does not follow from the rank at this confidence")
    numbers = {"assumes": [*tags, "calibration_untouched"], "group": stated.numbers["group"], "delta": delta}
    note = f"{min(rank, m)} of {m} calibration scores are within the threshold."
    return Proof(stated.value, "exact" if evidence is None else evidence.level, note, numbers)


@claim("conformal.folds", kind="uncertainty", says=_says_folds, **COMMON)
def folds(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that left-out residuals or scores are those of models without the row; compute the miscoverage."""
    subject = certificate.subject
    if subject is None:
        return refused("this claim needs predictions of the model; pass verify(X, y, model=...)")
    codes = unit_codes(subject, _declared(certificate), data)
    rows, fold = subject.calibration_rows_, subject.folds_
    trouble = class_trouble(subject, data) or split_trouble(codes, rows, None)
    sizes = np.unique(fold[rows], return_counts=True)[1] if not trouble else np.zeros(0)
    n, K = len(rows), len(sizes)
    if trouble or len(set(sizes.tolist())) != 1 or len(np.unique(codes[rows])) != n:
        return refused(trouble or "the folds are not of the same size, or a row is counted twice")
    trouble = _left_out_trouble(subject, data, rows, fold)
    if trouble:
        return refused(trouble)
    alpha = 1.0 - certificate.params["coverage"]
    extra = max(0.0, min(2 * (1 - 1 / K) / (n / K + 1), (1 - K / n) / (K + 1)))
    tags = (*unit_tags(subject, codes), *_declared(certificate))
    numbers = {"assumes": ["exchangeable", *(t for t in tags if t != "iid")], "n": n, "folds": K, "alpha": alpha}
    value = min(1.0, 2 * alpha + extra)
    note = "residuals are those of models without the row."
    return Proof(value, "recomputed", note, numbers, spread=1e-15 if value < 1 else 0.0)


def _calibrated(certificate: Certificate, stated: Claim, data: Data) -> tuple[int, int, tuple[str, ...]] | str:
    """Return the rank of the threshold among the calibration scores, their number, and the assumptions."""
    subject = certificate.subject
    if subject is None:
        return "this claim needs predictions of the model; pass verify(X, y, model=...)"
    tags = _calibration_tags(certificate, subject, data)
    if isinstance(tags, str):
        return tags
    group = stated.numbers["group"]
    by_class = bool(certificate.params.get("by_class", False))
    if by_class != (group in [str(t) for t in labels_of(getattr(subject, "classes_", np.zeros(0))).tolist()]) or (
        not by_class and group
    ):
        return f"{group!r} is not a class with its own threshold"
    scores, threshold = _scores(subject, data, subject.calibration_rows_, group)
    rank = len(scores) + 1 if threshold == math.inf else int(np.sum(scores <= threshold))
    return rank, len(scores), (*tags, *_declared(certificate))


def _calibration_tags(certificate: Certificate, subject: Any, data: Data) -> tuple[str, ...] | str:
    """Return the assumptions about the rows, or why the calibration rows are not the untouched rows that were drawn."""
    rows, declared = subject.calibration_rows_, _declared(certificate)
    trouble = class_trouble(subject, data)
    if by_marks(subject):
        return trouble or mark_trouble(subject, certificate.params, declared, data, rows) or mark_tags(declared)
    if isinstance(data.X, PartitionedRows):
        return IN_MEMORY
    codes = unit_codes(subject, declared, data)
    trouble = trouble or split_trouble(codes, rows, subject.train_rows_)
    total = int(codes.max()) + 1
    order = drawn_order(certificate.params, total)
    if certificate.params["method"] == "split":
        trouble = trouble or size_trouble(certificate.params, len(rows), total)
    if not trouble and len(np.unique(codes[rows])) != len(rows):
        trouble = "a calibration row, or a copy of one, is counted twice"
    if not trouble and order is not None and not np.array_equal(np.sort(codes[rows]), np.sort(order[: len(rows)])):
        trouble = "the calibration rows are not those that random_state draws"
    return trouble or unit_tags(subject, codes)


def _scores(subject: Any, data: Data, rows: np.ndarray, group: str) -> tuple[np.ndarray, float]:
    """Return the scores of the calibration rows and the threshold of the prediction sets."""
    key = ("conformal scores", rows.tobytes())
    if key not in data.memo:
        sets = hasattr(subject, "thresholds_")
        data.memo[key] = answered(data, rows, _scores_at, subject.estimator_, sets)
    scores, y = data.memo[key]
    if not hasattr(subject, "thresholds_"):
        return scores, float(subject.quantile_)
    if not group:
        return scores, float(np.min(subject.thresholds_))
    labels = [str(t) for t in labels_of(subject.classes_).tolist()]
    mine = np.array([str(t) == group for t in labels_of(y).tolist()], dtype=bool)
    return scores[mine], float(subject.thresholds_[labels.index(group)])


def _scores_at(table: Any, y: np.ndarray, model: Any, sets: bool) -> tuple[np.ndarray, np.ndarray]:
    if sets:
        return own_scores(np.asarray(model.predict_proba(table)), y, model.classes_), y
    return np.abs(y.astype(np.float64) - np.asarray(model.predict(table), dtype=np.float64).ravel()), y


def own_scores(probabilities: np.ndarray, y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return one minus the probability of the true class; infinite for a class that the model does not know."""
    hit = labels_of(y)[:, None] == labels_of(classes)[None, :]
    return np.where(hit.any(axis=1), np.sum(np.where(hit, 1.0 - probabilities, 0.0), axis=1), math.inf)


def _left_out_trouble(subject: Any, data: Data, rows: np.ndarray, fold: np.ndarray) -> str:
    """Compare stored scores with those of the fold models, or of refits if a closed form was used."""
    chosen = np.unique(np.linspace(0, len(rows) - 1, REFITS).astype(int)) if not hasattr(subject, "models_") else None
    kept = subject.scores_ if hasattr(subject, "scores_") else subject.residuals_
    everything, y = np.arange(data.X.shape[0]), data.target
    if chosen is not None:
        for i in chosen.tolist():
            others = np.delete(everything, rows[i])
            model = clone(subject.estimator_).fit(take_rows(data.given, others), y[others].astype(np.float64))
            left = float(y[rows[i]]) - float(np.asarray(model.predict(take_rows(data.given, rows[[i]]))).ravel()[0])
            if abs(left - kept[i]) > 1e-6 * (abs(left) + float(np.std(y.astype(np.float64)))):
                return f"without row {rows[i]} its residual is {left:.6g}, {kept[i]:.6g} is stored"
        return ""
    for k in np.unique(fold[rows]).tolist():
        mine = fold[rows] == k
        model, X = subject.models_[k], take_rows(data.given, rows[mine])
        if hasattr(subject, "scores_"):
            found = own_scores(np.asarray(model.predict_proba(X)), y[rows[mine]], model.classes_)
        else:
            found = y[rows[mine]].astype(np.float64) - np.asarray(model.predict(X), dtype=np.float64).ravel()
        if not np.allclose(found, kept[mine], rtol=1e-4 if np.asarray(found).dtype == np.float32 else 1e-6, atol=1e-9):
            return "the models' predictions are not those that were calibrated"
    return ""


def _declared(certificate: Certificate) -> tuple[str, ...]:
    return tuple(certificate.params["assume"])
