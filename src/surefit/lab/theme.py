"""Light or dark: the last choice of the address or the visitor, otherwise the system's preference."""

from __future__ import annotations

from typing import Any

import panel as pn

from surefit.lab.lane import html

THEME_COOKIE = "surefit_lab_theme"
NAMES = ("light", "dark")


def wanted_theme() -> str:
    """Return the theme that the address or else the cookie names; empty: none."""
    named = (pn.state.session_args or {}).get("theme", [b""])[0].decode("ascii", "replace")
    return named or (pn.state.cookies or {}).get(THEME_COOKIE, "")


def follow_theme(page: Any) -> Any:
    """Set the theme of a page, follow its switch, and return the part of the page that keeps the choice.

    The address (``?theme=dark``) goes before the cookie, the cookie before the preference of the system. A cookie is set by a
    tiny picture that the browser fetches.
    """
    keeper = html(height=1, margin=0)

    def keep(event: Any) -> None:
        keeper.object = f"<img src='seen.gif?theme={NAMES[bool(event.new)]}' alt='' width='1' height='1'>"

    def prefer() -> None:
        browser = pn.state.browser_info
        if browser is not None and browser.dark_mode and not page.dark_theme:
            page.dark_theme = True

    wanted = wanted_theme()
    page.dark_theme = wanted == "dark"
    page.param.watch(keep, "dark_theme")
    if not wanted:
        pn.state.onload(prefer)
    return keeper
