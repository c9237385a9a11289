"""Every kernel machine on hard data: an honest model is accepted, and nothing is accepted that was not proved."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from tests.hard_data import hard_data

from surefit import (
    SVC,
    SVR,
    KernelFisherDiscriminant,
    KernelLogisticRegression,
    KernelPCA,
    KernelRidge,
    KernelRidgeCV,
    NystroemFeatures,
    NystroemLogisticRegression,
    NystroemRidge,
    NystroemSVC,
    RandomFourierFeatures,
)
from surefit.core.errors import InvalidData

HARD = {hard.name: hard for hard in hard_data(n=24)}
CLASSIFIERS = {
    "SVC": SVC(),
    "SVC linear": SVC(kernel="linear"),
    "SVC polynomial": SVC(kernel="poly", coef0=1.0, C=10.0),
    "SVC hard margin": SVC(C=np.inf, gamma=1.0),
    "SVC sigmoid": SVC(kernel="sigmoid"),
    "SVC budget": SVC(budget=8.0),
    "KernelLogisticRegression": KernelLogisticRegression(),
    "KernelLogisticRegression ovr": KernelLogisticRegression(
        multi_class="ovr", kernel="laplacian", class_weight="balanced"
    ),
    "NystroemSVC": NystroemSVC(n_landmarks=12, random_state=0),
    "NystroemLogisticRegression": NystroemLogisticRegression(n_landmarks=12, random_state=0),
    "KernelFisherDiscriminant": KernelFisherDiscriminant(),
    "KernelFisherDiscriminant without ridge": KernelFisherDiscriminant(kernel="linear", ridge=0.0),
}
REGRESSORS = {
    "SVR": SVR(),
    "SVR linear": SVR(kernel="linear", C=100.0),
    "KernelRidge": KernelRidge(),
    "KernelRidge weak": KernelRidge(1e-8, kernel="linear"),
    "KernelRidge free line": KernelRidge(0.1, kernel="rbf", null_space="linear"),
    "KernelRidge radius": KernelRidge(kernel="rbf", radius=2.0, fit_intercept=True),
    "KernelRidgeCV": KernelRidgeCV(kernel="rbf"),
    "NystroemRidge": NystroemRidge(n_landmarks=12, random_state=0),
}
MAPS = {
    "KernelPCA": KernelPCA(2, kernel="rbf"),
    "KernelPCA all": KernelPCA(),
    "NystroemFeatures": NystroemFeatures(12, random_state=0),
    "RandomFourierFeatures": RandomFourierFeatures(20, random_state=0),
}
#: What a fit may refuse, with a sentence: too few rows, one class, weights that leave nothing to measure.
REFUSED = (InvalidData, ValueError)


def check(model, X, y, weights):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(X, y, weights) if weights is not None else model.fit(X, y)
        except REFUSED as error:
            assert type(model).__name__ in str(error) or "class" in str(error), error
            return
        found = model.verify(X, y, weights)
    for finding in found.findings:
        claim = model.certificate_[finding.name]
        if claim.kind != "no_claim" and claim.entry.side == "upper":
            assert finding.proved <= finding.claimed, finding
            assert np.isfinite(finding.claimed) or claim.entry.infinite


@pytest.mark.parametrize("data", HARD)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers(name, data):
    hard = HARD[data]
    check(CLASSIFIERS[name], hard.X, hard.labels, hard.weights)


@pytest.mark.parametrize("data", HARD)
@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors(name, data):
    hard = HARD[data]
    check(REGRESSORS[name], hard.X, hard.y, hard.weights)


@pytest.mark.parametrize("data", HARD)
@pytest.mark.parametrize("name", MAPS)
def test_maps(name, data):
    check(MAPS[name], HARD[data].X, None, None)


def test_another_order_of_the_sums_proves_the_statement():
    # Rows in another order are the same problem: the statement of the one fit holds for the other evaluation too.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * [1e3, 1.0, 1e-3]
    y = np.sin(X[:, 1]) + 0.1 * rng.normal(size=60)
    order = rng.permutation(60)
    for model in (KernelRidge(1e-3, kernel="rbf", gamma=0.5, fit_intercept=True), SVR(gamma=0.5), SVR(kernel="linear")):
        model.fit(X, y)
        turned = model.certificate_
        for given in (np.asfortranarray(X), X):
            assert all(f.ok for f in turned.verify(given, y).findings)
    values = KernelRidge(1e-3, kernel="rbf", gamma=0.5).fit(X, y)
    again = KernelRidge(1e-3, kernel="rbf", gamma=0.5).fit(X[order], y[order])
    assert values.dual_gap_ == pytest.approx(again.dual_gap_, rel=1.0, abs=1e-18)
    rows = sparse.csr_array(X)
    assert all(f.ok for f in SVR(gamma=0.5).fit(rows, y).verify(rows, y).findings)
