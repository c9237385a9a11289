"""Digest of a fitted model: every attribute that a prediction can depend on, including nested models.

Values are read through ``__getstate__``, as when saving to a file, so a model that was saved and loaded has the same digests. Numbers are
hashed by value: a NumPy scalar equals the Python number, a tuple equals the list.
"""

from __future__ import annotations

import struct
from contextvars import ContextVar
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np

from surefit.core.fingerprint import fingerprint
from surefit.core.storage import is_sparse

#: Attributes that do not describe the model: its certificate, its callbacks, and internal attributes of scikit-learn.
UNCOVERED = (
    "_certificate",
    "_skl_callbacks",
    "_parent_callback_ctx",
    "_callback_fit_ctx",
    "_metadata_request",
    "cluster_",
)
KEPT = 1 << 16  # size in bytes up to which a copy of an array is kept instead of its digest
UNCHANGING = frozenset((type(None), bool, int, str))  # types whose values are their own marks
#: True while a state is read for a digest, which does not cover the certificate: its proof can go on waiting.
DIGESTING: ContextVar[bool] = ContextVar("DIGESTING", default=False)
SMALL = 4096  # size in bytes up to which an array is hashed directly; larger arrays are hashed by the fingerprint, at memory speed


def state_digests(model: Any) -> dict[str, str]:
    """Return a digest of each fitted attribute of ``model``, by name; constructor parameters are excluded."""
    return {name: digest(value) for name, value in sorted(fitted_state(model).items())}


def marks_of(fitted: dict[str, Any]) -> dict[str, Any]:
    """Return the mark of each fitted attribute, which reveals changes: a copy of small arrays and floats, otherwise a digest."""
    return {name: mark_of(value) for name, value in fitted.items()}


def digests_of_marks(marks: dict[str, Any]) -> dict[str, str]:
    """Return the digests of the attributes with these marks, as :func:`state_digests` does."""
    return {name: mark if type(mark) is str else digest(_value_of(mark)) for name, mark in sorted(marks.items())}


def fitted_state(model: Any) -> dict[str, Any]:
    """Return the fitted attributes of ``model`` by name, without constructor parameters."""
    params = set(_params_of(model))
    state = _state_of(model)
    return {k: v for k, v in state.items() if k not in params} if isinstance(state, dict) else {"state": state}


def _params_of(model: Any) -> Any:
    if hasattr(model, "_own_param_names"):  # surefit's classes cache the names
        return model._get_param_names()
    return model.get_params(deep=False) if hasattr(model, "get_params") else ()


def mark_of(value: Any) -> Any:
    """Return the mark of one attribute; values with equal marks have equal digests."""
    found = _simple_mark(value)
    if found is not None:
        return found
    if type(value) is list:
        items = [_simple_mark(part) for part in value]
        return digest(value) if None in items else (list, *items)
    if type(value) is dict or type(value).__module__.startswith("surefit.kernels"):
        parts = value if type(value) is dict else _state_of(value)
        marks = {name: _simple_mark(part) for name, part in parts.items()} if type(parts) is dict else {"": None}
        if None not in marks.values():
            return type(value), marks
    return digest(value)


def _simple_mark(value: Any) -> Any:
    """Return the mark of an array, a number, a text or a tuple of these; None for other values."""
    kind = type(value)
    if kind is np.ndarray:
        if value.nbytes <= KEPT and not value.dtype.hasobject:
            return value.dtype, value.shape, value.tobytes()
    elif kind in UNCHANGING:
        return kind, value
    elif kind is float or kind is np.float64:
        return struct.pack("<d", value)
    elif isinstance(value, tuple):
        marks = [_simple_mark(part) for part in value]
        return None if None in marks else (kind, *marks)
    return None


def _value_of(mark: Any) -> Any:
    """Return the value with this mark, equal up to types that have the same digest."""
    if type(mark) is bytes:
        return struct.unpack("<d", mark)[0]
    kind, *parts = mark
    if isinstance(kind, np.dtype):
        return np.ndarray(parts[0], kind, parts[1])
    if kind in UNCHANGING:
        return parts[0]
    if issubclass(kind, (list, tuple)):
        return [_value_of(part) for part in parts]
    values = {name: _value_of(part) for name, part in parts[0].items()}
    if kind is dict:
        return values
    kernel = object.__new__(kind)
    kernel.__dict__.update(values)
    return kernel


def digest(value: Any) -> str:
    """Return a digest of a fitted attribute or a parameter."""
    if type(value) is np.ndarray and value.nbytes <= SMALL:
        code, plain = _code_of(value.dtype)
        if plain:
            return blake2b(_array_header(code, value.shape) + value.tobytes(), digest_size=16).hexdigest()
    sink = blake2b(digest_size=16)
    _feed(sink, value, [])
    return sink.hexdigest()


def _state_of(value: Any) -> Any:
    if isinstance(value, np.random.RandomState):
        return value.get_state()
    if hasattr(value, "get_arrays"):  # scikit-learn's search trees, whose state includes a counter of queries
        return value.get_arrays()
    before = DIGESTING.get()  # without a token, which would be lost if Ctrl-C came before it is stored
    try:
        DIGESTING.set(True)
        state = value.__getstate__()
    finally:
        DIGESTING.set(before)
    if not isinstance(state, dict):
        return state
    kept = {k: v for k, v in state.items() if _covers(k)}
    name = getattr(value, "_in_either_form", None)  # the certificate covers the numbers, not their storage format
    return {**kept, name: dense(kept[name])} if name in kept else kept


@lru_cache(4096)
def _covers(name: Any) -> bool:
    """Return whether the attribute ``name`` describes the model."""
    return name not in UNCOVERED and not str(name).startswith(("_sklearn", "_skl_", "_callback"))


def dense(values: Any) -> Any:
    """Convert a sparse matrix to an array with the same bits (a sum would lose the sign of zero); return other values unchanged."""
    if not is_sparse(values):
        return values
    pairs = values.tocoo()
    found = np.zeros(pairs.shape, dtype=pairs.dtype)
    found[pairs.coords] = pairs.data
    return found


def _feed(sink: Any, value: Any, path: list[int]) -> None:
    """Write ``value`` into ``sink``, each part with its type and length, so that different values give different digests."""
    kind: Any = type(value)
    write = None if kind is np.ndarray else _writer(kind)
    if write is not None:
        write(sink, value)
    elif isinstance(value, np.ndarray):
        _feed_array(sink, value, path)
    elif is_sparse(value):
        sink.update(b"x" + fingerprint(value).encode())
    else:
        _feed_compound(sink, value, path)


def _write_text(sink: Any, value: Any) -> None:
    text = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else bytes(value)
    sink.update((b"s" if isinstance(value, str) else b"b") + b"%d;" % len(text) + text)


def _write_integer(sink: Any, value: Any) -> None:
    sink.update(b"i%d;" % int(value))


def _write_float(sink: Any, value: Any) -> None:
    sink.update(b"f" + struct.pack("<d", float(value)))


def _write_constant(sink: Any, value: Any) -> None:
    sink.update(b"?" + repr(None if value is None else bool(value)).encode())


@lru_cache(256)
def _writer(kind: type) -> Any:
    """Return the function that writes values of a class, or None if such values consist of parts."""
    for kinds, write in (
        ((type(None), bool, np.bool_), _write_constant),
        ((int, np.integer), _write_integer),
        ((float, np.floating), _write_float),
        ((str, bytes, bytearray), _write_text),
    ):
        if issubclass(kind, kinds):
            return write
    return None


@lru_cache(256)
def _code_of(dtype: Any) -> tuple[bytes, bool]:
    """Return the code of a dtype, and whether its bytes are written as they are."""
    return dtype.str.lstrip("<>|=").encode(), dtype.str[0] != ">" and not dtype.hasobject


def _array_header(code: bytes, shape: tuple[int, ...]) -> bytes:
    return b"a%b%b" % (code, repr(shape).encode())


def _feed_array(sink: Any, array: np.ndarray, path: list[int]) -> None:
    code, plain = _code_of(array.dtype)
    sink.update(_array_header(code, array.shape))
    if plain and array.nbytes <= SMALL:
        sink.update(array.tobytes())
    elif array.dtype.hasobject:
        for item in array.ravel():
            _feed(sink, item, path)
    elif array.nbytes <= SMALL or array.dtype.kind not in "fiub":
        little = array if array.dtype.str[0] != ">" else array.astype(array.dtype.newbyteorder("<"))
        sink.update(little.tobytes())
    else:
        sink.update(fingerprint(array).encode())


def _feed_compound(sink: Any, value: Any, path: list[int]) -> None:
    if id(value) in path:  # a cycle: the distance to the earlier occurrence identifies it
        sink.update(b"c%d;" % (len(path) - path.index(id(value))))
        return
    path.append(id(value))
    if isinstance(value, (list, tuple)):
        sink.update(b"l%d;" % len(value))
        for item in value:
            _feed(sink, item, path)
    elif isinstance(value, dict) and set(map(type, value)) == {str}:
        sink.update(b"m%d;" % len(value))
        for key in sorted(value):
            _feed(sink, key, path)
            _feed(sink, value[key], path)
    elif isinstance(value, (dict, set, frozenset)):
        items = value.items() if isinstance(value, dict) else ((item, None) for item in value)
        pairs = sorted((digest(key), item) for key, item in items)
        sink.update(b"d%d;" % len(pairs))
        for key, item in pairs:
            sink.update(key.encode())
            _feed(sink, item, path)
    elif isinstance(value, np.dtype):
        sink.update(b"t" + str(value).encode())
    elif isinstance(value, type) or (callable(value) and hasattr(value, "__qualname__")):
        sink.update(b"q" + f"{value.__module__}.{value.__qualname__}".encode())
    else:
        sink.update(b"o" + type(value).__qualname__.encode() + b";")
        _feed(sink, _state_of(value), path)
    path.pop()
