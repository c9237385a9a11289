"""Tables with text columns, as pandas or polars hold them: fit, predict, verify, save, load, and verify again."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from surefit import (
    Certificate,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    Invalidated,
    load,
    save,
)

RNG = np.random.default_rng(0)
GENRE, LENGTH = RNG.choice(["Action", "Comedy", "Drama"], 60), RNG.normal(100, 20, 60)
LIKED = np.where((GENRE == "Drama") & (LENGTH > 90), "yes", "no")
SCORE = 2.0 * (GENRE == "Drama") + LENGTH / 50
TABLES = {
    "pandas category": lambda g: pd.DataFrame({"genre": pd.Categorical(g), "length": LENGTH}),
    "pandas object": lambda g: pd.DataFrame({"genre": g.astype(object), "length": LENGTH}),
    "pandas string": lambda g: pd.DataFrame({"genre": pd.array(g, dtype="string"), "length": LENGTH}),
    "polars text": lambda g: pl.DataFrame({"genre": g, "length": LENGTH}),
    "polars categorical": lambda g: pl.DataFrame({"genre": pl.Series(g, dtype=pl.Categorical), "length": LENGTH}),
    "polars enum": lambda g: pl.DataFrame(
        {"genre": pl.Series(g, dtype=pl.Enum(["Action", "Comedy", "Drama"])), "length": LENGTH}
    ),
}
MODELS = {
    "tree classifier": (DecisionTreeClassifier(max_depth=2, categorical_features="from_dtype"), LIKED),
    "tree regressor": (DecisionTreeRegressor(max_depth=2, categorical_features="from_dtype"), SCORE),
    "boosted classifier": (HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=5), LIKED),
    "boosted regressor": (HistGradientBoostingRegressor(max_iter=2, min_samples_leaf=5), SCORE),
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_a_table_is_verified_from_the_table(tmp_path, name, table):
    (model, y), X = MODELS[name], TABLES[table](GENRE)
    model.fit(X, y)
    predicted = model.predict(X)
    assert model.verify(X, y) and model.certificate_.verify(X, y)
    save(model, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops")
    assert np.array_equal(again.predict(X), predicted)
    assert again.verify(X, y) and again.certificate_.verify(X, y)
    alone = Certificate.from_json(model.certificate_.to_json())
    assert alone.verify(X, y, model=again)
    other = GENRE.copy()
    other[0] = "Comedy" if GENRE[0] == "Drama" else "Drama"
    for check in (model.verify, model.certificate_.verify, again.verify):
        with pytest.raises(Invalidated, match="X differ"):
            check(TABLES[table](other), y)


def test_all_kinds_of_tables_give_the_same_tree():
    rules = {
        DecisionTreeClassifier(max_depth=2, categorical_features="from_dtype").fit(make(GENRE), LIKED).export_rules()
        for make in TABLES.values()
    }
    assert len(rules) == 1 and "Drama" in rules.pop()


def test_texts_that_are_numbers_are_numbers_as_in_scikit_learn():
    kinds = np.where(GENRE == "Drama", "1", "0")
    texts = pd.DataFrame({"genre": GENRE, "length": LENGTH.astype(str), "code": kinds}, dtype=object)
    texts.loc[0, "length"] = None
    X = np.column_stack([LENGTH, kinds == "1"]).astype(float)
    X[0, 0] = np.nan
    options = {"max_iter": 5, "min_samples_leaf": 5}
    model = HistGradientBoostingRegressor(**options).fit(texts, SCORE)
    assert model.is_categorical_.tolist() == [True, False, False]
    model.verify(texts, SCORE)
    frame = texts[["length", "code"]]
    numbers = HistGradientBoostingRegressor(**options).fit(X, SCORE).predict(X)
    for table in (frame, frame.astype("string"), pl.DataFrame(frame.to_dict("list"))):
        ours = HistGradientBoostingRegressor(**options).fit(table, SCORE)
        assert not ours.is_categorical_.any()
        np.testing.assert_array_equal(ours.predict(table), numbers)
        ours.verify(table, SCORE)
    tree = DecisionTreeRegressor(max_depth=3).fit(frame, SCORE)
    np.testing.assert_array_equal(tree.predict(frame), DecisionTreeRegressor(max_depth=3).fit(X, SCORE).predict(X))
    category = frame.assign(code=pd.Categorical(kinds))
    named = pl.DataFrame({"length": LENGTH, "code": pl.Series(kinds, dtype=pl.Categorical)})
    for table in (category, named):
        marked = HistGradientBoostingRegressor(**options).fit(table, SCORE)
        assert marked.is_categorical_.tolist() == [False, True]
