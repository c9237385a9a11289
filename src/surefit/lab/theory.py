"""Theory pages of the documentation inside the lab, with formulas as MathML, without network access or scripts."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

from surefit.lab.mathml import mathml

STYLE = (
    "body{font:16px/1.55 Roboto,Helvetica,Arial,sans-serif;max-width:46em;margin:2em auto;padding:0 1em;color-scheme:light dark}"
    "pre,table{overflow:auto;display:block}code,tt{font-size:.9em}a{color:#0072B2}td,th{padding:.2em .7em}"
    "math[display=block]{margin:1em 0;overflow:auto}"
)


def folder() -> Path | None:
    """Return the folder of the pages: in the installed package or in the docs of a clone; None if neither exists."""
    here = Path(__file__).resolve()
    for place in (here.parent / "theory_pages", here.parents[3] / "docs" / "theory"):
        if place.is_dir():
            return place
    return None


@lru_cache(maxsize=64)
def theory_page(name: str) -> str | None:
    """Return a theory page as HTML, or None if there is no such page."""
    home = folder()
    if home is None or not re.fullmatch(r"[a-z_0-9]{1,60}", name) or not (home / f"{name}.rst").is_file():
        return None
    return rendered((home / f"{name}.rst").read_text(encoding="utf-8"))


def rendered(text: str) -> str:
    r"""Return reStructuredText as an HTML page.

    Examples
    --------
    >>> from surefit.lab.theory import rendered
    >>> "<math" in rendered("Title\n=====\n\n.. math:: x^2\n")
    True
    """
    from docutils.core import publish_parts

    settings = {
        "report_level": 5,
        "halt_level": 5,
        "file_insertion_enabled": False,
        "raw_enabled": False,
        "embed_stylesheet": False,
        "stylesheet_path": "",
        "output_encoding": "unicode",
        "doctitle_xform": True,
        "_disable_config": True,
    }
    parts = publish_parts(plain_roles(text), writer=_writer(), settings_overrides=settings)
    title = re.sub(r"<[^>]+>", "", parts["title"]) or "Theory"
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
        f"<title>{title}</title><style>{STYLE}</style></head><body>{parts['html_body']}</body></html>"
    )


def _writer() -> Any:
    """Return the HTML writer of Docutils, with formulas as MathML."""
    from docutils import nodes
    from docutils.writers import html5_polyglot

    class Translator(html5_polyglot.HTMLTranslator):
        def visit_math(self, node: Any, *args: Any) -> None:
            self.body.append(_formula(node.astext(), False))
            raise nodes.SkipNode

        def visit_math_block(self, node: Any, *args: Any) -> None:
            parts = [part.strip() for part in node.astext().split("\n\n") if part.strip()]
            self.body.append(f"<div>{''.join(_formula(part, True) for part in parts)}</div>")
            raise nodes.SkipNode

    writer = html5_polyglot.Writer()
    writer.translator_class = Translator
    return writer


def _formula(text: str, block: bool) -> str:
    try:
        return mathml(text, block)
    except ValueError:
        return f"<code>{escape(text)}</code>"


def plain_roles(text: str) -> str:
    """Return the text without roles and directives that only Sphinx supports."""
    text = re.sub(r":(?:ref|doc|func|class|meth|attr|mod|term):`~?([^`<]+?)\s*(?:<[^`]*>)?`", _target, text)
    return re.sub(
        r"^\.\. (?:toctree|currentmodule|autosummary|only|seealso|plot)::.*(?:\n(?:[ \t]+.*)?)*", "", text, flags=re.M
    )


def _target(match: re.Match) -> str:
    words = match.group(1).rsplit(".", 1)[-1]
    return (
        f"``{words}``"
        if re.match(r":(?:func|class|meth|attr|mod)", match.group(0))
        else words.replace("_", " ").replace("-", " ")
    )
