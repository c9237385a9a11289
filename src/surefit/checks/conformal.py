"""Recounts conformal claims: scores from predictions and targets, ranks from counts, tails by summation, left-out fits by refitting."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from scipy import sparse
from sklearn.base import clone

from surefit.checks.base import Data, Finding, checker
from surefit.checks.risk_answers import close, labels_of, rounding_of
from surefit.checks.risk_rows import take_rows
from surefit.checks.risk_split import drawn_order, unit_codes
from surefit.checks.tail_sums import binomial_tail
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

REFITS = 7  # leave-one-out fits done again from scratch


@checker("conformal.coverage", "conformal.conditional")
def check_split(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Calibration rows were not trained on, enough scores are below the threshold, and the coverage follows from the rank."""
    z = claim.numbers
    trouble = _split_trouble(certificate, claim, data) or _model_trouble(certificate, claim, data)
    scores = _scores(claim, data)
    m = len(scores)
    # A set that lets in the threshold covers what ranks at or below it: count, do not trust the rank.
    rank = m + 1 if z["threshold"] == math.inf else int(np.sum(scores <= z["threshold"] * (1 + 1e-12)))
    rank = min(rank, z["rank"])
    if trouble is None and (m != z["m"] or rank < z["rank"]):
        trouble = (
            f"only {rank} of {m} calibration scores are at or below the threshold, {z['rank']} of {z['m']} were claimed"
        )
    if claim.name == "conformal.coverage":
        proved, level = 1.0 - min(1.0, rank / (m + 1)), "recomputed"
    else:
        evidence = binomial_tail(m - rank, m, claim.value, Fraction(z["delta"])) if rank <= m else None
        fine = evidence is None or evidence.ok
        if trouble is None and (not fine or claim.confidence != 1.0 - z["delta"]):
            trouble = "the limit does not follow from the rank at this confidence"
        proved, level = claim.value if trouble is None else 1.0, "recomputed" if evidence is None else evidence.level
    ok = trouble is None and proved <= claim.value + 1e-15
    message = (
        f"{min(rank, m)} of {m} calibration scores are within the threshold."
        if ok
        else f"{trouble or 'the coverage is less'}."
    )
    return Finding(claim.name, claim.value, proved, ok, level, message)


@checker("conformal.folds")
def check_folds(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Left-out residuals or scores are those of models without the row; the miscoverage is that of the theorem."""
    z = claim.numbers
    n, K, alpha = z["n"], z["folds"], z["alpha"]
    trouble = None
    rows, codes = claim.witness["rows"], unit_codes(claim, data)
    sizes = np.unique(claim.witness["folds"][rows], return_counts=True)[1]
    if len(rows) != n or len(sizes) != K or len(set(sizes.tolist())) != 1:
        trouble = f"the folds are not {K} of the same size"
    elif len(np.unique(codes[rows])) != n:
        trouble = "a row, or a copy of one, is counted twice"
    elif z.get("penalty") is not None:
        trouble = _linear_trouble(claim, data)
    elif certificate.subject is not None and z.get("closed_form"):
        trouble = _refit_trouble(certificate, claim, data)
    elif certificate.subject is not None:
        trouble = _folds_trouble(certificate, claim, data)
    extra = max(0.0, min(2 * (1 - 1 / K) / (n / K + 1), (1 - K / n) / (K + 1)))
    proved = min(1.0, 2 * alpha + extra)
    ok = trouble is None and proved <= claim.value * (1 + 1e-12)
    message = "residuals are those of models without the row." if ok else f"{trouble or 'the theorem gives less'}."
    return Finding(claim.name, claim.value, proved, ok, "recomputed", message)


def _scores(claim: Claim, data: Data) -> np.ndarray:
    z, w = claim.numbers, claim.witness
    y = data.target[w["rows"]]
    if "classes" not in w:
        return np.abs(y.astype(np.float64) - w["predictions"])
    labels = labels_of(y)
    place = {name: k for k, name in enumerate(w["classes"].tolist())}
    scores = np.array(
        [1.0 - w["predictions"][i, place[t]] if t in place else math.inf for i, t in enumerate(labels.tolist())]
    )
    return scores if not z["group"] else scores[np.array([str(t) == z["group"] for t in labels.tolist()])]


def _split_trouble(certificate: Certificate, claim: Claim, data: Data) -> str | None:
    rows, train = claim.witness["rows"], claim.witness["train_rows"]
    codes = unit_codes(claim, data)
    if len(np.unique(codes[rows])) != len(rows):
        return "a calibration row, or a copy of one, is counted twice"
    if np.intersect1d(rows, train).size:
        return "a calibration row was trained on"
    if np.intersect1d(codes[rows], codes[train]).size:
        return "a calibration row is a copy of a training row"
    order = drawn_order(certificate, int(codes.max()) + 1)
    if order is not None and not np.array_equal(np.sort(codes[rows]), np.sort(order[: len(rows)])):
        return "the calibration rows are not those that random_state draws"
    return None


def _model_trouble(certificate: Certificate, claim: Claim, data: Data) -> str | None:
    if certificate.subject is None:
        return None
    model, w = certificate.subject.estimator_, claim.witness
    X = take_rows(data.given, w["rows"])
    raw, kept = np.asarray(model.predict_proba(X) if "classes" in w else model.predict(X)), w["predictions"]
    same = close(raw.astype(np.float64).reshape(kept.shape), kept, rounding_of(raw))
    return None if same else "the model's predictions are no longer those that were calibrated"


def _linear_trouble(claim: Claim, data: Data) -> str | None:
    """Fit some leave-one-out problems from scratch, by least squares on the penalised rows."""
    z, residuals = claim.numbers, claim.witness["residuals"]
    X = np.asarray(data.X.toarray() if sparse.issparse(data.X) else data.X, dtype=np.float64)
    y, n, d = data.target.astype(np.float64), X.shape[0], X.shape[1]
    for i in np.unique(np.linspace(0, n - 1, REFITS).astype(int)).tolist():
        others = np.delete(np.arange(n), i)
        centre = X[others].mean(axis=0) if z["fit_intercept"] else np.zeros(d)
        level = y[others].mean() if z["fit_intercept"] else 0.0
        rows = np.vstack([X[others] - centre, math.sqrt(z["penalty"]) * np.eye(d)])
        coef = np.linalg.lstsq(rows, np.concatenate([y[others] - level, np.zeros(d)]), rcond=None)[0]
        found = y[i] - level - (X[i] - centre) @ coef
        if abs(found - residuals[i]) > 1e-6 * (abs(found) + float(np.std(y))):
            return f"without row {i} its residual is {found:.6g}, {residuals[i]:.6g} was claimed"
    return None


def _refit_trouble(certificate: Certificate, claim: Claim, data: Data) -> str | None:
    """Fit the model again without some of the rows."""
    residuals, y, n = claim.witness["residuals"], data.target.astype(np.float64), data.X.shape[0]
    for i in np.unique(np.linspace(0, n - 1, REFITS).astype(int)).tolist():
        others = np.delete(np.arange(n), i)
        model = clone(certificate.subject.estimator_).fit(take_rows(data.given, others), y[others])
        found = y[i] - float(np.asarray(model.predict(take_rows(data.given, np.array([i])))).ravel()[0])
        if abs(found - residuals[i]) > 1e-6 * (abs(found) + float(np.std(y))):
            return f"without row {i} its residual is {found:.6g}, {residuals[i]:.6g} was claimed"
    return None


def _folds_trouble(certificate: Certificate, claim: Claim, data: Data) -> str | None:
    subject, w = certificate.subject, claim.witness
    rows, folds = w["rows"], w["folds"]
    for k in np.unique(folds[rows])[:REFITS].tolist():
        mine = rows[folds[rows] == k]
        X, y = take_rows(data.given, mine), data.target[mine]
        model = subject.models_[k]
        if "scores" in w:
            raw, known = np.asarray(model.predict_proba(X)), labels_of(model.classes_).tolist()
            found = np.array(
                [1 - raw[i, known.index(t)] if t in known else 1.0 for i, t in enumerate(labels_of(y).tolist())]
            )
            kept = w["scores"][folds[rows] == k]
        else:
            raw = np.asarray(model.predict(X))
            found, kept = y - raw.ravel(), w["residuals"][folds[rows] == k]
        if not close(found, kept, rounding_of(raw)):
            return "the models' predictions are no longer those that were calibrated"
    return None
