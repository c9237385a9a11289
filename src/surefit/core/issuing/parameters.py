"""Parameters of an estimator as JSON values."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.issuing.state import digest


def plain(value: Any, within: tuple[int, ...] = ()) -> Any:
    """Return a parameter as a JSON value. Objects become text that identifies them; random generators are represented by their type.

    ``within`` are the identities of the values that contain this one; a value that contains itself ends there.
    """
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if id(value) in within:
        return f"{type(value).__name__} that contains itself"
    within = (*within, id(value))
    if isinstance(value, np.ndarray):
        return value if value.ndim and not value.dtype.hasobject else plain(value.tolist(), within)
    if isinstance(value, tuple) and hasattr(value, "_fields"):  # losses and penalties are named tuples
        fields = zip(value._fields, value, strict=True)
        return {"record": {"term": type(value).__name__, **{name: plain(item, within) for name, item in fields}}}
    if isinstance(value, (list, tuple)):
        return [plain(item, within) for item in value]
    if isinstance(value, (np.random.RandomState, np.random.Generator)):
        return type(value).__name__  # the state of a generator changes when it is used
    if isinstance(value, dict):
        return {"pairs": [[plain(key, within), plain(item, within)] for key, item in value.items()]}
    if hasattr(value, "to_record") and not isinstance(value, type):  # kernels can be serialized
        try:
            return {"record": value.to_record()}
        except ValueError:  # a kernel given as a function cannot be serialized
            pass
    if hasattr(value, "get_params") and not isinstance(value, type):  # an estimator, as it was before fitting
        given = {name: plain(part, within) for name, part in value.get_params(deep=False).items()}
        return f"{type(value).__name__} {digest(given)}"
    return f"{getattr(value, '__qualname__', type(value).__name__)} {digest(value)}"
