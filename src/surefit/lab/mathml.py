"""Formulas as MathML, which every current browser displays without a script or a network.

Docutils converts the formula; unsupported commands are first replaced by supported ones.
"""

from __future__ import annotations

import re

#: Commands that Docutils does not know, and what it knows instead.
SYNONYMS = {
    r"\dots": r"\ldots",
    r"\big": r"\bigl",
    r"\Big": r"\Bigl",
    r"\bigm": r"\bigl",
    r"\iff": r"\;\Leftrightarrow\;",
    r"\implies": r"\;\Rightarrow\;",
    r"\texttt": r"\mathtt",
    r"\textstyle": "",
    r"\displaystyle": "",
    r"\lvert": "|",
    r"\rvert": "|",
    r"\lVert": r"\|",
    r"\rVert": r"\|",
}
#: A letter with an accent; in braces, so that its index stands beside it and not below.
ACCENT = re.compile(r"\\(hat|bar|tilde|vec|dot|ddot|widehat|widetilde|overline)\s*(\{[^{}]*\}|\\[A-Za-z]+|[A-Za-z0-9])")
#: Delimiters grow in MathML unless told otherwise; in TeX they grow only after ``\left`` or ``\big``.
BARS = re.compile(r"<mo>([|‖∥])</mo>")
FIXED = re.compile(r"<mo>([()\[\]{}⟨⟩⌈⌉⌊⌋])</mo>")
#: A named function before a letter or another function: TeX puts a thin space between them, except before an opening delimiter.
FUNCTION = re.compile(r"\\(ln|log|exp|det|sin|cos|tanh|arg)(?=\s*(?:[A-Za-z0-9]|\\(?!bigl|Bigl|left|langle)[A-Za-z]))")
TOKEN = re.compile(r"\\[A-Za-z]+|.")
FRACTION = re.compile(r"\\([tdc]?frac|binom)\s*(\{|\d|[A-Za-z]|\\[A-Za-z]+)")


def after_group(text: str, start: int) -> int:
    """Return the position after the braced group that opens at ``start``."""
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] == "{") - (text[i] == "}")
        if depth == 0:
            return i + 1
    return len(text)


def with_braces(text: str) -> str:
    r"""Return the formula with braces around both arguments of fractions: ``\frac12`` becomes ``\frac{1}{2}``."""
    result, i = "", 0
    while match := FRACTION.search(text, i):
        result += text[i : match.start()] + "\\" + match.group(1)
        i = match.start(2)
        for _ in range(2):
            while i < len(text) and text[i].isspace():
                i += 1
            if text[i : i + 1] == "{":
                end = after_group(text, i)
                result += "{" + with_braces(text[i + 1 : end - 1]) + "}"
            else:
                token = TOKEN.match(text, i)
                end = token.end() if token else len(text)
                result += "{" + text[i:end] + "}"
            i = end
    return result + text[i:]


def known(text: str) -> str:
    """Return the formula with unsupported commands replaced by supported ones."""
    text = re.sub(r"\\[A-Za-z]+", lambda match: SYNONYMS.get(match.group(), match.group()), text)
    text = FUNCTION.sub(r"\g<0>\\, ", text)
    return ACCENT.sub(r"{\g<0>{}}", with_braces(text))


def mathml(text: str, block: bool) -> str:
    r"""Return a formula as MathML; ``ValueError`` if Docutils cannot convert it.

    Examples
    --------
    >>> from surefit.lab.mathml import mathml
    >>> mathml(r"\tfrac12", block=False).count("<mn>")
    2
    """
    from docutils.utils.math import MathError
    from docutils.utils.math.latex2mathml import tex2mathml

    if block and ("\\\\" in text or "&" in text) and "\\begin{align" not in text and "\\begin{cases" not in text:
        text = r"\begin{align*}" + text + r"\end{align*}"
    try:
        body = FIXED.sub(r'<mo stretchy="false">\1</mo>', tex2mathml(known(text), as_block=block))
    except (MathError, IndexError, AttributeError) as error:
        raise ValueError(str(error)) from error
    return BARS.sub(r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>', body)
