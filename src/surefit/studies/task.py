"""Target column: the task, and the numbers or class codes to predict."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from surefit.core.errors import InvalidData
from surefit.core.text import counted
from surefit.tables import Column, Table, column_option, listed, typed_column

if TYPE_CHECKING:
    import polars

FEW_INTEGERS = 10  # number of distinct integers up to which a target is a class label
MOST_CLASSES = 100
USUAL_TARGETS = ("target", "y", "label", "class")


class Target(NamedTuple):
    """Target of a study: ``y`` contains codes of ``classes`` or numbers, and ``known`` marks usable rows."""

    name: str
    task: str
    y: np.ndarray
    classes: tuple[str, ...]
    known: np.ndarray
    why: str


def usual_target(table: Table) -> str:
    """Return the column with a conventional target name; raise ``InvalidData`` if there is none."""
    for usual in USUAL_TARGETS:
        named = [name for name in table.frame.columns if name.lower() == usual]
        if len(named) == 1:
            return named[0]
    raise InvalidData(
        f"{table.source}: name the column to predict with --target NAME; the columns are {listed(table.frame.columns)}."
    )


def read_target(table: Table, column: Column, task: str | None, na: tuple[str, ...] = ()) -> Target:
    """Determine the task and read the target; rows without a target are marked.

    Examples
    --------
    >>> import polars
    >>> from surefit.studies.task import read_target
    >>> from surefit.tables import as_table, describe
    >>> table = as_table(polars.DataFrame({"size": ["small", "large", "small", None]}))
    >>> target = read_target(table, describe(table, keep=("size",))[0], None)
    >>> target.task, target.classes, target.y.tolist()
    ('classification', ('large', 'small'), [1, 0, 1, -1])
    """
    cells = table.frame[column.name]
    if column.kind == "empty":
        raise InvalidData(f"{table.source}: every cell of the target {column.name!r} is missing.")
    if column.kind == "date":
        raise InvalidData(
            f"{table.source}: the target {column.name!r} holds dates; expected numbers or classes. Choose another --target."
        )
    numbers = typed_column(cells, column._replace(kind="number"), na) if column.kind == "number" else None
    found, why = _task(column, numbers, task, table)
    if found == "regression":
        return _numbers(table, column.name, numbers, why)
    return _classes(table, column, cells, why, na)


def _task(column: Column, numbers: polars.Series | None, asked: str | None, table: Table) -> tuple[str, str]:
    if asked == "classification":
        return asked, "as requested"
    if numbers is None:
        if asked == "regression":
            raise InvalidData(
                f"{table.source}: the target {column.name!r} holds texts, which no regression can predict; leave out --task, or "
                f"read it as numbers with {column_option(column.name, 'number')}."
            )
        return "classification", f"{column.name} holds {'two values' if column.kind == 'boolean' else 'texts'}"
    if asked == "regression":
        return asked, "as requested"
    values = numbers.drop_nulls().unique().to_numpy()
    whole = bool(np.all(values == np.round(values)))
    if whole and len(values) <= FEW_INTEGERS and (len(values) <= 2 or len(numbers) >= 5 * len(values)):
        return (
            "classification",
            f"{column.name} takes {len(values)} whole numbers only; --task regression predicts numbers",
        )
    if len(values) == 2:
        return "classification", f"{column.name} takes 2 values only; --task regression predicts numbers"
    return "regression", f"{column.name} takes {counted(len(values), 'different number')}"


def _numbers(table: Table, name: str, numbers: polars.Series | None, why: str) -> Target:
    assert numbers is not None
    y = numbers.fill_null(float("nan")).to_numpy().astype(np.float64)
    infinite = np.flatnonzero(np.isinf(y))
    if len(infinite):
        raise InvalidData(
            f"{table.source}: column {name!r}, row {table.rows[infinite[0]]} is infinite; correct the cell or remove the row."
        )
    return Target(name, "regression", y, (), ~np.isnan(y), why)


def _classes(table: Table, column: Column, cells: polars.Series, why: str, na: tuple[str, ...]) -> Target:
    import polars

    texts = typed_column(cells, column._replace(kind="category"), na)
    known = texts.is_not_null().to_numpy()
    classes = sorted(texts.drop_nulls().unique().to_list(), key=_as_number_or_text)
    if len(classes) < 2:
        raise InvalidData(
            f"{table.source}: the target {column.name!r} is {classes[0]!r} in every row; there is nothing to predict."
        )
    if len(classes) > MOST_CLASSES:
        raise InvalidData(
            f"{table.source}: the target {column.name!r} has {len(classes)} classes; expected at most {MOST_CLASSES}. "
            "Choose another --target, pool the classes, or use --task regression for numbers."
        )
    codes = texts.replace_strict(classes, range(len(classes)), default=-1, return_dtype=polars.Int64).to_numpy()
    return Target(column.name, "classification", codes, tuple(classes), known, why)


def _as_number_or_text(text: str) -> tuple[int, float, str]:
    try:
        return 0, float(text), text
    except ValueError:
        return 1, 0.0, text
