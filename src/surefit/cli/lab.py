"""``surefit lab``: the laboratory in a browser on this machine."""

from __future__ import annotations

from typing import Annotated

import typer


def lab(
    port: Annotated[int, typer.Option(help="Port to listen on; 0 for any free one.", min=0, max=65535)] = 5006,
    no_show: Annotated[bool, typer.Option("--no-show", help="Do not open a browser.")] = False,
    address: Annotated[
        str, typer.Option(help="Interface to listen on; the default is reached from this machine only.")
    ] = "127.0.0.1",
    host: Annotated[
        list[str] | None,
        typer.Option(help="Further host name, with port, to accept; may be given several times.", show_default=False),
    ] = None,
) -> None:
    """Open the laboratory: draw points, step through an algorithm, and see its certificate.

    The pages work without a network. Nothing leaves this machine, and requests from other sites are refused.

    Example:

      surefit lab --port 5006 --no-show
    """
    from surefit.lab.server import serve

    serve(port, address, not no_show, tuple(host or ()))
