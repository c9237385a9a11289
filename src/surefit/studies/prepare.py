"""Preparation of a table for a study: interpretation of columns, choice of rows, roles, and notes on all decisions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.core.errors import InvalidData
from surefit.core.text import counted
from surefit.studies.options import Options
from surefit.studies.task import Target, read_target, usual_target
from surefit.tables import Column, Table, describe, listed, typed

LEAST_ROWS = 5
MOSTLY_COPIES = 0.5  # fraction of distinct rows below which equal rows are not treated as duplicates


class Prepared(NamedTuple):
    """Typed feature columns, the target, and weights and units of the rows."""

    table: Table  # typed feature columns
    columns: tuple[Column, ...]  # all columns of the file, with their interpretation
    target: Target
    weights: np.ndarray | None
    units: np.ndarray  # rows of one unit stay together: copies, groups, or single rows
    grouped: bool
    draws: bool  # equal rows are separate draws, because few columns make them likely
    times: np.ndarray | None

    @property
    def kinds(self) -> dict[str, str]:
        """Kind of each feature column."""
        used = set(self.table.frame.columns)
        return {column.name: column.kind for column in self.columns if column.name in used}

    def take(self, rows: np.ndarray) -> Prepared:
        """Return some of the rows."""
        t = self.target
        return self._replace(
            table=self.table.take(rows),
            target=t._replace(y=t.y[rows], known=t.known[rows]),
            weights=None if self.weights is None else self.weights[rows],
            units=np.unique(self.units[rows], return_inverse=True)[1],
            times=None if self.times is None else self.times[rows],
        )


def prepare(table: Table, options: Options) -> Prepared:
    """Interpret a table according to the options; raise ``InvalidData`` if it cannot be used."""
    name = options.target if options.target is not None else usual_target(table)
    table.require([name, *options.roles])
    if name in options.roles:
        raise InvalidData(f"{table.source}: the target {name!r} cannot also be the weight, the group or the time.")
    columns = describe(table, options.spelling, keep=(name, *options.roles))
    by_name = {column.name: column for column in columns}
    target = read_target(table, by_name[name], options.task, options.na)
    named = {name: "target", options.weight: "weight", options.group: "group", options.time: "time"}
    columns = [
        c._replace(kind=named[c.name], note="") if c.name in named and c.name is not None else c for c in columns
    ]
    features = [column for column in columns if column.used]
    if not features:
        raise InvalidData(
            f"{table.source}: there is no column besides the target {name!r} to predict it from; "
            f"{_left_out(columns) or 'add columns.'}"
        )
    frame = typed(table, features, options.na)
    units, draws = _units(table, frame, target, options)
    prepared = Prepared(
        frame, tuple(columns), target, _weights(table, by_name, options), units, options.group is not None, draws,
        _times(table, by_name, options),
    )  # fmt: skip
    return _usable(prepared, options)


def _left_out(columns: list[Column]) -> str:
    dropped = [column.name for column in columns if column.kind in ("identifier", "empty", "drop")]
    return f"left out were {listed(dropped)}." if dropped else ""


def _weights(table: Table, by_name: dict[str, Column], options: Options) -> np.ndarray | None:
    if options.weight is None:
        return None
    column = typed(table, [by_name[options.weight]._replace(kind="number")], options.na).frame[options.weight]
    weights = column.fill_null(float("nan")).to_numpy()
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise InvalidData(
            f"{table.source}: column {options.weight!r}, row {table.rows[bad[0]]}: a weight must be a number >= 0; got "
            f"{table.frame[options.weight][int(bad[0])]!r}."
        )
    return weights


def _times(table: Table, by_name: dict[str, Column], options: Options) -> np.ndarray | None:
    if options.time is None:
        return None
    column = by_name[options.time]
    if column.kind not in ("date", "number", "identifier"):
        raise InvalidData(f"{table.source}: the column {options.time!r} of --time contains neither dates nor numbers.")
    kind = "date" if column.kind == "date" else "number"
    values = typed(table, [column._replace(kind=kind)], options.na).frame[options.time]
    if values.null_count():
        row = table.rows[int(np.flatnonzero(values.is_null().to_numpy())[0])]
        raise InvalidData(f"{table.source}: column {options.time!r}, row {row} is missing; every row needs its time.")
    return values.to_physical().to_numpy().astype(np.float64)


def _units(table: Table, frame: Table, target: Target, options: Options) -> tuple[np.ndarray, bool]:
    """Return the unit of each row (its group or its duplicates), and whether equal rows are separate draws."""
    if options.group is not None:
        return np.unique(table.frame[options.group].cast(str).fill_null("").to_numpy(), return_inverse=True)[1], False
    keys = frame.frame.hash_rows(seed=0).to_numpy() ^ np.unique(target.y, return_inverse=True)[1].astype(np.uint64)
    units = np.unique(keys, return_inverse=True)[1]
    if units.max() + 1 < MOSTLY_COPIES * len(units):  # few categories, so equal rows are common
        return np.arange(len(units)), True
    return units, False


def _usable(prepared: Prepared, options: Options) -> Prepared:
    """Drop rows without a target, and treat missing cells as requested."""
    notes = []
    keep = prepared.target.known.copy()
    if not keep.all():
        notes.append(f"{counted(int((~keep).sum()), 'row has', 'rows have')} no target and were left out.")
    missing = np.zeros(len(keep), dtype=bool)
    frame = prepared.table.frame
    for column in frame:
        missing |= column.is_null().to_numpy()
    affected = [column.name for column in frame if column.null_count()]
    if options.missing == "refuse" and missing.any():
        name, place = affected[0], int(np.flatnonzero(frame[affected[0]].is_null().to_numpy())[0])
        raise InvalidData(
            f"{prepared.table.source}: column {name!r}, row {prepared.table.rows[place]} is missing; fill the cell, or use "
            "--missing impute or --missing drop."
        )
    if options.missing == "drop" and missing.any():
        notes.append(
            f"{counted(int((missing & keep).sum()), 'row has', 'rows have')} missing cells and were left out (--missing drop)."
        )
        keep &= ~missing
    elif affected:
        notes.append(
            f"Missing cells in {listed(affected, 6)}: numbers are replaced by the training median, with an indicator feature; "
            "for categories they are a separate level (--missing drop leaves such rows out)."
        )
    if prepared.weights is not None:
        keep &= prepared.weights > 0
    if prepared.draws:
        notes.append("Most rows equal another one, so equal rows are taken for separate draws, not for copies.")
    if keep.sum() < LEAST_ROWS:
        raise InvalidData(
            f"{prepared.table.source}: {counted(int(keep.sum()), 'usable row')}; a model needs at least {LEAST_ROWS}, better hundreds."
        )
    chosen = prepared.take(np.flatnonzero(keep))
    y = chosen.target.y
    if len(np.unique(y)) < 2:
        raise InvalidData(
            f"{prepared.table.source}: the target {prepared.target.name!r} is the same in every usable row; there is nothing to predict."
        )
    return chosen._replace(table=chosen.table.noted(*notes))
