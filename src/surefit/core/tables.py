"""Certificates and verifications as text for a terminal and as HTML for a notebook."""

import math
from html import escape
from textwrap import wrap
from typing import Any

WIDTH = 100


def number(value: float | None) -> str:
    """Return a number as short text; the text is empty for None and NaN."""
    return "" if value is None or value != value else f"{value:.3g}"


def digits(value: float | None, most: int = 4) -> str:
    """Return a number with the given number of significant digits; large numbers have a thousands separator, not an exponent.

    Examples
    --------
    >>> from surefit.core.tables import digits
    >>> digits(22449.7), digits(0.012345), digits(820.9, 2), digits(3e15), digits(float("nan"))
    ('22 450', '0.01235', '820', '3e+15', '-')
    """
    if value is None or value != value:
        return "-"
    if not 10.0 ** (most - 1) <= abs(value) < 1e12:
        return f"{value:.{most}g}"
    whole = round(value, most - 1 - math.floor(math.log10(abs(value))))
    return f"{int(whole):,}".replace(",", " ") if abs(whole) >= 1e4 else str(int(whole))


def text_table(title: str, header: tuple[str, ...], rows: list[tuple[str, ...]], foot: str = "") -> str:
    """Return plain text with aligned columns; the last column is wrapped to the line width."""
    widths = [max(len(str(row[i])) for row in [header, *rows]) for i in range(len(header) - 1)]
    indent = sum(widths) + 2 * len(widths)
    lines = [title, "-" * min(WIDTH, max(len(title), indent + 20))]
    for row in [header, *rows]:
        left = "".join(f"{cell!s:<{width}}  " for cell, width in zip(row, widths, strict=False))
        wrapped = wrap(str(row[-1]), max(30, WIDTH - indent)) or [""]
        lines.append((left + wrapped[0]).rstrip())
        lines.extend(" " * indent + more for more in wrapped[1:])
    if foot:
        lines += ["", *wrap(foot, WIDTH)]
    return "\n".join(lines)


def html_table(title: str, header: tuple[str, ...], rows: list[tuple[str, ...]], foot: str = "") -> str:
    """Return the table as a self-contained HTML fragment."""
    head = "".join(f"<th style='text-align:left'>{escape(cell)}</th>" for cell in header)
    body = "".join(
        "<tr>"
        + "".join(f"<td style='text-align:left;vertical-align:top'>{escape(str(cell))}</td>" for cell in row)
        + "</tr>"
        for row in rows
    )
    return (
        f"<div class='surefit-certificate'><p><b>{escape(title)}</b></p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p><small>{escape(foot)}</small></p></div>"
    )


def _certificate_parts(certificate: Any) -> tuple[Any, Any, Any, Any]:
    from surefit.core.certificate import GRADES

    title = f"Certificate of {certificate.estimator} (grade {certificate.grade}: {GRADES[certificate.grade]})"
    header = ("claim", "verdict", "value", "limit", "statement")
    rows = [(c.name, c.verdict, number(c.value), number(c.limit), c.statement) for c in certificate.claims]
    data = certificate.data
    run = certificate.run
    went = f"{run.get('solver', 'solver')}: {run.get('reason', 'done')}" if run else ""
    foot = (
        f"Data: {data.get('n_rows', '?')} rows x {data.get('n_columns', '?')} columns, fingerprint "
        f"{str(data.get('X', ''))[:12]}. {went}. Computed by the fit; certificate_.verify(X, y) re-derives it independently."
    )
    return title, header, rows, foot


def certificate_text(certificate: Any) -> str:
    """Return the table of a certificate as text for a terminal."""
    return text_table(*_certificate_parts(certificate))


def certificate_html(certificate: Any) -> str:
    """Return the table of a certificate as HTML for a notebook."""
    return html_table(*_certificate_parts(certificate))
