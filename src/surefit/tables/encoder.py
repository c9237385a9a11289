"""Encoding of tables of numbers, dates and texts as matrices."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.errors import DataWarning, InvalidData
from surefit.core.text import counted
from surefit.core.validation import COUNT, check_params
from surefit.tables.table import Table, as_table, column_option

if TYPE_CHECKING:
    import polars

NUMERIC = ("number", "boolean")
MISSING_LEVEL = "(missing)"
OTHER_LEVEL = "(other)"
MICROSECONDS_PER_DAY = 86_400_000_000
WORD = re.compile(r"[^\W\d_][\w']+")


class TableEncoder(TransformerMixin, BaseEstimator):
    r"""Encoder of typed columns as numeric features.

    Numbers are kept; a missing number is replaced by the median of the fitted rows, with a 0/1 indicator feature.
    Booleans become 0 and 1. A categorical column becomes one 0/1 feature per level (two levels: one feature); missing
    cells are a separate level, and rare levels are pooled. A date becomes days since 1970-01-01, and its month, weekday
    and hour if they vary. A text becomes :math:`\log(1 + \text{count})` of its most common words. Each feature is then
    standardized, :math:`z_{ij} = (x_{ij} - m_j) / s_j`, with the mean and standard deviation of the fitted rows;
    constant features are dropped.

    Guarantee: the encoding of a row is bitwise reproducible, also after saving and loading.

    A level that did not occur in the fitted rows is treated as ``(other)`` if there is such a level, else as an average level, and a
    ``DataWarning`` is issued. Infinite cells raise an error that names row and column.

    Parameters
    ----------
    kinds : dict of str to str or None, default=None
        Columns to use: ``number``, ``boolean``, ``category``, ``date`` or ``text``. None: by the types of the columns.
    max_levels : int >= 1, default=40
        Maximum number of levels of a category with their own feature; rarer levels are pooled.
    max_words : int >= 1, default=200
        Maximum number of words of a text column with a feature.

    Attributes
    ----------
    recipes_ : dict of str to dict
        Fitted parameters of each column.
    feature_names_, feature_columns_ : list of str
        Name of each feature, such as ``town=Ghent``, and its column.
    means_, scales_ : ndarray of shape (n_features,)
        Mean and scale of each feature.

    Examples
    --------
    >>> import polars
    >>> from surefit.tables import TableEncoder
    >>> frame = polars.DataFrame({"age": [31.0, None, 39.0, 44.0], "town": ["Delft", "Ghent", "Delft", None]})
    >>> encoder = TableEncoder().fit(frame)
    >>> encoder.feature_names_
    ['age', 'age is missing', 'town=(missing)', 'town=Delft', 'town=Ghent']
    >>> print(encoder.transform(frame)[:, 1].round(2))
    [-0.58  1.73 -0.58 -0.58]
    """

    _rules = {"max_levels": COUNT, "max_words": COUNT}

    def __init__(self, kinds=None, *, max_levels=40, max_words=200):
        self.kinds = kinds
        self.max_levels = max_levels
        self.max_words = max_words

    def fit(self, X, y=None):
        """Learn levels, medians, words, means and scales. Returns the encoder."""
        check_params(self)
        table = as_table(X)
        kinds = self.kinds if self.kinds is not None else {column.name: kind_of(column) for column in table.frame}
        table.require(kinds)
        numbers = _all_numbers(table, [name for name, kind in kinds.items() if kind in NUMERIC])
        self.recipes_: dict[str, dict[str, Any]] = {
            name: _learned_number(kind, numbers[name]) if kind in NUMERIC else self._learn(kind, table.frame[name])
            for name, kind in kinds.items()
        }
        encoded, names, columns = self._encode(table, quiet=True)
        vary = np.ptp(encoded, axis=0) > 0 if encoded.size else np.zeros(encoded.shape[1], dtype=bool)
        if not vary.any():
            raise InvalidData(
                f"{table.source}: no column varies over the training rows, so there is nothing to predict from; add a column."
            )
        self.kept_ = np.flatnonzero(vary)
        self.feature_names_ = [names[j] for j in self.kept_]
        self.feature_columns_ = [columns[j] for j in self.kept_]
        encoded = encoded[:, vary]
        self.means_, self.scales_ = encoded.mean(axis=0), encoded.std(axis=0)
        self.scales_[~(self.scales_ > 0)] = 1.0  # squares of tiny values may underflow
        return self

    def transform(self, X) -> np.ndarray:
        """Return the features as a matrix, one row per table row."""
        check_is_fitted(self)
        encoded = self._encode(as_table(X))[0][:, self.kept_]
        encoded -= self.means_
        encoded /= self.scales_
        encoded[np.isnan(encoded)] = 0.0  # an unseen level counts as average
        return encoded

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Return the names of the features."""
        check_is_fitted(self)
        return np.asarray(self.feature_names_, dtype=object)

    # --- learning -----------------------------------------------------------------------------------------------------

    def _learn(self, kind: str, column: polars.Series) -> dict[str, Any]:
        known = column.drop_nulls()
        missing = column.null_count() > 0
        if kind == "date":
            return _learned_number(kind, _days(column)) | {"parts": _parts_of(known)}
        if kind == "category":
            counts = Counter(known.to_list())
            ordered = sorted(counts, key=lambda level: (-counts[level], level))
            rare = 1 if len(ordered) > self.max_levels else 0
            levels = [level for level in ordered if counts[level] > rare][: self.max_levels]
            pooled = sorted(set(ordered) - set(levels))
            names = [*([MISSING_LEVEL] if missing else []), *([OTHER_LEVEL] if pooled else []), *sorted(levels)]
            return {"kind": kind, "levels": names, "pooled": pooled}
        words = Counter(word for text in known.to_list() for word in set(_words(text)))
        common = sorted(words, key=lambda word: (-words[word], word))[: self.max_words]
        return {"kind": "text", "words": [word for word in common if words[word] > 1]}

    # --- encoding -----------------------------------------------------------------------------------------------------

    def _encode(self, table: Table, quiet: bool = False) -> tuple[np.ndarray, list[str], list[str]]:
        table.require(self.recipes_)
        plain = _all_numbers(table, [name for name, recipe in self.recipes_.items() if recipe["kind"] in NUMERIC])
        blocks: list[np.ndarray] = []
        names: list[str] = []
        columns: list[str] = []
        for name, recipe in self.recipes_.items():
            if recipe["kind"] in NUMERIC or recipe["kind"] == "date":
                cells = plain[name] if name in plain else _days(table.frame[name])
                block, features = _number_block(table, name, recipe, cells, quiet)
            else:
                block, features = _BLOCKS[recipe["kind"]](table, name, recipe, quiet)
            blocks.append(block)
            names += features
            columns += [name] * len(features)
        encoded = np.empty((table.frame.height, len(names)), order="F")
        place = 0
        for block in blocks:
            encoded[:, place : place + block.shape[1]] = block
            place += block.shape[1]
        return encoded, names, columns


def _all_numbers(table: Table, names: list[str]) -> dict[str, np.ndarray]:
    """Return the number columns as arrays with NaN for missing cells, in one step for speed on wide tables."""
    import polars

    if not names:
        return {}
    block = table.frame.select(polars.col(names).cast(polars.Float64).fill_null(float("nan"))).to_numpy()
    return {name: block[:, j] for j, name in enumerate(names)}


def _learned_number(kind: str, numbers: np.ndarray) -> dict[str, Any]:
    missing = np.isnan(numbers)
    finite = numbers[np.isfinite(numbers)]
    return {"kind": kind, "missing": bool(missing.any()), "median": float(np.median(finite)) if len(finite) else 0.0}


def _number_block(
    table: Table, name: str, recipe: dict[str, Any], numbers: np.ndarray, quiet: bool
) -> tuple[np.ndarray, list[str]]:
    missing = np.isnan(numbers)
    infinite = np.flatnonzero(np.isinf(numbers))
    if len(infinite):
        raise InvalidData(
            f"{table.source}: column {name!r}, row {table.rows[infinite[0]]} is infinite; correct the cell, or leave the column out "
            f"with {column_option(name, 'drop')}."
        )
    if missing.any() and not recipe["missing"] and not quiet:
        _say(
            f"Column {name!r}: {counted(int(missing.sum()), 'cell is', 'cells are')} missing, though none was when the model "
            "was fitted; the median is used."
        )
    features, names = [np.where(missing, recipe["median"], numbers)], [name]
    if recipe["missing"]:
        features.append(missing.astype(np.float64))
        names.append(f"{name} is missing")
    for part in recipe.get("parts", ()):
        values = _part(part, table.frame[name])
        features.append(np.where(np.isnan(values), 0.0, values))
        names.append(f"{name} {part}")
    return np.column_stack(features), names


def _category_block(table: Table, name: str, recipe: dict[str, Any], quiet: bool) -> tuple[np.ndarray, list[str]]:
    import polars

    levels = recipe["levels"]
    texts = table.frame[name].fill_null(MISSING_LEVEL)
    codes = texts.replace_strict(levels, range(len(levels)), default=-1, return_dtype=polars.Int64).to_numpy()
    strange = codes < 0
    if recipe["pooled"]:
        codes = np.where(strange, levels.index(OTHER_LEVEL), codes)
        strange &= ~texts.is_in(recipe["pooled"]).to_numpy()
    unseen = np.flatnonzero(strange)
    if len(unseen) and not quiet:
        _say(
            f"Column {name!r}: {texts[int(unseen[0])]!r} (row {table.rows[unseen[0]]}) did not occur when the model was fitted; "
            f"{counted(len(unseen), 'row with a new level counts', 'rows with new levels count')} as "
            f"{'other' if recipe['pooled'] else 'average'} in this column."
        )
    skipped = 1 if len(levels) == 2 else 0
    block = np.zeros((len(codes), len(levels) - skipped))
    known = np.flatnonzero(codes >= skipped)
    block[known, codes[known] - skipped] = 1.0
    block[codes < 0] = np.nan  # becomes the mean
    return block, [f"{name}={level}" for level in levels[skipped:]]


def _text_block(table: Table, name: str, recipe: dict[str, Any], quiet: bool) -> tuple[np.ndarray, list[str]]:
    place = {word: j for j, word in enumerate(recipe["words"])}
    block = np.zeros((table.frame.height, len(place)))
    for i, text in enumerate(table.frame[name].to_list()):
        for word in _words(text or ""):
            if word in place:
                block[i, place[word]] += 1.0
    return np.log1p(block), [f"{name}: {word}" for word in recipe["words"]]


_BLOCKS = {"category": _category_block, "text": _text_block}


def kind_of(column: polars.Series) -> str:
    """Return the kind of a typed column from its type."""
    import polars

    if column.dtype == polars.Boolean:
        return "boolean"
    if column.dtype.is_numeric():
        return "number"
    return "date" if column.dtype in (polars.Date, polars.Datetime) else "category"


def _days(column: polars.Series) -> np.ndarray:
    """Return datetimes as days since 1970-01-01."""
    import polars

    moments = column.cast(polars.Datetime("us"))
    return moments.dt.epoch("us").cast(polars.Float64).fill_null(float("nan")).to_numpy() / MICROSECONDS_PER_DAY


def _parts_of(column: polars.Series) -> list[str]:
    """Return the parts of a date that vary, in addition to the day count."""
    return [part for part in ("month", "weekday", "hour") if len(column) and np.ptp(_part(part, column)) > 0]


def _part(part: str, column: polars.Series) -> np.ndarray:
    import polars

    moments = column.cast(polars.Datetime("us"))
    return getattr(moments.dt, part)().cast(polars.Float64).to_numpy()


def _words(text: str) -> list[str]:
    return WORD.findall(text.lower())


def _say(text: str) -> None:
    warnings.warn(text, DataWarning, stacklevel=4)
