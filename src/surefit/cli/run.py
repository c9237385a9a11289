"""``surefit run`` and ``surefit audit``: run an unchanged program that uses scikit-learn."""

from __future__ import annotations

from typing import Annotated

import typer

from surefit.cli import options as shared

#: Everything after the script belongs to the script.
PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "allow_interspersed_args": False}

Script = Annotated[str | None, typer.Argument(help="Script to run, followed by its arguments.", show_default=False)]
Module = Annotated[
    str | None, typer.Option("--module", "-m", help="Module to run in place of a script.", show_default=False)
]


def run(context: typer.Context, script: Script = None, module: Module = None) -> None:
    """Run a program with surefit's estimators in place of scikit-learn's, and print the certified gap of every fit.

    In the program's own files, imports from scikit-learn return surefit's estimators of the same name, if they exist;
    installed libraries keep scikit-learn. The exit code is the program's.

    Example:

      surefit run train.py
    """
    from surefit.sklearn.running import replacing
    from surefit.sklearn.running import run as execute

    target, arguments = _program(context, script, module)
    raise typer.Exit(execute(target, arguments, *replacing(), module=module is not None))


def audit(
    context: typer.Context,
    script: Script = None,
    module: Module = None,
    tol: Annotated[
        float | None,
        typer.Option(
            help="Gap up to which a model counts as optimal, relative to the objective of the best constant "
            "model; by default the model's own tolerance.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Run a program with scikit-learn's own estimators, and certify each model after its fit.

    The exit code is 0 if every model is optimal within the tolerance, 1 if one is not, and the program's own if that is not 0.

    Example:

      surefit audit train.py
    """
    from surefit.sklearn.running import auditing
    from surefit.sklearn.running import run as execute

    target, arguments = _program(context, script, module)
    fits, rule = auditing(tol)
    code = execute(target, arguments, fits, rule, module=module is not None)
    raise typer.Exit(code or (shared.BROKEN if fits.missed else 0))


def _program(context: typer.Context, script: str | None, module: str | None) -> tuple[str, list[str]]:
    """Return the script or module to run, and its arguments."""
    from surefit.core.errors import CommandError

    if module is not None:
        return module, [*([] if script is None else [script]), *context.args]
    if script is None:
        raise CommandError("name a script (script.py) or a module (-m module).")
    return script, list(context.args)
