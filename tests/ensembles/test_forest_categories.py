"""Forests on tables with text and categories: pandas, polars and arrays, new categories, certificates."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import surefit
from surefit.core.errors import CertificateError, InvalidData

NAMES = ("RandomForestClassifier", "ExtraTreesClassifier", "RandomForestRegressor", "ExtraTreesRegressor")
OPTIONS = {
    "default": {},
    "exact cuts": {"max_bins": None},
    "own columns": {"subset": "tree", "max_features": 2},
    "out of bag": {"bootstrap": True, "oob_score": True, "n_estimators": 30},
    "medians": {"criterion": "absolute_error"},
}


def table(n=160):
    rng = np.random.default_rng(0)
    town = rng.choice(["a", "b", "c", "d", "e"], n).astype(object)
    town[::17] = None
    frame = pd.DataFrame({"town": town, "color": rng.choice(["x", "y"], n), "size": rng.normal(size=n)})
    return frame, np.isin(town, ["a", "d"]) ^ (frame["size"].to_numpy() > 0.7), np.isin(town, ["b", "e"]) * 2.0


def fitted(name, options, rows, categorical="from_dtype"):
    _, labels, numbers = table()
    model = getattr(surefit, name)(
        **{"n_estimators": 8, "categorical_features": categorical, "random_state": 0, **options}
    )
    return model.fit(rows, labels if "Classifier" in name else numbers + np.arange(len(numbers)) % 3)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("case", sorted(OPTIONS))
def test_tables_of_every_kind_give_the_same_verified_forest(name, case):
    if case == "medians" and "Classifier" in name:
        return
    frame, labels, numbers = table()
    y = labels if "Classifier" in name else numbers + np.arange(len(numbers)) % 3
    model = fitted(name, OPTIONS[case], frame)
    assert any(np.any(tree.kind == 2) for tree in model.trees_)  # splits by sets of categories
    assert model.verify(frame, y)["forest.leaves"].ok
    said = model.predict(frame)
    plain = frame.astype(object).where(frame.notna(), None)
    polar, array = pl.DataFrame(plain.to_dict("list")), plain.to_numpy()
    assert np.array_equal(fitted(name, OPTIONS[case], polar).predict(polar), said)
    assert np.array_equal(fitted(name, OPTIONS[case], array, [0, 1]).predict(array), said)
    typed = frame.astype({"town": "category", "color": "category"})
    assert np.array_equal(fitted(name, OPTIONS[case], typed).predict(typed), said)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore:X has feature names")
def test_a_new_category_keeps_the_value_of_its_node_in_every_tree(name):
    frame = table()[0]
    model = fitted(name, {}, frame)
    new = frame.head(40).copy()
    new.loc[:19, "town"] = "never seen"
    new.loc[20:29, "town"] = None
    own = model.predict(new) if "Regressor" in name else model.predict_proba(new)
    members = [tree.predict(new) if "Regressor" in name else tree.predict_proba(new) for tree in model.estimators_]
    np.testing.assert_allclose(own, np.mean(members, axis=0), atol=1e-12)
    leaves = model.apply(new)
    stopped = [tree.kind[leaves[:, t]] != 0 for t, tree in enumerate(model.trees_)]
    assert np.any(np.array(stopped)[:, :20])
    one = model.predict(new.iloc[:1])
    assert np.array_equal(one, model.predict(new)[:1])


def test_one_category_set_suffices_where_thresholds_on_codes_need_many():
    codes = np.arange(240.0)[:, None] % 12
    y = np.isin(codes[:, 0], (1, 4, 5, 9)).astype(int)
    model = surefit.RandomForestClassifier(5, categorical_features=[0], random_state=0).fit(codes, y)
    plain = surefit.RandomForestClassifier(5, random_state=0).fit(codes, y)
    assert model.score(codes, y) == 1.0
    assert all(tree.n_leaves == 2 for tree in model.trees_) and plain.trees_[0].n_leaves > 4


@pytest.mark.parametrize("name", ["RandomForestClassifier", "RandomForestRegressor"])
def test_weights_are_repetitions_and_threads_do_not_matter(name):
    frame, labels, numbers = table()
    y, weights = labels if "Classifier" in name else numbers, np.arange(len(labels)) % 3
    options = {"categorical_features": "from_dtype", "random_state": 0}
    weighted = getattr(surefit, name)(5, **options).fit(frame, y, sample_weight=weights)
    again = np.repeat(np.arange(len(y)), weights)
    repeated = getattr(surefit, name)(5, n_jobs=2, **options).fit(frame.iloc[again], y[again])
    np.testing.assert_allclose(weighted.predict(frame), repeated.predict(frame), atol=1e-12)


def test_changed_sets_and_inner_values_are_refused():
    frame, labels, _ = table()
    for name in ("words", "values"):
        model = fitted("RandomForestClassifier", {}, frame)
        old = model.certificate_
        t, tree = next((t, tree) for t, tree in enumerate(model.trees_) if tree.kind[0] == 2)
        changed = getattr(tree, name).copy()
        if name == "words":
            changed[: len(changed) // 2] = changed[len(changed) // 2 :]
        else:
            changed[0] += 0.01  # the root has the value of rows with new categories
        model.trees_[t] = tree._replace(**{name: changed})
        with pytest.raises(CertificateError):
            model.verify(frame, labels)
        if name == "words":
            continue
        sample = model._certified_rows(frame), labels.astype(float), None
        claims = [surefit.Claim("forest.leaves")]
        model._issue("C", claims, problem=old.problem, model=tuple(old.model), sample=sample)
        assert model.certificate_["forest.leaves"].value > 1e-3  # a new certificate states the distance


def test_what_is_refused_and_said():
    frame, labels, _ = table()
    with pytest.raises(InvalidData, match="'town'.*categorical_features='from_dtype'"):
        surefit.RandomForestClassifier(3).fit(frame, labels)
    model = surefit.RandomForestClassifier(3, categorical_features="from_dtype", warm_start=True, random_state=0)
    model.fit(frame, labels).set_params(n_estimators=5).fit(frame, labels)
    assert len(model.trees_) == 5 and model.verify(frame, labels)["forest.leaves"].ok
    other = frame.assign(town="elsewhere")
    with pytest.raises(InvalidData, match="categories of the earlier fit"):
        model.set_params(n_estimators=6).fit(other, labels)
    with pytest.raises(InvalidData, match="no splits by categories"):
        surefit.to_sklearn(fitted("ExtraTreesRegressor", {}, frame))
