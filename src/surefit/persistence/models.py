"""Saving and loading of models with skops: types are checked before objects are created; nothing is unpickled."""

from __future__ import annotations

import io
import json
import logging
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

from surefit._version import __version__
from surefit.core.certificate import Certificate
from surefit.core.errors import CertificateError, PersistenceError
from surefit.core.guards.expansion import limit, unpacked_size
from surefit.core.warn import warn
from surefit.persistence.files import require_writable, write_file
from surefit.persistence.soundness import require_sound
from surefit.persistence.trust import SKOPS_TRUSTED

LOG = logging.getLogger("surefit.persistence")
FORMAT = 1
LABEL = "surefit.json"  # a member of the archive that skops ignores: the version that wrote the file


def save(model: Any, path: str | Path, overwrite: bool = False) -> None:
    """Write a fitted model to a file that is safe to open.

    The file is a zip archive of JSON and arrays in the format of skops; it contains no code. It is written atomically.

    Parameters
    ----------
    model : estimator
        The model, or a scikit-learn pipeline that contains one.
    path : str or Path
        File to write, by convention ``name.surefit``.
    overwrite : bool, default=False
        Whether an existing file may be replaced.

    Raises
    ------
    PersistenceError
        If the file exists, cannot be written, or the model cannot be stored without pickle.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import surefit
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "model.surefit")
    ...     surefit.save(surefit.Lasso(alpha=0.5).fit(X, y), file)
    ...     model = surefit.load(file)
    >>> model.verify(X, y)["linear.gap"].ok
    True
    """
    require_writable(path, overwrite)
    content = packed(model)
    write_file(path, content, overwrite)
    LOG.debug("%s: %d bytes written to %s", type(model).__name__, len(content), path)


def load(path: str | Path, trusted: Iterable[str] = ()) -> Any:
    """Read a model that :func:`surefit.save` wrote.

    Guarantee: only types in ``surefit.SKOPS_TRUSTED``, types in ``trusted``, and types that skops trusts by default are
    created; nothing is unpickled, and no other code runs. Trees and sparse matrices refer only to nodes and columns
    that exist. A certificate in the file is checked against its seal.

    Parameters
    ----------
    path : str or Path
        The file.
    trusted : iterable of str
        Names of further types to allow, such as ``"yourpackage.YourTransformer"``. Only allow types whose code you have
        read.

    Returns
    -------
    estimator
        The model; its certificate verifies with the training data as before.

    Raises
    ------
    PersistenceError
        If the file is missing, damaged, written by a newer surefit, or contains a type that is not trusted.

    Examples
    --------
    >>> import surefit
    >>> surefit.load("no-such-model.surefit")
    Traceback (most recent call last):
    ...
    surefit.core.errors.PersistenceError: no-such-model.surefit: there is no such file; check the name and the folder.
    """
    io_ = _skops()
    path = Path(path)
    content = _read(path)
    _require_known_format(path, content)
    allowed = [*SKOPS_TRUSTED, *trusted]
    try:
        external = sorted(set(io_.get_untrusted_types(data=content)) - set(allowed))
    except Exception as error:
        raise _damaged(path, error) from None
    if external:
        raise PersistenceError(
            f"{path}: contains the type {', '.join(external)}, which is not trusted; nothing was loaded. If you know it to be "
            f"harmless, load with trusted={external!r}."
        )
    try:
        model = io_.loads(content, trusted=allowed)
        require_sound(model)
    except Exception as error:
        raise _damaged(path, error) from None
    _require_seal(path, model)
    LOG.debug("%s: read from %s", type(model).__name__, path)
    return model


def packed(model: Any) -> bytes:
    """Return the content of a model file."""
    io_ = _skops()
    who = type(model).__name__
    try:
        content = io_.dumps(model, compression=ZIP_DEFLATED)
    except Exception as error:
        raise PersistenceError(f"{who}: cannot be saved ({error}).") from None
    external = sorted(set(io_.get_untrusted_types(data=content)) - set(SKOPS_TRUSTED))
    if external:
        warn(
            f"{who}: contains the type {', '.join(external)}; the file can only be loaded with trusted={external!r}.",
            UserWarning,
        )
    buffer = io.BytesIO(content)
    with ZipFile(buffer, "a", compression=ZIP_DEFLATED) as archive:
        archive.writestr(LABEL, json.dumps(_label(model), indent=1))
    return buffer.getvalue()


def _label(model: Any) -> dict[str, Any]:
    from importlib.metadata import version

    libraries = {name: version(name) for name in ("numpy", "scikit-learn", "skops")}
    kind = f"{type(model).__module__}.{type(model).__qualname__}"
    return {"format": FORMAT, "model": kind, "surefit": __version__, "python": platform.python_version(), **libraries}


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise PersistenceError(f"{path}: there is no such file; check the name and the folder.") from None
    except OSError as error:
        raise PersistenceError(f"{path}: cannot be read ({error.strerror or error}).") from None


def _require_known_format(path: Path, content: bytes) -> None:
    try:
        with ZipFile(io.BytesIO(content)) as archive:
            require_proportion(path, len(content), archive)
            broken = archive.testzip()
            label = json.loads(archive.read(LABEL))
            written = int(label["format"])
    except BadZipFile:
        raise _damaged(path, "not a model file, or cut off") from None
    except PersistenceError:
        raise
    except Exception:  # a damaged archive can raise many types of errors
        raise _damaged(path, f"no readable {LABEL} in it") from None
    if broken is not None:
        raise _damaged(path, f"the part {broken} does not match its checksum")
    if written > FORMAT:
        raise PersistenceError(
            f"{path}: written by surefit {label.get('surefit')} in format {written}, newer than what surefit {__version__} "
            "reads; upgrade surefit."
        )


def require_proportion(path: Path, packed: int, archive: ZipFile) -> None:
    """Raise an error, before unpacking, for an archive that would unpack to far more than its size."""
    size = unpacked_size(archive)
    if size > limit(packed):
        raise PersistenceError(
            f"{path}: {packed} bytes would unpack to {size // 2**20} MB, which no model does; nothing was loaded."
        )


def _require_seal(path: Path, model: Any) -> None:
    certificate = getattr(model, "certificate_", None)
    if isinstance(certificate, Certificate):
        try:
            certificate.require_intact()
        except CertificateError as error:
            raise PersistenceError(f"{path}: {error}") from None


def _damaged(path: Path, why: object) -> PersistenceError:
    reason = (str(why).strip().splitlines() or [type(why).__name__])[0].rstrip(".")
    return PersistenceError(f"{path}: this file is damaged or not a model of surefit ({reason}); save the model again.")


def _skops():
    try:
        import skops.io
    except ImportError:
        raise PersistenceError("Saving and loading need skops; install it with: pip install 'surefit[save]'.") from None
    return skops.io
