"""Twins in scikit-learn: the same predictions for every estimator with a namesake, bit by bit where no sum is reordered."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.gaussian_process import kernels as gp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.discovery import all_estimators

import surefit
from surefit import to_sklearn
from surefit.core.errors import InvalidData
from surefit.export.twins import OTHER_NAMES

NAMESAKES = sorted(
    name
    for name, kind in all_estimators()
    if name in surefit.__all__ and not name.endswith("SearchCV") and isinstance(getattr(surefit, name), type)
)
METHODS = ("predict", "predict_proba", "decision_function", "transform", "score_samples")
#: Documented on the migrating page: votes are on the scale of log-odds.
OTHER_SCALE = {("AdaBoostClassifier", "predict_proba"), ("AdaBoostClassifier", "decision_function")}


def sample(classes=0, seed=0, n=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).astype(np.float32).astype(np.float64)  # trees of scikit-learn round to single precision
    codes = np.arange(n) % max(classes, 1)
    X[:, 0] += codes
    X = X.astype(np.float32).astype(np.float64)
    return X, np.array(["a", "b", "c"])[codes] if classes else np.abs(X @ [1.0, 2.0, 0.0, 1.0]) + 0.1


#: Scikit-learn integrates the logistic function by a mixture of error functions, off by up to 1e-3.
LOOSE = {("GaussianProcessClassifier", "predict_proba"): 2e-3}


def assert_same(model, twin, X, methods=METHODS):
    asked = 0
    for name in methods:
        if (type(model).__name__, name) in OTHER_SCALE or not (hasattr(model, name) and hasattr(twin, name)):
            continue
        own, theirs = getattr(model, name)(X), getattr(twin, name)(X)
        asked += 1
        if np.asarray(own).dtype.kind in "US":
            assert np.array_equal(own, theirs)
        else:
            near = LOOSE.get((type(model).__name__, name), 1e-8)
            np.testing.assert_allclose(theirs, own, rtol=near, atol=near)
    assert asked


def is_plain(value):
    return "surefit" not in str(pickle.dumps(value)[:200_000])


@pytest.mark.parametrize("name", [*NAMESAKES, *sorted(OTHER_NAMES)])
@pytest.mark.filterwarnings("ignore")
def test_every_namesake_predicts_the_same(name):
    model = getattr(surefit, name)()
    if "n_estimators" in model.get_params():
        model.set_params(n_estimators=3)
    for classes in (2, 3) if is_classifier(model) else (0,):
        X, y = sample(classes)
        y = np.column_stack([y, y**2]) if name.startswith("MultiTask") else y
        fitted = model.fit(np.abs(X) if name.endswith("NB") else X, y)
        twin = to_sklearn(fitted)
        assert type(twin).__module__.startswith("sklearn.")
        methods = ("kneighbors",) if name == "NearestNeighbors" else METHODS
        if name == "AgglomerativeClustering":  # predicts nothing; its tree is public
            assert np.array_equal(twin.labels_, fitted.labels_) and np.array_equal(twin.children_, fitted.children_)
            continue
        assert_same(fitted, twin, np.abs(X) if name.endswith("NB") else X, methods)
        assert is_plain(twin)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid"])
@pytest.mark.parametrize("packed", [np.asarray, sparse.csr_matrix])
@pytest.mark.filterwarnings("ignore")
def test_support_vector_machines_for_every_kernel_dense_and_sparse(kernel, packed):
    for classes in (2, 3):
        X, y = sample(classes)
        model = surefit.SVC(kernel=kernel, gamma=0.3, coef0=0.5).fit(packed(X), y)
        assert_same(model, to_sklearn(model), packed(X), ("predict", "decision_function"))
    X, y = sample()
    model = surefit.SVR(kernel=kernel, gamma=0.3).fit(packed(X), y)
    assert_same(model, to_sklearn(model), packed(X), ("predict",))


@pytest.mark.parametrize("missing", [False, True])
def test_trees_and_forests_send_rows_to_the_same_leaves(missing):
    X, y = sample(3)
    if missing:
        X[::7, 1] = np.nan
    tree = surefit.DecisionTreeClassifier(max_depth=4).fit(X, y)
    twin = to_sklearn(tree)
    assert np.array_equal(twin.apply(X), tree.apply(X))
    assert (twin.decision_path(X) != tree.decision_path(X)).nnz == 0
    np.testing.assert_allclose(twin.feature_importances_, tree.feature_importances_, atol=1e-12)
    forest = surefit.RandomForestClassifier(4, random_state=0).fit(X, y)
    assert np.array_equal(to_sklearn(forest).apply(X), forest.apply(X))


def test_thresholds_that_are_training_values_send_them_left():
    """0.1 in single precision is larger than 0.1: a twin with the unrounded threshold would send the row right."""
    X = np.array([[0.1], [0.2], [0.3], [0.4]])
    model = surefit.DecisionTreeClassifier(thresholds=[[0.1]]).fit(X, [0, 1, 1, 1])
    assert to_sklearn(model).predict(X).tolist() == [0, 1, 1, 1]


def test_boosting_with_categories_missing_values_and_every_loss():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    X[:, 2] = rng.integers(0, 9, 300)
    X[::11, 0] = np.nan
    y = np.where(np.isin(X[:, 2], (1, 4, 7)), 2.0, 0.5) + 0.1 * np.nan_to_num(X[:, 0]) ** 2
    for loss in ("squared_error", "absolute_error", "poisson", "gamma", "quantile"):
        model = surefit.HistGradientBoostingRegressor(
            loss, quantile=0.3 if loss == "quantile" else None, max_iter=5, categorical_features=[2]
        ).fit(X, y)
        queries = np.vstack(
            [X, [[0.0, 0.0, 30.0], [0.0, 0.0, np.nan]]]
        )  # a category that was not seen, and a missing one
        assert_same(model, to_sklearn(model), queries)


def test_pipelines_searches_and_ensembles_are_converted_with_their_members():
    X, y = sample(2)
    model = make_pipeline(StandardScaler(), surefit.LogisticRegression()).fit(X, y)
    twin = to_sklearn(model)
    assert_same(model, twin, X)
    assert is_plain(twin) and type(model[-1]).__module__.startswith("surefit")
    search = surefit.GridSearchCV(surefit.SVC(), {"C": [1.0, 10.0]}, cv=3).fit(X, y)
    assert_same(search, to_sklearn(search), X, ("predict",))
    columns = ColumnTransformer([("one", OneHotEncoder(), [1]), ("rest", StandardScaler(), [0])])
    rows = np.column_stack([X[:, 0], np.arange(60) % 3])
    mixed = make_pipeline(columns, surefit.LinearSVC()).fit(rows, y)
    assert_same(mixed, to_sklearn(mixed), rows)
    bag = surefit.BaggingClassifier(surefit.LogisticRegression(), 3, max_features=2, random_state=0).fit(X, y)
    assert_same(bag, to_sklearn(bag), X)
    assert to_sklearn(StandardScaler().fit(X)).mean_ is not None


@pytest.mark.filterwarnings("ignore")
def test_processes_with_composed_kernels():
    X, y = sample()
    kernel = 2.0 * gp.RBF(1.5) * gp.Matern(2.0, nu=2.5) + gp.WhiteKernel(0.1) + gp.DotProduct(0.5)
    model = surefit.GaussianProcessRegressor(kernel, optimizer=None, normalize_y=True).fit(X, y)
    twin = to_sklearn(model)
    np.testing.assert_allclose(twin.predict(X, return_std=True), model.predict(X, return_std=True), rtol=1e-6)


def test_neighbors_repeat_rows_as_often_as_their_weights_say():
    X, y = sample(2, n=20)
    weights = np.arange(20) % 3
    model = surefit.KNeighborsClassifier(3).fit(X, y, sample_weight=weights)
    assert_same(model, to_sklearn(model), X)
    with pytest.raises(InvalidData, match="not whole numbers"):
        to_sklearn(surefit.KNeighborsClassifier(3).fit(X, y, sample_weight=weights + 0.5))


def test_what_scikit_learn_cannot_express_is_refused_by_name():
    X, y = sample(3)
    with pytest.raises(InvalidData, match="VotedPerceptron cannot be expressed.*no vote of all"):
        to_sklearn(surefit.VotedPerceptron().fit(X, y == "a"))
    codes = np.column_stack([X[:, 0], np.arange(60) % 4])
    tree = surefit.DecisionTreeClassifier(categorical_features=[1]).fit(codes, codes[:, 1] % 2)
    with pytest.raises(InvalidData, match="categories"):
        to_sklearn(tree)
    with pytest.raises(InvalidData, match="pairs of classes"):
        to_sklearn(surefit.SVC(multi_class="ovr").fit(X, y))
    with pytest.raises(InvalidData, match="no intercept"):
        to_sklearn(surefit.KernelRidge(fit_intercept=True).fit(*sample()))
    with pytest.raises(InvalidData, match="expected a fitted estimator; got an object of type int"):
        to_sklearn(3)
