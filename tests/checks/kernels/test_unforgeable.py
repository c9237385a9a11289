"""Forgeries of kernel machines: every claim, parameter and fitted attribute is changed and the certificate sealed anew."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from tests.forging import with_claim

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
from surefit.core.errors import CertificateError
from surefit.core.issuing.parameters import plain
from surefit.core.issuing.state import state_digests

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
y = np.sin(2 * X[:, 0]) + 0.3 * RNG.normal(size=30)
TWO, THREE = (y > 0).astype(int), np.digitize(y, [-0.4, 0.4])
MODELS = {
    "SVC": (SVC(gamma=0.5), TWO),
    "SVC three": (SVC(), THREE),
    "SVC hard": (SVC(C=np.inf, gamma=5.0), TWO),
    "SVC budget": (SVC(budget=6.0), TWO),
    "SVC sigmoid": (SVC(kernel="sigmoid"), TWO),
    "SVR": (SVR(), y),
    "KernelRidge": (KernelRidge(0.1, kernel="rbf", null_space="linear"), y),
    "KernelRidge radius": (KernelRidge(kernel="rbf", radius=1.0, fit_intercept=True), y),
    "KernelRidgeCV": (KernelRidgeCV([0.1, 1.0], kernel="rbf"), y),
    "KernelLogisticRegression": (KernelLogisticRegression(), TWO),
    "KernelLogisticRegression three": (KernelLogisticRegression(), THREE),
    "KernelFisherDiscriminant": (KernelFisherDiscriminant(), TWO),
    "NystroemRidge": (NystroemRidge(n_landmarks=8, random_state=0), y),
    "NystroemSVC": (NystroemSVC(n_landmarks=8, random_state=0), TWO),
    "NystroemLogisticRegression": (NystroemLogisticRegression(n_landmarks=8, random_state=0), THREE),
    "KernelPCA": (KernelPCA(2, kernel="rbf"), None),
    "KernelPCA inverse": (KernelPCA(2, kernel="rbf", fit_inverse_transform=True), None),
    "NystroemFeatures": (NystroemFeatures(8, random_state=0), None),
    "RandomFourierFeatures": (RandomFourierFeatures(10, random_state=0), None),
}
#: What no output depends on, or what can only be trusted to the digests: numbers about the run and about the fit.
REPORTED = {
    "history_", "n_iter_", "fit_status_", "objective_", "rkhs_norm_", "margin_", "margin_width_", "slack_", "sample_gap_", "points_",
    "free_support_", "bound_support_", "on_margin_", "loo_error_bound_", "intercept_interval_", "shape_fit_", "class_weight_",
    "_duals", "_beta", "n_features_in_", "criterion_", "plug_in_error_", "alphas_", "scores_", "best_score_", "degrees_of_freedom_",
    "theory_alpha_", "gamma_", "budget_min_", "kernel_", "C_", "seed_",
}  # fmt: skip


#: Parameters that another one overrides: the problem does not depend on them.
UNUSED = {
    ("KernelRidge radius", "alpha"),
    ("KernelPCA", "alpha"),
    ("KernelRidge", "fit_intercept"),
    ("SVC budget", "C"),
}
#: Changes to another optimum that is as good, with the same probabilities, variances or inner products.
AS_GOOD = {
    ("KernelLogisticRegression three", "intercept_"),
    ("NystroemLogisticRegression", "intercept_"),
    ("KernelPCA", "eigenvectors_"),
    ("NystroemFeatures", "normalization_"),
}
pytestmark = pytest.mark.filterwarnings("ignore::surefit.core.errors.DataWarning")


def as_good(name, attribute, changed, value):
    same = [-value, value + 1, np.roll(value, 1, axis=-1)] if (name, attribute) in AS_GOOD else []
    return any(np.array_equal(changed, other) for other in same if attribute != "intercept_" or other is same[1])


def fitted(name):
    model, target = MODELS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, target), target


def changes_of(value):
    """Yield changed copies of an array or number."""
    array = np.asarray(value)
    if sparse.issparse(value) or array.dtype.kind not in "fiu" or array.size == 0:
        if array.dtype.kind in "OU" and array.ndim == 1 and array.size > 1:
            yield array[::-1].copy()
        return
    tried = [-array, array * 2, np.zeros_like(array), array + 1]
    if array.ndim:
        tried += [array[::-1].copy(), np.roll(array, 1, axis=-1)]
    if array.dtype.kind == "f":
        tried += [array * 1.01, np.full_like(array, np.nan)]
    for changed in tried:
        if not np.array_equal(changed, array):
            yield changed if isinstance(value, np.ndarray) else changed.item()


@pytest.mark.parametrize("name", MODELS)
def test_values_and_limits(name):
    model, target = fitted(name)
    certificate = model.certificate_
    for claim in certificate.claims:
        if claim.kind == "no_claim":
            continue
        size = max(abs(claim.value), 1e-30)
        proved = certificate.verify(X, target)[claim.name].proved
        lies = [np.nan, -np.inf, -size, proved * (1 - 1e-6) - 1e-300, 0.0 if proved > 0 else -1.0]
        for value in lies:
            with pytest.raises(CertificateError):
                with_claim(certificate, claim.name, value=float(value)).verify(X, target)
        if claim.limit is not None:
            for limit in (None, 2 * claim.limit + 1, np.nan):
                with pytest.raises(CertificateError):
                    with_claim(certificate, claim.name, limit=limit).verify(X, target)
        for key, number in claim.numbers.items():
            others = [not number] if isinstance(number, bool) else [np.nan, -1e300, 1e300]
            refused = 0
            for other in others:
                try:
                    with_claim(certificate, claim.name, numbers={**claim.numbers, key: other}).verify(X, target)
                except CertificateError:
                    refused += 1
            assert refused >= min(len(others), 2), (claim.name, key)  # a weaker bound is true as well
        with pytest.raises(CertificateError):
            with_claim(certificate, claim.name, numbers={**claim.numbers, "more": 1.0}).verify(X, target)
        for key, array in claim.witness.items():
            for changed in (array[:-1] if array.ndim else array + 100, np.full(array.shape, np.nan)):
                with pytest.raises(CertificateError):
                    with_claim(certificate, claim.name, witness={**claim.witness, key: changed}).verify(X, target)


@pytest.mark.parametrize("name", MODELS)
def test_problems_and_parameters(name):
    model, target = fitted(name)
    certificate = model.certificate_
    for key, value in certificate.problem.items():
        other = not value if isinstance(value, bool) else 2.5 if isinstance(value, (int, float)) else {"other": 1}
        with pytest.raises(CertificateError):
            replace(certificate, problem={**certificate.problem, key: other}, seal="").verify(X, target)
    for key in ("C", "alpha", "gamma", "kernel", "epsilon", "ridge", "fit_intercept", "radius", "confidence"):
        if key in certificate.params and (name, key) not in UNUSED:
            value = certificate.params[key]
            other = "linear" if key == "kernel" else not value if isinstance(value, bool) else 0.0123
            forged = replace(certificate, params={**certificate.params, key: other}, seal="", subject=None)
            with pytest.raises(CertificateError):
                forged.verify(X, target)


@pytest.mark.parametrize("name", MODELS)
def test_fitted_attributes(name):
    """Change an attribute of the model and make the certificate match it: arrays, digests and seal."""
    model, target = fitted(name)
    certificate = model.certificate_
    skipped = REPORTED | set(model.get_params(deep=False)) | {"_certificate"}
    for attribute, value in list(vars(model).items()):
        if attribute in skipped or attribute.startswith("_sklearn"):
            continue
        for changed in changes_of(value):
            if as_good(name, attribute, changed, value):
                continue
            setattr(model, attribute, changed)
            stored = {key: np.asarray(getattr(model, key)) for key in certificate.model}
            forged = replace(certificate, model=stored, state=state_digests(model), seal="")
            try:
                found = forged.of(model).verify(X, target)
            except CertificateError:
                pass
            else:
                raise AssertionError((attribute, np.asarray(changed).ravel()[:3], found))
            setattr(model, attribute, value)
    assert plain(model.get_params(deep=False))
    assert model.verify(X, target)
