"""Principal components: exact numbers, the best rank by two routes, agreement with scikit-learn, refused forgeries."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_digits, load_iris
from sklearn.decomposition import PCA as Reference

from surefit import PCA, Certificate, CertificateError, InvalidData, InvalidParameter
from surefit.checks.decomposition.components import examine
from surefit.core.sample import read

RECTANGLE = np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [3.0, 1.0]])
IRIS = load_iris().data
ATTRIBUTES = (
    "components_",
    "explained_variance_",
    "explained_variance_ratio_",
    "singular_values_",
    "noise_variance_",
    "mean_",
)


def decaying(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * 0.8 ** np.arange(d) + rng.standard_normal(d)


def test_rectangle_by_hand():
    model = PCA().fit(RECTANGLE)
    assert np.allclose(np.abs(model.components_), np.eye(2))
    assert model.explained_variance_ == pytest.approx([3, 1 / 3])
    assert model.singular_values_**2 == pytest.approx([9, 1])
    assert model.verify(RECTANGLE)["eigen.gap"].proved < 1e-10


@pytest.mark.parametrize(
    "options", [{}, {"n_components": 3}, {"n_components": 0.9}, {"n_components": 0}, {"whiten": True}]
)
@pytest.mark.parametrize("solver", ["auto", "full", "covariance_eigh"])
@pytest.mark.parametrize("shape", [(60, 8), (12, 20), (900, 6)])
def test_same_as_scikit_learn(shape, solver, options):
    X = decaying(*shape)
    ours, reference = PCA(svd_solver=solver, **options).fit(X), Reference(svd_solver=solver, **options).fit(X)
    assert ours.n_components_ == reference.n_components_
    rank = min(shape[0] - 1, shape[1], ours.n_components_)  # beyond the rank directions are arbitrary
    for name in ATTRIBUTES:
        found, expected = getattr(ours, name), getattr(reference, name)
        cut = slice(None, rank) if name.startswith(("comp", "expl", "sing")) else ...
        assert np.allclose(np.asarray(found)[cut], np.asarray(expected)[cut], atol=1e-7), name
    kept = slice(None, rank)
    assert np.allclose(ours.transform(X)[:, kept], reference.transform(X)[:, kept], atol=1e-6)
    assert np.allclose(ours.fit_transform(X)[:, kept], reference.fit_transform(X)[:, kept], atol=1e-6)
    if ours.n_components_ > 0:
        assert np.allclose(
            ours.inverse_transform(ours.transform(X)), reference.inverse_transform(reference.transform(X))
        )
    ours.verify(X)


@pytest.mark.parametrize("n_components", [2, 5, 0.7, "mle"])
def test_density_is_scikit_learn_s(n_components):
    X = decaying(200, 7)
    ours, reference = PCA(n_components).fit(X), Reference(n_components).fit(X)
    assert ours.n_components_ == reference.n_components_
    assert np.allclose(ours.get_covariance(), reference.get_covariance())
    assert np.allclose(ours.get_precision(), reference.get_precision())
    assert np.allclose(ours.score_samples(X), reference.score_samples(X))
    assert ours.score(X) == pytest.approx(reference.score(X))
    assert list(ours.get_feature_names_out())[:2] == ["pca0", "pca1"]


@pytest.mark.parametrize("seed", range(6))
def test_minka_s_dimension_is_scikit_learn_s(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((150, 3 + seed)) @ rng.standard_normal((3 + seed, 12)) + 0.3 * rng.standard_normal(
        (150, 12)
    )
    assert PCA("mle").fit(X).n_components_ == Reference("mle").fit(X).n_components_
    for asked in ("mle", 0.7, 2, None):
        assert type(PCA(asked).fit(X).n_components_) is type(Reference(asked).fit(X).n_components_)


def test_largest_entry_of_each_component_is_positive():
    for solver in ("full", "covariance_eigh", "arpack", "randomized"):
        V = PCA(3, svd_solver=solver, random_state=0).fit(IRIS).components_
        assert np.all(V[np.arange(3), np.abs(V).argmax(axis=1)] > 0)


@pytest.mark.parametrize("solver", ["arpack", "randomized"])
def test_truncated_solvers_are_told_their_error(solver):
    X = load_digits().data
    exact = PCA(svd_solver="full").fit(X)
    model = PCA(5, svd_solver=solver, random_state=0).fit(X)
    claim = model.certificate_["eigen.gap"]
    true_gap = exact.explained_variance_[:5].sum() - np.trace(model.components_ @ np.cov(X.T) @ model.components_.T)
    assert true_gap <= claim.value < 1e-3 * exact.explained_variance_.sum()
    assert claim.confidence is None
    assert model.certificate_["eigen.complete"].numbers["rest"] >= exact.explained_variance_[5]
    assert np.allclose(model.explained_variance_, exact.explained_variance_[:5], rtol=1e-4)
    model.verify(X)


def test_large_matrices_are_probed_by_a_random_vector():
    X = decaying(1300, 900)
    model = PCA(2, svd_solver="randomized", random_state=0).fit(X)
    claim, values = model.certificate_["eigen.gap"], np.linalg.eigvalsh(np.cov(X.T))[::-1]
    assert claim.confidence == pytest.approx(1 - 1e-6) and "confidence 0.999999" in claim.statement
    captured = np.trace(model.components_ @ np.cov(X.T) @ model.components_.T)
    assert values[:2].sum() - captured <= claim.value + 1e-14  # rounding of the two sums
    assert values[2] <= model.certificate_["eigen.complete"].numbers["rest"] <= 1.2 * values[2]
    assert model.verify(X)["eigen.gap"].level == "recomputed"


@pytest.mark.parametrize(("n", "d"), [(400, 300), (280, 500)])
def test_a_cholesky_factor_bounds_what_is_outside(n, d):
    X = decaying(n, d)
    model = PCA(4, svd_solver="full").fit(X)
    values = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2 / (n - 1)
    claim = model.certificate_["eigen.complete"]
    assert values[4] <= claim.numbers["rest"] <= 1.001 * values[4] and 0.999 * values[3] <= claim.value <= values[3]
    assert "none was missed" in claim.statement and model.certificate_["eigen.gap"].value < 1e-10
    assert model.verify(X)["eigen.gap"].level == "enclosed"


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10**6), q=st.integers(1, 4), solver=st.sampled_from(["full", "arpack"]))
def test_the_gap_bounds_the_true_gap_of_any_directions(seed, q, solver):
    """Against the eigenvalues themselves, for directions good and bad."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, 6)) * 0.6 ** np.arange(6)
    S = np.cov(X.T)
    values, vectors = np.linalg.eigh(S)
    noise = 10.0 ** rng.uniform(-8, 1)
    V = np.linalg.qr(vectors[:, ::-1][:, :q] + noise * rng.standard_normal((6, q)))[0].T
    variances = np.einsum("qi,ij,qj->q", V, S, V)
    model = {"components_": V, "explained_variance_": variances, "mean_": X.mean(axis=0)}
    certificate = replace(PCA(q, svd_solver=solver).fit(X).certificate_, subject=None, model=model)
    with pytest.MonkeyPatch.context() as patch:
        for small in (256, 0):  # by the spectrum, and by a Cholesky factor
            patch.setattr("surefit.checks.decomposition.outside.SMALL", small)
            found = examine(certificate, read(X))
            true_gap = values[::-1][:q].sum() - np.trace(V @ S @ V.T)
            assert true_gap <= found.gap.value + 1e-13
            assert found.gap.value <= true_gap + 1e-12 or small == 0
            assert values[::-1][q] <= found.outside.most and found.least.value <= values[::-1][q - 1]
            nearest = np.abs(values[:, None] - variances).min(axis=0)
            assert np.all(nearest <= found.residual.value)


def test_sparse_is_dense():
    X = decaying(80, 10) * (np.random.default_rng(1).random((80, 10)) < 0.4)
    dense = PCA(3, svd_solver="covariance_eigh").fit(X)
    for solver in ("auto", "arpack", "covariance_eigh"):
        for kind in (sparse.csr_array, sparse.csc_matrix):
            model = PCA(3, svd_solver=solver, random_state=0).fit(kind(X))
            assert np.allclose(model.components_, dense.components_, atol=1e-8)
            assert np.allclose(model.transform(kind(X)), dense.transform(X), atol=1e-8)
            model.verify(kind(X))
    with pytest.raises(InvalidParameter, match="'arpack' or 'covariance_eigh' for sparse X; got 'full'"):
        PCA(svd_solver="full").fit(sparse.csr_array(X))


def test_single_precision_and_far_from_the_origin():
    model = PCA(3).fit(IRIS.astype(np.float32))
    assert model.components_.dtype == model.transform(IRIS.astype(np.float32)).dtype == np.float32
    assert np.allclose(model.components_, PCA(3).fit(IRIS).components_, atol=1e-5)
    model.verify(IRIS.astype(np.float32))
    far = PCA().fit(IRIS + 1e8)
    assert np.allclose(far.explained_variance_, PCA().fit(IRIS).explained_variance_, rtol=1e-6)
    far.verify(IRIS + 1e8)
    assert np.allclose(far.transform(IRIS + 1e8), PCA().fit_transform(IRIS), atol=1e-6)
    near = PCA(2).fit(IRIS)
    assert np.allclose(near.transform(IRIS), (IRIS - near.mean_) @ near.components_.T, rtol=0, atol=1e-13)


def test_constant_data():
    model = PCA().fit(np.full((5, 3), 2.0))
    assert model.explained_variance_.tolist() == [0.0, 0.0, 0.0]
    assert model.explained_variance_ratio_.tolist() == [0.0, 0.0, 0.0]
    model.verify(np.full((5, 3), 2.0))


def forged(certificate, name, **changes):
    claims = tuple(replace(c, **changes) if c.name == name else c for c in certificate.claims)
    return replace(certificate, subject=None, seal="", claims=claims)


@pytest.mark.parametrize(
    ("name", "change", "claim"),
    [
        ("components_", lambda a: a[::-1], "eigen"),
        ("components_", lambda a: a * 1.001, "eigen"),
        ("components_", lambda a: np.roll(a, 1, axis=1), "eigen"),
        ("explained_variance_", lambda a: a * 1.0001, "eigen.residual"),
        ("mean_", lambda a: a + 1e-6, "eigen.mean"),
        ("mean_", lambda a: a[:-1], "eigen"),
        ("components_", lambda a: a * np.nan, "eigen"),
    ],
)
def test_checker_refuses_a_changed_model(name, change, claim):
    certificate = PCA(2).fit(IRIS).certificate_
    model = {**certificate.model, name: change(certificate.model[name])}
    with pytest.raises(CertificateError, match=claim.replace(".", r"\.")):
        replace(certificate, subject=None, seal="", model=model).verify(IRIS)


def test_checker_refuses_missed_directions_and_better_numbers():
    full = PCA().fit(IRIS).certificate_
    two = PCA(2).fit(IRIS).certificate_
    Certificate.from_json(two.to_json()).verify(IRIS)
    skipped = {name: full.model[name][[0, 2]] for name in ("components_", "explained_variance_")}
    with pytest.raises(CertificateError, match=r"eigen\.gap"):
        replace(two, subject=None, seal="", model={**two.model, **skipped}).verify(IRIS)
    numbers = {**two["eigen.complete"].numbers, "rest": 0.01}
    with pytest.raises(CertificateError, match=r"eigen\.complete"):
        forged(two, "eigen.complete", numbers=numbers).verify(IRIS)
    with pytest.raises(CertificateError, match=r"eigen\.gap"):
        forged(two, "eigen.gap", value=-1.0).verify(IRIS)


def test_says_what_it_wants():
    with pytest.raises(
        InvalidParameter, match=r"n_components must be None, or an integer >= 0, or a number between 0 and 1"
    ):
        PCA(-1).fit(IRIS)
    with pytest.raises(InvalidData, match=r"n_components=5 must be between 0 and 4 for X of 150 x 4"):
        PCA(5).fit(IRIS)
    with pytest.raises(InvalidData, match=r"between 1 and 3 \(strictly less"):
        PCA(4, svd_solver="arpack").fit(IRIS)
    with pytest.raises(InvalidData, match="'mle' is only supported if n_samples >= n_features"):
        PCA("mle").fit(IRIS[:3])
    with pytest.raises(InvalidData, match="1 sample"):
        PCA().fit(IRIS[:1])
    with pytest.raises(InvalidData, match="squares of X overflow"):
        PCA().fit([[1e200, 0.0], [-1e200, 1.0]])
    with pytest.raises(InvalidData, match="covariance matrix is singular"):
        constant = np.column_stack([RECTANGLE, np.ones(4)])
        PCA().fit(constant).score(constant)


def test_sparse_rows_of_zeros_have_no_variance():
    X = sparse.csr_array((24, 3))
    model = PCA(n_components=2).fit(X)
    assert model.explained_variance_.tolist() == [0.0, 0.0]
    model.certificate_.verify(X)
