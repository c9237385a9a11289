"""Models of scikit-learn: what is stated verifies strictly, on another target nothing holds, and stronger claims are refused."""

import warnings

import numpy as np
import pytest
from sklearn import (
    cluster,
    decomposition,
    ensemble,
    gaussian_process,
    kernel_ridge,
    linear_model,
    mixture,
    naive_bayes,
    neighbors,
    neural_network,
    svm,
    tree,
)
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from tests.forging import accepted_forgeries

from surefit import Certificate, CertificateError, certify

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
Y = X @ [1.0, -2.0] + 0.3 * RNG.normal(size=40)
LABELS = (Y > 0).astype(int)

CLASSIFIERS = [
    linear_model.LogisticRegression(), linear_model.RidgeClassifier(), linear_model.SGDClassifier(random_state=0),
    svm.LinearSVC(), svm.SVC(gamma=0.5), LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis(),
    naive_bayes.GaussianNB(), neighbors.KNeighborsClassifier(3), tree.DecisionTreeClassifier(max_depth=2),
    ensemble.RandomForestClassifier(4, random_state=0), ensemble.AdaBoostClassifier(n_estimators=3, random_state=0),
    ensemble.HistGradientBoostingClassifier(max_iter=3), gaussian_process.GaussianProcessClassifier(optimizer=None),
    neural_network.MLPClassifier(hidden_layer_sizes=(3,), max_iter=20, random_state=0),
]  # fmt: skip
REGRESSORS = [
    linear_model.Ridge(), linear_model.RidgeCV(), linear_model.LassoCV(alphas=5), linear_model.HuberRegressor(),
    linear_model.QuantileRegressor(alpha=0.01), svm.SVR(), kernel_ridge.KernelRidge(kernel="rbf"),
    gaussian_process.GaussianProcessRegressor(alpha=0.1, optimizer=None), neighbors.KNeighborsRegressor(3),
    tree.DecisionTreeRegressor(max_depth=2), ensemble.RandomForestRegressor(4, random_state=0),
    ensemble.GradientBoostingRegressor(n_estimators=3), neural_network.MLPRegressor(hidden_layer_sizes=(3,), max_iter=20, random_state=0),
]  # fmt: skip
OTHERS = [cluster.KMeans(2, n_init=1, random_state=0), mixture.GaussianMixture(2, random_state=0), decomposition.PCA(1)]
CASES = [(m, LABELS) for m in CLASSIFIERS] + [(m, Y) for m in REGRESSORS] + [(m, None) for m in OTHERS]


def audited(model, y, other=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X) if y is None else model.fit(X, y)
        return certify(model, X, y if other is None else other)


@pytest.mark.parametrize(("model", "y"), CASES, ids=lambda v: type(v).__name__ if hasattr(v, "fit") else "")
def test_what_is_stated_is_proved_and_nothing_stronger(model, y):
    certificate = audited(model, y)
    for finding, claim in zip(certificate.verify(X, y).findings, certificate.claims, strict=True):
        if claim.entry.side == "upper":
            assert finding.proved <= finding.claimed, finding
    Certificate.from_json(certificate.to_json()).verify(X, y)
    assert accepted_forgeries(certificate, X, y, but=("model", "problem")) == []


@pytest.mark.parametrize("model", [tree.DecisionTreeRegressor(max_depth=2),
                                   tree.DecisionTreeRegressor(criterion="absolute_error", max_depth=2),
                                   tree.DecisionTreeClassifier(max_depth=2), ensemble.RandomForestRegressor(3, random_state=0)],
                         ids=str)  # fmt: skip
def test_a_tree_of_another_target_does_not_hold(model):
    y = LABELS if hasattr(model, "predict_proba") else Y
    assert audited(model, y).holds is True
    certificate = audited(model, y, (1 - y) if y is LABELS else -y)
    assert certificate.holds is False
    certificate.verify(X, (1 - y) if y is LABELS else -y)


def test_separable_classes_have_labels_of_a_limit():
    rows, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    claim = certify(linear_model.LogisticRegression(C=np.inf).fit(rows, y), rows, y)["audit.labels"]
    assert claim.value == 0 and "limit where coefficients diverge" in claim.statement


def test_a_cyclic_tree_is_refused():
    model = ensemble.RandomForestRegressor(2, random_state=0)
    certificate = audited(model, Y)
    claim = certificate.claims[0]
    left = claim.witness["model.tree_left_"].copy()
    left[0] = 0  # the root is its own child
    forged = Certificate.from_json(certificate.to_json())
    object.__setattr__(forged.claims[0], "witness", {**claim.witness, "model.tree_left_": left})
    with pytest.raises(CertificateError):
        Certificate(**{**{f: getattr(forged, f) for f in forged.__dataclass_fields__}, "seal": ""}).verify(X, Y)
