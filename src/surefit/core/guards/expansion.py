"""Detection of archives that unpack to far more than their size, from the declared sizes or while unpacking."""

from __future__ import annotations

import io
import zlib
from zipfile import ZipFile

FREE = 2**28  # number of bytes that any file may unpack to
RATIO = 200  # allowed ratio for larger files; tables and models stay far below it
GZIP = 16 + zlib.MAX_WBITS
PIECE = 2**24


def limit(packed: int) -> int:
    """Return the largest unpacked size in bytes that is allowed for a file of ``packed`` bytes.

    Examples
    --------
    >>> from surefit.core.guards.expansion import limit
    >>> limit(1000) == 2**28, limit(10_000_000)
    (True, 2000000000)
    """
    return max(FREE, RATIO * packed)


def unpacked_size(archive: ZipFile) -> int:
    """Return the declared size of all members of a zip archive, including those of ``.npz`` archives inside it.

    Reading a member never returns more than its declared size.
    """
    total = 0
    for member in archive.infolist():
        total += member.file_size
        if member.filename.endswith(".npz") and member.file_size <= FREE:
            with ZipFile(io.BytesIO(archive.read(member))) as inner:
                total += sum(part.file_size for part in inner.infolist())
    return total


def gunzipped(content: bytes) -> bytes | None:
    """Return the content of a gzip file, or None if it exceeds the limit; raise ``zlib.error`` or ``EOFError`` if it is damaged."""
    room, pieces = limit(len(content)), []
    while content:
        stream = zlib.decompressobj(GZIP)
        while not stream.eof:
            piece = stream.decompress(content, PIECE)
            room -= len(piece)
            if room < 0:
                return None
            content = stream.unconsumed_tail
            if not piece and not content and not stream.eof:
                raise EOFError("the file ends before its data does")
            pieces.append(piece)
        content = stream.unused_data.lstrip(b"\0")  # several members may follow each other, padded with zeros
    return b"".join(pieces)
