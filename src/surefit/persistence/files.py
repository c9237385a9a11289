"""Atomic writing of files, without overwriting an existing file unless requested."""

from __future__ import annotations

import errno
import os
import secrets
from pathlib import Path

from surefit.core.errors import PersistenceError


def require_writable(path: str | Path, overwrite: bool = False) -> Path:
    """Return the path if a file can be written there; otherwise raise an error before any work is done."""
    path = Path(path)
    folder = path.parent
    if not folder.is_dir():
        raise PersistenceError(f"{path}: there is no folder {str(folder)!r}; create it first.")
    if path.is_dir():
        raise PersistenceError(f"{path}: this is a folder; name a file in it.")
    if path.exists() and not path.is_file():
        raise PersistenceError(f"{path}: this is not a regular file; choose another name.")
    if path.exists() and not overwrite:
        raise _exists(path)
    if not os.access(folder, os.W_OK):
        raise PersistenceError(f"{path}: the folder {str(folder)!r} cannot be written to; choose another one.")
    return path


def write_file(path: str | Path, content: bytes, overwrite: bool = False) -> None:
    """Write ``content`` to ``path`` atomically: at any time, the file is absent, unchanged or complete.

    The bytes are written to a temporary file in the same folder, which is renamed once it is on disk.

    Parameters
    ----------
    path : str or Path
        File to write.
    content : bytes
        Content of the file.
    overwrite : bool, default=False
        Whether an existing file may be replaced.

    Raises
    ------
    PersistenceError
        If the file exists and must not be overwritten, or cannot be written.
    """
    write_files({path: content}, overwrite)


def write_files(contents: dict[str | Path, bytes], overwrite: bool = False) -> None:
    """Write several files with :func:`write_file`; none is renamed before all of them are on disk."""
    ready: list[tuple[Path, Path, Path]] = []
    taken: list[str] = []
    path = Path()
    try:
        for name, content in contents.items():
            path = require_writable(name, overwrite)
            target = Path(os.path.realpath(path))  # for a symbolic link, the file it points to is replaced
            temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
            ready.append((path, temporary, target))
            _write_durably(temporary, content)
        for path, temporary, target in ready:
            _take_name(temporary, target, overwrite)
            taken.append(str(path))
    except FileExistsError:
        raise _exists(path) from None
    except OSError as error:
        rest = f"only {', '.join(taken)} was replaced" if taken else "nothing was changed"
        raise PersistenceError(f"{path}: could not be written ({error.strerror or error}); {rest}.") from None
    finally:
        for _, temporary, _ in ready:
            temporary.unlink(missing_ok=True)
    for folder in {target.parent for _, _, target in ready}:
        _sync_folder(folder)


def _write_durably(temporary: Path, content: bytes) -> None:
    with open(temporary, "xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _take_name(temporary: Path, target: Path, overwrite: bool) -> None:
    if overwrite:
        os.replace(temporary, target)
        return
    try:
        os.link(temporary, target)  # fails if the file was created in the meantime
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno == errno.ENOSPC or target.exists():
            raise
        os.replace(temporary, target)  # a file system without links


def _sync_folder(folder: Path) -> None:
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return  # folders cannot be opened everywhere; the file itself is on disk
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)


def _exists(path: Path) -> PersistenceError:
    return PersistenceError(f"{path}: this file exists already; choose another name, or allow overwriting it.")
