"""``surefit fit``: a table in; a certified model, a report and a summary out."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from surefit.core.budget import Reason


class Model(StrEnum):
    """Models the command offers."""

    LASSO = "lasso"
    ELASTIC_NET = "elastic_net"


def fit(
    data: Annotated[
        Path | None,
        typer.Argument(help="CSV or Parquet file; without it, a built-in data set is used.", show_default=False),
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="Column to predict; the one called target or y by default.")
    ] = None,
    model: Annotated[Model, typer.Option("--model", "-m", help="Which penalty: lasso, or elastic_net.")] = Model.LASSO,
    alpha: Annotated[
        float | None, typer.Option(help="Weight of the penalty; chosen by 5-fold cross-validation if not given.")
    ] = None,
    l1_ratio: Annotated[float, typer.Option(help="Share of the l1 norm in the elastic net, from 0 to 1.")] = 0.5,
    test_size: Annotated[float, typer.Option(help="Share of the rows kept back to test the model; 0 for none.")] = 0.2,
    seed: Annotated[int, typer.Option(help="Number that fixes which rows are kept back.")] = 0,
    max_time: Annotated[
        float | None, typer.Option(help="Seconds the fit may take; the best model so far is kept, with its gap.")
    ] = None,
    no_standardise: Annotated[
        bool, typer.Option("--no-standardise", help="Do not scale features to standard deviation 1 before the fit.")
    ] = False,
    drop: Annotated[
        list[str] | None, typer.Option(help="Column to leave out; may be given several times.", show_default=False)
    ] = None,
    drop_missing: Annotated[bool, typer.Option("--drop-missing", help="Leave out rows with missing cells.")] = False,
    max_levels: Annotated[int, typer.Option(help="Text columns with more different texts are left out.")] = 100,
    out: Annotated[Path, typer.Option("--out", "--output", "-o", help="Model file to write.")] = Path("model.surefit"),
    report: Annotated[Path, typer.Option("--report", "-r", help="HTML report to write.")] = Path("report.html"),
    no_report: Annotated[bool, typer.Option("--no-report", help="Write no report.")] = False,
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite existing model and report files.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Fit a certified model to a table; write a model file and a report.

    Columns of text become groups, dates become days, and a part of the rows is kept back to test the model on. The
    certificate says how far the model can be from the best possible one, and is verified before it is shown.

    Ctrl-C during the fit keeps the best model so far, with its honest gap; the exit code is then 130.
    """
    from surefit.core.errors import CommandError
    from surefit.persistence import require_writable, save
    from surefit.tables import Plan, builtin_table, read_table

    _require("skops", *([] if no_report else ["jinja2", "matplotlib"]))
    if not no_report and out.resolve() == report.resolve():
        raise CommandError(f"{out}: model and report cannot be the same file; give --out or --report another name.")
    for path, option in [(out, "--out")] if no_report else [(out, "--out"), (report, "--report")]:
        if path.is_file() and not force:
            raise CommandError(
                f"{path}: this file exists already; overwrite it with --force, or name another with {option}."
            )
        require_writable(path, force)
    if data is None and target is None:
        target = "progression"
    plan = Plan(
        target, model.value, alpha, l1_ratio, test_size, seed, max_time, not no_standardise, max_levels, tuple(drop or ()),
        drop_missing,
    )  # fmt: skip
    table = builtin_table() if data is None else read_table(data)
    study = _studied(table, plan, quiet)
    _record(study, data, out, plan)
    save(study.model, out, overwrite=force)
    if not quiet:
        _show(study)
    if not no_report:
        from surefit.report import write

        write(study, report, overwrite=force)
    if not quiet:
        written = f"{out}" if no_report else f"{out} and {report}"
        typer.echo(f"Written: {written}")
    if study.stopped is Reason.INTERRUPTED:
        typer.echo("surefit: interrupted; the best model so far was saved, with its gap.", err=True)
        raise typer.Exit(130)


def _studied(table: Any, plan: Any, quiet: bool) -> Any:
    from surefit.core.errors import SurefitError
    from surefit.tables import study_table

    try:
        return study_table(table, plan, callbacks=progress(quiet))
    except SurefitError as error:
        if Reason.INTERRUPTED.sentence() in str(error):  # so early that there is no model to keep
            raise KeyboardInterrupt from None
        raise


def progress(quiet: bool) -> list[Any]:
    """Return the callbacks that draw the running gap: on a terminal only, and where scikit-learn has callbacks."""
    from rich.console import Console

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        return []
    try:
        import sklearn.callback  # noqa: F401
    except ImportError:
        return []
    from surefit.core.progress import GapProgress

    return [GapProgress(console=console)]


def _record(study: Any, data: Path | None, out: Path, plan: Any) -> None:
    """Note in the model where it comes from."""
    from surefit.tables.study import file_fingerprint

    record = study.model.record_
    record["saved_as"] = str(out)
    record["command"] = command_line(data, plan)
    if data is not None:
        record["file"] = str(data)
        record["sha256"] = file_fingerprint(data)


def command_line(data: Path | None, plan: Any) -> str:
    """Return the shortest command that does the same fit."""
    from surefit.tables import Plan

    words = ["surefit", "fit", *([str(data)] if data is not None else [])]
    for name, usual in vars(Plan()).items():
        value = getattr(plan, name)
        option = "--" + name.replace("_", "-")
        if name == "drop":
            words += [word for column in value for word in (option, column)]
        elif name == "standardise":
            words += [] if value else ["--no-standardise"]
        elif name == "drop_missing":
            words += [option] if value else []
        elif value != usual and not (name == "target" and data is None):
            words += [option, str(value)]
    return shlex.join(words)


def _show(study: Any) -> None:
    from rich.console import Console

    from surefit.cli.show import show_study

    show_study(study, Console(highlight=False))


def _require(*modules: str) -> None:
    """Refuse before the fit, not after it, if something that writes its results is not installed."""
    from importlib.util import find_spec

    from surefit.core.errors import CommandError

    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise CommandError(f"{' and '.join(missing)} must be installed for this: pip install 'surefit[all]'")
