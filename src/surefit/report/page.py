"""The page: figures, tables and words of a study in one HTML file without links to anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from surefit.core.certificate import GRADES
from surefit.core.errors import SurefitError
from surefit.core.tables import number
from surefit.persistence import write_file
from surefit.report import figures
from surefit.report.words import formula_key, objective_formula, objective_in_words
from surefit.tables import Study

MOST_COEFFICIENTS = 200


def write(study: Study, path: str | Path, overwrite: bool = False) -> None:
    """Write the report of a study to an HTML file, whole or not at all.

    Parameters
    ----------
    study : Study
        What :func:`surefit.tables.study_table` returned.
    path : str or Path
        Where to write.
    overwrite : bool, default=False
        Whether an existing file may be replaced.
    """
    write_file(path, render(study).encode("utf-8"), overwrite)


def render(study: Study) -> str:
    """Return the report of a study as HTML text.

    Examples
    --------
    >>> from surefit.report import render
    >>> from surefit.tables import Plan, builtin_table, study_table
    >>> page = render(study_table(builtin_table(), Plan(target="progression", alpha=1.0)))
    >>> "http" in page, "<script" in page
    (False, False)
    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise SurefitError("Reports need jinja2; install it with: pip install 'surefit[report]'.") from None
    environment = Environment(
        loader=PackageLoader("surefit.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number
    return environment.get_template("report.html").render(**_content(study))


def _content(study: Study) -> dict[str, Any]:
    certificate = study.model.certificate_
    return {
        "study": study,
        "record": study.model.record_,
        "certificate": certificate,
        "grade": GRADES[certificate.grade],
        "claims": [(claim, study.verification[claim.name]) for claim in certificate.claims],
        "gap": certificate["penalised_squares.gap"],
        "objective": objective_in_words(certificate),
        "formula": _safe(figures.formula_figure(objective_formula(certificate))),
        "formula_key": formula_key(certificate),
        "coefficients": coefficient_rows(study),
        "n_features": len(study.model.encoder_.feature_names_),
        "gap_svg": _safe(figures.gap_figure(study)),
        "path_svg": _safe(figures.path_figure(study)),
        "choice_svg": _safe(figures.choice_figure(study)),
        "prediction_svg": _safe(figures.prediction_figure(study)),
        "recipe": recipe(study),
    }


def coefficient_rows(study: Study) -> list[dict[str, Any]]:
    """Return the coefficients, largest contribution first, with the length of a bar each (percent of the longest)."""
    coefficients = sorted(study.model.coefficients, key=lambda c: -abs(c.standardised))
    longest = max((abs(c.standardised) for c in coefficients), default=0.0) or 1.0
    shown = coefficients[:MOST_COEFFICIENTS]
    return [{**c._asdict(), "bar": 100 * abs(c.standardised) / longest, "left": c.standardised < 0} for c in shown]


def recipe(study: Study) -> str:
    """Return the Python lines that verify the saved model again."""
    record = study.model.record_
    is_file = "file" in record
    table = f"read_table({record['file']!r})" if is_file else "builtin_table()"
    return "\n".join(
        [
            "from surefit import load",
            f"from surefit.tables import {'read_table' if is_file else 'builtin_table'}, training_part",
            "",
            f"model = load({record.get('saved_as', 'model.surefit')!r})",
            f"print(model.verify(training_part(model, {table})))",
        ]
    )


def _safe(svg: str | None) -> Any:
    """Mark our own SVG as markup; names of features were escaped by matplotlib."""
    from markupsafe import Markup

    return None if svg is None else Markup(svg)
