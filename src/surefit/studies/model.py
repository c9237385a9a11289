"""Models returned by a study: a certified estimator with calibrated probabilities, and its version for tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from surefit.bounds.conformal import conformal_quantile
from surefit.core.errors import DataWarning, InvalidData
from surefit.core.warn import warn
from surefit.studies.calibration import Calibration, class_scores, decide
from surefit.tables import Column, as_table, typed


class CalibratedModel(BaseEstimator):
    r"""Fitted estimator on encoded rows, with the calibration of its scores.

    Classification: probabilities :math:`p_k \propto \exp(a s_k + b_k)` of the estimator's scores; the prediction is the class with the
    largest :math:`c_k p_k`. Regression: the estimator was fitted to the standardized target, so the prediction is :math:`m + s f(x) + q`.

    Attributes
    ----------
    estimator_ : estimator
        The certified estimator; its classes are codes.
    classes_ : ndarray of str
        Classes by code (classification only).
    slope_, intercepts_, decision_
        The numbers a, b and c above.
    shift_, scale_, offset_
        The numbers m, s and q above.
    """

    def score_classes(self, X) -> np.ndarray:
        """Return one raw score per row and class."""
        codes = np.asarray(self.estimator_.classes_)
        return class_scores(self.estimator_, X, len(self.classes_), codes)

    def predict_codes(self, X) -> np.ndarray:
        """Return the code of the predicted class of each row."""
        return decide(self.predict_proba(X), self.decision_)

    def predict_proba(self, X) -> np.ndarray:
        """Return calibrated probabilities, one column per class."""
        calibration = Calibration(self.slope_, tuple(self.intercepts_))
        return calibration.probabilities(self.score_classes(X))

    def predict(self, X) -> np.ndarray:
        """Return the predicted class or number of each row."""
        if self.is_classifier:
            return self.classes_[self.predict_codes(X)]
        return self.shift_ + self.scale_ * np.asarray(self.estimator_.predict(X)).ravel() + self.offset_

    @property
    def is_classifier(self) -> bool:
        """Whether predictions are classes."""
        return len(self.classes_) > 0

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier" if self.is_classifier else "regressor"
        return tags


class TableModel(BaseEstimator):
    """Model for tables: it interprets and encodes columns as in the fit, and predicts with a certified estimator.

    Created by :func:`surefit.study`; ``surefit.save`` and ``surefit.load`` store it.

    Guarantee: ``certificate_`` is that of the estimator, about the encoded training rows; ``risk_certificate_`` bounds the error on new
    data by the test part (theory: :ref:`concentration`); ``predict_interval`` has at least the requested coverage if new rows are
    exchangeable with the test part (theory: :ref:`conformal`).

    Attributes
    ----------
    predictor_ : CalibratedModel
        Predicts on encoded rows.
    encoder_ : TableEncoder
        Encodes a table.
    columns_ : list of dict
        Interpretation of each column of the file.
    risk_certificate_ : Certificate or None
        Bound on the error on new data; None if there was no test part, or if rows are in time order.
    intervals_ : ConformalRegressor, ConformalClassifier or None
        Intervals or sets of coverage 0.9 around the predictor, calibrated on the test rows, with their certificate.
    target_ : str
        Name of the target column.
    record_ : dict
        Provenance of the model: file, options, versions.

    Examples
    --------
    >>> import surefit
    >>> model = surefit.study("iris", max_time=5, models=("linear",)).model
    >>> model.predict({"sepal_length": [5.1], "sepal_width": [3.5], "petal_length": [1.4], "petal_width": [0.2]}).tolist()
    ['setosa']
    """

    @property
    def certificate_(self):
        """Certificate of the estimator; for a constant model, which has no optimization, the bound on its error."""
        own = getattr(self.predictor_.estimator_, "certificate_", None)
        return own if own is not None else self.risk_certificate_

    @property
    def classes_(self) -> np.ndarray:
        """Classes of the target."""
        return self.predictor_.classes_

    @property
    def used_columns(self) -> list[Column]:
        """Columns that are used as features."""
        return [c for c in (Column(**each) for each in self.columns_) if c.name in self.encoder_.recipes_]

    @property
    def identifiers(self) -> list[str]:
        """Columns that only identify rows."""
        return [each["name"] for each in self.columns_ if each["kind"] == "identifier"]

    def encode(self, X) -> np.ndarray:
        """Return the encoded rows of a table."""
        table = as_table(_framed(X))
        return self.encoder_.transform(typed(table, self.used_columns, tuple(self.record_["options"]["na"])))

    def predict(self, X) -> np.ndarray:
        """Return the predicted class or number of each row of a table; the target column is not needed."""
        return self.predictor_.predict(self.encode(X))

    def predict_proba(self, X) -> np.ndarray:
        """Return calibrated probabilities of the classes."""
        return self.predictor_.predict_proba(self.encode(X))

    def predict_interval(self, X, coverage: float = 0.9) -> np.ndarray:
        """Return the ends of the interval of each row, shape (n_rows, 2); for a classifier, the mask of classes in its set.

        The true value is covered with probability at least ``coverage``, on average over the test part and the new row,
        if they are exchangeable.
        """
        threshold = self.threshold(coverage)
        rows = self.encode(X)
        if self.predictor_.is_classifier:
            return 1.0 - self.predictor_.predict_proba(rows) <= threshold
        middle = self.predictor_.predict(rows)
        return np.column_stack([middle - threshold, middle + threshold])

    def threshold(self, coverage: float) -> float:
        """Return the largest conformity score in the interval or set of this coverage."""
        if self.intervals_ is None:
            raise InvalidData(
                "This model has no test part, so no interval can be calibrated; fit again with --test-size 0.2."
            )
        scores = self.intervals_.scores_ if self.predictor_.is_classifier else np.abs(self.intervals_.residuals_)
        if self.record_["options"]["time"] is not None:
            warn(
                "Rows in time order depend on each other, so the coverage of these intervals is not proved.",
                DataWarning,
            )
        found = conformal_quantile(scores, 1.0 - coverage)
        if not np.isfinite(found.value):
            most = len(scores) / (len(scores) + 1)
            raise InvalidData(
                f"{len(scores)} test rows are too few for intervals of coverage {coverage:g}; they allow at most {most:.3f}."
            )
        return found.value

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "predictor_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        fitted = getattr(self, "predictor_", None)
        tags.estimator_type = "classifier" if fitted is not None and fitted.is_classifier else "regressor"
        return tags


def conformity(predictor: CalibratedModel, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the conformity score of each row: one minus the probability of its class, or the absolute error."""
    if predictor.is_classifier:
        return 1.0 - predictor.predict_proba(X)[np.arange(len(y)), y]
    return np.abs(y - predictor.predict(X))


def _framed(X: Any) -> Any:
    import polars

    return polars.DataFrame(X) if isinstance(X, dict) else X


def as_dicts(columns: tuple[Column, ...]) -> list[dict[str, str]]:
    """Return columns as plain dicts, for a model file."""
    return [column._asdict() for column in columns]
