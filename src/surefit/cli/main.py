"""The ``surefit`` command: its subcommands, and how errors and interruptions end it."""

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
from surefit.cli.certify import certify
from surefit.cli.fit import fit
from surefit.cli.predict import predict  # commands import what they need when they run, so that help is quick
from surefit.cli.warmup import warmup

USAGE_ERROR = 2
INTERRUPTED = 130  # as shells report a process that Ctrl-C ended
BUG = 1


class _Sentences(TyperGroup):
    """Ends a command that fails with one sentence on standard error, never with a traceback."""

    def invoke(self, ctx) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise _ended("interrupted; no file was left half-written.", INTERRUPTED) from None
        except Exception as error:
            sentence, code = _explained(error)
            if sentence is None:
                raise
            raise _ended(sentence, code) from None


def _explained(error: Exception) -> tuple[str | None, int]:
    """Return what to say about an error and the exit code; (None, 0) for what typer deals with itself."""
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
        return f"{error.filename or 'a file'}: {error.strerror or error}.", USAGE_ERROR
    return f"unexpected {type(error).__name__}: {error}. This is a bug; SUREFIT_DEBUG=1 shows where it is.", BUG


def _ended(sentence: str, code: int) -> typer.Exit:
    typer.echo(f"surefit: {' '.join(sentence.split())}", err=True)
    return typer.Exit(code)


app = typer.Typer(
    cls=_Sentences,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: it fits 80 columns and reads the same everywhere
    help="Fit models that say how good they are, with a certificate that an independent checker verifies.",
)
app.command()(certify)
app.command()(fit)
app.command()(predict)
app.command()(warmup)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"surefit {__version__}")
        raise typer.Exit()


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


def run() -> None:
    """Run the command line of this process."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that lacks a letter is no reason to fail
    try:
        app(prog_name="surefit")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    run()
