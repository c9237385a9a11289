"""Encoded rows of a table with their target: the test part if the model was fitted on this table."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from surefit.core.errors import InvalidData
from surefit.studies.certify import rows_of
from surefit.studies.model import TableModel
from surefit.studies.options import Options
from surefit.studies.prepare import prepare
from surefit.tables import Column, Table, typed_column


class Labeled(NamedTuple):
    """Encoded rows, their targets (class codes or numbers), their row numbers in the file, and their description."""

    X: np.ndarray
    y: np.ndarray
    numbers: np.ndarray
    words: str
    fresh: bool  # whether the rows were not used for training, as far as known


def labeled_rows(model: TableModel, table: Table) -> Labeled:
    """Return the rows of the test part if the model was fitted on this table, otherwise all rows with a target."""
    table.require([model.target_])
    options = Options.from_record(model.record_["options"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            prepared = prepare(table, options)
            part = rows_of(model, prepared, options)
        except InvalidData:
            part = None
    if part is not None and len(part.held):
        return Labeled(part.X_held, part.y_held, prepared.table.rows[part.held], "of the test part", True)
    y, known = _targets(model, table)
    chosen = table.take(np.flatnonzero(known))
    words = "of the training part; there is no test part" if part is not None else "of this table"
    return Labeled(model.encode(chosen), y[known], chosen.rows, words, part is None)


def _targets(model: TableModel, table: Table) -> tuple[np.ndarray, np.ndarray]:
    column = next(Column(**each) for each in model.columns_ if each["name"] == model.target_)
    classes = [str(name) for name in model.classes_]
    kind = "category" if classes else "number"
    values = typed_column(table.frame[model.target_], column._replace(kind=kind))
    if not classes:
        y = values.fill_null(float("nan")).to_numpy().astype(np.float64)
        return y, np.isfinite(y)
    import polars

    y = values.replace_strict(classes, range(len(classes)), default=-1, return_dtype=polars.Int64).to_numpy()
    if not (y >= 0).any():
        raise InvalidData(f"{table.source}: no row has a class of the model in the column {model.target_!r}.")
    return y, y >= 0
