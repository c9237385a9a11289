"""Bases: exact values, kernels, orthogonality, kinks, and fits that must be perfect."""

from math import comb

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from tests.forging import changed_values, refused, reissued, verified_strictly, with_claim

import surefit
from surefit import (
    CertificateError,
    CircleBasis,
    FourierBasis,
    HingeBasis,
    InvalidParameter,
    KernelPolynomialFeatures,
    KMeans,
    LinearRegression,
    PeriodicBasis,
    PolynomialBasis,
    RadialBasis,
)


@pytest.mark.parametrize(("d", "p", "size"), [(2, 2, 6), (2, 3, 10), (2, 4, 15), (2, 5, 21), (3, 2, 10), (3, 5, 56)])
def test_kernel_features_are_as_many_as_the_notes_say(d, p, size):
    basis = KernelPolynomialFeatures(p).fit(np.zeros((1, d)))
    assert basis.n_output_features_ == size == comb(d + p, p)


def test_kernel_features_of_one_column():
    np.testing.assert_allclose(
        KernelPolynomialFeatures(4).fit_transform([[3.0]])[0], [1, 2 * 3, 6**0.5 * 9, 2 * 27, 81], rtol=1e-14
    )


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 3), st.integers(1, 4))
def test_inner_products_are_the_kernel(seed, d, p):
    X = np.random.default_rng(seed).uniform(-2, 2, (6, d))
    basis = KernelPolynomialFeatures(p).fit(X)
    phi = basis.transform(X)
    np.testing.assert_allclose(phi @ phi.T, (1 + X @ X.T) ** p, atol=1e-10 * 9**p)
    assert basis.verify(X)["bases.kernel"].ok


def test_a_wrong_scale_is_found_out():
    X = np.random.default_rng(0).standard_normal((5, 2))
    basis = KernelPolynomialFeatures(2).fit(X)
    assert basis.certificate_["bases.kernel"].value < 1e-14
    basis.scales_[1] = 1.0  # the notes' formula, which gives another kernel
    with pytest.raises(CertificateError, match=r"bases\.kernel"):
        reissued(basis).verify(X)


FITTED = [
    CircleBasis(), CircleBasis("each"), FourierBasis(2), PeriodicBasis([1.0, 2.5]), HingeBasis(), HingeBasis([0.5, 0.1]),
    RadialBasis(), RadialBasis("rows", random_state=0), RadialBasis([[0.0, 1.0]], widths=[2.0]), RadialBasis(KMeans(2)),
    PolynomialBasis(3), PolynomialBasis(2, scale=True), KernelPolynomialFeatures(3),
]  # fmt: skip


@pytest.mark.parametrize("basis", FITTED, ids=repr)
def test_every_number_of_a_map_is_checked(basis):
    X = np.random.default_rng(1).standard_normal((12, 2))
    basis.fit(X)
    verified_strictly(basis, X)
    seen = basis.certificate_["bases.map"].value
    assert (seen > 0) == ("depends on" in basis.certificate_["bases.map"].statement)
    for name in basis.certificate_.model:
        honest = getattr(basis, name)
        if name == "centers_" and basis.certificate_.problem["placed_by"] == "clustering":
            continue  # any finite centers may come from a clustering
        for _, changed in changed_values(honest):
            setattr(basis, name, changed if np.ndim(honest) else int(changed))
            permuted = np.ndim(honest) == 2 and {*map(bytes, changed)} == {*map(bytes, honest)} and name != "knots_"
            if not permuted:  # the order of monomials or of rows taken at random is free
                assert refused(reissued(basis), X), (name, changed)
        setattr(basis, name, honest)
    other = with_claim(basis.certificate_, "bases.map", value=0.0 if seen else 4.0)
    assert refused(other, X)


def test_polynomials_reproduce_a_parabola_and_nested_degrees_fit_better():
    x = np.linspace(-2, 2, 30)[:, None]
    parabola = 4 * x[:, 0] ** 2 - 2 * x[:, 0] + 3
    model = make_pipeline(PolynomialBasis(2), LinearRegression()).fit(x, parabola)
    np.testing.assert_allclose(model[-1].coef_, [-2, 4], rtol=1e-12)
    y = parabola + np.random.default_rng(0).standard_normal(30)
    errors = [
        np.mean((make_pipeline(PolynomialBasis(k, scale=True), LinearRegression()).fit(x, y).predict(x) - y) ** 2)
        for k in range(1, 8)
    ]
    assert np.all(np.diff(errors) <= 1e-12)


def test_scaling_tames_high_powers():
    x = np.arange(11.0)[:, None]
    plain, scaled = (PolynomialBasis(10, scale=s).fit_transform(x) for s in (False, True))
    assert np.linalg.cond(np.column_stack([np.ones(11), plain])) == pytest.approx(4.5e12, rel=0.02)
    assert np.linalg.cond(np.column_stack([np.ones(11), scaled])) < 1e5


def test_names_of_monomials():
    basis = PolynomialBasis(2).fit(pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 5.0]}))
    assert list(basis.get_feature_names_out()) == ["a", "b", "a^2", "a b", "b^2"]
    framed = basis.set_output(transform="pandas").transform(pd.DataFrame({"a": [2.0], "b": [3.0]}))
    assert framed["a b"].iloc[0] == 6.0


def test_bumps_are_one_at_the_center_and_one_over_e_at_their_width():
    basis = RadialBasis(np.array([[0.0, 0.0], [1.0, 1.0]]), widths=[2.0, 3.0]).fit(np.zeros((1, 2)))
    np.testing.assert_allclose(
        basis.transform([[0.0, 0.0], [2.0, 0.0], [1.0, 4.0]])[[0, 1, 2], [0, 0, 1]], [1, 1 / np.e, 1 / np.e]
    )


def test_centers_come_from_where_they_are_asked_to():
    X = np.random.default_rng(0).standard_normal((50, 2))
    rows = RadialBasis("rows", n_centers=4, random_state=0).fit(X)
    assert all(any(np.array_equal(c, x) for x in X) for c in rows.centers_)
    quantiles = RadialBasis(n_centers=1).fit(X)
    np.testing.assert_allclose(quantiles.centers_[0], np.median(X, axis=0))
    assert "depends on the training rows" in quantiles.certificate_["bases.map"].statement
    assert "fixed before" in RadialBasis([[0.0, 0.0]]).fit(X).certificate_["bases.map"].statement


def test_bumps_around_the_centers_of_a_clustering():
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]], 10, axis=0) + 0.1 * rng.standard_normal((30, 2))
    clustering = KMeans(3, random_state=0)
    basis = RadialBasis(clustering, widths=0.5).fit(X)
    means = X.reshape(3, 10, 2).mean(axis=1)
    order = np.argmin(((basis.centers_[:, None] - means) ** 2).sum(axis=2), axis=1)
    assert sorted(order) == [0, 1, 2]
    np.testing.assert_allclose(basis.centers_, means[order])
    assert not hasattr(clustering, "cluster_centers_")  # a copy was fitted
    assert basis.clustering_.certificate_ is not None
    assert "depends on the training rows" in basis.certificate_["bases.map"].statement
    assert basis.transform(X).shape == (30, 3)
    assert not hasattr(basis.set_params(centers="quantiles").fit(X), "clustering_")


def test_waves_on_equally_spaced_rows_are_orthogonal():
    n, period = 12, 3.0
    x = np.arange(n)[:, None] * period / n
    phi = np.column_stack([np.ones(n), FourierBasis(4, period=period).fit_transform(x)])
    np.testing.assert_allclose(phi.T @ phi, np.diag([n, *[n / 2] * 8]), atol=1e-12)


def test_a_wave_of_any_phase_is_fitted_exactly():
    x = np.linspace(0, 7, 40)[:, None]
    y = 3 * np.sin(2.5 * x[:, 0] + 0.7) + 1
    assert make_pipeline(PeriodicBasis([2.5]), LinearRegression()).fit(x, y).score(x, y) == pytest.approx(1, abs=1e-12)


def test_hinges_bend_only_at_their_knots():
    x = np.linspace(-3, 3, 61)[:, None]
    y = np.abs(x[:, 0]) + np.maximum(x[:, 0] - 1, 0)
    model = make_pipeline(HingeBasis([0.0, 1.0]), LinearRegression()).fit(x, y)
    np.testing.assert_allclose(model[-1].coef_, [-1, 2, 1], atol=1e-12)
    placed = HingeBasis(3).fit(x)
    np.testing.assert_allclose(placed.knots_[:, 0], [-1.5, 0.0, 1.5])
    assert placed.get_feature_names_out(["t"])[2] == "(t-0)+"


@pytest.mark.parametrize(
    ("basis", "word"),
    [
        (PolynomialBasis(0), "degree"),
        (RadialBasis([[0.0]]), "centers"),
        (RadialBasis(widths=[1.0, 2.0]), "widths"),
        (PeriodicBasis([0.0]), "frequencies"),
        (HingeBasis([np.nan]), "knots"),
        (FourierBasis(period=-1), "period"),
    ],
)
def test_refusals_name_the_parameter(basis, word):
    with pytest.raises(InvalidParameter, match=word):
        basis.fit(np.zeros((4, 2)))


def test_every_basis_is_public():
    for name in (
        "FourierBasis",
        "HingeBasis",
        "KernelPolynomialFeatures",
        "PeriodicBasis",
        "PolynomialBasis",
        "RadialBasis",
    ):
        assert name in surefit.__all__
