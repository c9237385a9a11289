"""The result of reading a model of another library: its problem, its attributes and the claims about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from surefit.core.claims import Claim
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.sample import Data

Reader = Callable[[Any, Data, float], "Reading"]

#: Reader of each class, by the first part of its module and its name.
READERS: dict[tuple[str, str], Reader] = {}


class Reading(NamedTuple):
    """A model of another library, expressed as a problem of surefit."""

    grade: str
    problem: dict[str, Any]
    attributes: tuple[str, ...]
    claims: Callable[[Any, Data], list[Claim]]  # takes a certificate without claims, and the data
    witness: dict[str, np.ndarray] = {}  # reference solution, added to the first claim
    run: dict[str, Any] = {}
    derived: str | None = None  # how the checker derives values that are not attributes
    free: Callable[[Any, Data, float], list[Claim]] | None = None  # risk claims from the fit itself, at delta


def reader(library: str, *names: str) -> Callable[[Reader], Reader]:
    """Return a decorator that registers a function as the reader of these classes."""

    def add(function: Reader) -> Reader:
        READERS.update({(library, name): function for name in names})
        return function

    return add


def reader_of(model) -> Reader | None:
    """Return the reader of the first class in the method resolution order that has one, or None."""
    for kind in type(model).__mro__:
        found = READERS.get((kind.__module__.partition(".")[0], kind.__name__))
        if found is not None:
            return found
    return None


def attribute(model, name: str) -> np.ndarray:
    """Return a fitted attribute as an array; raise ``InvalidData`` if it is missing or sparse."""
    value = getattr(model, name, None)
    if value is None:
        raise InvalidData(f"certify: this {type(model).__name__} has no {name}; fit it first.")
    if sparse.issparse(value):
        raise InvalidData(f"certify: {name} of this {type(model).__name__} is sparse; call densify() first.")
    return np.asarray(value)


def refuse(model, name: str, expected: str) -> InvalidParameter:
    """Return the error for a parameter value that cannot be certified."""
    return InvalidParameter(f"certify({type(model).__name__})", name, expected, getattr(model, name, None))


def target_of(model, data: Data) -> np.ndarray:
    """Return the target; raise ``InvalidData`` if there is none."""
    if data.y is None:
        raise InvalidData(f"certify: a {type(model).__name__} was fitted to a target; pass y as well.")
    return data.y


def named(classes: np.ndarray) -> list:
    """Return the classes as a certificate stores them: numbers as floats, others as text."""
    if classes.dtype.kind in "biuf":
        return [float(label) for label in classes]
    return [str(label) for label in classes]
