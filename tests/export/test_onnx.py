"""ONNX graphs, evaluated by onnxruntime: the predictions of the models, up to single precision."""

import numpy as np
import pandas
import pytest
from onnxruntime import InferenceSession
from sklearn.base import is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import surefit
from surefit.core.errors import InvalidData

MODELS = {
    "AdaBoostClassifier": {"n_estimators": 3},
    "BaggingClassifier": {"n_estimators": 3, "random_state": 0},
    "BaggingRegressor": {"n_estimators": 3, "random_state": 0},
    "DecisionTreeClassifier": {"max_depth": 4},
    "DecisionTreeRegressor": {"max_depth": 4},
    "ElasticNet": {"alpha": 0.1},
    "GaussianMixture": {"n_components": 2, "random_state": 0},
    "GaussianProcessRegressor": {"optimizer": None},
    "HistGradientBoostingClassifier": {"max_iter": 5},
    "HistGradientBoostingRegressor": {"max_iter": 5},
    "HuberRegressor": {},
    "KMeans": {"n_clusters": 3, "random_state": 0},
    "KNeighborsClassifier": {},
    "KNeighborsRegressor": {},
    "Lasso": {"alpha": 0.1},
    "LinearDiscriminantAnalysis": {},
    "LinearRegression": {},
    "LinearSVC": {},
    "LinearSVR": {},
    "LogisticRegression": {},
    "MLPClassifier": {"hidden_layer_sizes": (5,), "random_state": 0, "max_iter": 50},
    "MLPRegressor": {"hidden_layer_sizes": (5,), "random_state": 0, "max_iter": 50},
    "PCA": {"n_components": 2},
    "Perceptron": {},
    "PoissonRegressor": {},
    "QuadraticDiscriminantAnalysis": {},
    "QuantileRegressor": {"alpha": 0.01},
    "RandomForestClassifier": {"n_estimators": 3, "random_state": 0},
    "RandomForestRegressor": {"n_estimators": 3, "random_state": 0},
    "Ridge": {},
    "RidgeClassifier": {},
    "SGDClassifier": {"loss": "log_loss", "alpha": 1.0, "random_state": 0},
    "SGDRegressor": {"random_state": 0},
    "SVC": {},
    "SVR": {},
    "NuSVC": {},
    "NuSVR": {},
    "BayesianRidge": {},
}


def sample(classes):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 4)).astype(np.float32)
    codes = np.arange(60) % max(classes, 1)
    X[:, 0] += 2 * codes
    return X.astype(np.float64), codes if classes else np.abs(X @ np.array([1.0, 2.0, 0.0, 1.0])) + 0.1


def evaluate(graph, X):
    session = InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: X})


@pytest.mark.parametrize("name", sorted(MODELS))
@pytest.mark.filterwarnings("ignore")
def test_onnxruntime_predicts_the_same(name):
    model = getattr(surefit, name)(**MODELS[name])
    for classes in (2, 3) if is_classifier(model) else (0,):
        X, y = sample(classes)
        model.fit(X, y)
        found = evaluate(surefit.to_onnx(model), X.astype(np.float32))
        if not is_classifier(model):
            own = model.transform(X) if name == "PCA" else model.predict(X)
            np.testing.assert_allclose(np.ravel(found[0]), np.ravel(own), rtol=1e-3, atol=1e-3)
            continue
        assert np.mean(found[0] == model.predict(X)) > 0.98  # a score near zero may round to the other class
        if hasattr(model, "predict_proba") and name != "AdaBoostClassifier":
            np.testing.assert_allclose(found[1], model.predict_proba(X), atol=1e-4)


@pytest.mark.filterwarnings("ignore")
def test_a_pipeline_with_scaler_and_encoder():
    X, y = sample(2)
    frame = pandas.DataFrame({"size": X[:, 0].astype(np.float32), "town": np.array(["x", "y", "z"])[np.arange(60) % 3]})
    columns = ColumnTransformer([("number", StandardScaler(), ["size"]), ("text", OneHotEncoder(), ["town"])])
    model = make_pipeline(columns, surefit.LogisticRegression()).fit(frame, y)
    session = InferenceSession(
        surefit.to_onnx(model, frame[:1]).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    inputs = {name: frame[[name]].to_numpy() for name in frame}
    label, p = session.run(None, {"size": inputs["size"], "town": inputs["town"].astype(object)})
    assert np.array_equal(label, model.predict(frame))
    np.testing.assert_allclose(p, model.predict_proba(frame), atol=1e-5)


def test_double_precision_keeps_the_digits_of_linear_models():
    X, y = sample(0)
    model = surefit.Ridge().fit(X, y)
    found = evaluate(surefit.to_onnx(model, dtype=np.float64), X)
    np.testing.assert_allclose(found[0].ravel(), model.predict(X), rtol=1e-12)


def test_what_onnx_cannot_express_is_refused():
    X, y = sample(2)
    with pytest.raises(InvalidData, match="no vote of all"):
        surefit.to_onnx(surefit.VotedPerceptron().fit(X, y))
    X[:, 3] = np.arange(60) % 5
    boosted = surefit.HistGradientBoostingClassifier(max_iter=2, categorical_features=[3], min_samples_leaf=5)
    with pytest.raises(InvalidData, match="categories"):
        surefit.to_onnx(boosted.fit(X, np.isin(X[:, 3], (1, 3))))
