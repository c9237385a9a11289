"""A fit on one page: everything about a study in one HTML file that needs nothing else (needs jinja2 and matplotlib)."""

from surefit.report.page import render, write

__all__ = ["render", "write"]
