"""Certification of a study's model: its fit is verified by the checker, and its error is bounded on the test rows."""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np

from surefit.core.certificate import Certificate
from surefit.core.errors import InvalidData
from surefit.risk.conformal_classifier import ConformalClassifier
from surefit.risk.conformal_regressor import ConformalRegressor
from surefit.risk.holdout import risk_certificate
from surefit.studies.encoded import Encoded, encode_part
from surefit.studies.model import CalibratedModel, TableModel
from surefit.studies.options import Options
from surefit.studies.prepare import Prepared, prepare
from surefit.studies.splits import Split, split_rows
from surefit.tables import Table

Conformal = ConformalClassifier | ConformalRegressor
COVERAGE = 0.9  # coverage of the certified intervals; other coverages use the same rows
LEAST = math.ceil(COVERAGE / (1 - COVERAGE) - 1e-9)  # with fewer test rows, such an interval is infinite


def labels_of(part: Encoded) -> np.ndarray:
    """Return the targets of the held-out rows in the format of the predictions: class names, or numbers."""
    return np.asarray(part.classes, dtype=str)[part.y_held] if part.classes else part.y_held


def bound_of(model: CalibratedModel, part: Encoded, options: Options, n_models: int = 1) -> Certificate:
    """Return the bound on the error of a model from held-out rows; delta is divided among ``n_models``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return risk_certificate(
            model, part.X_held, labels_of(part), confidence=options.confidence, groups=part.units_held, n_models=n_models,
            assume=part.assume,
        )  # fmt: skip


def intervals_of(model: CalibratedModel, part: Encoded, options: Options) -> Conformal:
    """Return prediction intervals (or sets of classes) calibrated on the test rows; for groups, on their first rows."""
    rows, y = _calibration_rows(part)
    kind = ConformalClassifier if part.classes else ConformalRegressor
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kind(
            model, method="prefit", coverage=COVERAGE, confidence=options.confidence, assume=part.assume
        ).fit(rows, y)  # fmt: skip


def _calibration_rows(part: Encoded) -> tuple[np.ndarray, np.ndarray]:
    y = labels_of(part)
    if part.units_held is None:
        return part.X_held, y
    first = np.sort(np.unique(part.units_held, return_index=True)[1])
    return part.X_held[first], y[first]


class Checked(NamedTuple):
    """Claim with the finding of the checker."""

    name: str
    verdict: str
    claimed: float
    proved: float
    limit: float | None
    level: str
    statement: str
    ok: bool


def check(model: TableModel, part: Encoded, prepared: Prepared, split: Split, options: Options) -> list[Checked]:
    """Re-derive every claim of a model from its encoded rows; raise ``CertificateError`` if one does not hold."""
    found: list[Checked] = []
    own = getattr(model.predictor_.estimator_, "certificate_", None)
    if own is not None:
        y: Any = part.y
        if not part.classes:
            y = (part.y - model.predictor_.shift_) / model.predictor_.scale_
        found += _findings(own, own.verify(part.X, y, sample_weight=part.weights))
    if model.risk_certificate_ is not None:
        risk = model.risk_certificate_
        found += _findings(risk, risk.verify(part.X_held, labels_of(part), model=model.predictor_))
        intervals = model.intervals_
        if len(intervals.calibration_rows_) >= LEAST:
            found += _findings(intervals.certificate_, intervals.certificate_.verify(*_calibration_rows(part)))
    if model.choice_certificate_ is not None:
        first, choice = encode_part(prepared, *split.folds[0], options), model.choice_certificate_
        found += _findings(choice, choice.verify(first.X_held, labels_of(first), model=model.first_))
    return found


def _findings(certificate: Certificate, verification: Any) -> list[Checked]:
    found = []
    for claim in certificate.claims:
        if claim.name in ("risk.unclaimed", "risk.vc"):
            continue  # the test part of the study bounds the error
        finding = verification[claim.name]
        proved = float("nan") if finding.level == "stated" else finding.proved
        found.append(
            Checked(
                claim.name,
                verdict_word(claim, finding.level),
                claim.value,
                proved,
                claim.limit,
                finding.level,
                claim.statement,
                bool(finding.ok),
            )
        )
    return found


def verdict_word(claim: Any, level: str) -> str:
    """Return the verdict on a claim as text; a re-derived claim without a limit is proved, or proved and vacuous."""
    if claim.verdict != "stated" or level == "stated":
        return claim.verdict
    return "vacuous" if "vacuous" in claim.statement else "proved"


def rows_of(model: TableModel, prepared: Prepared, options: Options) -> Encoded:
    """Return the encoded training and test rows of a model; raise an error if the encoder differs from the model's."""
    split = split_rows(prepared, options)
    fitted = split.train if model.record_["fitted_on"] == "train" else split.folds[0][0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about these rows were issued when the model was fitted
        part = encode_part(prepared, fitted, split.test, options)
    mine, theirs = model.encoder_, part.encoder
    same = mine.feature_names_ == theirs.feature_names_ and np.array_equal(mine.means_, theirs.means_)
    if not same or not np.array_equal(mine.scales_, theirs.scales_):
        raise InvalidData(
            f"{prepared.table.source}: these are not the rows that the model was fitted on; its encoder differs."
        )
    return part


def verify(model: TableModel, table: Table) -> list[Checked]:
    """Re-derive every claim of a model from its training file."""
    options = Options.from_record(model.record_["options"])
    prepared = prepare(table, options)
    return check(model, rows_of(model, prepared, options), prepared, split_rows(prepared, options), options)
