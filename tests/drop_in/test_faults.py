"""What programs written for scikit-learn rely on, one test per fault that was found by running its examples and tests."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.decomposition
import sklearn.linear_model
import sklearn.model_selection
import sklearn.neighbors
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import HistGradientBoostingRegressor as PeerBoosting
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process.kernels import RBF as PeerRBF
from sklearn.gaussian_process.kernels import ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge as PeerKernelRidge
from sklearn.metrics import make_scorer
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KernelDensity

import surefit
from surefit import (
    SVC,
    BayesianRidge,
    CalibratedClassifierCV,
    CertificateError,
    ElasticNet,
    ElasticNetCV,
    GaussianProcessRegressor,
    GridSearchCV,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    KernelPCA,
    KernelRidge,
    KMeans,
    KNeighborsRegressor,
    Lasso,
    LinearSVC,
    LogisticRegression,
    LogisticRegressionCV,
    MultiTaskElasticNet,
    NearestNeighbors,
    RadiusNeighborsRegressor,
    RandomizedSearchCV,
    Ridge,
    RidgeCV,
    SGDClassifier,
    cross_validate,
    lasso_path,
    learning_curve,
    validation_curve,
)
from surefit.kernels import RBF, Matern

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = (X[:, 0] + 0.3 * RNG.normal(size=60) > 0).astype(int)
R = 2 * X[:, 0] + RNG.normal(size=60)


def test_searches_need_no_target():
    search = GridSearchCV(KMeans(n_init=1, random_state=0), {"n_clusters": [2, 3]}).fit(X)
    assert search.transform(X).shape == (60, search.best_params_["n_clusters"])
    assert search.predict(X).shape == (60,) and search.certificate_.claims[0].kind == "no_claim"
    density = RandomizedSearchCV(KernelDensity(), {"bandwidth": [0.1, 1.0]}, n_iter=2, random_state=0).fit(X)
    peer = sklearn.model_selection.GridSearchCV(KernelDensity(), {"bandwidth": [0.1, 1.0]}).fit(X)
    assert density.best_params_ == peer.best_params_ and np.array_equal(density.score_samples(X), peer.score_samples(X))
    assert density.score(X) == peer.score(X) and not hasattr(density, "predict")


def test_searches_over_precomputed_kernels_and_log_probabilities():
    K = X @ X.T
    search = GridSearchCV(SVC(kernel="precomputed"), {"C": [0.1, 1.0]}).fit(K, Y)
    plain = GridSearchCV(SVC(kernel="linear"), {"C": [0.1, 1.0]}).fit(X, Y)
    assert search.best_score_ == plain.best_score_ and "columns of X are its rows" in search.unclaimed_
    logistic = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}).fit(X, Y)
    assert np.allclose(np.exp(logistic.predict_log_proba(X)), logistic.predict_proba(X))


def test_several_scores_are_a_dict_of_scorers():
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9]}, scoring=["accuracy", "roc_auc"], refit="roc_auc")
    search.fit(X, Y)
    assert set(search.scorer_) == {"accuracy", "roc_auc"}
    assert search.score(X, Y) == search.scorer_["roc_auc"](search, X, Y)


def test_a_failed_candidate_has_the_score_nan_as_in_scikit_learn():
    with pytest.warns(Warning, match="fits failed"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="One or more of the test scores")
        search = GridSearchCV(LogisticRegression(), {"C": [-1.0, 1.0]}).fit(X, Y)
    assert np.isnan(search.cv_results_["mean_test_score"][0]) and search.best_params_ == {"C": 1.0}
    with pytest.raises(ValueError, match="C must be"):
        GridSearchCV(LogisticRegression(), {"C": [-1.0, 1.0]}, error_score="raise").fit(X, Y)


@pytest.mark.parametrize(
    ("model", "y", "options"),
    [
        (sklearn.linear_model.Ridge(), R, {}),
        (GaussianNB(), Y, {"cv": 4, "return_train_score": True}),
        (GaussianNB(), Y, {"scoring": ["accuracy", "roc_auc"], "return_indices": True}),
        (sklearn.linear_model.Ridge(), np.c_[R, -R], {"scoring": "r2", "cv": KFold(3)}),
        (KernelDensity(), None, {}),
        (GaussianNB(), Y, {"cv": ShuffleSplit(3, random_state=0)}),
    ],
)
def test_cross_validation_returns_the_keys_and_scores_of_scikit_learn(model, y, options):
    ours = cross_validate(model, X, y, **options)
    peer = sklearn.model_selection.cross_validate(model, X, y, **options)
    assert set(ours) == set(peer) and repr(ours)
    for key in peer:
        if "score" in key.replace("score_time", "") or key.startswith(("test_", "train_")):
            assert np.array_equal(ours[key], peer[key])


def test_curves_unpack_as_in_scikit_learn():
    sizes, train, test, fit_times, _ = learning_curve(
        GaussianNB(), X, Y, cv=3, shuffle=True, random_state=1, return_times=True, train_sizes=[0.4, 1.0]
    )
    peer = sklearn.model_selection.learning_curve(
        GaussianNB(), X, Y, cv=3, shuffle=True, random_state=1, train_sizes=[0.4, 1.0]
    )
    assert np.array_equal(sizes, peer[0]) and fit_times.shape == (2, 3)
    assert np.array_equal(train, peer[1]) and np.array_equal(test, peer[2])
    options = {"param_name": "alpha", "param_range": [100.0, 1.0], "cv": 3}
    curve = validation_curve(sklearn.linear_model.Ridge(), X, R, **options)
    peer = sklearn.model_selection.validation_curve(sklearn.linear_model.Ridge(), X, R, **options)
    for ours, wanted in zip(curve, peer, strict=True):
        assert np.array_equal(ours, wanted)
    assert len(curve.verdicts) == 2


def test_strings_of_numpy_are_strings():
    assert LinearSVC(loss=np.str_("hinge")).fit(X, Y).score(X, Y) == LinearSVC(loss="hinge").fit(X, Y).score(X, Y)
    with pytest.raises(ValueError, match="loss"):
        LinearSVC(loss=np.str_("other")).fit(X, Y)


@pytest.mark.parametrize("kind", [RBF, Matern])
def test_one_length_scale_in_a_list_serves_all_columns(kind):
    K, gradients = kind(2.0).gram_and_gradient(X)
    listed, listed_gradients = kind([2.0]).gram_and_gradient(X)
    assert np.allclose(K, listed) and len(listed_gradients) == 1
    assert np.allclose(gradients[0], listed_gradients[0])


def test_fitted_kernels_have_the_attributes_of_scikit_learn():
    kernel = ConstantKernel(2.0) * PeerRBF(1.5) + WhiteKernel(0.5)
    fitted = GaussianProcessRegressor(kernel=kernel, optimizer=None).fit(X, R).kernel_
    assert (fitted.k1.k1.constant_value, fitted.k1.k2.length_scale, fitted.k2.noise_level) == (2.0, 1.5, 0.5)
    assert np.allclose(fitted.theta, kernel.theta) and np.allclose(fitted.bounds, kernel.bounds)
    assert fitted.k2.noise_level_bounds == (1e-5, 1e5) and fitted.k1.k1.constant_value_bounds == (1e-5, 1e5)


def test_boosting_takes_infinities_and_gives_no_warning_about_names():
    Z = X.copy()
    Z[0, 0], Z[1, 0] = np.inf, -np.inf
    options = {"max_iter": 3, "min_samples_leaf": 1, "max_depth": 2}
    ours, peer = (kind(**options).fit(Z, R) for kind in (HistGradientBoostingRegressor, PeerBoosting))
    assert np.allclose(ours.predict(Z), peer.predict(Z)) and ours.verify(Z, R)
    frame = pd.DataFrame(X, columns=list("abcd"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = HistGradientBoostingClassifier(max_iter=3, early_stopping=True, scoring="accuracy").fit(frame, Y)
        assert model.predict(frame).shape == (60,)


@pytest.mark.parametrize("missing", [False, True])
def test_unknown_categories_are_missing_values_as_in_scikit_learn(missing):
    rng = np.random.default_rng(1)  # without ties: unknown categories follow the majority
    c = rng.integers(0, 4, 201).astype(float)
    if missing:
        c[::7] = np.nan
    y = np.where(np.isnan(c), 10.0, c) + 0.1 * rng.normal(size=201)
    asked = np.array([[9.0], [np.nan], [0.0]])
    models = (kind(max_iter=20, categorical_features=[0]) for kind in (HistGradientBoostingRegressor, PeerBoosting))
    ours, peer = (model.fit(c[:, None], y).predict(asked) for model in models)
    assert np.allclose(ours, peer) and ours[0] == ours[1]


def test_left_out_rows_take_their_fractional_weights_along():
    Z, t, w = RNG.normal(size=(20, 50)), RNG.normal(size=20), RNG.random(20) + 0.5
    model = RidgeCV(alphas=[0.1, 10.0], store_cv_results=True).fit(Z, t, sample_weight=w)
    for a, alpha in enumerate((0.1, 10.0)):
        for i in range(3):
            rest = np.arange(20) != i
            left = sklearn.linear_model.Ridge(alpha=alpha).fit(Z[rest], t[rest], sample_weight=w[rest])
            assert model.cv_results_[i, a] == pytest.approx((t[i] - left.predict(Z[[i]])[0]) ** 2, rel=1e-6)
    tiny = RidgeCV(alphas=[1e-5], store_cv_results=True).fit(Z, t, sample_weight=w)  # centered rows are singular
    left = sklearn.linear_model.Ridge(alpha=1e-5, solver="svd").fit(Z[1:], t[1:], sample_weight=w[1:])
    assert tiny.cv_results_[0, 0] == pytest.approx((t[0] - left.predict(Z[:1])[0]) ** 2, rel=1e-6)


def test_a_scorer_of_several_targets_sees_them_together():
    def largest_error(y, predicted):
        return float(np.max(np.abs(y - predicted)))

    several = np.c_[R, 5 * X[:, 1] - R]
    scoring = make_scorer(largest_error, greater_is_better=False)
    for cv in (None, 3):
        options = {"alphas": [0.01, 1.0, 100.0], "scoring": scoring, "cv": cv}
        ours, peer = (kind(**options).fit(X, several) for kind in (RidgeCV, sklearn.linear_model.RidgeCV))
        assert ours.alpha_ == peer.alpha_ and ours.best_score_ == pytest.approx(peer.best_score_, rel=1e-6)
    zero = RidgeCV(alphas=[0.0, 1e4], cv=3).fit(X, R)
    assert zero.alpha_ == 0 and zero.verify(X, R)
    with pytest.raises(ValueError, match="alphas must be finite numbers > 0"):
        RidgeCV(alphas=[0.0]).fit(X, R)


@pytest.mark.parametrize("name", ["BayesianRidge", "ElasticNet", "HuberRegressor", "LinearRegression", "RidgeCV"])
@pytest.mark.parametrize("free", [True, False])
def test_intercepts_are_of_the_type_of_scikit_learns(name, free):
    mine, theirs = (getattr(owner, name)(fit_intercept=free).fit(X, R) for owner in (surefit, sklearn.linear_model))
    assert type(mine.intercept_) is type(theirs.intercept_)


def test_a_ridge_below_rounding_interpolates_wide_sparse_rows():
    Z = sparse.random_array((20, 200), density=0.2, rng=np.random.default_rng(1)).tocsr()
    t = np.random.default_rng(2).normal(size=20)
    model = Ridge(alpha=1e-16).fit(Z, t)
    least = np.linalg.pinv(Z.toarray() - Z.toarray().mean(axis=0)) @ (t - t.mean())
    assert np.allclose(model.predict(Z), t) and np.allclose(model.coef_, least)


def test_kernel_pca_copies_the_rows_unless_told_otherwise():
    Z = X.copy()
    model = KernelPCA(2, kernel="rbf").fit(Z)
    wanted = model.transform(X)
    Z[:] = 0
    assert np.array_equal(model.transform(X), wanted)
    assert np.shares_memory(KernelPCA(2, copy_X=False).fit(Z).X_fit_, Z)


def test_a_fold_may_lack_a_class_and_paths_are_kept():
    y = np.repeat([0, 1, 2], 20)
    Z = X + 3 * np.eye(3, 4)[y]
    model = LogisticRegressionCV(Cs=[0.1, 1.0], cv=KFold(3)).fit(Z, y)
    assert model.scores_.shape == (3, 1, 2) and np.all(model.scores_ == 0)  # a fold's own class was never seen
    assert model.coefs_paths_.shape == (3, 1, 2, 3, 5)
    folds = LogisticRegressionCV(Cs=[1.0], cv=KFold(3, shuffle=True, random_state=0)).fit(Z, y)
    train = next(iter(KFold(3, shuffle=True, random_state=0).split(Z)))[0]
    alone = LogisticRegression(C=1.0).fit(Z[train], y[train])
    assert np.allclose(folds.coefs_paths_[0, 0, 0, :, :4], alone.coef_, atol=1e-3)
    two = LogisticRegressionCV(Cs=[1.0], cv=3, fit_intercept=False).fit(X, Y)
    assert two.coefs_paths_.shape == (3, 1, 1, 1, 4)


def test_coefficients_are_means_over_the_folds_without_refit():
    options = {"Cs": [0.1, 1.0], "cv": 3, "l1_ratios": (0.0,), "scoring": "neg_log_loss", "refit": False}
    ours = LogisticRegressionCV(**options).fit(X, Y)
    peer = sklearn.linear_model.LogisticRegressionCV(**options, use_legacy_attributes=False).fit(X, Y)
    assert np.allclose(ours.coef_, peer.coef_, atol=1e-2) and ours.C_ == pytest.approx(peer.C_)
    assert [claim.kind for claim in ours.certificate_.claims] == ["no_claim", "no_claim"] and ours.verify(X, Y)
    assert ours.dual_gap_ == np.inf


def test_the_score_of_a_cross_validated_fit_is_that_of_scoring():
    options = {"Cs": [1.0], "cv": 3, "l1_ratios": (0.0,)}
    for scoring in ("neg_log_loss", "neg_brier_score", "roc_auc", None):
        ours = LogisticRegressionCV(**options, scoring=scoring).fit(X, Y).score(X, Y)
        peer = sklearn.linear_model.LogisticRegressionCV(**options, scoring=scoring, use_legacy_attributes=False)
        assert ours == pytest.approx(peer.fit(X, Y).score(X, Y), abs=1e-4)
    ordered = LogisticRegressionCV(Cs=[1.0], cv=KFold(3), scoring="neg_log_loss").fit(X, np.repeat([0, 1, 2], 20))
    assert ordered.scores_.shape == (3, 1, 1)  # every fold lacks a class


def test_paths_of_several_targets_are_those_of_scikit_learn():
    several = np.c_[R, X[:, 1] - R]
    for ours, peer in (
        (lasso_path(X, several, alphas=5), sklearn.linear_model.lasso_path(X, several, alphas=5)),
        (
            MultiTaskElasticNet.path(X, several, alphas=[0.1, 0.5], l1_ratio=0.5),
            sklearn.linear_model.enet_path(X, several, alphas=[0.1, 0.5], l1_ratio=0.5),
        ),
    ):
        assert np.allclose(ours[0], peer[0]) and np.allclose(ours[1], peer[1], atol=1e-3) and np.all(ours[2] >= 0)
    with pytest.raises(ValueError, match="positive"):
        lasso_path(X, several, positive=True)


def test_given_weights_are_listed_once_for_all_shares():
    options = {"alphas": [0.01, 0.1], "l1_ratio": [0.5, 0.9], "cv": 3}
    ours, peer = (kind(**options).fit(X, R) for kind in (ElasticNetCV, sklearn.linear_model.ElasticNetCV))
    assert np.array_equal(ours.alphas_, peer.alphas_) and ours.mse_path_.shape == peer.mse_path_.shape


@pytest.mark.parametrize(
    ("ours", "peer"),
    [
        (Ridge, sklearn.linear_model.Ridge),
        (RidgeCV, sklearn.linear_model.RidgeCV),
        (Lasso, sklearn.linear_model.Lasso),
        (ElasticNet, sklearn.linear_model.ElasticNet),
        (KNeighborsRegressor, sklearn.neighbors.KNeighborsRegressor),
        (RadiusNeighborsRegressor, sklearn.neighbors.RadiusNeighborsRegressor),
    ],
)
def test_predictions_of_a_column_have_the_shape_of_scikit_learns(ours, peer):
    options = {"store_cv_results": True} if ours is RidgeCV else {}
    mine, theirs = (kind(**options).fit(X, R[:, None]) for kind in (ours, peer))
    assert mine.predict(X).shape == theirs.predict(X).shape
    assert np.allclose(mine.predict(X), theirs.predict(X), atol=1e-3)
    for name in {"coef_", "intercept_", "cv_results_"} & set(vars(theirs)):
        assert np.shape(getattr(mine, name)) == np.shape(getattr(theirs, name))
    assert mine.verify(X, R[:, None])


def test_neighbors_answer_sparse_queries_and_one_radius_per_query():
    model = KNeighborsRegressor(3, algorithm="kd_tree").fit(X, R)
    assert np.array_equal(model.predict(sparse.csr_array(X)), model.predict(X))
    ours, peer = NearestNeighbors().fit(X), sklearn.neighbors.NearestNeighbors().fit(X)
    for radius in (np.linspace(0.1, 2.0, 60), np.inf):
        found = (model.radius_neighbors(X, radius, return_distance=False) for model in (ours, peer))
        assert all(np.array_equal(a, np.sort(b)) for a, b in zip(*found, strict=True))
    with pytest.raises(ValueError, match="one per row"):
        ours.radius_neighbors(X, [1.0, 2.0])
    graph = ours.radius_neighbors_graph(X, radius=2.0, mode="distance", sort_results=True)
    assert all(np.all(np.diff(graph.data[a:b]) >= 0) for a, b in zip(graph.indptr, graph.indptr[1:], strict=False))
    assert np.allclose(graph.toarray(), peer.radius_neighbors_graph(X, radius=2.0, mode="distance").toarray())


@pytest.mark.parametrize(
    ("model", "first"),
    [
        (LogisticRegression(verbose=1), "LogisticRegression: pass "),
        (SVC(verbose=True), "SVC: pass "),
        (KMeans(2, random_state=0, verbose=1), "KMeans: pass "),
        (SGDClassifier(verbose=1), "SGDClassifier: pass "),
        (BayesianRidge(verbose=True), "BayesianRidge: pass 1, largest derivative "),
        (HistGradientBoostingClassifier(max_iter=2, verbose=1), "HistGradientBoostingClassifier: round 1, loss"),
    ],
    ids=lambda value: "",
)
def test_verbose_prints_the_progress_of_a_fit(model, first, capsys):
    model.fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert lines and lines[0].startswith(first) and len(set(lines)) == len(lines)
    model.set_params(verbose=0).fit(X, Y)
    assert capsys.readouterr().out == ""


def test_kernels_derived_from_scikit_learns_constant_take_numbers():
    class Own(ConstantKernel):
        def diag(self, X):
            return super().diag(X).copy()

    X, y = np.linspace(0, 1, 12)[:, None], np.linspace(1, 2, 12)
    model = GaussianProcessRegressor(Own(), alpha=0.1).fit(X, y)
    assert model.predict(X) == pytest.approx(np.full(12, 1.5), abs=0.1)


def test_a_kernel_may_be_a_function_of_two_rows_or_the_cosine():
    def smaller(a, b):
        return float(np.minimum(np.abs(a), np.abs(b)).sum())

    for kernel in (smaller, "cosine"):
        ours, peer = (kind(kernel=kernel, alpha=0.1).fit(X, R) for kind in (KernelRidge, PeerKernelRidge))
        assert np.allclose(ours.predict(X), peer.predict(X)) and ours.verify(X, R)


def test_an_indefinite_kernel_has_no_components_with_negative_variance():
    K = X[:, :2] @ X[:, :2].T - 2 * X[:, 2:] @ X[:, 2:].T
    for kind in (KernelPCA, sklearn.decomposition.KernelPCA):
        with pytest.raises(ValueError, match="significant negative eigenvalues"):
            kind(60, kernel="precomputed").fit(K)
        assert kind(2, kernel="precomputed").fit(K).eigenvalues_.shape == (2,)
        with pytest.raises(NotFittedError):
            kind(2).fit(X).inverse_transform(X[:, :2])


def test_a_search_passes_the_target_on_as_it_is_and_claims_nothing_about_odd_predictions():
    class Odd(GaussianNB):
        def fit(self, X, y):
            assert isinstance(y, pd.Series)
            return super().fit(X, y)

        def predict(self, X):
            return len(X)

        def score(self, X, y=None):
            return self.var_smoothing

    search = GridSearchCV(Odd(), {"var_smoothing": [1e-9, 1e-3]}, cv=3).fit(X, pd.Series(Y))
    assert search.best_params_ == {"var_smoothing": 1e-3} and "one label per row" in search.unclaimed_
    with pytest.raises(AttributeError) as caught:
        search.score_samples(X)
    assert isinstance(caught.value.__cause__, AttributeError)


class Mean(ClassifierMixin, BaseEstimator):
    """Classifier of images by their mean."""

    def __init__(self, threshold=0.0):
        self.threshold = threshold

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        assert X.ndim == 4
        return X.mean(axis=(1, 2, 3)) - self.threshold

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


@pytest.mark.parametrize(
    "model", [CalibratedClassifierCV(Mean(), cv=3), GridSearchCV(Mean(), {"threshold": [0.0, 1.0]}, cv=3)], ids=str
)
def test_arrays_of_more_than_two_dimensions_go_to_the_classifier_unchanged(model):
    X = np.random.default_rng(0).normal(size=(60, 3, 2, 2))
    y = (X.mean(axis=(1, 2, 3)) + 0.1 * np.random.default_rng(1).normal(size=60) > 0).astype(int)
    model = clone(model).fit(X, y)
    assert model.score(X, y) > 0.7
    model.certificate_.verify(X, y)
    with pytest.raises(CertificateError):
        model.certificate_.verify(X + 1.0, y)


@pytest.mark.filterwarnings("ignore::surefit.DataWarning")  # two rows fit exactly
def test_ransac_knows_the_linear_regression():
    X = np.arange(30.0)[:, None]
    y = 2.0 * X[:, 0] + 1.0
    y[:5] += 100.0
    found = sklearn.linear_model.RANSACRegressor(surefit.LinearRegression(), random_state=0).fit(X, y)
    assert isinstance(found.estimator_, surefit.LinearRegression)
    assert found.estimator_.coef_ == pytest.approx([2.0]) and not found.inlier_mask_[:5].any()


def test_the_number_of_targets_of_a_process_is_checked():
    X = np.random.default_rng(0).normal(size=(10, 2))
    with pytest.raises(
        surefit.InvalidParameter, match=r"n_targets must be the number of columns of y, 2, or None; got 1\."
    ):
        GaussianProcessRegressor(n_targets=1).fit(X, X)
    assert GaussianProcessRegressor(n_targets=2).fit(X, X).predict(X).shape == (10, 2)


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.lil_matrix, sparse.csc_array])
def test_a_kernel_function_is_fitted_to_sparse_rows(form):
    X = np.random.default_rng(0).normal(size=(20, 3)) * (np.arange(60).reshape(20, 3) % 4 > 0)
    y = np.where(X[:, 0] + X[:, 1] > 0, "a", "b")
    for model, target in ((SVC, y), (surefit.NuSVC, y), (surefit.SVR, X[:, 0])):
        own = model(kernel=lambda a, b: a @ b.T).fit(form(X), target)
        named, scores = model(kernel="linear").fit(X, target), "decision_function" if target is y else "predict"
        np.testing.assert_allclose(getattr(own, scores)(form(X)), getattr(named, scores)(X), atol=1e-3)
        own.verify(form(X), target)
        own.support_vectors_ = own.support_vectors_ + 1.0
        with pytest.raises(CertificateError):
            own.verify(form(X), target)
