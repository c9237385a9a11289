"""Certificates as JSON: hex floats for arrays, a published schema, and canonical bytes for the seal."""

import json
from dataclasses import fields, is_dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

import numpy as np

from surefit.core.errors import CertificateError

SCHEMA_NAME = "surefit-certificate-1"


@cache
def schema() -> dict:
    """Return the JSON Schema of a certificate."""
    return json.loads(files("surefit.core").joinpath("certificate.schema.json").read_text(encoding="utf-8"))


def encode(value: Any) -> Any:
    """Turn a certificate's content into JSON values; every float comes back bit for bit."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: encode(getattr(value, f.name)) for f in fields(value)}
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
        return np.array(cells, dtype=value["dtype"]).reshape(value["shape"])
    return {key: decode(item) for key, item in value.items()}


def decode_certificate(text: str) -> dict:
    """Read the JSON text of a certificate into constructor arguments, or say what is wrong with it."""
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise CertificateError(f"Certificate: not JSON ({error}).") from None
    if not isinstance(content, dict) or content.pop("schema", None) != SCHEMA_NAME:
        raise CertificateError(f"Certificate: not a certificate of schema {SCHEMA_NAME!r}.")
    missing = [key for key in schema()["required"] if key != "schema" and key not in content]
    if missing:
        raise CertificateError(f"Certificate: incomplete, {', '.join(missing)} missing.")
    content = decode(content)
    for claim in content["claims"]:
        claim["assumptions"] = tuple(claim["assumptions"])
    return content


def canonical(value: Any) -> bytes:
    """Bytes that identify the content: what :func:`encode` would write, with arrays replaced by a digest of their bits."""
    return json.dumps(_digested(value), sort_keys=True).encode()


def _digested(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: _digested(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, dict):
        return {str(key): _digested(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_digested(item) for item in value]
    if isinstance(value, np.ndarray) and value.dtype.hasobject:
        return encode(value)  # the bytes of objects are addresses
    if isinstance(value, np.ndarray):
        bits = np.ascontiguousarray(value).astype(value.dtype.newbyteorder("<"), copy=False)
        return [value.dtype.str.lstrip("<>|="), list(value.shape), sha256(bits.tobytes()).hexdigest()]
    return encode(value)
