"""Proofs that wait for their first reader: copies, changed models, threads, limits and extreme numbers."""

import copy
import gc
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import BaggingRegressor as SklearnBagging
from sklearn.model_selection import cross_validate

import surefit as sf
from surefit.core import encoding
from surefit.core.errors import Invalidated
from surefit.core.fingerprint import data_fingerprint
from surefit.core.issuing import drafts
from surefit.core.issuing.drafts import Pending
from surefit.core.issuing.state import state_digests

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 4))
y = X @ np.array([1.0, -2.0, 0.0, 0.5]) + 0.3 * rng.standard_normal(60)
labels = (y > 0).astype(int)


def waits(model):
    return isinstance(model.__dict__.get("_certificate"), Pending)


@pytest.mark.parametrize(
    "read",
    [
        lambda model: model.certificate_,
        lambda model: model.verify(X, y),
        lambda model: model.dual_gap_,
        copy.deepcopy,
        pickle.dumps,
        joblib.hash,
    ],
)
def test_readers_of_the_certificate_prove_it(read):
    model = sf.Lasso(0.1).fit(X, y)
    assert waits(model)
    read(model)
    assert not waits(model) and model.certificate_.holds and model.verify(X, y)


def test_predictions_do_not_prove_it():
    model = sf.SVC().fit(X, labels)
    model.predict(X)
    repr(model)
    assert waits(model)


def test_copies_and_files_contain_the_proof(tmp_path):
    model = sf.Ridge().fit(X, y)
    twin = pickle.loads(pickle.dumps(model))
    assert not waits(twin) and twin.verify(X, y)
    model = sf.LogisticRegression().fit(X, labels)
    sf.save(model, tmp_path / "model.surefit")
    assert sf.load(tmp_path / "model.surefit").verify(X, labels)


def test_results_of_workers_contain_the_proof():
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(sf.Ridge(alpha).fit)(X, y) for alpha in (0.1, 1.0))
    assert not any(map(waits, found)) and all(model.verify(X, y) for model in found)


def test_new_parameters_do_not_change_what_was_fitted():
    model = sf.Lasso(0.1).fit(X, y)
    expected = sf.Lasso(0.1).fit(X, y).certificate_
    model.set_params(alpha=5.0)
    assert model.certificate_.params["alpha"] == 0.1
    assert model.certificate_.claims[0].value == expected.claims[0].value
    with pytest.raises(Invalidated, match=r"parameter alpha is 5.0 now"):
        model.verify(X, y)


def test_an_attribute_that_was_replaced_is_not_certified():
    model = sf.Lasso(0.1).fit(X, y)
    expected = sf.Lasso(0.1).fit(X, y).certificate_
    model.coef_ = model.coef_ + 1.0
    assert model.certificate_.claims[0].value == expected.claims[0].value  # about the model as it was fitted
    with pytest.raises(Invalidated, match="coef_ was changed after the fit"):
        model.verify(X, y)


def test_an_attribute_that_was_changed_in_place_is_refused():
    model = sf.SVR().fit(X, y)
    model.intercept_[0] += 1.0
    with pytest.raises(Invalidated, match="SVR: intercept_ was changed after the fit"):
        _ = model.certificate_
    twin = pickle.loads(pickle.dumps(model))  # can be copied, without a certificate
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))
    with pytest.raises(AttributeError, match="has no certificate yet"):
        _ = twin.certificate_


FIRST_READERS = """
import numpy as np, surefit
from concurrent.futures import ThreadPoolExecutor
X, y = np.eye(9, 3), np.arange(9.0)
model = surefit.Ridge().fit(X, y)
with ThreadPoolExecutor(4) as pool:
    assert all(found.holds for found in pool.map(lambda _: model.certificate_, range(4)))
"""


def test_threads_may_read_the_first_certificate_of_a_process_together():
    subprocess.run([sys.executable, "-c", FIRST_READERS], check=True)


def test_two_threads_get_the_same_certificate():
    for _ in range(100):
        model = sf.Ridge().fit(X, y)
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda _, model=model: model.certificate_.to_json(), range(4)))
        assert len(set(found)) == 1


def test_large_samples_and_parameters_that_are_objects_are_proved_in_the_fit(monkeypatch):
    assert not waits(sf.LogisticRegression(class_weight={0: 1.0, 1: 2.0}).fit(X, labels))
    assert waits(sf.Ridge(alpha=np.int64(1)).fit(X, y))
    monkeypatch.setattr(drafts, "LARGEST_COPY", X.nbytes + y.nbytes - 1)
    assert not waits(sf.Ridge().fit(X, y))


def test_all_copies_together_are_limited(monkeypatch):
    gc.collect()
    monkeypatch.setattr(drafts, "ALL_COPIES", sum(drafts._waiting.values()) + 2 * (X.nbytes + y.nbytes))
    models = [sf.Ridge().fit(X, y) for _ in range(3)]
    assert list(map(waits, models)) == [True, True, False]
    assert models[0].certificate_.holds  # its copy is dropped
    assert waits(sf.Ridge().fit(X, y))
    table = sparse.csr_array(X)
    assert drafts._size((table, None)) >= table.data.nbytes + table.indices.nbytes


def test_extreme_numbers_are_proved_in_the_fit():
    model = sf.LinearRegression().fit(X, 1e30 * y)
    assert not waits(model) and model.certificate_.holds


def test_members_of_ensembles_wait_within_the_limits(monkeypatch):
    gc.collect()
    monkeypatch.setattr(drafts, "WAITING", len(drafts._waiting) + 4)
    for ensemble in (sf.BaggingRegressor, SklearnBagging):
        model = ensemble(sf.Ridge(), n_estimators=8, random_state=0).fit(X, y)
        assert sum(map(waits, model.estimators_)) == 4
        del model
    search = sf.GridSearchCV(sf.Ridge(), {"alpha": [0.1, 1.0]}, cv=3).fit(X, y)
    assert search.verify(X, y) and search.best_estimator_.certificate_.holds


def test_models_that_are_dropped_keep_no_rows():
    gc.collect()
    before = len(drafts._waiting)
    cross_validate(sf.Ridge(), X, y, cv=5)
    assert len(drafts._waiting) == before


def test_partial_fits_wait_as_well():
    model = sf.SGDRegressor(random_state=0)
    for start in (0, 30):
        model.partial_fit(X[start : start + 30], y[start : start + 30])
    assert model.certificate_.claims


def test_copies_keep_the_memory_order():
    columns = np.asfortranarray(X)
    assert sf.Ridge().fit(columns, y)._certificate.draft.sample[0].flags.f_contiguous
    assert sf.Ridge().fit(X, y)._certificate.draft.sample[0].flags.c_contiguous


def test_the_proofs_of_members_wait_although_the_model_that_holds_them_is_digested():
    model = sf.CalibratedClassifierCV(cv=3).fit(X, labels)
    members = [pair.estimator for pair in model.calibrated_classifiers_]
    model.verify(X, labels)
    assert all(map(waits, members))
    copies = [pair.estimator for pair in pickle.loads(pickle.dumps(model)).calibrated_classifiers_]
    assert not any(map(waits, copies)) and copies[0].certificate_.holds


@pytest.mark.parametrize(
    "model", [sf.SVC(), sf.Lasso(0.1), sf.DecisionTreeClassifier(), sf.KNeighborsClassifier(), sf.GaussianNB()]
)
def test_digests_computed_late_are_those_of_the_model_at_its_fit(model):
    model.fit(X, labels)
    wanted = state_digests(model)
    certificate = model.certificate_
    assert "state" not in certificate.__dict__ and "seal" not in certificate.__dict__
    model.n_features_in_ = 7
    assert certificate.state == wanted
    assert model.certificate_.seal == certificate.seal == pickle.loads(pickle.dumps(certificate)).seal
    with pytest.raises(Invalidated, match="was changed after the fit"):
        certificate.verify(X, labels)


def test_fingerprints_computed_late_are_those_of_the_rows_at_the_fit():
    rows = X.copy()
    certificate = sf.Ridge().fit(rows, y).certificate_
    rows[0, 0] += 1.0
    assert "data" not in certificate.__dict__
    assert certificate.data == {**data_fingerprint(X, y), "storage": "C"}
    assert certificate.verify(X, y)
    with pytest.raises(Invalidated, match="X differ from what the model was fitted on"):
        certificate.verify(rows, y)


def test_fingerprints_changed_in_place_do_not_match_the_seal():
    model = sf.Ridge().fit(X, y)
    model.certificate_.data["X"] = data_fingerprint(X + 1.0)["X"]
    with pytest.raises(Invalidated, match="altered after it was issued"):
        model.verify(X + 1.0, y)


def test_a_copy_of_the_content_has_the_same_digest_and_shares_no_array():
    content = sf.SVC().fit(X, labels).certificate_.__dict__
    content = {name: content[name] for name in ("params", "problem", "model", "claims", "run")}
    twin = encoding.copied(content)
    assert encoding.canonical(twin) == encoding.canonical(content)
    assert not any(np.shares_memory(twin["model"][name], array) for name, array in content["model"].items())
    for value in (np.zeros(encoding.COPIED), object(), np.array([object()])):
        with pytest.raises(TypeError, match="cannot be copied"):
            encoding.copied({"part": [value]})


def test_an_array_changed_in_place_after_the_proof_is_refused():
    model = sf.SVC().fit(X, labels)
    certificate = model.certificate_  # its digests were not needed yet
    model.slack_[0] += 1.0
    with pytest.raises(Invalidated, match="slack_ was changed after the fit"):
        certificate.verify(X, labels)


@pytest.mark.parametrize("copied", [0, encoding.COPIED])
def test_a_certificate_changed_in_place_after_it_was_read_does_not_match_its_seal(copied, monkeypatch):
    monkeypatch.setattr(encoding, "COPIED", copied)
    model = sf.Lasso(0.1).fit(X, y)
    model.certificate_.run["seconds"] = -1.0
    with pytest.raises(Invalidated, match="altered after it was issued"):
        model.verify(X, y)


def test_a_certificate_with_other_claims_needs_another_seal():
    certificate = sf.Lasso(0.1).fit(X, y).certificate_
    other = replace(certificate, claims=certificate.claims[:1])
    with pytest.raises(Invalidated, match="its seal does not match"):
        other.verify(X, y)
    assert replace(other, seal="").seal != certificate.seal
