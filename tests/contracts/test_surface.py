"""One surface: the same thing has the same name and the same arguments everywhere."""

import inspect

import pytest
from tests.hard_data import hard_data
from tests.reliability.roster import case, estimators, fitted

import surefit
from surefit import bounds, plots

PLAIN = hard_data(n=24)[0]
#: Claims that bound P - min P of a convex problem, or of the problem on the span of landmarks.
GAPS = {
    "gaussian_process_classifier.gap",
    "kernel_logistic.gap",
    "kernel_model.gap",
    "kernel_ridge.gap",
    "kernel_softmax.gap",
    "linear.gap",
    "multi_task.gap",
    "nu_svc.gap",
    "nu_svr.gap",
    "nystroem.exact_gap",
    "one_class.gap",
    "smoothing_spline.gap",
    "svc.gap",
    "svr.gap",
}
#: Need targets of one sign: these are squared.
POSITIVE = {"GammaRegressor", "PoissonRegressor"}
DATA = ["X", "y", "sample_weight"]


def names(function):
    return [name for name in inspect.signature(function).parameters if name != "self"]


def public_functions():
    return [(name, getattr(bounds, name)) for name in bounds.__all__ if inspect.isfunction(getattr(bounds, name))]


@pytest.mark.parametrize("cls", [c for c in estimators() if hasattr(c, "dual_gap_")], ids=lambda cls: cls.__name__)
def test_an_estimator_with_a_gap_has_its_objective(cls):
    data = PLAIN._replace(y=PLAIN.y**2 + 1.0) if cls.__name__ in POSITIVE else PLAIN
    model = fitted(case(cls, data))
    stated = [claim.value for claim in model.certificate_.claims if claim.name in GAPS]
    assert stated and model.dual_gap_ == stated[0]
    assert 0 <= model.dual_gap_ <= model.objective_ * (1 + 1e-6)


@pytest.mark.parametrize("name", sorted(GAPS - {"kernel_softmax.gap"}))
def test_every_claimed_gap_is_an_attribute(name):
    """A family that states a gap has ``dual_gap_``: the roster above is complete."""
    stating = {"gaussian_process_classifier.gap": "GaussianProcessClassifier", "kernel_logistic.gap": "KernelLogisticRegression",
               "kernel_model.gap": "KernelModel", "kernel_ridge.gap": "KernelRidge", "linear.gap": "LinearModel",
               "nystroem.exact_gap": "NystroemRidge", "smoothing_spline.gap": "SmoothingSpline", "svc.gap": "SVC",
               "svr.gap": "SVR", "nu_svc.gap": "NuSVC", "nu_svr.gap": "NuSVR", "one_class.gap": "OneClassSVM",
               "multi_task.gap": "MultiTaskLasso"}  # fmt: skip
    assert hasattr(getattr(surefit, stating[name]), "dual_gap_")


def test_inference_has_one_signature():
    having = [cls for cls in estimators() if hasattr(cls, "inference")]
    assert len(having) >= 2
    for cls in having:
        own = inspect.signature(cls.inference).parameters
        assert names(cls.inference)[:3] == DATA and own["confidence"].default == 0.95
        assert all(own[name].kind is inspect.Parameter.KEYWORD_ONLY for name in names(cls.inference)[3:])


def test_prediction_stability_has_one_signature():
    expected = ["X", "y", "X_new", "sample_weight"]
    having = [cls for cls in estimators() if hasattr(cls, "prediction_stability")]
    assert len(having) >= 2
    for cls in having:
        assert names(cls.prediction_stability) == expected
    assert names(surefit.prediction_stability) == ["model", *expected]


def test_displays_are_made_of_an_estimator_and_its_data():
    displays = [getattr(plots, name) for name in plots.__all__ if name.endswith("Display")]
    made = [cls.from_estimator for cls in displays if hasattr(cls, "from_estimator")]
    assert len(made) > 10
    for function in made:
        own = inspect.signature(function).parameters
        assert list(own)[:3] == ["estimator", "X", "y"], function
        assert all(own[name].kind is inspect.Parameter.KEYWORD_ONLY for name in list(own)[3:]), function


@pytest.mark.parametrize(
    ("name", "function"), public_functions(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_bounds_call_counts_confidence_and_range_by_one_name(name, function):
    synonyms = {"m", "n_samples", "n_rows", "confidence", "failure", "width", "range", "upper", "ceiling", "bound"}
    assert not synonyms & set(names(function)), name
