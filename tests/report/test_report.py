"""The report: one file that needs nothing else, with every claim in it, and a recipe that runs."""

import html
import re
from html.parser import HTMLParser

import numpy as np
import polars
import pytest

import surefit
from surefit.report.figures import as_svg
from surefit.report.page import _dependences, options, standard_error
from surefit.studies.explain import Dependence

VOID = {"meta", "br", "hr", "img", "input", "link", "use", "path", "wbr"}


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


def nasty(n=120):
    rng = np.random.default_rng(0)
    x, g = rng.normal(size=n), rng.choice(["<b>&", "</svg>", 'q"uote'], size=n)
    return polars.DataFrame({"<i>x</i> $a_b$": x, "g": g, "y": np.where(x + rng.normal(size=n) > 0, "<yes>", "no")})


STUDIES = {
    "classification": lambda: surefit.study("tumors", models=("linear", "tree"), max_time=30),
    "regression": lambda: surefit.study("diabetes", models=("tree",), max_time=30),
    "no test part": lambda: surefit.study("iris", models=("linear",), test_size=0.0),
    "names with markup": lambda: surefit.study(nasty(), "y", models=("tree",)),
    "chosen by bound": lambda: surefit.study("tumors", models=("linear",), select="bound"),
    "a constant": lambda: surefit.study("iris", models=("constant",)),
}


@pytest.fixture(scope="module", params=STUDIES)
def study(request):
    return STUDIES[request.param]()


@pytest.fixture(scope="module")
def page(study):
    return study.report()


def test_page_is_whole_and_needs_nothing_else(page):
    outline = Outline(page)
    assert outline.open == []
    assert len(set(outline.ids)) == len(outline.ids)
    assert all(reference.startswith("#") for reference in outline.references)
    assert {reference[1:] for reference in outline.references} <= set(outline.ids)
    assert "http" not in page and "<script" not in page and "@import" not in page


def test_sections_answer_the_reader_first(page):
    titles = re.findall(r'<h2 id="(\w+)">', page)
    assert titles == ["answer", "belief", "leaderboard", "model", "data", "certificate", "verify"]


def test_every_claim_and_note_and_column_is_there(study, page):
    text = " ".join("".join(Outline(page).text).split())
    for finding in study.findings:
        assert " ".join(finding.statement.split()) in text
    for words in (*study.notes, *(column.name for column in study.prepared.columns)):
        assert " ".join(words.split()) in text
    assert html.escape(study.model.target_) in page


def test_numbers_are_those_of_the_study(study, page):
    if study.test is not None:
        value, _ = study.test_scores[study.metric.name]
        assert f"{value:.4g}" in page
        assert f"{len(study.part.held)} test row" in page
    for row in study.rows:
        assert row["model"] in page


def test_tree_is_in_the_units_of_the_table():
    found = surefit.study("iris", models=("tree",))
    threshold = [float(value) for value in re.findall(r"petal_\w+ <= ([\d.]+)", found.explanation.tree)]
    assert threshold and all(0.1 <= value <= 7 for value in threshold)
    assert "class: setosa" in found.explanation.tree and "The tree" in found.report()


def test_colors_of_figures_follow_the_page(page):
    figures = re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)
    assert all("#1f2933" not in svg and "var(--" in svg for svg in figures)


def test_figures_have_a_name_for_screen_readers():
    from matplotlib.figure import Figure

    figure = Figure()
    figure.subplots().plot([0, 1])
    svg = as_svg(figure, "f", 'a "b" <c>')
    assert 'role="img" aria-label="a &quot;b&quot; &lt;c&gt;"' in svg and "xmlns" not in svg


def test_options_and_numbers_stay_in_one_line():
    assert (
        str(options("use <a> with --column x:drop")) == "use &lt;a&gt; with <span class='option'>--column</span> x:drop"
    )
    shown = [standard_error(value) for value in (0.03, 0.0316, 820.9, None, float("nan"), 0.0)]
    assert shown == ["0.030", "0.032", "820", "–", "–", "0"]


def test_partial_dependences_have_one_scale():
    large = Dependence("a", [0.0, 1.0], {"P": np.array([0.1, 0.9])}, True)
    small = Dependence("b", ["p", "q"], {"P": np.array([0.50, 0.51])}, False)
    ticks = [re.findall(r">([\d.]+)</text>", svg) for svg in _dependences([large, small])]
    assert "0.2" in ticks[0] and "0.8" in ticks[0] and "0.2" in ticks[1] and "0.8" in ticks[1]
    assert _dependences([]) == []


def test_the_class_of_coefficients_is_a_column_only_if_there_are_several():
    two, three = (surefit.study(name, models=("linear",), max_time=30).report() for name in ("tumors", "iris"))
    assert "<h3>Coefficients for malignant</h3>" in two and "<th>For</th>" not in two
    assert "<h3>Coefficients</h3>" in three and "<th>For</th>" in three
