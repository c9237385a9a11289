"""Clusters, mixtures, directions, kernel ridge, Gaussian processes and trees of scikit-learn, by hand and by a second route."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.decomposition import PCA, IncrementalPCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from surefit import CertificateError, Invalidated, InvalidData, InvalidParameter, certify

IRIS, SPECIES = load_iris(return_X_y=True)
DIABETES, PROGRESS = load_diabetes(return_X_y=True)


def fitted(model, X, y=None, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, **options) if y is None else model.fit(X, y, **options)


def halved(certificate):
    """The same certificate with half of its first number claimed."""
    first = certificate.claims[0]
    return replace(certificate, claims=(replace(first, value=0.5 * first.value), *certificate.claims[1:]), seal="")


# --- clusters -------------------------------------------------------------------------------------------------------------


def test_four_numbers_by_hand():
    """0, 1 | 10, 11 has the inertia 1; 0 | 1, 10, 11 has 182/3, which is 179/3 more than the best."""
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    model = KMeans(2, n_init=5, random_state=0).fit(X)
    assert certify(model, X)["audit.k_means.gap"].value == pytest.approx(0.0, abs=1e-9)
    model.cluster_centers_, model.labels_ = np.array([[0.0], [22.0 / 3]]), np.array([0, 1, 1, 1], dtype=np.int32)
    certificate = certify(model, X)
    assert certificate["audit.k_means.gap"].value == pytest.approx(179 / 3)
    assert certificate["audit.k_means.nearest"].holds is False
    assert certificate["audit.k_means.nearest"].value == pytest.approx((22 / 3 - 1) ** 2 - 1)
    certificate.verify(X)
    with pytest.raises(CertificateError, match="k_means.gap"):
        halved(certificate).verify(X)
    model.labels_ = np.array([0, 0, 1, 1], dtype=np.int32)
    with pytest.raises(Invalidated, match="labels_"):
        certificate.verify(X)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_early_clusters_are_told_that_centers_are_no_means(kind):
    X, weights = kind(IRIS), np.random.default_rng(0).random(len(IRIS))
    early = fitted(KMeans(3, max_iter=1, n_init=1, random_state=0), X, sample_weight=weights)
    done = fitted(KMeans(3, tol=0.0, random_state=0, n_init=1), X, sample_weight=weights)
    assert certify(early, X, sample_weight=weights)["audit.k_means.means"].holds is False
    certificate = certify(done, X, sample_weight=weights)
    assert certificate.holds
    assert certificate["audit.k_means.gap"].numbers["lower_bound"] <= done.inertia_
    certificate.verify(X, sample_weight=weights)
    means = [weights[done.labels_ == k] @ IRIS[done.labels_ == k] / weights[done.labels_ == k].sum() for k in range(3)]
    np.testing.assert_allclose(done.cluster_centers_, means, atol=1e-9)


def test_small_batches_and_pipelines():
    certificate = certify(MiniBatchKMeans(3, random_state=0, n_init=1).fit(IRIS), IRIS)
    assert certificate.holds is False
    certificate.verify(IRIS)
    whole = make_pipeline(StandardScaler(), KMeans(3, random_state=0, n_init=1)).fit(IRIS)
    certify(whole, IRIS).verify(IRIS)
    with pytest.raises(InvalidData, match="labeled 150 rows"):
        certify(KMeans(3, n_init=1).fit(IRIS), IRIS[:50])


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_a_mixture_is_told_what_one_more_step_brings(kind):
    model = fitted(
        GaussianMixture(3, covariance_type=kind, max_iter=2, tol=1e-12, random_state=0, warm_start=True), IRIS
    )
    before, certificate = model.score(IRIS), certify(model, IRIS)
    assert certificate.holds is False
    assert certificate["audit.mixture.likelihood"].value == pytest.approx(-before)
    certificate.verify(IRIS)
    model.max_iter = 1
    after = fitted(model, IRIS).score(IRIS)
    assert certificate["audit.mixture.step"].value == pytest.approx(after - before, rel=1e-4)
    model.covariances_ = model.covariances_ * 1.1
    assert certify(model, IRIS)["audit.mixture.factors"].value > 0.1  # factors of other covariances
    assert certificate["audit.mixture.factors"].value < 1e-9


# --- directions -----------------------------------------------------------------------------------------------------------


def test_directions_against_the_spectrum():
    X = StandardScaler().fit_transform(load_breast_cancer().data)
    values = np.linalg.eigvalsh(np.cov(X.T))[::-1]
    exact = certify(PCA(4).fit(X), X)
    assert exact.holds
    assert exact["audit.eigen.gap"].value < 1e-7
    rough = IncrementalPCA(4, batch_size=30).fit(X)
    certificate = certify(rough, X)
    captured = np.trace(rough.components_ @ np.cov(X.T) @ rough.components_.T)
    assert certificate["audit.eigen.gap"].value == pytest.approx(values[:4].sum() - captured, rel=1e-3)
    assert certificate.holds is False
    certificate.verify(X)
    with pytest.raises(CertificateError, match="eigen.gap"):
        halved(certificate).verify(X)


# --- kernels --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, np.arange(1.0, 101.0)], ids=["plain", "weighted"])
def test_kernel_ridge_against_the_normal_equations(weights):
    X, y = DIABETES[:100], PROGRESS[:100]
    model = KernelRidge(kernel="rbf", alpha=0.5, gamma=2.0).fit(X, y, sample_weight=weights)
    certificate = certify(model, X, y, weights)
    assert certificate["audit.kernel_ridge.gap"].value < 1e-9 * np.sum(y**2)
    certificate.verify(X, y, weights)
    K, s = rbf_kernel(X, gamma=2.0), np.ones(100) if weights is None else weights
    best = model.dual_coef_.copy()
    model.dual_coef_ = best * 1.01
    worse = certify(model, X, y, weights)

    def objective(c):
        return s @ (y - K @ c) ** 2 + 0.5 * c @ K @ c

    assert worse["audit.kernel_ridge.gap"].value >= objective(model.dual_coef_) - objective(best)
    worse.verify(X, y, weights)
    with pytest.raises(Invalidated, match="dual_coef_ was changed"):
        certificate.verify(X, y, weights)
    with pytest.raises(InvalidParameter, match="kernel"):
        certify(KernelRidge(kernel=lambda a, b: a @ b).fit(X, y), X, y)


def test_a_gaussian_process_has_a_mean_and_an_evidence_with_errors():
    X, y = DIABETES[:80], PROGRESS[:80]
    model = GaussianProcessRegressor(RBF() + WhiteKernel(0.5), optimizer=None, normalize_y=True).fit(X, y)
    certificate = certify(model, X, y)
    assert certificate["audit.gaussian_process.mean"].value < 1e-6
    assert certificate["audit.gaussian_process.evidence"].value < 1e-6
    certificate.verify(X, y)
    model.alpha_ = model.alpha_ + 1e-3
    worse = certify(model, X, y)
    assert worse["audit.gaussian_process.mean"].value > 1e-3
    noisy = WhiteKernel(0.5)(X) + RBF()(X)
    residual = (y - y.mean()) / y.std() - noisy @ model.alpha_
    assert worse["audit.gaussian_process.mean"].value == pytest.approx(
        np.linalg.norm(residual) * y.std() / np.sqrt(0.5), rel=0.05
    )


# --- trees ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_trees_of_classes(criterion):
    weights = np.random.default_rng(0).random(150)
    model = DecisionTreeClassifier(criterion=criterion, max_depth=3, class_weight="balanced", random_state=0)
    model.fit(IRIS, SPECIES, sample_weight=weights)
    certificate = certify(model, IRIS, SPECIES, weights)
    assert certificate.holds
    claim, tree = certificate["audit.tree.accounting"], model.tree_
    assert claim.numbers["root"] == pytest.approx(tree.impurity[0])
    leaf = tree.children_left < 0
    inside = tree.weighted_n_node_samples[leaf] @ tree.impurity[leaf] / tree.weighted_n_node_samples[0]
    assert claim.value == pytest.approx(inside)
    certificate.verify(IRIS, SPECIES, weights)


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeRegressor(min_samples_leaf=0.05),
        DecisionTreeRegressor(criterion="absolute_error", max_leaf_nodes=6),
        DecisionTreeRegressor(criterion="poisson", max_depth=3),
        DecisionTreeRegressor(ccp_alpha=20.0),
    ],
    ids=str,
)
def test_trees_of_numbers(model):
    certificate = certify(model.fit(DIABETES, PROGRESS), DIABETES, PROGRESS)
    assert certificate.holds
    certificate.verify(DIABETES, PROGRESS)


def test_a_tree_of_other_data_is_exposed_by_the_right_shortfall():
    y = IRIS[:, 0] * 2.0
    model = DecisionTreeRegressor(max_depth=1).fit(IRIS, IRIS[:, 3])  # a good tree of another target
    certificate = certify(model, IRIS, y)
    assert certificate["audit.tree.leaves"].value > 0.1

    def inside(mask):
        return sum(((y[side] - y[side].mean()) ** 2).sum() for side in (mask, ~mask))

    cuts = [(j, v) for j in range(4) for v in np.unique(IRIS[:, j])[:-1]]
    best = min(inside(IRIS[:, j] <= v) for j, v in cuts)
    own = inside(IRIS[:, model.tree_.feature[0]] <= model.tree_.threshold[0])
    root = ((y - y.mean()) ** 2).sum()
    assert certificate["audit.tree.splits"].value == pytest.approx((own - best) / root, rel=1e-6)
    assert certificate["audit.tree.leaves"].value > 0.1
    certificate.verify(IRIS, y)
    with pytest.raises(CertificateError, match="tree.splits"):
        second = certificate.claims[1]
        forged = (certificate.claims[0], replace(second, value=0.9 * second.value), *certificate.claims[2:])
        replace(certificate, claims=forged, seal="").verify(IRIS, y)


def test_rows_that_differ_beyond_single_precision_fall_into_one_leaf():
    X = np.array([[1.0], [1.0 + 1e-9], [2.0], [2.0 + 1e-9]])
    y = np.array([0.0, 1.0, 2.0, 3.0])
    certificate = certify(DecisionTreeRegressor().fit(X, y), X, y)
    assert certificate["audit.tree.limits"].numbers["n_leaves"] == 2
    assert certificate.verify(X, y)["audit.tree.leaves"].ok


def test_random_splits_claim_nothing():
    model = DecisionTreeClassifier(max_features=1, random_state=0).fit(IRIS, SPECIES)
    claims = certify(model, IRIS, SPECIES).claims
    assert [claim.kind for claim in claims if claim.name.endswith("tree.random_splits")] == ["no_claim"]
