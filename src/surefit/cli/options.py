"""Options shared by several commands, and their parsing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

BROKEN = 1  # exit code when a claim does not hold


def refused(sentence: str) -> Exception:
    """Return the error that ends a command with this message and exit code 2."""
    from surefit.core.errors import CommandError  # imports scikit-learn, which would delay the help

    return CommandError(sentence)


def column_kinds(texts: list[str] | None) -> dict[str, str]:
    """Return ``{"zip": "category"}`` for ``["zip:category"]``."""
    from surefit.tables.columns import ASKED

    found = {}
    for text in texts or []:
        name, separator, kind = text.rpartition(":")
        if not separator or kind not in ASKED:
            raise refused(f"--column {text}: expected NAME:KIND with a KIND of {', '.join(ASKED)}.")
        found[name] = kind
    return found


def class_weights(text: str | None) -> Any:
    """Return ``"balanced"``, or ``{"yes": 5.0}`` for ``yes=5``."""
    if text is None or text == "balanced":
        return text
    found = {}
    for part in text.split(","):
        name, separator, value = part.rpartition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            separator = ""
        if not separator or found[name.strip()] < 0:
            raise refused(
                f"--class-weight {text}: expected balanced, or CLASS=WEIGHT separated by commas, such as yes=5."
            )
    return found


def read_data(data: Path | str | None, encoding: str | None = None) -> tuple[Any, str | None]:
    """Return a table and its target if known: a file, standard input (-), or a built-in data set by its name."""
    from surefit.tables import BUILTINS, builtin_table, read_table

    name = "diabetes" if data is None else str(data)
    if name in BUILTINS and not Path(name).exists():
        return builtin_table(name), BUILTINS[name].target
    return read_table(name, encoding=encoding), None


def require_new(path: Path, option: str, force: bool) -> None:
    """Raise an error for an existing file before any work is done, unless it may be overwritten."""
    from surefit.persistence import require_writable

    if path.is_file() and not force:
        raise refused(f"{path}: this file exists already; overwrite it with --force, or name another with {option}.")
    require_writable(path, force)


def require_packages(*modules: str) -> None:
    """Raise an error before any work is done if a package needed to write the results is not installed."""
    from importlib.util import find_spec

    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise refused(f"{' and '.join(missing)} must be installed for this: pip install 'surefit[all]'")


def load_model(path: Path) -> Any:
    """Return a model that ``surefit fit`` wrote."""
    from surefit.persistence import load
    from surefit.studies import TableModel

    model = load(path)
    if not isinstance(model, TableModel):
        raise refused(
            f"{path}: contains a {type(model).__name__}, which takes arrays, not tables; use it in Python: surefit.load."
        )
    return model


def fingerprint(path: Path) -> str | None:
    """Return the SHA-256 digest of a file, as printed by ``sha256sum``; None if there is no such file."""
    from hashlib import sha256

    return sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def model_and_data(path: Path, data: str | None) -> tuple[Any, Any]:
    """Return a model and a table: the given table, or the table of the fit."""
    model = load_model(path)
    table, _ = read_data(data or model.record_.get("file"), model.record_.get("encoding") or None)
    return model, table


def write_frame(frame: Any, out: Path, force: bool) -> None:
    """Write a data frame as Parquet or CSV, according to the file name."""
    import io

    from surefit.persistence import write_file

    content = io.BytesIO()
    if out.suffix.lower() in (".parquet", ".pq"):
        frame.write_parquet(content)
    else:
        frame.write_csv(content)
    write_file(out, content.getvalue(), overwrite=force)
