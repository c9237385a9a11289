"""From a table of numbers, dates and texts to a matrix, the same way every time."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.errors import DataRemark, InvalidData
from surefit.core.validation import BOOLEAN, COUNT, check_params
from surefit.tables.cells import OTHER_DATE, as_numbers, as_texts, kind_of
from surefit.tables.table import Table, as_table

if TYPE_CHECKING:
    import polars


class TableEncoder(TransformerMixin, BaseEstimator):
    r"""Turns the columns of a table into features of a matrix, and remembers how.

    Numbers stay; truth values become 0 and 1; dates become days since 1970-01-01 and times of day hours since midnight; a
    text column becomes one 0/1 feature a level (two levels: one feature, for the second). With ``standardise`` each feature
    is then shifted and scaled, :math:`z_{ij} = (x_{ij} - m_j) / s_j`, with the mean and the standard deviation of the fitted
    rows (:math:`s_j = 1` for a constant feature).

    Guarantee: rows that were encoded once are encoded to the same bits again, also after saving and loading.

    A text that did not occur in the fitted rows counts as an average level: its features take their mean :math:`m_j`, and a
    ``DataRemark`` says so. Missing cells, infinities, and text where numbers were fitted are refused, with row and column.

    Parameters
    ----------
    standardise : bool, default=True
        Whether to shift and scale the features.
    max_levels : int >= 1, default=100
        A text column with more levels than this is left out, with a ``DataRemark``: it names rows rather than groups them.

    Attributes
    ----------
    kinds_ : dict of str to str
        Columns in use: ``number``, ``boolean``, ``date``, ``time`` or ``text``.
    levels_ : dict of str to list of str
        Levels of each text column, sorted.
    feature_names_ : list of str
        Names of the features: the column, or ``column=level``.
    means_, scales_ : ndarray of shape (n_features,)
        The mean of each feature, and what it is divided by (ones without ``standardise``).

    Examples
    --------
    >>> import polars
    >>> from surefit.tables import TableEncoder
    >>> frame = polars.DataFrame({"age": [31, 47, 39], "town": ["Delft", "Ghent", "Delft"]})
    >>> encoder = TableEncoder(standardise=False).fit(frame)
    >>> encoder.feature_names_
    ['age', 'town=Ghent']
    >>> encoder.transform(frame)
    array([[31.,  0.],
           [47.,  1.],
           [39.,  0.]])
    """

    _rules = {"standardise": BOOLEAN, "max_levels": COUNT}

    def __init__(self, *, standardise=True, max_levels=100):
        self.standardise = standardise
        self.max_levels = max_levels

    def fit(self, X, y=None):
        """Learn columns, levels, means and scales. Returns the encoder."""
        check_params(self)
        table = as_table(X)
        self.kinds_: dict[str, str] = {}
        self.levels_: dict[str, list[str]] = {}
        self.feature_names_: list[str] = []
        for column in table.frame:
            self._learn(table, column)
        if not self.feature_names_:
            raise InvalidData(f"{table.source}: no column is left to predict from; add a column of numbers or groups.")
        encoded = self._encode(table)
        self.means_ = encoded.mean(axis=0)
        self.scales_ = _scales(encoded, self.means_) if self.standardise else np.ones(len(self.means_))
        return self

    def transform(self, X) -> np.ndarray:
        """Return the features as a matrix in column order, one row a row."""
        check_is_fitted(self)
        encoded = self._encode(as_table(X))
        if self.standardise:
            encoded -= self.means_
            encoded /= self.scales_
        return encoded

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Return the names of the features."""
        check_is_fitted(self)
        return np.asarray(self.feature_names_, dtype=object)

    @property
    def text_columns(self) -> tuple[str, ...]:
        """Columns that are text: a file must be read so that their cells stay as they are written."""
        return tuple(self.levels_)

    # --- learning -----------------------------------------------------------------------------------------------------

    def _learn(self, table: Table, column: polars.Series) -> None:
        kind = kind_of(column)
        if kind == "other":
            raise InvalidData(
                f"{table.source}: column {column.name!r} holds {str(column.dtype).lower()} values; expected numbers, "
                "texts, truth values or dates. Leave the column out or convert it."
            )
        if kind == "empty":
            remark(f"Column {column.name!r} is empty; it was left out.")
        elif kind == "text":
            self._learn_levels(table, column)
        else:
            self.kinds_[column.name] = kind
            self.feature_names_.append(column.name)
            if kind in ("date", "time"):
                unit = "days since 1970-01-01" if kind == "date" else "hours since midnight"
                remark(f"Column {column.name!r} holds {kind}s; they count as {unit}.")

    def _learn_levels(self, table: Table, column: polars.Series) -> None:
        name, texts = column.name, as_texts(column)
        levels = sorted(texts.drop_nulls().unique().to_list())
        if len(levels) > self.max_levels:
            _refuse_spoilt_numbers(table, texts)
            what = "dates in a form other than YYYY-MM-DD" if _all_match(texts, OTHER_DATE) else "different texts"
            remark(f"Column {name!r} has {len(levels)} {what} (more than {self.max_levels}); it was left out.")
            return
        if len(levels) == 1:
            remark(f"Column {name!r} holds the same text in every row; it says nothing and was left out.")
            return
        self.kinds_[name] = "text"
        self.levels_[name] = levels
        self.feature_names_.extend(f"{name}={level}" for level in _with_feature(levels))

    # --- encoding -----------------------------------------------------------------------------------------------------

    def _encode(self, table: Table) -> np.ndarray:
        table.require(self.kinds_)
        encoded = np.empty((table.frame.height, len(self.feature_names_)), order="F")
        j = 0
        for name, kind in self.kinds_.items():
            column = table.frame[name]
            if kind == "text":
                width = len(_with_feature(self.levels_[name]))
                self._encode_levels(table, as_texts(column), encoded[:, j : j + width], j)
            else:
                width = 1
                encoded[:, j] = as_numbers(column)
                require_finite(table, name, encoded[:, j])
            j += width
        return encoded

    def _encode_levels(self, table: Table, texts: polars.Series, out: np.ndarray, first: int) -> None:
        import polars

        if texts.null_count():
            place = int(np.flatnonzero(texts.is_null().to_numpy())[0])
            raise missing_cell(table, texts.name, place, texts.null_count())
        levels = self.levels_[texts.name]
        skipped = len(levels) - len(_with_feature(levels))
        codes = texts.replace_strict(levels, list(range(len(levels))), default=-1, return_dtype=polars.Int64).to_numpy()
        for j in range(out.shape[1]):
            out[:, j] = codes == j + skipped
        unseen = np.flatnonzero(codes < 0)
        if len(unseen):
            out[unseen] = self.means_[first : first + out.shape[1]]
            remark(
                f"Column {texts.name!r}: {texts[int(unseen[0])]!r} (row {table.rows[unseen[0]]}) did not occur when the "
                f"model was fitted; {len(unseen)} rows with new texts count as average in this column."
            )


def _with_feature(levels: list[str]) -> list[str]:
    """Levels that have a feature of their own: of two, one says it all."""
    return levels[1:] if len(levels) == 2 else levels


def remark(text: str) -> None:
    """Say that something is odd but usable."""
    warnings.warn(text, DataRemark, stacklevel=3)


def require_finite(table: Table, name: str, values: np.ndarray) -> None:
    """Refuse a column with a missing or infinite cell, or a text among numbers; name the first such row."""
    bad = np.flatnonzero(~np.isfinite(values))
    if not len(bad):
        return
    place = int(bad[0])
    cell = table.frame[name][place]
    if isinstance(cell, str) and cell.strip():
        raise InvalidData(
            f"{table.source}: column {name!r}, row {table.rows[place]}: expected a number, got {cell!r}"
            f"{_decimal_comma(cell)}. Correct the cell or leave out the row."
        )
    if np.isinf(values[place]):
        raise InvalidData(
            f"{table.source}: column {name!r}, row {table.rows[place]} is infinite; correct the cell or leave out the row."
        )
    raise missing_cell(table, name, place, int(np.isnan(values).sum()))


def missing_cell(table: Table, name: str, place: int, count: int) -> InvalidData:
    """Return the error about a missing cell."""
    more = f" ({count} such cells in this column)" if count > 1 else ""
    return InvalidData(
        f"{table.source}: column {name!r}, row {table.rows[place]} is missing (NaN){more}; fill the cell, leave out the row, "
        "or leave out the column."
    )


def _refuse_spoilt_numbers(table: Table, texts: polars.Series) -> None:
    """A column of mostly numbers with many values is not a set of groups: a few cells are spoilt."""
    numbers = as_numbers(texts)
    known = texts.is_not_null().to_numpy()
    spoilt = np.flatnonzero(known & np.isnan(numbers))
    comma = _all_match(texts, r"^[+-]?\d*,\d+$")
    if comma or len(spoilt) <= known.sum() / 2:
        place = int(spoilt[0])
        cell = texts[place]
        raise InvalidData(
            f"{table.source}: column {texts.name!r}, row {table.rows[place]}: expected a number like in most rows, got "
            f"{cell!r}{_decimal_comma(cell)}. Correct the {len(spoilt)} such cells or leave out the column."
        )


def _decimal_comma(cell: Any) -> str:
    cell = str(cell).strip()
    is_comma = cell.count(",") == 1 and cell.replace(",", "").lstrip("+-").isdigit()
    return " (write numbers with a decimal point)" if is_comma else ""


def _all_match(texts: polars.Series, pattern: str) -> bool:
    return bool(texts.drop_nulls().str.contains(pattern).all())


def _scales(encoded: np.ndarray, means: np.ndarray) -> np.ndarray:
    scales = encoded.std(axis=0)
    scales[np.ptp(encoded, axis=0) == 0] = 1.0  # rounding of the mean must not make a constant column vary
    scales[~(scales > 0)] = 1.0  # squares of tiny values may vanish
    return scales
