"""Every lesson in a real browser: opened by its address, drawn without an error, photographed."""

import os
from pathlib import Path

import pytest

from surefit.lab.lessons import LESSONS

FOLDER = os.environ.get("SUREFIT_SCREENSHOTS")


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.path)
def test_lesson_opens_by_its_address(visit, tmp_path, lesson):
    page = visit(f"/{lesson.path}", height=1800)
    assert lesson.claim in page.page.locator("div.lesson").inner_text()
    for lane in range(len(lesson.lanes)):
        page.wait_caption(r"\w.*\.", lane)
    assert page.page.locator("p.message").count() == 0
    picture = page.page.screenshot(full_page=True)
    assert len(picture) > 30_000  # a page without its figures is far smaller
    Path(FOLDER or tmp_path, f"{lesson.path}.png").write_bytes(picture)
    frame = page.page.get_by_role("slider", name="Frame")
    assert lesson.step is None or frame.input_value() == str(lesson.step + 1)
    if lesson.step is not None:
        before = page.caption()
        page.press("Step")
        page._wait(page.caption, lambda text: text != before, "the next step")


@pytest.mark.parametrize(
    ("path", "width", "theme"),
    [("/boosting", 400, "default"), ("/perceptron-margin", 1280, "dark"), ("/", 400, "dark")],
)
def test_narrow_and_dark_pages(visit, tmp_path, path, width, theme):
    page = visit(f"{path}?theme={theme}", width=width, height=1000)
    page.wait_caption(r"\w")
    assert (page.brightness() < 80) == (theme == "dark")
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width
    Path(FOLDER or tmp_path, f"{path.strip('/') or 'workbench'}-{width}-{theme}.png").write_bytes(
        page.page.screenshot(full_page=True)
    )


def test_the_page_follows_the_system_until_the_switch_is_used(visit):
    page = visit("/bias-variance", color_scheme="dark")
    page._wait(page.brightness, lambda light: light < 80, "a dark page")
    assert page.brightness("p.caption") > 180
    page.press("Toggle theme")
    page._wait(page.brightness, lambda light: light > 180, "a light page")
    page._wait(lambda: page.brightness("p.caption"), lambda light: light < 80, "dark text")
    page._wait(
        lambda: {c["name"]: c["value"] for c in page.context.cookies()}.get("surefit_lab_theme"),
        lambda theme: theme == "light",
        "the cookie",
    )
    page.open("/bias-variance")
    page.page.wait_for_timeout(500)
    assert page.brightness() > 180


def test_an_idea_without_points_hides_the_controls_of_the_points(visit):
    page = visit("/bias-variance")
    page.wait_caption("Degree 1")
    assert page.page.get_by_role("combobox", name="Data set").count() == 0
    page.choose("Algorithm or idea", "Principal components")
    page.page.get_by_role("combobox", name="Data set").wait_for()
