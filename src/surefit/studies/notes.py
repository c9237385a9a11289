"""Notes about the data: dropped or suspicious columns, few rows, rare classes."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from surefit.core.text import counted
from surefit.studies.encoded import Encoded
from surefit.studies.metrics import Metric
from surefit.studies.options import Options
from surefit.studies.prepare import Prepared
from surefit.tables import column_option, listed

ROLES = {"time": "orders the rows", "group": "groups the rows", "weight": "weights the rows"}
SUSPICIOUS = 0.999  # fraction of the target's variance explained by one column alone


def data_notes(prepared: Prepared, part: Encoded, metric: Metric, options: Options) -> list[str]:
    """Return the notes, most important first."""
    said = [*_leaks(prepared, part), *_columns(prepared), *_classes(prepared, metric, options)]
    features, rows = len(part.encoder.feature_names_), len(part.rows)
    used = set(part.encoder.feature_columns_)
    constant = [name for name in part.encoder.recipes_ if name not in used]
    if constant:
        said.append(f"{listed(constant, 6)}: constant over the training rows, so not used.")
    if features > rows:
        said.append(f"There are more features ({features}) than training rows ({rows}).")
    said += [f"Features {a!r} and {b!r} are equal; their coefficients are not unique." for a, b in _copies(part)]
    if 0 < len(part.held) < 30:
        said.append(f"Only {counted(len(part.held), 'test row')}: the bound on the error is wide.")
    if options.weight is not None and len(part.held):
        said.append("The bound on the error counts test rows equally; scores use the weights.")
    return said


def _columns(prepared: Prepared) -> list[str]:
    said = [f"Column {c.name!r}: {c.note}" for c in prepared.columns if c.note and c.kind != "identifier"]
    names = [c.name for c in prepared.columns if c.kind == "identifier"]
    if names:
        one = len(names) == 1
        keep = f"{column_option(names[0], 'category')} or {column_option(names[0], 'number')} keeps"
        left = "names rows and was" if one else "name rows and were"
        said.append(f"{listed(names, 6)} {left} left out; {keep} {'it' if one else repr(names[0])}.")
    said += [
        f"{c.name!r} {ROLES[c.kind]} and is not a predictor; to predict from it as well, copy it to a column of another name."
        for c in prepared.columns
        if c.kind in ROLES
    ]
    empty = [c.name for c in prepared.columns if c.kind == "empty"]
    if empty:
        said.append(f"{listed(empty, 6)}: every cell is missing; left out.")
    return said


def _classes(prepared: Prepared, metric: Metric, options: Options) -> list[str]:
    classes = prepared.target.classes
    if not classes:
        return []
    counts = np.bincount(prepared.target.y, minlength=len(classes))
    few = [classes[k] for k in np.flatnonzero(counts < 10)]
    said = [f"Fewer than 10 rows of {listed(few, 6)}: such classes cannot be learned reliably."] if few else []
    if options.metric is None and metric.name == "f1":
        rare = int(np.argmin(counts))
        said.append(
            f"Only {100 * counts[rare] / counts.sum():.1f} % of the rows are {classes[rare]!r}, so models are compared by the F1 score "
            "of that class, and a decision threshold is chosen for it; --metric error compares error rates."
        )
    return said


def _leaks(prepared: Prepared, part: Encoded) -> list[str]:
    """Return notes about columns that determine the target by themselves and may be unknown at prediction time."""
    y = part.y
    if len(y) < 20:
        return []
    target = np.eye(len(part.classes))[y] if part.classes else y[:, None].astype(np.float64)
    target = target - target.mean(axis=0)
    total = np.sum(target**2)
    suspects = []
    names = np.asarray(part.encoder.feature_columns_)
    for name in dict.fromkeys(part.encoder.feature_columns_):
        X = part.X[:, names == name]
        if X.shape[1] > 60 or prepared.kinds.get(name) == "text" or total == 0:
            continue
        fitted = X @ np.linalg.lstsq(X, target, rcond=None)[0]
        if np.sum((target - fitted) ** 2) <= (1 - SUSPICIOUS) * total:
            suspects.append(name)
    return [
        f"Column {name!r} alone determines the target; it may leak the target. "
        f"{column_option(name, 'drop')} leaves it out."
        for name in suspects
    ]


def _copies(part: Encoded, most: int = 3) -> list[tuple[str, str]]:
    first: dict[bytes, int] = {}
    pairs = []
    for j in range(part.X.shape[1]):
        owner = first.setdefault(blake2b(np.ascontiguousarray(part.X[:, j]).data).digest(), j)
        if owner != j:
            pairs.append((part.encoder.feature_names_[owner], part.encoder.feature_names_[j]))
    return pairs[:most]
