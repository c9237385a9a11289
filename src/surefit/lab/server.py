"""The server of the laboratory: one page per lesson, theory pages, and limits; local only by default."""

from __future__ import annotations

import base64
import logging
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from surefit.core.errors import CommandError
from surefit.lab.guard import LOOPBACK, allowed_hosts, guard
from surefit.lab.lessons import LESSONS, Lesson
from surefit.lab.limits import MOST_BYTES
from surefit.lab.theme import NAMES, THEME_COOKIE
from surefit.lab.theory import theory_page
from surefit.lab.tour import COOKIE

DOT = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")  # a transparent image of one pixel
KEEP = 400 * 24 * 3600


def make_server(port: int, address: str = "127.0.0.1", hosts: tuple[str, ...] = ()) -> Any:
    """Return a server that is ready to start on ``port`` (0: any free one).

    Parameters
    ----------
    port : int
        Port to listen on.
    address : str
        Interface to listen on; use an interface other than loopback only in a trusted network.
    hosts : tuple of str
        Further host names, with port, under which the lab may be opened.
    """
    import panel as pn
    from panel.io.server import get_server

    from surefit.lab.opening import Openings
    from surefit.lab.page import make_page

    pn.extension(console_output="disable", browser_info=True)
    workers = ThreadPoolExecutor(max_workers=2, thread_name_prefix="surefit-lab")
    openings = Openings(workers)

    def opener(lesson: Lesson | None) -> Callable[[], Any]:
        def page() -> Any:
            try:
                return make_page(workers, openings, lesson)
            except Exception:  # a traceback on the page would show paths of this machine
                logging.getLogger("surefit.lab").exception("the page could not be made")
                return pn.pane.HTML(
                    "<p>surefit lab: the page could not be made; this is a bug. Reload it without the state.</p>"
                )

        return page

    pages: dict[str, Any] = {"/": opener(None), **{f"/{lesson.path}": opener(lesson) for lesson in LESSONS}}
    try:
        server = get_server(
            pages,
            port=port,
            address=address,
            show=False,
            start=False,
            title="surefit lab",
            index=None,
            websocket_origin=["*"],
            extra_patterns=_patterns(),
            websocket_max_message_size=4 * MOST_BYTES,
            check_unused_sessions_milliseconds=5_000,
            unused_session_lifetime_milliseconds=15_000,
            keep_alive_milliseconds=10_000,
        )
    except OSError as error:
        raise CommandError(
            f"port {port} cannot be used ({error.strerror or error}); choose another one with --port."
        ) from None
    names = frozenset({"", *(f"/{lesson.path}" for lesson in LESSONS)})
    openings.warm_up()
    guard(server._tornado, allowed_hosts(address, int(server.port or port), hosts), names)
    return server


def _patterns() -> list[Any]:
    from tornado.web import RequestHandler

    class Theory(RequestHandler):
        def get(self, name: str) -> None:
            page = theory_page(name)
            if page is None:
                self.set_status(404)
            self.finish(page or "surefit lab: there is no such theory page.")

    class Seen(RequestHandler):
        def get(self) -> None:
            theme = self.get_query_argument("theme", "")
            name, value = (THEME_COOKIE, theme) if theme in NAMES else (COOKIE, "seen")
            self.set_cookie(name, value, max_age=KEEP, httponly=True, samesite="Strict")
            self.set_header("Content-Type", "image/gif")
            self.set_header("Cache-Control", "no-store")
            self.finish(DOT)

    return [(r"/theory/([a-z_0-9]+)", Theory), (r"/seen\.gif", Seen)]


def serve(port: int = 5006, address: str = "127.0.0.1", show: bool = True, hosts: tuple[str, ...] = ()) -> None:
    """Serve the laboratory until Ctrl-C."""
    for name in ("bokeh", "tornado", "panel"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # errors are shown on the page
    server = make_server(port, address, hosts)
    warnings.simplefilter("ignore")  # runs are stopped early on purpose
    name = address if address not in ("", "0.0.0.0", "::") else LOOPBACK[1]
    url = f"http://{name}:{server.port}/"
    print(f"surefit lab: {url} (Ctrl-C ends it)", flush=True)
    if show:
        import webbrowser

        webbrowser.open(url)
    try:
        server.run_until_shutdown()
    except KeyboardInterrupt:
        server.stop()
