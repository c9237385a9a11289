"""The ``surefit`` command: its subcommands, and handling of errors and interruptions."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

try:
    import typer
    from typer.core import TyperGroup
except ImportError:
    raise SystemExit(
        "surefit: the command line needs more packages; install them with: pip install 'surefit[all]'"
    ) from None

from surefit._version import __version__
from surefit.cli.certify import certify  # commands import their dependencies when they run, so that help is fast
from surefit.cli.compare import compare
from surefit.cli.data import data
from surefit.cli.explain import explain
from surefit.cli.export import export
from surefit.cli.fit import fit
from surefit.cli.lab import lab
from surefit.cli.path import path
from surefit.cli.predict import predict
from surefit.cli.report import report
from surefit.cli.run import PASS_ON, audit
from surefit.cli.run import run as run_program
from surefit.cli.theory import theory
from surefit.cli.verify import verify
from surefit.cli.warmup import warmup
from surefit.core.guards.interrupts import EXIT_CODE, SENTENCE

USAGE_ERROR = 2
BUG = 1


class _Sentences(TyperGroup):
    """Command group that reports errors as one sentence on standard error, without a traceback."""

    def invoke(self, ctx) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo(SENTENCE, err=True)
            raise typer.Exit(EXIT_CODE) from None
        except Exception as error:
            sentence, code = _explained(error)
            if sentence is None:
                raise
            raise _ended(sentence, code) from None


def _explained(error: Exception) -> tuple[str | None, int]:
    """Return the message for an error and the exit code; (None, 0) for errors that typer handles."""
    own = isinstance(error, (typer.Exit, typer.Abort, BrokenPipeError)) or hasattr(error, "format_message")
    if own or "SUREFIT_DEBUG" in os.environ:
        return None, 0
    from surefit.core.errors import SurefitError

    if isinstance(error, SurefitError):
        return str(error), USAGE_ERROR
    if isinstance(error, ImportError):
        return f"{error.name or error} is not installed; run: pip install 'surefit[all]'", USAGE_ERROR
    if isinstance(error, MemoryError):
        return "there is not enough memory for this table; use fewer rows or columns.", USAGE_ERROR
    if isinstance(error, OSError):
        return f"{error.filename or 'input or output'}: {error.strerror or error}.", USAGE_ERROR
    return f"unexpected {type(error).__name__}: {error}. This is a bug; SUREFIT_DEBUG=1 shows where it is.", BUG


def _ended(sentence: str, code: int) -> typer.Exit:
    typer.echo(f"surefit: {' '.join(sentence.split())}", err=True)
    return typer.Exit(code)


app = typer.Typer(
    cls=_Sentences,
    no_args_is_help=False,
    invoke_without_command=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: it fits 80 columns and reads the same everywhere
    help="Fit models that say how good they are, with a certificate that an independent checker verifies.",
)
for command in (fit, predict, verify, explain, compare, report, path, certify, export, data, theory, lab, warmup):
    app.command()(command)
app.command("run", context_settings=PASS_ON)(run_program)
app.command("audit", context_settings=PASS_ON)(audit)

GREETING = """surefit fits models that say how good they are. Three commands are enough for most uses:

  surefit fit data.csv --target price      compare models, certify the best, write model.surefit and report.html
  surefit predict model.surefit new.csv    predict new rows
  surefit verify model.surefit data.csv    re-derive every claim of the model, independently

surefit fit alone tries it on built-in data; surefit --help lists all commands.
"""


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"surefit {__version__}")
        raise typer.Exit()


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(GREETING, nl=False)


def main() -> None:
    """Run the command line of this process; :func:`surefit.cli.run` calls it."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # unsupported characters on a terminal must not cause an error
    app(prog_name="surefit")
