"""Texts as categories, from pandas, polars and arrays, up to the rules that are printed."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from surefit import DecisionTreeClassifier, DecisionTreeRegressor, InvalidData, InvalidParameter
from surefit.data import MOVIE_COLUMNS, load_movie_grid


def movies() -> tuple[pd.DataFrame, np.ndarray]:
    X, y = load_movie_grid()
    columns = {name: np.array(words)[X[:, j].astype(int)] for j, (name, words) in enumerate(MOVIE_COLUMNS.items())}
    return pd.DataFrame(columns), y


FORMS = {
    "text": lambda frame: frame,
    "category": lambda frame: frame.astype("category"),
    "polars": lambda frame: pl.DataFrame(frame.to_dict("list")),
    "polars categorical": lambda frame: pl.DataFrame(frame.to_dict("list")).with_columns(pl.all().cast(pl.Categorical)),
    "array": lambda frame: frame.to_numpy().astype(object),
}


@pytest.mark.parametrize("form", FORMS)
def test_movie_rules_name_the_genres(form):
    frame, y = movies()
    X = FORMS[form](frame)
    listed = [0, 1, 2, 3] if form == "array" else "from_dtype"
    model = DecisionTreeClassifier(criterion="entropy", categorical_features=listed, categorical_split="multiway").fit(
        X, y
    )
    assert np.array_equal(model.predict(X), y)
    rules, text = model.export_rules(), model.export_text()
    name = "x0" if form == "array" else "genre"
    assert f"{name} = Drama" in rules and f"{name} in {{Drama}}" in text
    codes, _ = load_movie_grid()
    same = DecisionTreeClassifier(
        criterion="entropy", categorical_features=[0, 1, 2, 3], categorical_split="multiway"
    ).fit(codes, y)
    assert np.array_equal(model.tree_.feature, same.tree_.feature)
    assert model.verify(X, y)["tree.splits"].ok
    holds = np.stack([clause.holds(X) for clause in model.clauses()])
    assert np.all(holds.sum(axis=0) == 1)  # exactly one clause fires
    fired = np.array([clause.prediction for clause in model.clauses()])[np.argmax(holds, axis=0)]
    assert np.array_equal(fired, y)


def test_mixed_columns_missing_and_unseen_texts():
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "color": ["red", "blue", "red", None, "blue", "red"]})
    y = np.array([1.0, 5.0, 1.0, 3.0, 5.0, 1.0])
    model = DecisionTreeRegressor(categorical_features="from_dtype", max_depth=2).fit(frame, y)
    assert model.categories_[1].tolist() == [0.0, 1.0]
    assert model.category_labels_[1].tolist() == ["blue", "red"]
    new = pd.DataFrame({"size": [1.0, 1.0], "color": ["blue", "green"]})
    assert model.predict(new)[0] == pytest.approx(5.0)
    assert np.isfinite(model.predict(new)).all()
    model.verify(frame, y)


def test_what_to_do_with_text_is_said():
    frame, y = movies()
    with pytest.raises(InvalidData, match="'genre'.*categorical_features='from_dtype'"):
        DecisionTreeClassifier().fit(frame, y)
    with pytest.raises(InvalidParameter, match="column 1, which contains text"):
        DecisionTreeClassifier(categorical_features=["genre"]).fit(frame, y)
