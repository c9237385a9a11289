"""Photograph the laboratory for README and docs; needs Chromium, as the tests do: ``python docs/generate_lab_picture.py``."""

import io
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.lab.browser import Visitor, chromium, laboratory

PICTURE = ROOT / "docs" / "_static" / "lab.png"
COLORS = 128  # enough for flat colors, and a third of the size


def write() -> None:
    """Write the picture: AdaBoost at its last round."""
    from PIL import Image

    with laboratory() as (address, _), chromium() as browser, Visitor(browser, address, "/boosting", 1280, 860) as page:
        page.press("End")
        page.wait_caption("Round 50 of 50")
        page.page.wait_for_timeout(2500)
        picture = Image.open(io.BytesIO(page.page.screenshot()))
    picture.convert("RGB").quantize(COLORS).save(PICTURE, optimize=True)


if __name__ == "__main__":
    write()
