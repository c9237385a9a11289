"""Command line interface (needs typer, rich and polars)."""


def run() -> None:
    """Run the command line of this process; Ctrl-C ends it at any time with a one-line message."""
    import signal
    import sys

    from surefit.core.budget import replaceable
    from surefit.core.guards.interrupts import EXIT_CODE, SENTENCE, leave_while_loading

    if replaceable() is not None:
        signal.signal(signal.SIGINT, leave_while_loading)
    try:
        from surefit.cli.main import main

        main()
    except KeyboardInterrupt:
        print(SENTENCE, file=sys.stderr)
        raise SystemExit(EXIT_CODE) from None
