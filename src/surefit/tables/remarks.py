"""What is odd, but usable, about the data of a regression; each remark says what it means for the model."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

#: A feature with this share of the target's variance explained alone is suspected of containing the answer.
SUSPICIOUS = 0.9999


def remarks_on_target(y: np.ndarray, name: str) -> list[str]:
    """Return remarks about the numbers to predict.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.tables.remarks import remarks_on_target
    >>> remarks_on_target(np.array([2.0, 2.0]), "y")
    ["The target 'y' is 2 in every row; the model can only be that constant."]
    """
    values = np.unique(y)
    if len(values) == 1:
        return [f"The target {name!r} is {values[0]:g} in every row; the model can only be that constant."]
    if len(values) == 2 and len(y) > 2:
        return [
            f"The target {name!r} takes two values only, {values[0]:g} and {values[1]:g}; a regression predicts numbers "
            "between (and beyond) them, not classes."
        ]
    return []


def remarks_on_features(X: np.ndarray, y: np.ndarray, names: list[str]) -> list[str]:
    """Return remarks about the encoded features: constant, equal to another, equal to the target, more than rows."""
    n, d = X.shape
    constant = np.ptp(X, axis=0) == 0
    said = []
    if constant.any():
        said.append(f"{_list(names, constant)} constant over the training rows; nothing is learnt from that.")
    said += [
        f"Features {a!r} and {b!r} are equal; their coefficients are not unique."
        for a, b in _copies(X, names, constant)
    ]
    leaks = _suspects(X, y, constant)
    if leaks.any():
        said.append(
            f"{_list(names, leaks)} almost exactly a linear function of the target; does it give the answer away?"
        )
    if d > n:
        said.append(
            f"There are more features ({d}) than training rows ({n}): without the penalty the fit would not be unique."
        )
    return said


def _list(names: list[str], chosen: np.ndarray) -> str:
    picked = [repr(names[j]) for j in np.flatnonzero(chosen)]
    if len(picked) == 1:
        return f"Feature {picked[0]} is"
    shown = ", ".join(picked[:5]) + (f" and {len(picked) - 5} more" if len(picked) > 5 else "")
    return f"Features {shown} are"


def _copies(X: np.ndarray, names: list[str], constant: np.ndarray, limit: int = 3) -> list[tuple[str, str]]:
    first: dict[bytes, int] = {}
    pairs = []
    for j in np.flatnonzero(~constant).tolist():
        owner = first.setdefault(blake2b(np.ascontiguousarray(X[:, j]).data).digest(), j)
        if owner != j:
            pairs.append((names[owner], names[j]))
    return pairs[:limit]


def _suspects(X: np.ndarray, y: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """Features whose squared correlation with the target is nearly one, given rows enough for that to be no accident."""
    centred = y - y.mean()
    if len(y) < 10 or not centred.any():
        return np.zeros(X.shape[1], dtype=bool)
    suspects = np.zeros(X.shape[1], dtype=bool)
    for j in np.flatnonzero(~constant):
        x = X[:, j] - X[:, j].mean()
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            suspects[j] = (x @ centred) ** 2 >= SUSPICIOUS * (x @ x) * (centred @ centred)
    return suspects
