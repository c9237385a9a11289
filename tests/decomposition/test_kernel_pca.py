"""Kernel principal components: the linear case, scikit-learn, the way back, and the certificate."""

import numpy as np
import pytest
from sklearn.decomposition import KernelPCA as TheirKernelPCA
from sklearn.exceptions import NotFittedError

from surefit import PCA, CertificateError, InvalidData, InvalidParameter, KernelPCA
from surefit.kernels import RBF, Sigmoid, StringSubsequence


def rows(seed=0, n=40, d=3):
    return np.random.default_rng(seed).standard_normal((n, d)) * np.arange(1, d + 1)


def test_linear_kernel_gives_principal_components():
    X = rows()
    ours, flat = KernelPCA(2).fit(X), PCA(2).fit(X)
    assert ours.eigenvalues_ == pytest.approx(flat.singular_values_**2)
    assert np.abs(ours.transform(X)) == pytest.approx(np.abs(flat.transform(X)))
    assert KernelPCA().fit(X).eigenvalues_.shape == (3,)  # no more directions than columns


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_numbers_of_scikit_learn(kernel):
    X, new = rows(1), rows(2, n=7)
    ours = KernelPCA(4, kernel=kernel, gamma=0.1).fit(X)
    peer = TheirKernelPCA(4, kernel=kernel, gamma=0.1, eigen_solver="dense").fit(X)
    assert ours.eigenvalues_ == pytest.approx(peer.eigenvalues_)
    assert np.abs(ours.transform(new)) == pytest.approx(np.abs(peer.transform(new)), abs=1e-9)


def test_components_are_centered_and_uncorrelated():
    X = rows(3)
    model = KernelPCA(kernel="rbf", gamma=0.2)
    Z = model.fit_transform(X)
    assert Z.sum(axis=0) == pytest.approx(np.zeros(Z.shape[1]), abs=1e-9)
    assert Z.T @ Z == pytest.approx(np.diag(model.eigenvalues_), abs=1e-9)
    center = np.eye(len(X)) - 1 / len(X)
    assert Z @ Z.T == pytest.approx(center @ RBF(gamma=0.2)(X) @ center, abs=1e-9)
    assert model.transform(X) == pytest.approx(Z, abs=1e-6)


def test_way_back_is_that_of_scikit_learn():
    X = rows(4)
    options = {"n_components": 3, "kernel": "rbf", "gamma": 0.05, "alpha": 0.01, "fit_inverse_transform": True}
    ours, peer = KernelPCA(**options).fit(X), TheirKernelPCA(**options, eigen_solver="dense").fit(X)
    back = ours.inverse_transform(ours.transform(X))
    assert back == pytest.approx(peer.inverse_transform(peer.transform(X)), abs=1e-7)
    with pytest.raises(NotFittedError, match="fit with fit_inverse_transform=True"):
        KernelPCA(2).fit(X).inverse_transform(back)


def test_precomputed_values_and_strings():
    X = rows(5)
    K = RBF(gamma=0.1)(X)
    given = KernelPCA(3, kernel="precomputed").fit(K)
    assert given.transform(K[:5]) == pytest.approx(KernelPCA(3, kernel="rbf", gamma=0.1).fit(X).transform(X[:5]))
    assert given.verify(K)["kernel_pca.gap"].ok
    words = ["cat", "cart", "dog", "dig"]
    spoken = KernelPCA(1, kernel=StringSubsequence(2, 0.5)).fit(words)
    signs = np.sign(spoken.transform(words)[:, 0])
    assert signs[0] == signs[1] != signs[2] == signs[3] and spoken.verify(words)


def test_a_function_as_kernel_with_arguments():
    X = rows(7)
    model = KernelPCA(2, kernel=lambda A, B, factor: factor * A @ B.T, kernel_params={"factor": 4.0}).fit(X)
    assert model.eigenvalues_ == pytest.approx(4 * KernelPCA(2).fit(X).eigenvalues_)


def test_certificate():
    X = rows(6)
    model = KernelPCA(3, kernel="rbf", gamma=0.1).fit(X)
    found = model.verify(X)
    assert found["kernel_pca.residual"].level == "enclosed" and found["kernel_pca.gap"].proved < 1e-9
    old = model.certificate_
    missed = KernelPCA(4, kernel="rbf", gamma=0.1).fit(X)  # leaves the first direction out
    missed.n_components = 3
    missed.eigenvalues_, missed.eigenvectors_ = missed.eigenvalues_[1:], missed.eigenvectors_[:, 1:]
    missed._issue("A", list(old.claims), problem=old.problem, model=("eigenvalues_", "eigenvectors_"), data=old.data)
    with pytest.raises(CertificateError, match=r"kernel_pca\.gap"):
        missed.verify(X)


def test_constant_rows_have_no_directions():
    model = KernelPCA(kernel="rbf").fit(np.ones((5, 2)))
    assert model.eigenvalues_.shape == (0,) and model.transform(np.ones((2, 2))).shape == (2, 0)
    assert KernelPCA(2, kernel="rbf").fit(np.ones((5, 2))).transform(np.ones((2, 2))).tolist() == [[0.0, 0.0]] * 2


def test_what_it_refuses():
    with pytest.raises(InvalidParameter, match="positive semidefinite"):
        KernelPCA(kernel=Sigmoid(gamma=1.0)).fit(rows())
    with pytest.raises(InvalidData, match="square"):
        KernelPCA(kernel="precomputed").fit(rows())
    with pytest.raises(NotFittedError):
        KernelPCA().transform(rows())


def test_values_whose_squares_overflow_are_refused():
    X = np.random.default_rng(7).standard_normal((20, 3)) * 1e80
    with pytest.raises(InvalidData, match="their squares are not; scale the columns"):
        KernelPCA().fit(X)
