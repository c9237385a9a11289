"""Helpers for the text of messages: numbers with nouns in the singular or plural."""

import re

SINGULARS = {"leaves": "leaf", "classes": "class", "passes": "pass", "hypotheses": "hypothesis"}
NOUNS = (
    "rows", "columns", "features", "groups", "leaves", "splits", "nodes", "trees", "rounds", "normalizers", "neighbors", "updates",
    "members", "cells", "knots", "components", "clusters", "iterations", "models", "classes", "passes", "hypotheses",
)  # fmt: skip
ONE_OF_THEM = re.compile(rf"(?<![-+/] )(?<![\d.,/])\b1 ((?:training |test |calibration )?)({'|'.join(NOUNS)})\b")


def counted(n: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, in the singular or the plural.

    Examples
    --------
    >>> from surefit.core.text import counted
    >>> counted(1, "row"), counted(12000, "row"), counted(2, "class", "classes")
    ('1 row', '12 000 rows', '2 classes')
    """
    return f"{n:,}".replace(",", " ") + " " + (noun if n == 1 else plural or noun + "s")


def agreeing(text: str) -> str:
    """Return the sentence with nouns after 1 in the singular; numbers in formulas (``n - 1 rows``) are unchanged.

    Examples
    --------
    >>> from surefit.core.text import agreeing
    >>> agreeing("Depth 0, 1 leaves, at least 120 rows in each; unbiased for n - 1 rows, 0.1 rows, 21 rows.")
    'Depth 0, 1 leaf, at least 120 rows in each; unbiased for n - 1 rows, 0.1 rows, 21 rows.'
    """
    return ONE_OF_THEM.sub(lambda m: f"1 {m[1]}{SINGULARS.get(m[2], m[2][:-1])}", text)
