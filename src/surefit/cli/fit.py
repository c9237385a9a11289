"""``surefit fit``: from a table to a leaderboard, a certified model, its certificate and a report."""

from __future__ import annotations

import shlex
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from surefit.cli import options as shared
from surefit.cli.cluster import fit_cluster
from surefit.core.guards.interrupts import EXIT_CODE

MODELS = (
    "Families to compare, separated by commas: linear, discriminant, bayes, tree, neighbors, svm, kernel, forest, boosting, "
    "process, network; all by default."
)


class Task(StrEnum):
    """Values of ``--task``."""

    classification = "classification"
    regression = "regression"


class Select(StrEnum):
    """Values of ``--select``."""

    best = "best"
    one_standard_error = "1se"
    bound = "bound"


class Missing(StrEnum):
    """Values of ``--missing``."""

    impute = "impute"
    drop = "drop"
    refuse = "refuse"


class Decimal(StrEnum):
    """Values of ``--decimal``."""

    point = "."
    comma = ","


class Dates(StrEnum):
    """Values of ``--dates``."""

    dmy = "dmy"
    mdy = "mdy"


def fit(
    data: Annotated[
        str | None,
        typer.Argument(
            help="CSV, Parquet, Arrow or LIBSVM file, - for standard input, or a built-in data set (surefit data).",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", help="Column to predict; the one called target, y, label or class by default."),
    ] = None,
    task: Annotated[Task | None, typer.Option(help="Kind of task; inferred from the target by default.")] = None,
    max_time: Annotated[float, typer.Option(help="Seconds for the comparison.")] = 60.0,
    models: Annotated[list[str] | None, typer.Option("--models", "-m", help=MODELS)] = None,
    metric: Annotated[
        str | None, typer.Option(help="Score: error, log-loss, brier, auc, f1; rmse, mae, r2, pinball:0.9.")
    ] = None,
    select: Annotated[
        Select,
        typer.Option(help="Choose the best score, the simplest within one standard error, or the smallest bound."),
    ] = Select.best,
    class_weight: Annotated[str | None, typer.Option(help="balanced, or weights such as yes=5,no=1.")] = None,
    weight: Annotated[str | None, typer.Option(help="Column with sample weights.")] = None,
    group: Annotated[
        str | None, typer.Option(help="Column whose rows belong together: groups are split and counted as a whole.")
    ] = None,
    time: Annotated[str | None, typer.Option(help="Column with times: the last rows are the test part.")] = None,
    test_size: Annotated[
        float, typer.Option(help="Fraction of the rows held out for the final test; 0 for none.")
    ] = 0.2,
    seed: Annotated[int, typer.Option(help="Seed of the split and of all random numbers.")] = 0,
    confidence: Annotated[float, typer.Option(help="Confidence of the bound on new rows.")] = 0.95,
    column: Annotated[
        list[str] | None,
        typer.Option("--column", "-c", help="NAME:number|category|date|text|drop; may be given several times."),
    ] = None,
    missing: Annotated[
        Missing, typer.Option(help="Missing cells: impute them, drop their rows, or stop with an error.")
    ] = Missing.impute,
    decimal: Annotated[Decimal | None, typer.Option(help="Decimal mark of numbers.")] = None,
    dates: Annotated[Dates | None, typer.Option(help="Order of day and month where dates are ambiguous.")] = None,
    na: Annotated[
        list[str] | None,
        typer.Option(help="Text that marks a missing cell, instead of the defaults; may be given several times."),
    ] = None,
    encoding: Annotated[str | None, typer.Option(help="Encoding of a text file, such as utf-8 or latin-1.")] = None,
    out: Annotated[Path, typer.Option("--out", "--output", "-o", help="Model file to write.")] = Path("model.surefit"),
    certificate: Annotated[
        Path | None,
        typer.Option(help="Certificate to write; certificate.json beside the model by default.", show_default=False),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report", "-r", help="HTML report to write; report.html beside the model by default.", show_default=False
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            help="Fit Parquet files in partitions with Dask: local (processes here), threads, or the address of a scheduler."
        ),
    ] = None,
    no_report: Annotated[bool, typer.Option("--no-report", help="Write no report.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON instead of tables.")] = False,
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite existing files.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Compare families of models on a table, choose one, certify it, and write model, certificate and report.

    The command interprets the columns and shows their types, holds out a part of the rows, and compares families of models by
    cross-validation until --max-time is reached. It refits the best model, verifies its certificate with the independent checker, and
    bounds its error on new rows by the held-out rows.

    For example:

      surefit fit data.csv --target price

      surefit fit churn.csv -t churned --metric auc --max-time 120

      surefit fit tumors --select bound --models linear,tree

      surefit fit 'big/*.parquet' --target y --cluster local

    Ctrl-C keeps the best model so far; the exit code is then 130. Exit code 0: done; 1: a claim does not hold, or a bug; 2: the
    command or the table cannot be used.
    """
    files = {"--out": out, "--certificate": certificate or out.parent / "certificate.json"}
    if cluster is not None:
        _require_files(files, force, True)
        return fit_cluster(data, target, cluster, max_time, files, json, force, quiet)
    if not no_report:
        files["--report"] = report or out.parent / "report.html"
    _require_files(files, force, no_report)
    given = {
        "target": target, "task": task and str(task), "models": _names(models), "max_time": max_time, "metric": metric,
        "select": str(select), "class_weight": shared.class_weights(class_weight), "test_size": test_size, "group": group,
        "time": time, "weight": weight, "missing": str(missing), "columns": shared.column_kinds(column),
        "decimal": decimal and str(decimal), "dates": dates and str(dates), "na": tuple(na or ()), "confidence": confidence,
        "seed": seed,
    }  # fmt: skip
    study = _studied(data, encoding, given, quiet or json)
    _record(study, data, out, encoding)
    late = _write(study, files, force)
    _show(study, files, json, quiet)
    if late or study.stopped == "interrupted":
        typer.echo("surefit: interrupted; the best model so far was kept.", err=True)
        raise typer.Exit(EXIT_CODE)
    if study.trouble is not None:
        raise typer.Exit(shared.BROKEN)


def _require_files(files: dict[str, Path], force: bool, no_report: bool) -> None:
    from surefit.core.errors import CommandError

    shared.require_packages("skops", *([] if no_report else ["jinja2", "matplotlib"]))
    paths = [path.resolve() for path in files.values()]
    if len(set(paths)) < len(paths):
        raise CommandError(
            f"{files['--out']}: model, certificate and report cannot be the same file; give them different names."
        )
    for option, path in files.items():
        shared.require_new(path, option, force)


def _names(texts: list[str] | None) -> tuple[str, ...]:
    from surefit.core.errors import CommandError
    from surefit.studies.families import FAMILIES
    from surefit.tables import did_you_mean

    names = tuple(name.strip() for text in texts or [] for name in text.split(",") if name.strip())
    for name in names:
        if name not in FAMILIES:
            hint = did_you_mean(name, list(FAMILIES)).replace("the columns are", "the families are").replace("'", "")
            raise CommandError(f"--models {name}: there is no such family{hint}")
    return names


def _studied(data: str | None, encoding: str | None, given: dict[str, Any], silent: bool) -> Any:
    from surefit.cli.board import Board
    from surefit.core.errors import CommandError, InvalidParameter
    from surefit.studies import Options, run
    from surefit.studies.metrics import METRICS, read_metric

    if given["metric"] is not None and read_metric(given["metric"]) is None:
        raise CommandError(f"--metric {given['metric']}: expected one of {', '.join(METRICS)}.")
    try:
        chosen = Options(**given)
    except InvalidParameter as error:  # replace Python parameter names by option names
        _, _, said = str(error).partition(": ")
        name, _, rest = said.partition(" ")
        raise CommandError(f"--{name.replace('_', '-')} {rest}") from None
    table, usual = shared.read_data(data, encoding)
    if chosen.target is None and usual is not None:
        chosen = Options(**{**given, "target": usual})
    with Board(silent) as board:
        return run(table, chosen, board.watch)


def _record(study: Any, data: str | None, out: Path, encoding: str | None) -> None:
    """Record the provenance of the model in the model."""
    record = study.model.record_
    record["saved_as"] = str(out)
    record["encoding"] = encoding or ""
    record["command"] = (
        shlex.join(["surefit", *sys.argv[1:]]) if sys.argv[1:2] == ["fit"] else command_line(study, data)
    )
    record["file"] = "diabetes" if data is None else str(data)
    if data is not None and (digest := shared.fingerprint(Path(data))):
        record["sha256"] = digest


def command_line(study: Any, data: str | None) -> str:
    """Return the command line that repeats the study."""
    from surefit.studies import Options

    words = ["surefit", "fit", *([data] if data is not None else [])]
    for name, usual in Options().record().items():
        value = study.options.record()[name]
        if value == usual or (name == "target" and data is None):
            continue
        option = {"columns": "--column"}.get(name, "--" + name.replace("_", "-"))
        if name == "columns":
            words += [word for column, kind in value.items() for word in (option, f"{column}:{kind}")]
        elif name == "na":
            words += [word for text in value for word in (option, text)]
        elif isinstance(value, dict):
            words += [option, ",".join(f"{key}={weight:g}" for key, weight in value.items())]
        else:
            words += [option, ",".join(value) if isinstance(value, list) else str(value)]
    return shlex.join(words)


def _write(study: Any, files: dict[str, Path], force: bool) -> bool:
    """Write all files; return whether Ctrl-C was pressed meanwhile (a second press aborts)."""
    from surefit.studies.budget import Interrupts

    interrupts = Interrupts()
    with interrupts.heard(), interrupts.shielded():
        _write_files(study, files, force)
    return interrupts.pressed > 0


def _write_files(study: Any, files: dict[str, Path], force: bool) -> None:
    from json import dumps, loads

    from surefit.persistence import packed, write_files

    plain = {name: loads(each.to_json()) for name, each in study.certificates.items()}
    contents: dict[str | Path, bytes] = {
        files["--out"]: packed(study.model),
        files["--certificate"]: dumps(plain, indent=1).encode(),
    }
    if "--report" in files:
        contents[files["--report"]] = study.report().encode("utf-8")
    write_files(contents, overwrite=force)


def _show(study: Any, files: dict[str, Path], json: bool, quiet: bool) -> None:
    if json:
        from json import dumps

        typer.echo(
            dumps({**study.to_dict(), "files": {name.strip("-"): str(path) for name, path in files.items()}}, indent=1)
        )
    elif not quiet:
        from rich.console import Console

        from surefit.cli.show import show_study

        show_study(study, Console(highlight=False))
        typer.echo(f"Written: {', '.join(str(path) for path in files.values())}")
