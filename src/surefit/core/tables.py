"""Certificates and verifications as text for a terminal and as HTML for a notebook."""

from html import escape
from textwrap import wrap

WIDTH = 100


def number(value: float | None) -> str:
    """Short text of a number; empty for None and for what is not a number."""
    return "" if value is None or value != value else f"{value:.3g}"


def text_table(title: str, header: tuple[str, ...], rows: list[tuple[str, ...]], foot: str = "") -> str:
    """Plain aligned columns; the last column is wrapped to the page."""
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
    """Return the same table as a self-contained HTML fragment."""
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


def _certificate_parts(certificate):
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


def certificate_text(certificate) -> str:
    """Return the table that a terminal shows."""
    return text_table(*_certificate_parts(certificate))


def certificate_html(certificate) -> str:
    """Return the table that a notebook shows."""
    return html_table(*_certificate_parts(certificate))
