"""What conformal regressors and classifiers share: reading, splitting, fitting folds, and the certificate."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, check_random_state, validate_data

from surefit.bounds.resampling import holdout_size
from surefit.checks.base import read
from surefit.core.claims import Claim
from surefit.core.errors import DataRemark, InvalidData, InvalidParameter
from surefit.core.estimator import CertifiedMixin, data_fingerprint
from surefit.core.validation import COUNT, NOTHING, RANDOM_STATE, Rule, check_params, one_of
from surefit.risk.claims import no_claim
from surefit.risk.deployed import DeployedMixin
from surefit.risk.ledger import SHARE
from surefit.risk.left_out import equal_folds
from surefit.risk.parts import fit_part
from surefit.risk.target import read_target
from surefit.risk.units import ASSUME, Units, find_units
from surefit.risk.void import why_void

RULES = {
    "estimator": NOTHING
    | Rule("an estimator with fit and predict", lambda v: hasattr(v, "fit") and hasattr(v, "predict")),
    "method": one_of("split", "jackknife+", "cv+"),
    "coverage": SHARE,
    "confidence": SHARE,
    "calibration_size": NOTHING | COUNT,
    "n_folds": Rule("an integer >= 2", lambda v: COUNT.allows(v) and v >= 2),
    "assume": ASSUME,
    "random_state": RANDOM_STATE,
}


class ConformalMixin(CertifiedMixin, DeployedMixin):
    """Base of the conformal estimators; a subclass says what a score is."""

    method: str
    coverage: float
    confidence: float
    calibration_size: int | None
    n_folds: int
    assume: tuple[str, ...]
    random_state: Any

    def _begin(self, X, y) -> tuple[np.ndarray, Units, np.ndarray]:
        """Check everything; returns the target, the units and a random order of them."""
        check_params(self)
        who = type(self).__name__
        validate_data(self, X, y, skip_check_array=True)
        target = read_target(who, X, y)
        units = find_units(who, X, target, None, self.assume)
        if units.total < 2:
            raise InvalidData(
                f"{who}: at least 2 different rows are needed; got {units.total}: n_samples = {len(target)}."
            )
        return target, units, check_random_state(self.random_state).permutation(units.total)

    def _fit_rows(self, X, y: np.ndarray, rows: np.ndarray):
        return fit_part(type(self).__name__, self._base(), X, y, rows)

    def _split(self, X, y: np.ndarray, units: Units, order: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
        """Fit on a part; returns the model, the rows it was fitted on, and one calibration row of each other unit."""
        size = holdout_size(units.total) if self.calibration_size is None else self.calibration_size
        if not 0 < size < units.total:
            words = f"below the number of different rows, {units.total}"
            raise InvalidParameter(type(self).__name__, "calibration_size", words, size)
        train = units.rows(order[size:])
        rows = units.rows(order[:size])
        first = np.sort(rows[np.unique(units.codes[rows], return_index=True)[1]])
        return self._fit_rows(X, y, train), train, first

    def _fold_models(self, X, y: np.ndarray, units: Units, order: np.ndarray) -> tuple[list, np.ndarray]:
        """One model a fold, and the fold of each row (-1: in no fold); copies of a row share their fold."""
        count = min(self.n_folds, units.total) if self.method == "cv+" else units.total
        folds = equal_folds(order, count)[units.codes]
        everything = np.arange(len(y))
        return [self._fit_rows(X, y, everything[folds != k]) for k in range(count)], folds

    def _finish(self, X, y: np.ndarray, claims: list[Claim], model: tuple[str, ...]) -> None:
        reason = why_void(X, assume=tuple(self.assume))
        if reason is not None:
            warnings.warn(f"{type(self).__name__}: {reason}.", DataRemark, stacklevel=3)
            claims = [no_claim(claims[0].name, claims[0].about, reason)]
        data = read(X, y)
        self._issue(
            "C", claims, problem={"procedure": self.method, "coverage": self.coverage}, model=model,
            data=data_fingerprint(data.X, data.y),
        )  # fmt: skip

    def _check_fitted(self) -> None:
        check_is_fitted(self, "estimator_")
