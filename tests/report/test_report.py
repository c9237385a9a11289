"""The report: one file that needs nothing else, with every claim in it, and a recipe that runs."""

import html
import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import polars
import pytest

import surefit
from surefit import Lasso
from surefit.core.budget import Reason
from surefit.report import render, write
from surefit.report.figures import as_svg
from surefit.report.words import objective_formula, objective_in_words
from surefit.tables import Plan, as_table, builtin_table, study_table

VOID = {"meta", "br", "hr", "img", "input", "link", "use", "path", "wbr"}


@pytest.fixture(scope="module")
def study():
    return study_table(builtin_table(), Plan(target="progression"))


@pytest.fixture(scope="module")
def page(study):
    return render(study)


class Outline(HTMLParser):
    """Collects identifiers, references and text, and checks that elements are closed."""

    def __init__(self, page):
        super().__init__()
        self.open, self.ids, self.references, self.text = [], [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append(tag)
        self._note(attributes)

    def handle_startendtag(self, tag, attributes):
        self._note(attributes)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def _note(self, attributes):
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            if name in ("href", "xlink:href", "src"):
                self.references.append(value)
            self.references += re.findall(r"url\(([^)]*)\)", value or "")


def test_page_needs_nothing_from_outside(page):
    assert not re.search(r"https?:|//[a-z]", page)
    assert "<script" not in page and "<link" not in page and "@import" not in page
    outline = Outline(page)
    assert outline.open == []
    assert outline.references and all(reference.startswith("#") for reference in outline.references)


def test_identifiers_are_unique_and_references_resolve(page):
    outline = Outline(page)
    assert len(outline.ids) == len(set(outline.ids))
    assert {reference[1:] for reference in outline.references} <= set(outline.ids)


def test_every_claim_is_stated_with_what_was_proved(study, page):
    text = html.unescape(page)
    for claim in study.model.certificate_.claims:
        assert claim.statement in text
        if claim.kind != "no_claim":
            assert f"{study.verification[claim.name].proved:.3g}" in text


def test_numbers_are_those_of_the_study(study, page):
    assert f"{study.scores.rmse:.5g}" in page and f"{study.scores.rmse_of_mean:.5g}" in page
    assert objective_in_words(study.model.certificate_) in page
    for coefficient in study.model.coefficients:
        assert coefficient.feature in page
        if coefficient.value:
            assert f"{coefficient.value:.5g}" in page
    data = study.model.certificate_.data
    assert data["X"] in page and data["y"] in page and study.model.certificate_.seal in page
    assert f"surefit {surefit.__version__}" in page


def test_figures_are_there(page):
    for name in ("formula", "gap", "path", "choice", "prediction"):
        assert f'id="{name}-' in page
    assert page.count("<svg") == 5


def test_recipe_verifies_the_saved_model(study, page, tmp_path):
    surefit.save(study.model, tmp_path / "model.surefit")
    recipe = html.unescape(re.search(r'<code id="recipe">(.*?)</code>', page, re.DOTALL).group(1))
    result = subprocess.run([sys.executable, "-c", recipe], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert result.returncode == 0, result.stderr
    assert "every claim was re-derived" in result.stdout


def test_texts_of_strangers_are_escaped():
    name = "<script>alert('&')</script>"
    x = np.arange(20.0)
    table = as_table(polars.DataFrame({name: x, "g": ["<em>", "&"] * 10, "y": x + 1}))
    page = render(study_table(table._replace(source="<i>file</i>"), Plan(alpha=0.1)))
    assert "<script>" not in page and "<em>" not in page and "<i>file" not in page
    assert html.escape(name, quote=False) in page.replace("&#39;", "'")
    assert Outline(page).open == []


def test_given_alpha_no_test_rows_and_remarks():
    x = np.arange(20.0)
    table = as_table(polars.DataFrame({"x": x, "c": np.ones(20), "y": np.sin(x)}))
    page = html.unescape(render(study_table(table, Plan(alpha=0.01, test_size=0.0))))
    assert "nothing can be said about unseen rows" in page
    assert "Feature 'c' is constant" in page
    assert 'id="choice-' not in page


def test_constant_target_has_a_report():
    table = as_table(polars.DataFrame({"x": [1.0, 2.0, 4.0, 8.0, 9.0], "y": [3.0] * 5}))
    assert "can only be that constant" in render(study_table(table, Plan()))


def test_early_stop_is_said(study):
    from dataclasses import replace

    page = render(replace(study, stopped=Reason.INTERRUPTED))
    assert "The fit was stopped early" in page and "Ctrl-C" in page


def test_file_is_written_once(study, tmp_path):
    write(study, tmp_path / "r.html")
    with pytest.raises(surefit.PersistenceError, match="exists already"):
        write(study, tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("model", "words", "formula"),
    [
        (
            Lasso(alpha=0.5),
            "plus 0.5 times the sum of the absolute weights. The intercept is free",
            r"\alpha\,\sum_j|w_j|$",
        ),
        (
            surefit.ElasticNet(alpha=0.2, l1_ratio=0.5),
            "0.1 times the sum of the absolute weights plus 0.05 times",
            r"\alpha\rho",
        ),
        (
            surefit.ElasticNet(alpha=0.2, l1_ratio=0.0),
            "plus 0.1 times the sum of the squared weights.",
            r"\frac{\alpha}{2}",
        ),
        (
            Lasso(radius=2.0, fit_intercept=False),
            "while the sum of the absolute weights is at most 2. There is no i",
            r"\leq t$",
        ),
        (Lasso(alpha=0.5, positive=True), "No weight may be negative.", r"P(w,b)="),
    ],
)
def test_objective_in_words_and_as_formula(model, words, formula):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    certificate = model.fit(X, X @ [1.0, 2.0, 0.0] + rng.normal(size=20)).certificate_
    assert words in objective_in_words(certificate)
    assert formula in objective_formula(certificate)
    from matplotlib.figure import Figure

    figure = Figure()
    figure.text(0, 0, objective_formula(certificate))
    assert "<svg" in as_svg(figure, "f", "formula", text_as_paths=True)  # mathtext can set it
