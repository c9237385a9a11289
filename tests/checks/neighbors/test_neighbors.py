"""Certificates of nearest-neighbor rules: strict on hard data, and refused when anything that predictions use was changed."""

from dataclasses import replace

import numpy as np
import pytest
from tests.forging import accepted_forgeries, changed_values, resealed_model, verified_strictly
from tests.hard_data import hard_data

from surefit import CertificateError, KNeighborsClassifier, KNeighborsRegressor, kernels

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 3))
Y = (X[:, 0] > 0).astype(int)
RULES = [
    KNeighborsClassifier(2),
    KNeighborsClassifier(2, p=3, weights="distance"),
    KNeighborsClassifier(1, metric="chebyshev"),
    KNeighborsClassifier(2, metric="cosine"),
    KNeighborsClassifier(2, kernel="rbf"),
    KNeighborsRegressor(2, metric="manhattan", algorithm="kd_tree"),
    KNeighborsRegressor(2, metric=kernels.Polynomial(degree=2)),
]


@pytest.mark.parametrize("model", RULES, ids=str)
def test_honest_rules_of_hard_data_verify_strictly(model):
    for hard in hard_data(24):
        sparse = hasattr(hard.X, "toarray")
        if (sparse and model.p == 3) or (sparse and model.metric in ("chebyshev",)):
            continue  # scikit-learn has no such distance of sparse rows
        y = hard.labels if isinstance(model, KNeighborsClassifier) else hard.y
        verified_strictly(model.fit(hard.X, y, sample_weight=hard.weights), hard.X, y, hard.weights)


def test_the_excess_is_that_of_the_recorded_neighbors():
    model = KNeighborsClassifier(2).fit(X, Y)
    found = model.verify(X, Y)["knn.neighbors"]
    assert 0 <= found.proved < 1e-14
    # Neighbors of rank one more: the excess is the largest relative difference of distances.
    other = KNeighborsClassifier(3).fit(X, Y).certificate_["knn.neighbors"].witness["neighbors"][:, [0, 2]]
    claim = model.certificate_["knn.neighbors"]
    with pytest.raises(CertificateError, match="knn.neighbors"):
        replaced = [
            c if c.name != claim.name else type(c)(c.name, c.value, None, c.numbers, {"neighbors": other})
            for c in model.certificate_.claims
        ]
        replace(model.certificate_, claims=tuple(replaced), seal="").verify(X, Y)


def test_precomputed_distances_and_strings():
    D = np.abs(X[:, :1] - X[:, 0])
    verified_strictly(KNeighborsClassifier(3, metric="precomputed").fit(D, Y), D, Y)
    weights = np.where(np.arange(50) % 4, 1.0, 0.0)
    verified_strictly(KNeighborsClassifier(3, metric="precomputed").fit(D, Y, weights), D, Y, weights)
    words, kinds = ["cat", "cart", "dog", "dig", "sun", "sin"], np.array(["c", "c", "d", "d", "s", "s"])
    model = KNeighborsClassifier(2, metric=kernels.StringSubsequence(2, 0.5)).fit(words, kinds)
    verified_strictly(model, words, kinds)


@pytest.mark.parametrize(
    "model", [KNeighborsClassifier(3), KNeighborsRegressor(3), KNeighborsClassifier(2, kernel="rbf")], ids=str
)
def test_no_change_is_accepted(model):
    model.fit(X, Y, sample_weight=np.ones(50))
    but = ("model n_samples_fit_",)  # the number of rows is what the data say; predictions do not read it
    assert accepted_forgeries(model.certificate_, X, Y, np.ones(50), but=but) == []
    targets = "_codes" if isinstance(model, KNeighborsClassifier) else "_targets"
    for name in ("_fit_X", targets, "sample_indices_", "_row_weight", *(["classes_"] if targets == "_codes" else [])):
        for _, value in changed_values(getattr(model, name)):
            if np.array_equal(value, getattr(model, name)):
                continue
            with pytest.raises(CertificateError):
                resealed_model(model, name, value).verify(X, Y, sample_weight=np.ones(50))
