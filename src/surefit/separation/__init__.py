"""Separability of labeled data: proofs, margins, and the columns that separate the classes."""

from surefit.separation.margin import MarginBracket, MaximalMargin, margin_bracket, maximal_margin
from surefit.separation.margins import MarginReport, distances, margins
from surefit.separation.report import SeparabilityReport
from surefit.separation.separability import separability

__all__ = [
    "MarginBracket",
    "MarginReport",
    "MaximalMargin",
    "SeparabilityReport",
    "distances",
    "margin_bracket",
    "margins",
    "maximal_margin",
    "separability",
]
