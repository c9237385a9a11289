"""Parameters of an estimator as JSON values."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.issuing.state import digest


def plain(value: Any) -> Any:
    """Return a parameter as a JSON value. Objects become text that identifies them; random generators are represented by their type."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value if value.ndim and not value.dtype.hasobject else plain(value.tolist())
    if isinstance(value, tuple) and hasattr(value, "_fields"):  # losses and penalties are named tuples
        fields = zip(value._fields, value, strict=True)
        return {"record": {"term": type(value).__name__, **{name: plain(item) for name, item in fields}}}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (np.random.RandomState, np.random.Generator)):
        return type(value).__name__  # the state of a generator changes when it is used
    if isinstance(value, dict):
        return {"pairs": [[plain(key), plain(item)] for key, item in value.items()]}
    if hasattr(value, "to_record") and not isinstance(value, type):  # kernels can be serialized
        try:
            return {"record": value.to_record()}
        except ValueError:  # a kernel given as a function cannot be serialized
            pass
    if hasattr(value, "get_params") and not isinstance(value, type):  # an estimator, as it was before fitting
        given = {name: plain(part) for name, part in value.get_params(deep=False).items()}
        return f"{type(value).__name__} {digest(given)}"
    return f"{getattr(value, '__qualname__', type(value).__name__)} {digest(value)}"
