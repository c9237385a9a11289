"""Loading of models of other libraries: skops files with trusted types, and pickle files with the user's consent."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from surefit.core.errors import PersistenceError
from surefit.persistence.models import LABEL, _read, _skops, load, require_proportion
from surefit.persistence.trust import SKOPS_TRUSTED

ARCHIVE = b"PK\x03\x04"


def load_external(path: str | Path, trusted: Iterable[str] = (), *, unpickle: bool = False) -> Any:
    """Read a model that ``skops.io.dump``, ``joblib.dump`` or :func:`surefit.save` wrote.

    Guarantee: without ``unpickle``, only types of surefit, types that skops trusts by default, and types in ``trusted``
    are created, and no code in the file is executed. A pickle can execute arbitrary code; it is rejected unless
    ``unpickle`` is True.

    Parameters
    ----------
    path : str or Path
        The file.
    trusted : iterable of str
        Names of further types to allow in a skops file, such as ``"sklearn.tree._tree.Tree"``.
    unpickle : bool, default=False
        Whether a pickle or joblib file may be opened, which can execute arbitrary code.

    Returns
    -------
    estimator
        The model.

    Raises
    ------
    PersistenceError
        If the file is missing, damaged, a pickle, or contains a type that is not trusted.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import skops.io
    >>> from sklearn.linear_model import Ridge
    >>> from surefit.persistence import load_external
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "model.skops")
    ...     skops.io.dump(Ridge().fit([[0.0], [1.0]], [0.0, 2.0]), file)
    ...     model = load_external(file)
    >>> model.coef_.round(3)
    array([0.667])
    """
    path = Path(path)
    content = _read(path)
    if not content.startswith(ARCHIVE):
        return _unpickled(path, content) if unpickle else _refuse_pickle(path)
    try:
        with ZipFile(io.BytesIO(content)) as archive:
            require_proportion(path, len(content), archive)
            names = archive.namelist()
    except (BadZipFile, EOFError, RuntimeError, ValueError, zlib.error):
        raise PersistenceError(f"{path}: this archive is damaged or cut off; save the model again.") from None
    if LABEL in names:
        return load(path, trusted)
    if "schema.json" not in names:
        raise PersistenceError(f"{path}: this archive contains no model; write one with skops.io.dump(model, file).")
    skops, allowed = _skops(), [*SKOPS_TRUSTED, *trusted]
    try:
        external = sorted(set(skops.get_untrusted_types(data=content)) - set(allowed))
        if not external:
            return skops.loads(content, trusted=allowed)
    except Exception as error:  # any error of the reader means that the file is not usable
        raise PersistenceError(f"{path}: skops cannot read this file ({_first_line(error)}).") from None
    options = " ".join(f"--trust {name}" for name in external)
    raise PersistenceError(
        f"{path}: contains the type {', '.join(external)}, which is not trusted; nothing was loaded. If you trust the author of the "
        f"file, allow it: {options}."
    )


def _unpickled(path: Path, content: bytes) -> Any:
    import joblib

    try:
        return joblib.load(io.BytesIO(content))
    except Exception as error:
        raise PersistenceError(f"{path}: cannot be unpickled ({_first_line(error)}).") from None


def _refuse_pickle(path: Path) -> Any:
    raise PersistenceError(
        f"{path}: this is not a skops file. Opening a pickle or joblib file can execute arbitrary code; write the model with "
        "skops.io.dump(model, file), or use --trust-pickle if you trust its author."
    )


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
