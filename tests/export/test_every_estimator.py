"""Every public estimator has a twin in scikit-learn and an ONNX graph with its predictions, or a sentence that says why not."""

import numpy as np
import pytest
from onnxruntime import InferenceSession
from sklearn.base import BaseEstimator, is_classifier

import surefit
from surefit.core.errors import InvalidData
from surefit.export.onnx import REFUSED
from surefit.export.twins import REASONS

ESTIMATORS = sorted(
    name
    for name in surefit.__all__
    if isinstance(getattr(surefit, name), type) and issubclass(getattr(surefit, name), BaseEstimator)
)
ONE_COLUMN = {"SmoothingSpline", "WienerProcessRegressor", "FourierBasis", "PeriodicBasis", "HingeBasis", "CircleBasis"}
TWO_CLASSES = {
    "BayesianLogisticRegression",
    "FisherDiscriminant",
    "ForwardStagewise",
    "KernelFisherDiscriminant",
    "KernelPerceptron",
    "StructuralRiskMinimizer",
}
METHODS = ("predict", "predict_proba", "decision_function", "transform")
#: Documented on the migrating page, or integrated in another way.
OTHER_VALUES = {
    ("AdaBoostClassifier", "predict_proba"),
    ("AdaBoostClassifier", "decision_function"),
    ("GaussianProcessClassifier", "predict_proba"),
}


def fitted(name, classes):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 4)).astype(np.float32).astype(np.float64)
    model = getattr(surefit, name)()
    y = np.arange(60) % classes if is_classifier(model) else np.abs(X @ np.array([1.0, 2.0, 0.0, 1.0])) + 0.1
    X[:, 0] += 2 * (np.arange(60) % classes)
    X = np.abs(X) if name.endswith("NB") else np.abs(X[:, :1]) if name in ONE_COLUMN else X
    if "n_estimators" in model.get_params():
        model.set_params(n_estimators=3)
    if name in ("ExhaustiveClustering", "GaussianProcessClassifier", "AgglomerativeClustering"):
        X, y = X[:18], y[:18]
    X = X.astype(np.float32).astype(np.float64)
    return model.fit(X, np.column_stack([y, y]) if name.startswith("MultiTask") else y), X


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.filterwarnings("ignore")
def test_twins_and_graphs(name):
    for classes in (2,) if name in TWO_CLASSES or not is_classifier(getattr(surefit, name)()) else (2, 3):
        model, X = fitted(name, classes)
        if name in REASONS:
            for export in (surefit.to_sklearn, surefit.to_onnx):
                with pytest.raises(
                    InvalidData, match=f"this {name} cannot be expressed in scikit-learn: {REASONS[name]}"
                ):
                    export(model)
            continue
        twin = surefit.to_sklearn(model)
        for method in METHODS:
            same = hasattr(model, method) and hasattr(twin, method) and (name, method) not in OTHER_VALUES
            if same:
                own, theirs = getattr(model, method)(X), getattr(twin, method)(X)
                np.testing.assert_allclose(theirs, own, rtol=1e-6, atol=1e-7, err_msg=method)
        if name in REFUSED:
            with pytest.raises(InvalidData, match=REFUSED[name]):
                surefit.to_onnx(model)
            continue
        check_graph(model, X)


def check_graph(model, X):
    graph = surefit.to_onnx(model)
    session = InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    found = session.run(None, {session.get_inputs()[0].name: X.astype(np.float32)})
    if type(model).__name__ == "NearestNeighbors":
        assert np.array_equal(found[0], model.kneighbors(X, return_distance=False))
    elif is_classifier(model):
        assert np.mean(found[0] == model.predict(X)) > 0.96  # a score near zero may round to the other class
    elif type(model).__name__ == "OneClassSVM":
        clear = np.abs(model.decision_function(X)) > 1e-4  # support vectors are on the boundary
        assert clear.any() and np.array_equal(found[0][clear].ravel(), model.predict(X)[clear])
    else:
        own = model.predict(X) if hasattr(model, "predict") else model.transform(X)
        size = np.max(np.abs(own))
        np.testing.assert_allclose(np.ravel(found[0]), np.ravel(own), rtol=2e-3, atol=2e-3 * size)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian", "sigmoid"])
def test_graphs_of_every_named_kernel(kernel):
    rng = np.random.default_rng(0)
    X = (100 + rng.normal(size=(30, 3))).astype(np.float32).astype(np.float64)  # far from the origin
    y = X[:, 0] - 100
    if kernel in ("poly", "sigmoid"):
        X -= 100
    X = X.astype(np.float32).astype(np.float64)
    if kernel == "sigmoid":  # no kernel of surefit: scikit-learn's own model
        from sklearn.kernel_ridge import KernelRidge

        model = KernelRidge(kernel=kernel, gamma=0.1).fit(X, y)
    else:
        model = surefit.KernelRidge(kernel=kernel, gamma=0.1, alpha=1.0).fit(X, y)
    graph = surefit.to_onnx(model, dtype=np.float64)
    session = InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    found = session.run(None, {"X": X})
    np.testing.assert_allclose(found[0].ravel(), model.predict(X), rtol=1e-7, atol=1e-7)


def test_pipelines_that_end_in_a_linear_machine():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X = fitted("LinearSVC", 3)[1]
    whole = make_pipeline(StandardScaler(), surefit.LinearSVC()).fit(X, np.arange(60) % 3)
    check_graph(whole, X)
