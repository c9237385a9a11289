"""Claims about calibrated classifiers: the gap of every calibration map, and the origin of its scores."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.calibration.isotonic import isotonic_gap
from surefit.checks.calibration.temperature import temperature_gap
from surefit.checks.enclosure import UNIT, Bound
from surefit.checks.gap import Logistic, Penalty, Point, operator_of, prove
from surefit.checks.judge import SIX_DIGITS, Proof, claim, refused, shared
from surefit.checks.labels import label_codes, row_weights
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.rows import take_rows
from surefit.core.sample import Data

ROUNDED = 16 * UNIT  # relative rounding of a row's weight
COMMON: dict[str, Any] = {"kind": "optimality", "side": "upper", "infinite": True}
TINY = 1e-12  # added to probabilities before their logarithm is taken


class Part(NamedTuple):
    """One fitted map with the scores, labels (0 and 1, or class indices) and weights of its rows."""

    scores: np.ndarray
    codes: np.ndarray
    weights: np.ndarray
    map: Any


@claim("calibration.sigmoid", theory="fenchel-gap", **COMMON,
       says="The mean log-loss of each of {maps} sigmoids on its calibration scores is within {value:.3g} of the smallest possible "
       "one.")  # fmt: skip
def sigmoid(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Bound the gap of Platt scaling: unpenalized logistic regression on one column with soft targets."""
    return _largest(certificate, data, _sigmoid_gap)


@claim("calibration.isotonic", theory="isotonic-gap", **COMMON,
       says="The mean squared error of each of {maps} isotonic functions on its calibration scores is within {value:.3g} of the smallest "
       "possible one.")  # fmt: skip
def isotonic(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Bound the gap of isotonic least squares by partial sums of residuals."""
    return _largest(certificate, data, _isotonic_gap)


@claim("calibration.temperature", theory="isotonic-gap", **COMMON,
       says="The mean log-loss of each of {maps} temperatures on its calibration scores is within {value:.3g} of the smallest possible "
       "one.")  # fmt: skip
def temperature(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Bound the gap of temperature scaling by the derivative of its loss."""
    ends = certificate.problem["lowest"], certificate.problem["highest"]
    return _largest(certificate, data, lambda part: _temperature_gap(part, ends))


@claim("calibration.scores", kind="process_fact", side="upper", infinite=True, theory="isotonic-gap",
       says="The recorded calibration scores differ from those of the fitted classifiers by at most {value:.2g} of the largest "
       "one.")  # fmt: skip
def scores(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that the recorded scores are those of the classifiers on the same rows, to at best six digits."""
    subject = certificate.subject
    if subject is None:
        return refused("this claim needs the classifiers of the model; pass verify(X, y, model=...)")
    worst, K = 0.0, len(certificate.model["classes_"])
    for pair, rows, known in _pairs(certificate, data):
        found = _scores_of(pair, take_rows(data.given, rows), K)
        if found.shape != known.shape:
            return refused("the number of scores of the classifiers is not the recorded one")
        size = float(np.max(np.abs(found), initial=0.0))
        apart = float(np.max(np.abs(found - known), initial=0.0))
        if not math.isfinite(size + apart):
            return refused("a score is not finite")
        worst = max(worst, 0.0 if apart == 0.0 else apart / size if size > 0 else math.inf)
    return Proof(max(worst, SIX_DIGITS), "recomputed", "scored the calibration rows again.")


def _largest(certificate: Certificate, data: Data, gap: Any) -> Proof:
    if certificate.subject is None:
        return refused("this claim needs the maps of the model; pass verify(X, y, model=...)")
    found = [gap(part) for part in _parts(certificate, data)]
    if any(math.isnan(bound.value + bound.spread) for bound in found):  # the maximum of numbers with NaN is undefined
        return refused("a map has a parameter that is not a number")
    worst = max(found, key=lambda bound: bound.value + 2.5 * bound.spread)
    spread = worst.spread if math.isfinite(worst.value) else 0.0
    return Proof(worst.value, note="dual points of all maps.", numbers={"maps": len(found)}, spread=spread)


@shared
def _parts(certificate: Certificate, data: Data) -> list[Part]:
    """Return every fitted map with its rows."""
    codes, K = label_codes(certificate, data)
    weights, parts = row_weights(data), []
    for pair, rows, known in _pairs(certificate, data):
        y, w = codes[rows], weights[rows]
        if pair.method != certificate.problem["method"]:
            raise ValueError("the method of a pair is not that of the parameters")
        if not np.array_equal(pair.classes, certificate.model["classes_"]):
            raise ValueError("the classes of a pair are not those of the model")
        if not np.isin(pair.estimator.classes_, pair.classes).all():
            raise ValueError("a classifier has classes that the model does not have")
        if pair.method == "temperature":
            if known.shape != (len(rows), K):
                raise ValueError("there must be one score per class")
            parts.append(Part(known, y, w, pair.calibrators[0]))
            continue
        columns = [1] if K == 2 else np.searchsorted(certificate.model["classes_"], pair.estimator.classes_).tolist()
        if known.shape != (len(rows), len(columns)) or len(pair.calibrators) != len(columns):
            raise ValueError("there must be one map and one score per class")
        for k, column, fitted in zip(columns, known.T, pair.calibrators, strict=True):
            parts.append(Part(column, (y == k).astype(np.int64), w, fitted))
    return parts


def _pairs(certificate: Certificate, data: Data) -> list[tuple[Any, np.ndarray, np.ndarray]]:
    """Return each classifier-map pair with its calibration rows and recorded scores."""
    subject, model = certificate.subject, certificate.model
    rows, starts = np.asarray(model["calibration_rows_"]), np.asarray(model["calibration_starts_"])
    pairs, recorded = subject.calibrated_classifiers_, subject.calibration_scores_
    n = data.X.shape[0]
    if len(starts) != len(pairs) + 1 or len(recorded) != len(pairs) or starts[0] != 0 or starts[-1] != len(rows):
        raise ValueError("the numbers of rows, scores and classifiers do not match")
    if np.any(np.diff(starts) < 1) or (len(rows) and (rows.min() < 0 or rows.max() >= n)):
        raise ValueError("a pair has no calibration rows, or rows that do not exist")
    parts = [rows[a:b] for a, b in pairwise(starts.tolist())]
    if any(len(np.unique(part)) != len(part) for part in parts):
        raise ValueError("a calibration row is counted twice")
    return [(pair, part, np.asarray(known)) for pair, part, known in zip(pairs, parts, recorded, strict=True)]


def _sigmoid_gap(part: Part) -> Bound:
    w, one = part.weights, part.codes == 1
    counts = float(np.sum(w[~one])), float(np.sum(w[one]))
    t = np.where(one, (counts[1] + 1) / (counts[1] + 2), 1 / (counts[0] + 2))
    total = counts[0] + counts[1]
    y = np.repeat([1.0, -1.0], len(w))
    c = np.concatenate([w * t, w * (1 - t)]) / total
    column = np.concatenate([part.scores, part.scores]).reshape(-1, 1)
    slope, intercept = -float(part.map.a_), -float(part.map.b_)
    constant = bool(np.all(part.scores == part.scores[0]))  # then the slope has no effect
    free = np.array([math.inf if constant else 0.0])
    if constant:
        intercept, slope = intercept + slope * float(part.scores[0]), 0.0
    point = Point(y, c, np.array([slope]), intercept, True)
    found = prove(operator_of(column), Logistic(), Penalty(free, np.zeros(1)), point)
    rounded = 3 * (ROUNDED + len(w) * UNIT) * found.objective  # the weights of the split rows are rounded
    return Bound((found.value + rounded) * (1 + 4 * UNIT), found.spread + rounded)


def _isotonic_gap(part: Part) -> Bound:
    knots, values = np.asarray(part.map.X_thresholds_), np.asarray(part.map.y_thresholds_)
    if knots.shape != values.shape or knots.ndim != 1 or np.any(np.diff(knots) <= 0):
        return Bound(math.inf, 0.0)
    return isotonic_gap(part.scores, part.codes, part.weights, np.interp(part.scores, knots, values))


def _temperature_gap(part: Part, ends: tuple[float, float]) -> Bound:
    return temperature_gap(part.scores, part.codes, part.weights, float(part.map.beta_), ends)


def _scores_of(pair: Any, X: Any, n_classes: int) -> np.ndarray:
    """Return the scores of a classifier in the form that its maps expect."""
    model = pair.estimator
    if hasattr(model, "decision_function"):
        found = np.asarray(model.decision_function(X), dtype=np.float64)
        if found.ndim == 1 and (pair.method == "temperature" or n_classes > 2):
            return np.column_stack([-found, found])
        return found.reshape(len(found), -1)
    found = np.asarray(model.predict_proba(X), dtype=np.float64)
    if pair.method == "temperature":
        return np.log(found + TINY)
    return found[:, [1]] if n_classes == 2 else found
