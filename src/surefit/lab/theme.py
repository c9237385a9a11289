"""Light or dark theme, from the address or the user's last choice, otherwise from the preference of the system."""

from __future__ import annotations

from typing import Any

import panel as pn

from surefit.lab.lane import html

THEME_COOKIE = "surefit_lab_theme"
NAMES = ("light", "dark")


def wanted_theme() -> str:
    """Return the theme named by the address, or else by the cookie; an empty string if there is none."""
    named = (pn.state.session_args or {}).get("theme", [b""])[0].decode("ascii", "replace")
    return named or (pn.state.cookies or {}).get(THEME_COOKIE, "")


def follow_theme(page: Any) -> Any:
    """Set the theme of a page, connect its switch, and return the element that stores the choice.

    The address (``?theme=dark``) takes precedence over the cookie, and the cookie over the preference of the system.
    The cookie is set by a small image that the browser fetches.
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
