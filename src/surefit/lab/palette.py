"""Colors and markers of the laboratory: the Okabe-Ito palette, which color-blind readers can distinguish."""

from __future__ import annotations

BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY = "#E69F00", "#56B4E9"
INK = "#8a8f98"  # readable on white and on black
MUTED = "#9aa0a8"

#: One color and one marker per class, so that no reader depends on color alone.
CLASS_COLORS = (BLUE, VERMILION, GREEN, PURPLE)
CLASS_MARKERS = ("circle", "triangle", "square", "diamond")
CLASS_NAMES = ("blue circles", "orange triangles", "green squares", "pink diamonds")
#: The same markers in matplotlib's alphabet.
MARKER_CODES = {
    "circle": "o",
    "triangle": "^",
    "square": "s",
    "diamond": "D",
    "x": "x",
    "cross": "+",
    "star": "*",
    "ring": "o",
}
#: The markers that a legend writes as a letter.
MARKER_LETTERS = {"triangle": "▲", "square": "■", "diamond": "◆", "x": "✕", "cross": "✚", "star": "★"}
MOST_CLASSES = len(CLASS_COLORS)


def class_color(code: int) -> str:
    """Return the color of a class."""
    return CLASS_COLORS[int(code) % MOST_CLASSES]


def class_marker(code: int) -> str:
    """Return the marker of a class."""
    return CLASS_MARKERS[int(code) % MOST_CLASSES]


def rgb(color: str) -> tuple[int, int, int]:
    """Return red, green and blue of a hexadecimal color.

    Examples
    --------
    >>> from surefit.lab.palette import rgb
    >>> rgb("#0072B2")
    (0, 114, 178)
    """
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)
