"""``surefit fit --cluster``: comparison of the scalable families on Parquet files, with a Dask scheduler."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Any

import typer

from surefit.cli import options as shared


def fit_cluster(
    data: str | None,
    target: str | None,
    cluster: str,
    max_time: float,
    files: dict[str, Path],
    json: bool,
    force: bool,
    quiet: bool,
) -> None:
    """Compare, choose, refit on all rows, verify, and write model and certificate."""
    from surefit.core.errors import CommandError

    shared.require_packages("dask", "pyarrow", *([] if cluster == "threads" else ["distributed"]))
    if data is None or target is None:
        raise CommandError("--cluster needs a Parquet file, folder or pattern, and --target.")
    from surefit.cluster.board import compare, connected
    from surefit.core.validation import is_partitioned
    from surefit.persistence import packed, write_files

    if not is_partitioned(data):
        raise CommandError(f"{data}: --cluster reads Parquet: a file, a folder, or a pattern such as 'big/*.parquet'.")
    with connected(cluster):
        found = compare(data, target, max_time=max_time, watch=lambda line: _progress(line, quiet or json))
    certificate = found.model.certificate_.to_json(indent=1).encode()
    write_files({files["--out"]: packed(found.model), files["--certificate"]: certificate}, overwrite=force)
    if json:
        typer.echo(json_text.dumps(_as_json(found, files), indent=1))
    elif not quiet:
        typer.echo(_board(found, files))


def _progress(line: Any, silent: bool) -> None:
    if not silent:
        typer.echo(f"{type(line.model).__name__}: {line.note or f'{line.score:.4g}'} ({line.passes} passes)", err=True)


def _board(found: Any, files: dict[str, Path]) -> str:
    from surefit.core.tables import number, text_table

    what = "error" if found.task == "classification" else "rmse"
    rows: list[tuple[str, ...]] = [
        (
            type(line.model).__name__, number(line.score), number(line.gap), f"{line.seconds:.1f}", str(line.passes),
            f"{line.bytes_moved / 1e6:.3g}", line.note,
        )
        for line in found.lines
    ]  # fmt: skip
    title = f"{found.task} on {found.rows} rows in {found.partitions} partitions; tested on every fifth row"
    header = ("model", what, "gap", "seconds", "passes", "MB moved", "note")
    foot = (
        f"{type(found.model).__name__} was fitted again on all rows, and its certificate verified: {files['--out']}, "
        f"{files['--certificate']}. The test {what} is an estimate; the best of several scores is slightly optimistic."
    )
    return f"{text_table(title, header, rows, foot)}\n\n{found.model.certificate_!r}"


def _as_json(found: Any, files: dict[str, Path]) -> dict[str, Any]:
    return {
        "task": found.task, "rows": found.rows, "partitions": found.partitions, "model": type(found.model).__name__,
        "leaderboard": [
            {"model": type(line.model).__name__, **{k: v for k, v in line._asdict().items() if k != "model"}}
            for line in found.lines
        ],
        "cluster": found.model.cluster_,
        "files": {option.lstrip("-"): str(path) for option, path in files.items()},
    }  # fmt: skip
