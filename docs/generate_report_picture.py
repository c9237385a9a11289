"""Photograph a report for README and docs; needs Chromium, as the tests do: ``python docs/generate_report_picture.py``."""

import io
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.lab.browser import chromium

import surefit

PICTURE = ROOT / "docs" / "_static" / "report.png"
COLORS = 128  # enough for flat colors, and a third of the size


def write() -> None:
    """Write the picture: the upper part of the report on the tumors data."""
    from PIL import Image

    study = surefit.study("tumors", models=("constant", "linear", "tree"), max_time=30)
    with TemporaryDirectory() as folder, chromium() as browser:
        file = Path(folder, "report.html")
        file.write_text(str(study.report()), encoding="utf-8")
        page = browser.new_page(viewport={"width": 1100, "height": 900})
        page.goto(file.as_uri())
        page.wait_for_timeout(500)
        picture = Image.open(io.BytesIO(page.screenshot()))
    picture.convert("RGB").quantize(COLORS).save(PICTURE, optimize=True)


if __name__ == "__main__":
    write()
