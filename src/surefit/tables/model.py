"""A regressor that takes tables: an encoder and an estimator in one object, with the estimator's certificate."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from surefit.core.errors import InvalidData
from surefit.tables.cells import as_numbers, kind_of
from surefit.tables.encoder import TableEncoder, require_finite
from surefit.tables.table import Table, as_table


class Coefficient(NamedTuple):
    """What one feature contributes to the prediction."""

    feature: str
    value: float  # change of the prediction when the feature grows by one of its own units
    standardised: float  # the same, when it grows by one standard deviation (what the penalty sees)
    proved_zero: bool  # zero in every exact solution


class TableRegressor(RegressorMixin, BaseEstimator):
    """Encodes a table, then fits a certified regressor on the features.

    Guarantee: that of ``estimator``, about the encoded training rows; ``verify`` encodes them again and re-derives it.

    Parameters
    ----------
    estimator : certified regressor with ``coef_``
        What to fit, such as ``surefit.LassoCV()``.
    encoder : TableEncoder, optional
        How to encode; ``TableEncoder()`` by default.

    Attributes
    ----------
    estimator_, encoder_
        The fitted parts.
    target_ : str
        Name of the target column.
    record_ : dict
        Where the model comes from: file, split, seed, versions (filled in by whoever fits it).

    Examples
    --------
    >>> import polars
    >>> from surefit import Lasso
    >>> from surefit.tables import TableRegressor
    >>> frame = polars.DataFrame({"dose": [1, 2, 3, 4], "effect": [1.9, 4.1, 6.0, 8.0]})
    >>> model = TableRegressor(Lasso(alpha=0.01)).fit(frame, target="effect")
    >>> print(model.predict(polars.DataFrame({"dose": [5]})).round(1))
    [10.]
    >>> model.verify(frame)["penalised_squares.gap"].ok
    True
    """

    def __init__(self, estimator, encoder=None):
        self.estimator = estimator
        self.encoder = encoder

    def fit(self, X, y=None, *, target: str):
        """Fit on all columns of ``X`` but ``target``, which is the column to predict. Returns the model."""
        table = as_table(X)
        self.target_ = target
        numbers = read_target(table, target)
        self.encoder_ = clone(self.encoder) if self.encoder is not None else TableEncoder()
        self.encoder_.fit(table._replace(frame=table.frame.drop(target)))
        callbacks = getattr(self.estimator, "_skl_callbacks", ())  # a clone does not have them
        self.estimator_ = clone(self.estimator)
        if callbacks:
            self.estimator_.set_callbacks(*callbacks)
        try:
            self.estimator_.fit(self.encoder_.transform(table), numbers)
        finally:
            if callbacks:
                self.estimator_.set_callbacks()  # they draw on this terminal; they are no part of the model
        self.record_: dict[str, Any] = {}
        return self

    def predict(self, X) -> np.ndarray:
        """Return one number a row; the target column is not needed."""
        check_is_fitted(self)
        return self.estimator_.predict(self.encoder_.transform(as_table(X)))

    def verify(self, X):
        """Re-derive every claim of ``certificate_`` from the training table, independently of the solver."""
        check_is_fitted(self)
        table = as_table(X)
        return self.estimator_.verify(self.encoder_.transform(table), read_target(table, self.target_))

    @property
    def certificate_(self):
        """Certificate of the estimator, about the encoded training rows."""
        check_is_fitted(self)
        return self.estimator_.certificate_

    @property
    def coefficients(self) -> list[Coefficient]:
        """Contribution of each feature, in its own units and in standard deviations."""
        check_is_fitted(self)
        w, encoder = self.estimator_.coef_, self.encoder_
        return [
            Coefficient(*each)
            for each in zip(
                encoder.feature_names_,
                (w / encoder.scales_).tolist(),
                w.tolist(),
                self.estimator_.inactive_.tolist(),
                strict=True,
            )
        ]

    @property
    def intercept(self) -> float:
        """Prediction when every feature, in its own units, is zero."""
        check_is_fitted(self)
        shift = self.encoder_.means_ / self.encoder_.scales_ if self.encoder_.standardise else 0.0
        return float(self.estimator_.intercept_ - np.sum(self.estimator_.coef_ * shift))


def read_target(table: Table, target: str) -> np.ndarray:
    """Return the target as float64; texts, dates, missing and infinite cells are refused with their row."""
    table.require([target])
    kind = kind_of(table.frame[target])
    if kind not in ("number", "boolean", "text"):
        raise InvalidData(f"{table.source}: the target {target!r} holds {kind} cells; expected numbers.")
    numbers = as_numbers(table.frame[target])
    require_finite(table, target, numbers)
    return numbers
