"""Common parts of conformal regressors and classifiers: validation, splitting, folds, and the certificate."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, check_random_state

from surefit.bounds.resampling import holdout_size
from surefit.core.claims import Claim
from surefit.core.errors import DataWarning, InvalidData, InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.fingerprint import data_fingerprint
from surefit.core.sample import read
from surefit.core.validation import COUNT, NOTHING, RANDOM_STATE, Rule, check_params, one_of, read_data
from surefit.core.warn import warn
from surefit.problems import pose
from surefit.risk.deployed import DeployedMixin
from surefit.risk.holdout import refuse_training_rows
from surefit.risk.ledger import SHARE
from surefit.risk.left_out import equal_folds
from surefit.risk.parts import fit_part
from surefit.risk.target import read_target
from surefit.risk.units import ASSUME, Units, find_units
from surefit.risk.void import why_void

FITTABLE = "an estimator with fit and predict"
RULES = {
    "estimator": NOTHING | Rule(FITTABLE, lambda v: hasattr(v, "predict")),
    "method": one_of("split", "prefit", "jackknife+", "cv+"),
    "coverage": SHARE,
    "confidence": SHARE,
    "calibration_size": NOTHING | COUNT,
    "n_folds": Rule("an integer >= 2", lambda v: COUNT.allows(v) and v >= 2),
    "assume": ASSUME,
    "random_state": RANDOM_STATE,
}


class ConformalMixin(CertifiedMixin, DeployedMixin):
    """Base of the conformal estimators; a subclass defines the score."""

    method: str
    coverage: float
    confidence: float
    calibration_size: int | None
    n_folds: int
    assume: tuple[str, ...]
    random_state: Any

    def _begin(self, X, y) -> tuple[np.ndarray, Units, np.ndarray]:
        """Validate the input; return the target, the units and a random order of the units."""
        check_params(self)
        who = type(self).__name__
        if self.method != "prefit" and not hasattr(self._base(), "fit"):
            raise InvalidParameter(who, "estimator", FITTABLE, self.estimator)
        read_data(self, X, y, skip_check_array=True)
        target = read_target(who, X, y)
        units = find_units(who, X, target, None, self.assume)
        if units.total < 2:
            raise InvalidData(
                f"{who}: at least 2 distinct rows are required; got {units.total}: n_samples = {len(target)}."
            )
        return target, units, check_random_state(self.random_state).permutation(units.total)

    @property
    def _splits(self) -> bool:
        """Return whether one model is calibrated on held-out rows, instead of one model per fold."""
        return self.method in ("split", "prefit")

    def _fit_rows(self, X, y: np.ndarray, rows: np.ndarray):
        return fit_part(type(self).__name__, self._base(), X, y, rows)

    def _split(self, X, y: np.ndarray, units: Units, order: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
        """Fit on a part; return the model, its training rows, and one calibration row per other unit.

        With ``"prefit"``, the model is the estimator itself, and all rows are calibration rows.
        """
        if self.method == "prefit":
            if hasattr(self._base(), "fit"):
                check_is_fitted(self._base())
            refuse_training_rows(type(self).__name__, self._base(), read(X, y))
            return self._base(), np.empty(0, dtype=np.int64), np.sort(np.unique(units.codes, return_index=True)[1])
        size = holdout_size(units.total) if self.calibration_size is None else self.calibration_size
        if not 0 < size < units.total:
            words = f"below the number of different rows, {units.total}"
            raise InvalidParameter(type(self).__name__, "calibration_size", words, size)
        train = units.rows(order[size:])
        rows = units.rows(order[:size])
        first = np.sort(rows[np.unique(units.codes[rows], return_index=True)[1]])
        return self._fit_rows(X, y, train), train, first

    def _fold_models(self, X, y: np.ndarray, units: Units, order: np.ndarray) -> tuple[list, np.ndarray]:
        """Return one model per fold, and the fold of each row (-1: none); duplicates of a row share their fold."""
        count = min(self.n_folds, units.total) if self.method == "cv+" else units.total
        folds = equal_folds(order, count)[units.codes]
        everything = np.arange(len(y))
        return [self._fit_rows(X, y, everything[folds != k]) for k in range(count)], folds

    def _finish(self, X, y: np.ndarray, claims: list[Claim], model: tuple[str, ...]) -> None:
        reason = why_void(X, assume=tuple(self.assume))
        if reason is not None:
            warn(f"{type(self).__name__}: {reason}.", DataWarning)
            claims = [Claim("risk.void")]
        data = read(X, y)
        self._issue(
            "C", claims, problem=pose(self, X, y), model=model,
            data=data_fingerprint(data.X, data.y),
        )  # fmt: skip

    def _check_fitted(self) -> None:
        check_is_fitted(self, "estimator_")
