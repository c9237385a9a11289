"""``surefit certify``: certify a model of another library from its training table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefit.cli import options as shared

if TYPE_CHECKING:
    from surefit.tables import Table


def certify(
    model: Annotated[Path, typer.Argument(help="Model file that skops.io.dump wrote.", show_default=False)],
    data: Annotated[Path, typer.Argument(help="CSV or Parquet file with the rows of the fit.", show_default=False)],
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", help="Column that was predicted; the one called target or y by default."),
    ] = None,
    holdout: Annotated[
        Path | None,
        typer.Option(help="CSV or Parquet file with rows that were not used in the fit; they bound its error."),
    ] = None,
    weights: Annotated[str | None, typer.Option(help="Column with the sample weights of the fit.")] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="Column to leave out; may be given several times.", show_default=False)
    ] = None,
    tol: Annotated[
        float,
        typer.Option(
            help="Gap up to which the model counts as optimal, relative to the objective of the best constant model."
        ),
    ] = 1e-4,
    confidence: Annotated[float, typer.Option(help="Probability with which bounds on new rows are to hold.")] = 0.95,
    trust: Annotated[
        list[str] | None,
        typer.Option(help="Type to allow in the model file; may be given several times.", show_default=False),
    ] = None,
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="Open a pickle or joblib file, which can execute arbitrary code.")
    ] = False,
    json: Annotated[Path | None, typer.Option(help="File to write the certificate to, as JSON.")] = None,
    html: Annotated[Path | None, typer.Option(help="File to write the claims to, as a page.")] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite existing files.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Bound the distance of a model of another library from its optimum, and verify all claims about it.

    The model is not changed, and its objective is the one documented by its library. Every claim is verified before it
    is shown. The rows must be those of the fit, in the same order. Columns are matched by name if the model has feature
    names, otherwise by position.

    Example:

      surefit certify model.skops data.csv --target price

    The exit code is 0 if every claim holds, 1 if one does not.
    """
    from surefit.audit.certify import certify as certified
    from surefit.core.errors import CommandError
    from surefit.persistence import load_external, write_file
    from surefit.studies import TableModel
    from surefit.tables import interpret, read_table

    files = [(path, option) for path, option in ((json, "--json"), (html, "--html")) if path is not None]
    for path, option in files:
        shared.require_new(path, option, force)
    fitted = load_external(model, trust or (), unpickle=trust_pickle)
    if isinstance(fitted, TableModel):
        raise CommandError(
            f"{model}: surefit fit wrote this model, so it has a certificate; use surefit verify {model} {data}."
        )
    table = interpret(read_table(data))
    left_out = [*(drop or ()), *([] if weights is None else [weights])]
    table.require(left_out)
    s = None if weights is None else table.frame[weights].to_numpy()
    X, y, name = _rows(fitted, table, target, left_out)
    options: dict[str, Any] = {"tol": tol, "confidence": confidence}
    if holdout is not None:
        fresh = interpret(read_table(holdout))
        options["X_holdout"], options["y_holdout"], _ = _rows(
            fitted, fresh, name, [c for c in left_out if c in fresh.frame]
        )
    certificate = certified(fitted, X, y, s, **options)
    verification = certificate.verify(X, y, s)
    if json is not None:
        write_file(json, certificate.to_json(indent=1).encode("utf-8"), overwrite=force)
    if html is not None:
        write_file(html, _page(certificate, verification).encode("utf-8"), overwrite=force)
    if not quiet:
        from rich.console import Console

        from surefit.cli.show import show_claims

        show_claims(certificate, verification, Console(highlight=False))
        for path, _ in files:
            typer.echo(f"Written: {path}")
    if certificate.holds is False:
        raise typer.Exit(shared.BROKEN)


def _rows(fitted: Any, table: Table, target: str | None, left_out: list[str]) -> tuple[Any, Any, str | None]:
    """Return the columns of the model, the target and its name; the target is None for a model without one."""
    import numpy as np

    from surefit.studies.task import usual_target

    frame = table.frame.drop(left_out)
    names = getattr(fitted, "feature_names_in_", None)
    columns = getattr(fitted, "n_features_in_", None)
    name, y = target, None
    if target is not None or columns is None or frame.width != columns:
        name = target if target is not None else usual_target(table._replace(frame=frame))
        table.require([name])
        y = frame[name].to_numpy()
        y = y if y.dtype.kind in "biuf" else y.astype(str)
        frame = frame.drop(name)
    if names is not None:
        table.require([str(column) for column in names])
        return frame.select([str(column) for column in names]), y, name
    return np.ascontiguousarray(frame.to_numpy()), y, name  # rounded as most programs do


def _page(certificate: Any, verification: Any) -> str:
    """Return the claims and the findings of the checker as one HTML page."""
    style = (
        "body{font-family:sans-serif;margin:2em;max-width:70em}td,th{padding:.3em .8em;border-bottom:1px solid #ccc}"
    )
    head = f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{certificate.estimator}</title><style>{style}</style></head>"
    return f"{head}<body>{certificate._repr_html_()}{verification._repr_html_()}</body></html>\n"
