"""Model files: what was saved comes back and still verifies; what was tampered with does not."""

import importlib
import io
import json
import os
import zipfile

import numpy as np
import pytest
import skops.io
from sklearn.base import BaseEstimator, is_classifier
from sklearn.datasets import load_diabetes
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import surefit
from surefit.core.errors import Invalidated, PersistenceError
from surefit.studies import verify
from surefit.tables import builtin_table

X, y = load_diabetes(return_X_y=True)
PUBLIC = {name: getattr(surefit, name) for name in surefit.__all__}
ESTIMATORS = [name for name, value in PUBLIC.items() if isinstance(value, type) and issubclass(value, BaseEstimator)]


@pytest.fixture
def file(tmp_path):
    return tmp_path / "model.surefit"


def saved(model, file):
    surefit.save(model, file)
    return surefit.load(file)


def members(file) -> dict[str, bytes]:
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewrite(file, parts: dict[str, bytes]) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


# --- what comes back ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        surefit.Lasso(alpha=0.5),
        surefit.Lasso(radius=300.0),
        surefit.ElasticNet(alpha=0.1, penalty_factors=np.array([0.0, np.inf, *np.ones(8)])),
        surefit.LassoCV(alphas=10, cv=3),
        surefit.ElasticNetCV(alphas=5, cv=3, l1_ratio=[0.5, 1.0]),
    ],
    ids=lambda model: type(model).__name__,
)
def test_model_comes_back_with_its_certificate(model, file):
    model.fit(X, y)
    again = saved(model, file)
    assert type(again) is type(model)
    assert np.array_equal(again.predict(X), model.predict(X))
    assert again.certificate_.seal == model.certificate_.seal
    assert again.certificate_.to_json() == model.certificate_.to_json()
    assert repr(again.verify(X, y)) == repr(model.verify(X, y))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::surefit.core.errors.DataWarning")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_public_estimator_comes_back(name, file):
    model = getattr(surefit, name)()
    rows = np.random.default_rng(0).normal(size=(20, 3))
    score = rows @ [1.0, -2.0, 0.5]
    if not model.__sklearn_tags__().input_tags.two_d_array:
        rows = np.abs(rows[:, :1])  # an estimator of one variable, perhaps a time
    if model.__sklearn_tags__().input_tags.positive_only:
        rows = np.abs(rows)  # counts
    if model.__sklearn_tags__().target_tags.positive_only:
        score = np.abs(score)
    if not model.__sklearn_tags__().target_tags.single_output:
        score = np.column_stack([score, rows[:, 0]])
    model.fit(rows, np.where(score > 0, 1, -1) if is_classifier(model) else score)
    again = saved(model, file)
    assert again.certificate_.seal == model.certificate_.seal
    for method in ("predict", "decision_function", "transform"):
        if hasattr(model, method):
            # Products of a matrix with itself are rounded in another order than with a copy of it.
            assert getattr(again, method)(rows) == pytest.approx(getattr(model, method)(rows), rel=1e-12, abs=1e-12)


def test_pipeline_comes_back(file):
    pipeline = make_pipeline(StandardScaler(), surefit.Lasso(alpha=1.0)).fit(X, y)
    again = saved(pipeline, file)
    assert np.array_equal(again.predict(X), pipeline.predict(X))
    again[-1].verify(again[:-1].transform(X), y)


def test_table_model_comes_back(file):
    study = surefit.study("diabetes", models=("linear",))
    again = saved(study.model, file)
    assert all(finding.ok for finding in verify(again, builtin_table()))
    assert again.record_ == study.model.record_


def test_skops_itself_reads_the_file_with_our_list(file):
    surefit.save(surefit.Lasso(alpha=0.5).fit(X, y), file)
    assert set(skops.io.get_untrusted_types(file=file)) <= set(surefit.SKOPS_TRUSTED)
    assert skops.io.load(file, trusted=surefit.SKOPS_TRUSTED).alpha == 0.5


def test_every_trusted_name_is_a_class_of_ours_that_only_holds_data():
    for name in surefit.SKOPS_TRUSTED:
        module, _, cls = name.rpartition(".")
        found = getattr(importlib.import_module(module), cls)
        assert isinstance(found, type) and found.__module__ == module
        assert not issubclass(found, BaseException)


def test_file_says_what_wrote_it(file):
    surefit.save(surefit.Lasso().fit(X, y), file)
    label = json.loads(members(file)["surefit.json"])
    assert label["format"] == 1 and label["surefit"] == surefit.__version__
    assert label["model"] == "surefit.linear.lasso.lasso.Lasso"


# --- tampering ----------------------------------------------------------------------------------------------------------


class Foreign(BaseEstimator):
    """A type that is not ours."""


def test_foreign_type_is_refused_by_name(file):
    name = f"{Foreign.__module__}.Foreign"
    with pytest.warns(UserWarning, match=name):
        surefit.save(make_pipeline(Foreign(), surefit.Lasso()), file)
    with pytest.raises(PersistenceError, match=rf"contains the type {name}, which is not trusted; nothing was loaded"):
        surefit.load(file)


def test_function_smuggled_into_a_trusted_type_is_refused(file):
    with pytest.warns(UserWarning, match="system"):
        surefit.save(make_pipeline(FunctionTransformer(os.system), surefit.Lasso()), file)
    with pytest.raises(PersistenceError, match=r"posix\.system|nt\.system|os\.system"):
        surefit.load(file)


def test_type_is_checked_before_anything_is_built(file):
    surefit.save(surefit.Lasso().fit(X, y), file)
    parts = members(file)
    schema = json.loads(parts["schema.json"])
    schema["__class__"], schema["__module__"] = "Popen", "subprocess"
    rewrite(file, {**parts, "schema.json": json.dumps(schema).encode()})
    with pytest.raises(PersistenceError, match=r"subprocess\.Popen"):
        surefit.load(file)


def test_altered_coefficients_do_not_verify(file):
    model = surefit.Lasso(alpha=0.5).fit(X, y)
    surefit.save(model, file)
    parts = members(file)
    altered = 0
    for name, content in parts.items():
        if name.endswith(".npy"):
            array = np.load(io.BytesIO(content))
            if array.shape == model.coef_.shape and np.array_equal(array, model.coef_) and not altered:
                buffer = io.BytesIO()
                np.save(buffer, array + 1e-9)
                parts[name] = buffer.getvalue()
                altered += 1
    assert altered
    rewrite(file, parts)
    with pytest.raises((Invalidated, PersistenceError), match="changed after the fit|altered after it was issued"):
        surefit.load(file).verify(X, y)


def test_altered_certificate_is_refused_on_loading(file):
    surefit.save(surefit.Lasso(alpha=0.5).fit(X, y), file)
    parts = members(file)
    assert b"converged" in parts["schema.json"]
    rewrite(file, {**parts, "schema.json": parts["schema.json"].replace(b"converged", b"c0nverged")})
    with pytest.raises(PersistenceError, match="altered after it was issued"):
        surefit.load(file)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_truncated_file_is_refused(file, share):
    surefit.save(surefit.Lasso().fit(X, y), file)
    content = file.read_bytes()
    file.write_bytes(content[: int(share * len(content))])
    with pytest.raises(PersistenceError, match="damaged or not a model of surefit"):
        surefit.load(file)


def test_flipped_bits_are_noticed(file):
    surefit.save(surefit.Lasso().fit(X, y), file)
    content = bytearray(file.read_bytes())
    rng = np.random.default_rng(0)
    refused = 0
    for place in rng.integers(0, len(content), size=60):
        broken = bytearray(content)
        broken[place] ^= 0x10
        file.write_bytes(broken)
        try:
            model = surefit.load(file)
        except PersistenceError:
            refused += 1
        else:  # a bit that carries nothing, such as a time stamp: the model is whole
            model.verify(X, y)
    assert refused > 40


@pytest.mark.parametrize("label", [b"", b"[]", b"{}", b'{"format": "x"}'])
def test_file_without_a_label_is_refused(file, label):
    surefit.save(surefit.Lasso().fit(X, y), file)
    rewrite(file, {**members(file), "surefit.json": label})
    with pytest.raises(PersistenceError, match="damaged or not a model of surefit"):
        surefit.load(file)


def test_newer_format_is_named(file):
    surefit.save(surefit.Lasso().fit(X, y), file)
    label = json.dumps({"format": 2, "surefit": "9.0"}).encode()
    rewrite(file, {**members(file), "surefit.json": label})
    with pytest.raises(PersistenceError, match=r"written by surefit 9\.0 in format 2, newer than .*; upgrade surefit"):
        surefit.load(file)


def test_missing_file_and_folder(file, tmp_path):
    with pytest.raises(PersistenceError, match="no such file"):
        surefit.load(file)
    with pytest.raises(PersistenceError, match="cannot be read"):
        surefit.load(tmp_path)


def test_what_needs_pickle_is_not_saved(file):
    model = surefit.Lasso().fit(X, y)
    model.note_ = (row for row in X)  # a generator
    with pytest.raises(PersistenceError, match="Lasso: cannot be saved"):
        surefit.save(model, file)
    assert not file.exists()
