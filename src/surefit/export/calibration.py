"""Calibrated classifiers in scikit-learn's attributes."""

from __future__ import annotations

from typing import Any

from sklearn.calibration import _CalibratedClassifier, _SigmoidCalibration, _TemperatureScaling
from sklearn.isotonic import IsotonicRegression

from surefit.export.twins import cannot, converted, filler


@filler("CalibratedClassifierCV")
def fill_calibrated(model: Any, twin: Any) -> None:
    """Set the pairs of a classifier and its calibration maps."""
    if model.method != "temperature" and any(
        len(pair.estimator.classes_) < len(model.classes_) for pair in model.calibrated_classifiers_
    ):
        raise cannot(model, "a fold lacks a class")
    twin.calibrated_classifiers_ = [
        _CalibratedClassifier(
            converted(pair.estimator),
            [_map(fitted) for fitted in pair.calibrators],
            classes=pair.classes,
            method=pair.method,
        )
        for pair in model.calibrated_classifiers_
    ]


def _map(fitted: Any) -> Any:
    """Return scikit-learn's calibration map with the same parameters."""
    if hasattr(fitted, "beta_"):
        found = _TemperatureScaling()
        found.beta_ = fitted.beta_
        return found
    if hasattr(fitted, "a_"):
        found = _SigmoidCalibration()
        found.a_, found.b_ = fitted.a_, fitted.b_
        return found
    found = IsotonicRegression(out_of_bounds="clip")
    found.X_thresholds_, found.y_thresholds_ = fitted.X_thresholds_, fitted.y_thresholds_
    found.X_min_, found.X_max_, found.increasing_ = fitted.X_thresholds_[0], fitted.X_thresholds_[-1], True
    found._build_f(found.X_thresholds_, found.y_thresholds_)
    return found
