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

    The address (``?theme=dark``) takes precedence over the cookie, and the cookie over the preference of the system,
    which is followed until the switch is used. The cookie is set by a small image that the browser fetches.
    """
    keeper = html(height=1, margin=0)
    browser = pn.state.browser_info
    wanted = wanted_theme()
    following = not wanted and browser is not None

    def keep(event: Any) -> None:
        nonlocal following
        if following and bool(event.new) == bool(browser.dark_mode):
            return  # the preference of the system, not a choice
        following = False
        keeper.object = f"<img src='seen.gif?theme={NAMES[bool(event.new)]}' alt='' width='1' height='1'>"

    def prefer(*events: Any) -> None:
        if following:
            page.dark_theme = bool(browser.dark_mode)

    def loaded() -> None:
        prefer()
        browser.param.watch(prefer, "dark_mode")  # the browser may tell its preference after the page is complete

    page.dark_theme = wanted == "dark"
    page.param.watch(keep, "dark_theme")
    if following:
        pn.state.onload(loaded)
    return keeper
