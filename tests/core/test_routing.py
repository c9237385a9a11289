"""Metadata routing: metadata reach the estimator, the scorer and the splitter that request them, as in scikit-learn."""

import numpy as np
import pytest
import sklearn.ensemble
import sklearn.linear_model
import sklearn.model_selection
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GroupKFold
from sklearn.utils.metadata_routing import MetadataRouter

import surefit
from surefit import InvalidData

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(60, 3))
LABELS = (X[:, 0] + RANDOM.normal(size=60) > 0).astype(int)
TARGET = X @ [1.0, 0.5, 0.0] + RANDOM.normal(size=60)
GROUPS, WEIGHTS = np.repeat(np.arange(6), 10), RANDOM.integers(1, 4, size=60).astype(float)
FOLDS = GroupKFold(3)


@pytest.fixture(autouse=True)
def routing():
    with config_context(enable_metadata_routing=True):
        yield


def accuracy(weighted):
    return make_scorer(accuracy_score).set_score_request(sample_weight=weighted)


class Recorder(ClassifierMixin, BaseEstimator):
    """A classifier that keeps the metadata of its methods."""

    def fit(self, X, y, mark=None):
        self.classes_, self.fitted_ = np.unique(y), (X[:, 0].copy(), mark)
        return self

    def predict_proba(self, X, mark=None):
        self.asked_ = mark
        return np.tile([0.25, 0.75], (len(X), 1))

    def predict_log_proba(self, X, mark=None):
        self.asked_ = mark
        return np.log(np.tile([0.25, 0.75], (len(X), 1)))

    def predict(self, X, mark=None):
        return np.ones(len(X))


@pytest.mark.parametrize("name", ["LassoCV", "ElasticNetCV"])
def test_groups_reach_the_splitter_of_a_path(name):
    ours, peer = (getattr(library, name)(cv=FOLDS, alphas=5) for library in (surefit, sklearn.linear_model))
    ours.fit(X, TARGET, groups=GROUPS)
    peer.set_params(tol=1e-12).fit(X, TARGET, groups=GROUPS)
    np.testing.assert_allclose(ours.mse_path_, peer.mse_path_, rtol=1e-4)
    assert isinstance(ours.get_metadata_routing(), MetadataRouter)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("cv", [None, FOLDS])
def test_ridge_passes_weights_to_a_scorer_that_requests_them(weighted, cv):
    scorer = make_scorer(lambda y, p, sample_weight=None: -np.average((y - p) ** 2, weights=sample_weight))
    scorer.set_score_request(sample_weight=weighted)
    given = {"sample_weight": WEIGHTS} | ({} if cv is None else {"groups": GROUPS})
    model = surefit.RidgeCV([1.0], scoring=scorer, cv=cv).fit(X, TARGET, **given)
    other = surefit.RidgeCV([1.0], scoring=scorer.set_score_request(sample_weight=not weighted), cv=cv)
    assert model.best_score_ != other.fit(X, TARGET, **given).best_score_
    if cv is not None:
        peer = sklearn.linear_model.RidgeCV([1.0], scoring=scorer.set_score_request(sample_weight=weighted), cv=cv)
        assert model.best_score_ == pytest.approx(peer.fit(X, TARGET, **given).best_score_)


def test_logistic_regression_routes_groups_and_weights():
    model = surefit.LogisticRegressionCV(Cs=[0.1, 1.0], cv=FOLDS, scoring=accuracy(True))
    model.fit(X, LABELS, sample_weight=WEIGHTS, groups=GROUPS)
    test = next(test for _, test in FOLDS.split(X, LABELS, GROUPS))
    rest = np.setdiff1d(np.arange(60), test)
    part = surefit.LogisticRegression(C=0.1).fit(X[rest], LABELS[rest], WEIGHTS[rest])
    score = accuracy_score(LABELS[test], part.predict(X[test]), sample_weight=WEIGHTS[test])
    assert model.scores_[0, 0, 0] == pytest.approx(score)
    expected = accuracy_score(LABELS, model.predict(X), sample_weight=WEIGHTS)
    assert model.score(X, LABELS, sample_weight=WEIGHTS) == pytest.approx(expected)


@pytest.mark.parametrize("weighted", [True, False])
def test_searches_route_as_those_of_scikit_learn(weighted):
    found = []
    for library in (surefit, sklearn.model_selection):
        base = surefit.LogisticRegression().set_fit_request(sample_weight=True)
        search = library.GridSearchCV(base, {"C": [0.1, 1.0]}, cv=FOLDS, scoring=accuracy(weighted))
        search.fit(X, LABELS, sample_weight=WEIGHTS, groups=GROUPS)
        given = {"sample_weight": WEIGHTS} if weighted else {}
        found.append((search.cv_results_["mean_test_score"], search.score(X, LABELS, **given)))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    assert found[0][1] == found[1][1]


def test_a_search_claims_the_risk_of_models_that_were_fitted_with_their_metadata():
    base = surefit.LogisticRegression().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
    search = surefit.GridSearchCV(base, {"C": [0.1, 1.0]}, cv=GroupKFold(3, shuffle=True, random_state=0))
    search.fit(X, LABELS, sample_weight=WEIGHTS, groups=GROUPS)
    assert all(check.ok for check in search.verify(X, LABELS))
    train = search.splits_[0][0]
    expected = surefit.LogisticRegression(**search.best_params_).fit(X[train], LABELS[train], WEIGHTS[train])
    np.testing.assert_array_equal(search.fold_models_[0].coef_, expected.coef_)


def test_metadata_without_a_request_raise_the_error_of_scikit_learn():
    search = surefit.GridSearchCV(surefit.LogisticRegression(), {"C": [1.0]})
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        search.fit(X, LABELS, sample_weight=WEIGHTS)


def test_bagging_gives_members_the_metadata_of_their_rows():
    base = Recorder().set_fit_request(mark=True).set_predict_proba_request(mark=True)
    model = surefit.BaggingClassifier(base.set_predict_log_proba_request(mark=True), n_estimators=3, random_state=0)
    model.fit(X, LABELS, mark=X[:, 0])
    assert all(np.array_equal(*member.fitted_) for member in model.estimators_)
    assert not np.array_equal(model.estimators_[0].fitted_[1], X[:, 0])  # drawn rows
    np.testing.assert_allclose(model.predict_proba(X, mark="a")[0], [0.25, 0.75])
    np.testing.assert_allclose(model.predict_log_proba(X, mark="b")[0], np.log([0.25, 0.75]))
    assert model.estimators_[0].asked_ == "b"
    assert model.predict(X, mark="c")[0] == 1
    assert {member.asked_ for member in model.estimators_} == {"c"}


def test_members_get_weights_only_if_they_request_them():
    trees = [surefit.DecisionTreeClassifier(random_state=0) for _ in range(2)]
    trees[1].set_fit_request(sample_weight=True)
    repeated, weighted = (
        surefit.BaggingClassifier(tree, n_estimators=3, random_state=0).fit(X, LABELS) for tree in trees
    )
    np.testing.assert_array_equal(repeated.predict_proba(X), weighted.predict_proba(X))


@pytest.mark.parametrize(
    ("model", "method"),
    [
        (surefit.LassoCV(alphas=3), "fit"),
        (surefit.RidgeCV(), "fit"),
        (surefit.LogisticRegressionCV(Cs=1), "fit"),
        (surefit.LogisticRegressionCV(Cs=1), "score"),
        (surefit.GridSearchCV(), "score"),
        (surefit.BaggingClassifier(n_estimators=2), "fit"),
        (surefit.BaggingClassifier(n_estimators=2), "predict_proba"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_without_routing_unknown_metadata_are_refused(model, method):
    with config_context(enable_metadata_routing=False):
        if method != "fit":
            model = model.fit(X, LABELS)
        given = (X,) if method == "predict_proba" else (X, LABELS)
        with pytest.raises(InvalidData, match="mark to .* is only supported if enable_metadata_routing=True"):
            getattr(model, method)(*given, mark=GROUPS)
