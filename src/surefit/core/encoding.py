"""JSON format of certificates: hexadecimal floats for arrays, a published schema, and canonical bytes for the seal."""

import json
import math
import re
from dataclasses import fields
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

import numpy as np

from surefit._version import __version__
from surefit.core.claims import Claim
from surefit.core.errors import CertificateError
from surefit.core.guards.expansion import FREE

DTYPE = re.compile(r"[fiub][1248]|f16|[US][0-9]{0,9}|O")
SCHEMA_NAME = "surefit-certificate-2"
FORMAT = re.compile(r"surefit-certificate-[0-9]{1,3}")


@cache
def schema() -> dict[str, Any]:
    """Return the JSON Schema of a certificate."""
    return json.loads(files("surefit.core").joinpath("certificate.schema.json").read_text(encoding="utf-8"))


def encode(value: Any) -> Any:
    """Convert the content of a certificate to JSON values; floats are preserved bit for bit."""
    if isinstance(value, Claim):
        return {key: encode(item) for key, item in _claim_fields(value).items()}
    if isinstance(value, dict):
        return {str(key): encode(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [encode(item) for item in value]
    if isinstance(value, np.ndarray):
        flat = value.ravel()
        cells = [float(v).hex() for v in flat] if value.dtype.kind == "f" else flat.tolist()
        return {"dtype": value.dtype.str.lstrip("<>|="), "shape": list(value.shape), "cells": cells}
    if isinstance(value, np.generic):
        return encode(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return {"float": repr(value)}  # JSON has no infinity
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    return repr(value)


def decode(value: Any) -> Any:
    """Invert :func:`encode`."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"float"}:
        return float(value["float"])
    if value.keys() == {"dtype", "shape", "cells"}:
        cells = value["cells"]
        cells = [float.fromhex(c) for c in cells] if value["dtype"].startswith("f") else cells
        return np.array(cells, dtype=_dtype(value["dtype"], cells)).reshape(value["shape"])
    return {key: decode(item) for key, item in value.items()}


def _dtype(name: str, cells: Any) -> np.dtype[Any]:
    """Return a dtype of numbers or strings; raise an error if the array would exceed the memory limit for unpacked files."""
    if not DTYPE.fullmatch(name):
        raise TypeError(f"no array has the dtype {name[:20]!r}")
    found = np.dtype(name)
    if found.itemsize * len(cells) > FREE:
        raise TypeError(f"{len(cells)} cells of dtype {name[:20]!r} are too large")
    return found


def decode_certificate(text: str) -> dict[str, Any]:
    """Read the JSON text of a certificate into constructor arguments; raise ``CertificateError`` if it is not valid."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError, TypeError) as error:
        raise CertificateError(f"Certificate: not JSON ({error}).") from None
    form = content.pop("schema", None) if isinstance(content, dict) else None
    if form != SCHEMA_NAME and isinstance(form, str) and FORMAT.fullmatch(form):
        wrote = str(content.get("version"))[:20]
        raise CertificateError(
            f"Certificate: surefit {wrote} wrote it in the format {form}, and surefit {__version__} reads {SCHEMA_NAME}; "
            f"verify it with surefit {wrote}, or fit again."
        )
    if form != SCHEMA_NAME:
        raise CertificateError(f"Certificate: not a certificate of schema {SCHEMA_NAME!r}.")
    expected = schema()["properties"]
    missing = [key for key in schema()["required"] if key != "schema" and key not in content]
    unknown = [str(key)[:40] for key in content if key not in expected]
    if missing or unknown:
        words = [f"{', '.join(missing)} missing"] * bool(missing) + [f"{', '.join(unknown)} unknown"] * bool(unknown)
        raise CertificateError(f"Certificate: not a complete certificate: {'; '.join(words)}.")
    for key, value in content.items():
        kind = {"object": dict, "array": list, "string": str}.get(expected[key].get("type"), str)
        if not isinstance(value, kind):
            raise CertificateError(f"Certificate: {key} must be a JSON {kind.__name__}; got {type(value).__name__}.")
    try:
        content = decode(content)
        content["claims"] = tuple(_decoded_claim(claim) for claim in content["claims"])
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError, AttributeError, MemoryError) as error:
        raise CertificateError(f"Certificate: a part has the wrong form ({type(error).__name__}: {error}).") from None
    for key in ("model", "state"):
        if not isinstance(content[key], dict):  # decoding may convert an object to a number or an array
            raise CertificateError(f"Certificate: {key} has the wrong form.")
        wrong = [
            name for name, value in content[key].items() if not isinstance(value, np.ndarray if key == "model" else str)
        ]
        if wrong:
            raise CertificateError(f"Certificate: {key} {wrong[0]!r} has the wrong form.")
    return content


def _claim_fields(claim: Claim) -> dict[str, Any]:
    return {f.name: getattr(claim, f.name) for f in fields(claim)}


def _decoded_claim(content: Any) -> Claim:
    claim = Claim(**content)
    limit = 0.0 if claim.limit is None else claim.limit
    right = isinstance(claim.name, str) and isinstance(claim.numbers, dict) and isinstance(claim.witness, dict)
    right = right and all(isinstance(number, (int, float)) for number in (claim.value, limit))
    if not right or not all(isinstance(array, np.ndarray) for array in claim.witness.values()):
        raise TypeError(f"the claim {str(claim.name)[:80]!r}")
    return claim


def canonical(value: Any) -> bytes:
    """Return bytes that identify the content: the output of :func:`encode`, with arrays replaced by a digest of their bits."""
    return _SORTED.encode(_digested(value)).encode()


def same(a: Any, b: Any) -> bool:
    """Return whether two contents have equal :func:`canonical` bytes, which are computed only for parts that need them.

    Examples
    --------
    >>> from surefit.core.encoding import same
    >>> same({"gamma": 0.5}, {"gamma": 0.5}), same({"degree": 3}, {"degree": 3.0})
    (True, False)
    """
    kind = type(a)
    if kind is type(b):
        if kind in _PLAIN or (kind is float and a == b != 0.0):
            return bool(a == b)
        if kind is dict and a.keys() == b.keys() and all(type(key) is str for key in a):
            return all(same(item, b[key]) for key, item in a.items())
        if (kind is list or kind is tuple) and len(a) == len(b):
            return all(map(same, a, b))
    return canonical(a) == canonical(b)


#: Size in bytes up to which an array, and number of items up to which a list, is copied before a certificate is sealed.
COPIED = 1 << 16


def copied(value: Any) -> Any:
    """Return a copy with the same :func:`canonical` bytes that shares no mutable object; ``TypeError`` if it is large or unknown."""
    kind = type(value)
    if kind in _FIXED:
        return value
    if kind is dict:
        return {key: item if type(item) in _FIXED else copied(item) for key, item in value.items()}
    if kind is Claim:
        return copied(value.__dict__)
    if kind is np.ndarray and value.nbytes <= COPIED and not value.dtype.hasobject:
        return value.copy()
    if (kind is list or kind is tuple) and len(value) <= COPIED:
        return [item if type(item) in _FIXED else copied(item) for item in value]
    if isinstance(value, (str, int, float, np.generic)):
        return value
    raise TypeError(f"a {kind.__name__} cannot be copied")


_SORTED = json.JSONEncoder(sort_keys=True, check_circular=False)
_PLAIN = frozenset((type(None), str, int, bool))  # types that are written as they are
_FIXED = _PLAIN | {float}


def _digested(value: Any) -> Any:
    kind = type(value)
    if kind in _PLAIN or (kind is float and math.isfinite(value)):
        return value
    write = _WRITERS.get(kind) or next((write for each, write in _WRITERS.items() if isinstance(value, each)), encode)
    return write(value)


def _of_mapping(value: Any) -> Any:
    return {str(key): item if type(item) in _PLAIN else _digested(item) for key, item in value.items()}


def _of_list(value: Any) -> Any:
    return [item if type(item) in _PLAIN else _digested(item) for item in value]


def _of_claim(value: Claim) -> Any:
    return _of_mapping(value.__dict__)


def _of_array(value: np.ndarray) -> Any:
    if value.dtype.hasobject:
        return encode(value)  # the bytes of an object array are memory addresses
    if value.dtype.str[0] == ">":
        value = value.astype(value.dtype.newbyteorder("<"))
    return [value.dtype.str.lstrip("<>|="), list(value.shape), sha256(value.tobytes()).hexdigest()]


_WRITERS: dict[type, Any] = {
    dict: _of_mapping,
    list: _of_list,
    tuple: _of_list,
    Claim: _of_claim,
    np.ndarray: _of_array,
}
