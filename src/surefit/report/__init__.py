"""Report of a study as one self-contained HTML file (needs jinja2 and matplotlib)."""

from surefit.report.page import render

__all__ = ["render"]
