"""Files that somebody damaged or made on purpose, for the tests of every reader."""

from __future__ import annotations

import io
import json
import random
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

#: Values that break careless readers of JSON.
HOSTILE = (
    None, True, -1, 10**400, 1e308, "", "x" * 10_000, "../../etc/passwd", "<script>alert(1)</script>", "\ud800", [], {}, [[[]]],
    {"dtype": "U500000000", "shape": [1], "cells": ["a"]}, {"dtype": "f8", "shape": [10**12], "cells": ["0x0p+0"]},
    {"dtype": "f8", "shape": [-1], "cells": ["0x1p+99999"]}, {"dtype": "O", "shape": [1], "cells": [{}]}, {"float": "nan"}, {"float": []},
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths to all parts of a JSON value."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, part in parts for found in places(part, (*path, key)))]


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """Return a copy of a JSON value with another part at ``path``."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


def changed_json(text: str, draw: random.Random) -> str:
    """Return JSON with one part replaced, removed or repeated."""
    content = json.loads(text)
    path = draw.choice(places(content)[1:])
    new = draw.choice([*HOSTILE, "elsewhere"])
    if new == "elsewhere":  # another part of the same file
        other = content
        for key in draw.choice(places(content)[1:]):
            other = other[key]
        new = other
    return json.dumps(replaced(content, path, new))


def changed_bytes(content: bytes, draw: random.Random) -> bytes:
    """Return bytes with flips, holes, repetitions or a cut."""
    damaged = bytearray(content)
    for _ in range(draw.randint(1, 8)):
        at = draw.randrange(len(damaged) + 1)
        how = draw.randrange(4)
        if how == 0 and at < len(damaged):
            damaged[at] ^= 1 << draw.randrange(8)
        elif how == 1:
            del damaged[at : at + draw.randint(1, 50)]
        elif how == 2:
            damaged[at:at] = damaged[at : at + draw.randint(1, 50)] or b"\0"
        else:
            damaged[at : at + 4] = bytes(draw.randrange(256) for _ in range(4))
    return bytes(damaged)


def changed_archive(content: bytes, draw: random.Random) -> bytes:
    """Return an archive with one member damaged, renamed, removed or repeated; checksums are right again."""
    with ZipFile(io.BytesIO(content)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    at, how = draw.randrange(len(members)), draw.randrange(5)
    name, part = members[at]
    if how == 0:
        members[at] = ("../../" + name, part)
    elif how == 1:
        del members[at]
    elif how == 2 and name.endswith(".json"):
        members[at] = (name, changed_json(part.decode(), draw).encode("utf-8", "surrogatepass"))
    else:
        members[at] = (name, changed_bytes(part, draw))
    return packed(members)


def packed(members: list[tuple[str, bytes]]) -> bytes:
    """Return a zip archive."""
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", compression=ZIP_DEFLATED) as archive:
        for name, part in dict(members).items():
            archive.writestr(name, part)
    return buffer.getvalue()
