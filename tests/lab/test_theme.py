"""Which theme a page has, and what is stored of it."""

import panel as pn
import param
import pytest

from surefit.lab.theme import follow_theme


class Page(param.Parameterized):
    dark_theme = param.Boolean(default=False)


@pytest.fixture
def browser(monkeypatch):
    """What the browser tells; a new one, and only for this test."""
    monkeypatch.setattr(type(pn.state), "_browser", None)
    return pn.state.browser_info


def test_a_preference_that_arrives_after_the_page_is_followed(browser):
    page = Page()
    keeper = follow_theme(page)
    assert not page.dark_theme
    browser.dark_mode = True
    assert page.dark_theme
    browser.dark_mode = False
    assert not page.dark_theme
    assert keeper.object == ""  # a preference is no choice


def test_a_choice_is_stored_and_ends_following(browser):
    page = Page()
    browser.dark_mode = True
    keeper = follow_theme(page)
    assert page.dark_theme
    page.dark_theme = False
    assert "theme=light" in keeper.object
    page.dark_theme = True
    assert "theme=dark" in keeper.object
    browser.dark_mode = False
    assert page.dark_theme


@pytest.mark.parametrize("wanted", ["light", "dark"])
def test_the_cookie_takes_precedence_over_the_system(browser, monkeypatch, wanted):
    monkeypatch.setattr("surefit.lab.theme.wanted_theme", lambda: wanted)
    browser.dark_mode = wanted == "light"
    page = Page()
    follow_theme(page)
    assert page.dark_theme == (wanted == "dark")
