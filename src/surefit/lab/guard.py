"""Guard of the server: it admits only requests to its own address and limits the number of open pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from tornado import httputil
from tornado.web import RequestHandler

from surefit.lab.limits import MOST_SESSIONS

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


class Refusal(RequestHandler):
    """Request handler that answers every method with an error message."""

    def initialize(self, status: int, sentence: str) -> None:
        """Store the status and the message."""
        self.status, self.sentence = status, sentence

    def prepare(self) -> None:
        """Answer, and end the request."""
        self.set_status(self.status)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(f"surefit lab: {self.sentence}\n")


def allowed_hosts(address: str, port: int, extra: tuple[str, ...] = ()) -> frozenset[str]:
    """Return the values of the Host header that are accepted.

    Examples
    --------
    >>> from surefit.lab.guard import allowed_hosts
    >>> "127.0.0.1:5006" in allowed_hosts("127.0.0.1", 5006), "evil.example:5006" in allowed_hosts("127.0.0.1", 5006)
    (True, False)
    """
    names = {*LOOPBACK, *([] if address in ("", "0.0.0.0", "::") else [address]), *extra}
    return frozenset(f"{name}:{port}" if ":" not in name or name.endswith("]") else name for name in names) | (
        frozenset(names) if port == 80 else frozenset()
    )


def reason_to_refuse(
    request: httputil.HTTPServerRequest, hosts: frozenset[str], sessions: Callable[[], int], pages: frozenset[str]
):
    """Return the status and message for a request that is refused, or None."""
    if request.headers.get("Host", "") not in hosts:
        return 403, "this address is not served here."
    origin = request.headers.get("Origin")
    if origin is not None and urlsplit(origin).netloc not in hosts:
        return 403, "requests from other sites are refused."
    if request.path.rstrip("/") in pages and sessions() >= MOST_SESSIONS:
        return 503, f"{MOST_SESSIONS} pages are open already; close one and try again."
    return None


def guard(application: Any, hosts: frozenset[str], pages: frozenset[str]) -> None:
    """Install the guard in a Bokeh application; it checks every request, including websockets."""
    find = application.find_handler

    def guarded(request: httputil.HTTPServerRequest, **kwargs: Any) -> Any:
        refused = reason_to_refuse(request, hosts, lambda: count_sessions(application, pages), pages)
        if refused is not None:
            status, sentence = refused
            return application.get_handler_delegate(request, Refusal, {"status": status, "sentence": sentence})
        return find(request, **kwargs)

    application.find_handler = guarded


def count_sessions(application: Any, pages: frozenset[str]) -> int:
    """Return the number of open pages."""
    paths = {page or "/" for page in pages} & set(application.app_paths)
    return sum(len(application.get_sessions(path)) for path in paths)
