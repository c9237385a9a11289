"""Registry of functions that extract arrays from models that do not store them under surefit's attribute names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Derive = Callable[[Any], dict[str, np.ndarray]]
DERIVED: dict[str, Derive] = {}


def derived(name: str) -> Callable[[Derive], Derive]:
    """Register the function that reads the models called ``name`` in a problem."""

    def add(function: Derive) -> Derive:
        DERIVED[name] = function
        return function

    return add
