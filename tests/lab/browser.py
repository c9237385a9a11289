"""A running laboratory and a real browser, as the tests use them."""

import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

READY = 120  # seconds that a cold compiler may take before the first picture
START = "import sys; sys.argv[0] = 'surefit'; from surefit.cli import run; run()"
SLOW = 180_000  # milliseconds that the page may take on a busy machine


def browser_path() -> str:
    """Return the Chromium to use: ``SUREFIT_BROWSER``, or one on PATH; its absence is a failure, not a reason to skip."""
    named = os.environ.get("SUREFIT_BROWSER")
    if named:
        assert Path(named).is_file(), f"SUREFIT_BROWSER is {named}, which is not there"
        return named
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        if found := shutil.which(name):
            return found
    raise AssertionError("no Chromium on PATH; on Debian: apt-get install chromium, else set SUREFIT_BROWSER")


@contextmanager
def laboratory(*options: str):
    """Run ``surefit lab`` on a free port; gives its address and process."""
    command = [sys.executable, "-c", START, "lab", "--port", "0", "--no-show", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, f"surefit lab said: {line}{process.stdout.read() if process.poll() is not None else ''}"
        yield found.group().rstrip("/"), process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


@contextmanager
def chromium():
    """Start the browser without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=browser_path(), args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


class Visitor:
    """One page of the laboratory in its own browser context."""

    def __init__(
        self,
        browser,
        address: str,
        path: str = "/",
        width: int = 1280,
        height: int = 900,
        tour: bool = False,
        **options,
    ):
        self.address = address
        self.context = browser.new_context(viewport={"width": width, "height": height}, **options)
        self.context.set_default_timeout(SLOW)
        if not tour:
            self.context.add_cookies([{"name": "surefit_lab_tour", "value": "seen", "url": address}])
        self.page = self.context.new_page()
        self.errors: list[str] = []
        self.external: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self._note(request.url))
        self.open(path)

    def _note(self, url: str) -> None:
        if not url.startswith((self.address, self.address.replace("http", "ws"), "data:", "blob:")):
            self.external.append(url)

    def open(self, path: str) -> None:
        self.page.goto(self.address + path)
        self.page.wait_for_selector(".bk-Figure >> nth=0")
        self.page.wait_for_function(
            "() => window.Bokeh && Bokeh.documents.length && Bokeh.documents.every(d => d.is_idle)"
        )
        self.page.get_by_role("combobox").first.wait_for()  # the controls come after the picture

    def close(self) -> None:
        self.context.close()

    def __enter__(self):
        return self

    def __exit__(self, *error) -> None:
        self.close()

    # --- looking ------------------------------------------------------------------------------------------------------

    def caption(self, lane: int = 0) -> str:
        return self.page.locator("p.caption").nth(lane).inner_text()

    def wait_caption(self, pattern: str, lane: int = 0) -> str:
        """Wait until the caption of a lane matches, and return it."""
        return self._wait(
            lambda: self.caption(lane),
            lambda text: re.search(pattern, text) and not text.startswith("Computing"),
            f"caption {pattern!r}",
        )

    def wait_message(self, pattern: str) -> str:
        """Wait until the first message matches, and return it."""
        messages = self.page.locator("p.message")
        return self._wait(
            lambda: messages.first.inner_text() if messages.count() else None,
            lambda text: re.search(pattern, text),
            f"message {pattern!r}",
        )

    def points(self) -> dict:
        """Return the columns of the drawn points as the browser has them."""
        return self.page.evaluate(
            """() => { for (const doc of Bokeh.documents) for (const model of doc._all_models.values())
                 if (model.type === 'ColumnDataSource' && model.data && 'label' in model.data)
                   return Object.fromEntries(Object.entries(model.data).map(([k, v]) => [k, Array.from(v)])); }"""
        )

    def wait_class(self, label: int) -> None:
        """Wait until the drawing tool knows the class of new points: the server has taken the choice, and told the browser."""
        look = """() => { for (const doc of Bokeh.documents) for (const model of doc._all_models.values())
             if (model.type === 'ColumnDataSource' && model.data && 'label' in model.data) {
               const values = model.default_values;
               return values instanceof Map ? values.get('label') : values.label; } }"""
        self._wait(lambda: self.page.evaluate(look), lambda found: found == label, f"class {label} of new points")

    def wait_points(self, test, what: str) -> dict:
        return self._wait(self.points, test, what)

    def _wait(self, look, test, what: str, seconds: float = SLOW / 1000):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                seen = look()
            except Exception:
                seen = None
            if seen is not None and test(seen):
                return seen
            self.page.wait_for_timeout(60)
        raise AssertionError(f"waited in vain for {what}; last seen {seen!r}")

    def brightness(self, selector: str = "") -> float:
        """Return the mean of red, green and blue: of the page's background, or of the text of the first match."""
        color = (
            self.page.locator(selector).first.evaluate("e => getComputedStyle(e).color")
            if selector
            else self.page.evaluate("getComputedStyle(document.body).backgroundColor")
        )
        return sum(float(part) for part in color.strip("rgba()").split(",")[:3]) / 3

    def proof(self) -> str:
        return self.page.locator("div.proof").first.inner_text()

    # --- doing --------------------------------------------------------------------------------------------------------

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).first.click()

    def choose(self, label: str, option: str) -> None:
        """Choose an option of a select by what it shows."""
        self.page.get_by_role("combobox", name=label).first.click()
        self.page.locator(".MuiMenuItem-root").filter(has_text=re.compile(f"^{re.escape(option)}$")).first.click()

    def plane(self, lane: int = 0) -> dict:
        return self.page.locator(".bk-Figure").nth(2 * lane).bounding_box()

    def place(self, across: float, up: float) -> tuple[float, float]:
        """Return the pixel of a place given as shares of the plane."""
        box = self.plane()
        return box["x"] + across * box["width"], box["y"] + (1 - up) * box["height"]
