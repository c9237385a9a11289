"""Documentation is checked like code: anchors resolve, examples run, generated pages are current."""

import doctest
import inspect
import re
import runpy
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace

import pytest
from sklearn.base import BaseEstimator

import surefit

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(
    page for page in DOCS.rglob("*.rst") if not {"_build", "auto_examples", "reference", "_templates"} & set(page.parts)
)
ESTIMATORS = [
    name
    for name in surefit.__all__
    if inspect.isclass(getattr(surefit, name)) and issubclass(getattr(surefit, name), BaseEstimator)
]


def labels_of_theory() -> list[str]:
    texts = [page.read_text(encoding="utf-8") for page in sorted((DOCS / "theory").glob("*.rst"))]
    return [label for text in texts for label in re.findall(r"^\.\. _([a-z0-9-]+):$", text, flags=re.MULTILINE)]


def anchors_in(text: str) -> set[str]:
    return set(re.findall(r":ref:`(?:[^`<]*<)?([a-z0-9-]+)>?`", text))


def test_theory_labels_are_unique():
    labels = labels_of_theory()
    assert {"fenchel-gap", "gap-safe", "prediction-stability"} <= set(labels)
    assert len(labels) == len(set(labels))


@pytest.mark.parametrize("anchor", ["Fenchel <fenchel-gap>", "fenchel-gap"])
def test_anchor_pattern_finds_both_forms(anchor):
    assert anchors_in(f"see :ref:`{anchor}`.") == {"fenchel-gap"}


def test_every_anchor_named_in_the_sources_is_a_theory_label():
    labels = set(labels_of_theory())
    sources = {file: anchors_in(file.read_text(encoding="utf-8")) for file in (ROOT / "src").rglob("*.py")}
    missing = {str(file.relative_to(ROOT)): anchors - labels for file, anchors in sources.items() if anchors - labels}
    assert not missing
    assert any(sources.values()), "no docstring points to the theory"


def test_theory_page_has_a_figure_a_proof_a_number_on_real_data_and_its_limits():
    pages = [page for page in (DOCS / "theory").glob("*.rst") if page.stem not in {"index", "items", "errata"}]
    texts = {page.name: page.read_text(encoding="utf-8") for page in pages}
    assert len(texts) > 40
    assert [name for name, text in texts.items() if ".. plot::" not in text] == []
    for part in ("\nWhen it applies\n", "\nOn real data\n", "\nWhat it does not say\n", "∎"):
        assert [name for name, text in texts.items() if part not in text] == []


def test_index_of_items_is_complete_and_its_links_resolve():
    index = SimpleNamespace(**runpy.run_path(str(DOCS / "generate_items.py")))
    items = (ROOT / "tests" / "spec" / "items.txt").read_text(encoding="utf-8").split()
    rows = index.rows()
    assert [item for item, _, _ in rows] == items
    pages = {f"/guide/{page.stem}" for page in (DOCS / "guide").glob("*.rst")}
    assert {target for _, target, _ in rows} <= {*labels_of_theory(), *pages}
    names = index.names()
    assert [item for item in items if not names[item]] == [], "items whose test names nothing public"
    errata = re.findall(
        r"^   \* - ([A-F]\d\d)$", (DOCS / "theory" / "errata.rst").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(errata) > 90 and errata == sorted(set(errata)) and set(errata) <= set(items)


@lru_cache(maxsize=1)
def reference() -> SimpleNamespace:
    return SimpleNamespace(**runpy.run_path(str(DOCS / "generate_reference.py")))


def listed_in(page: str, prefix: str) -> list[str]:
    """The names below ``prefix`` in the tables of a page."""
    return re.findall(rf"^   {re.escape(prefix)}\.(\w+)$", page, flags=re.MULTILINE)


def test_reference_lists_every_public_name_once():
    modules = [name for name in surefit.__all__ if inspect.ismodule(getattr(surefit, name))]
    listed = listed_in(reference().index(), "surefit")
    assert sorted(listed) == sorted(
        name for name in surefit.__all__ if not name.startswith("_") and name not in modules
    )
    assert set(reference().MODULES) == {*modules, *surefit._FOLDERS}


def test_reference_opens_with_estimators():
    first = listed_in(reference().index(), "surefit")[0]
    assert first in ESTIMATORS


@pytest.mark.parametrize("name", [*sorted(surefit._FOLDERS), "conjugate"])
def test_page_of_a_module_documents_every_public_name(name):
    module, page = getattr(surefit, name), reference().module_page(name)
    described = re.findall(rf"^\.\. auto\w+:: {re.escape(module.__name__)}\.(\w+)$", page, flags=re.MULTILINE)
    elsewhere = [n for n in listed_in(page, "surefit") if getattr(surefit, n) is getattr(module, n)]
    assert sorted(described + elsewhere) == sorted(module.__all__)
    assert sorted(listed_in(page, module.__name__)) == sorted(described)


def public_objects() -> dict[str, object]:
    """Every public class and function by its name; constants are described by a comment and need no example."""
    modules = {name: getattr(surefit, name) for name in reference().MODULES}
    found = {
        name: getattr(surefit, name) for name in surefit.__all__ if name not in modules and not name.startswith("_")
    }
    found |= {f"{home}.{name}": getattr(module, name) for home, module in modules.items() for name in module.__all__}
    return {name: value for name, value in found.items() if callable(value)}


def test_every_public_name_has_an_example():
    objects = public_objects()
    assert len(objects) > 350
    assert [name for name, value in objects.items() if ">>>" not in (inspect.getdoc(value) or "")] == []


def test_examples_of_generic_functions_run():
    # doctest looks for functions in the module that defines them; a generic function is defined in core.dispatch.
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    generic = {name: value for name, value in public_objects().items() if hasattr(value, "register")}
    assert len(generic) > 10
    for name, value in generic.items():
        for example in finder.find(value, name, module=False, globs={}):
            runner.run(example)
    assert runner.summarize(verbose=False) == (0, runner.tries)


def test_names_in_the_pages_have_a_page_in_the_reference():
    # Sphinx leaves a role without a target as plain text and warns of nothing.
    role = re.compile(r":(?:class|func|meth|mod|attr|obj|data|exc):`(?:[^`<]*<)?~?([\w.]+)>?`")
    objects = public_objects()
    documented = {f"surefit.{name}" for name in (*objects, *reference().MODULES)}
    modules = [getattr(surefit, home) for home in reference().MODULES]
    documented |= {f"{module.__name__}.{name}" for module in modules for name in module.__all__}
    documented |= {
        f"{value.__module__}.{value.__qualname__}" for value in objects.values() if hasattr(value, "__qualname__")
    }
    pages = [*PAGES, *(ROOT / "examples").glob("*.py")]
    named = {(page.name, name) for page in pages for name in role.findall(page.read_text(encoding="utf-8"))}
    assert len(named) > 300
    assert [pair for pair in sorted(named) if not {pair[1], pair[1].rpartition(".")[0]} & documented] == []


def test_table_of_claims_has_every_claim():
    from surefit.core.catalog import loaded

    assert {entry.theory for entry in loaded().values()} - {""} <= set(labels_of_theory())
    assert set(re.findall(r"^   \* - ``(\S+)``$", reference().claims(), flags=re.MULTILINE)) == set(loaded())


def test_command_line_page_is_what_the_commands_say():
    command = [sys.executable, str(DOCS / "generate_cli.py"), "--check"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    undescribed = re.findall(r"^``(.+)``\n *$", (DOCS / "cli.rst").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert not undescribed, f"options without a word: {undescribed}"


def test_examples_in_the_pages_run():
    # A fresh process: pages about extending register terms of their own, which other tests must not see.
    flags = ["-o", "NORMALIZE_WHITESPACE", "-o", "ELLIPSIS"]
    command = [sys.executable, "-W", "error", "-m", "doctest", *flags, *map(str, PAGES)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stdout + result.stderr


def test_guide_page_has_a_figure_and_every_part():
    pages = [page for page in (DOCS / "guide").glob("*.rst") if page.stem != "index"]
    texts = {page.name: page.read_text(encoding="utf-8") for page in pages}
    assert len(texts) > 30
    assert [name for name, text in texts.items() if ".. plot::" not in text] == []
    parts = [
        "The problem",
        r"When to use (?:it|them), and when not",
        "Parameters that matter",
        "What is guaranteed",
        "References",
    ]
    for part in [*parts, "Cost(?: and pitfalls)?", "(?:Cost and p|P)itfalls"]:
        heading = re.compile(rf"^{part}\n-{{4,}}$", flags=re.MULTILINE)
        assert [name for name, text in texts.items() if not heading.search(text)] == [], part
    cost = re.compile(r"^Cost.*\n-{4,}\n\n([^#]*?)(?=^.+\n-{4,}$|\Z)", flags=re.MULTILINE)
    assert [
        name for name, text in texts.items() if not re.search("memory|bytes|stor", cost.search(text).group(1))
    ] == []


def test_every_picture_has_an_alternative_text():
    directive = re.compile(r"^( *)\.\. (?:plot|image|figure)::.*\n((?:\1 +:.*\n)*)", flags=re.MULTILINE)
    found = [
        (page.name, match.group(2)) for page in PAGES for match in directive.finditer(page.read_text(encoding="utf-8"))
    ]
    assert len(found) > 20
    assert [name for name, options in found if ":alt:" not in options] == []


def described_parameters(text: str) -> set[str]:
    """The names that head an entry of the section Parameters, alone or in a list."""
    section = text.split("Parameters\n----------\n", 1)[1].split("\n\n", 1)[0]
    heads = [line.split(" : ")[0] for line in section.splitlines() if line and not line[0].isspace()]
    return {name.strip() for head in heads for name in head.split(",")}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimator_states_its_formula_its_guarantee_and_its_parameters(name):
    estimator = getattr(surefit, name)
    text = inspect.getdoc(estimator)
    others = set(re.findall(r":class:`(\w+)`", text)) & set(ESTIMATORS)
    assert ".. math::" in text or others, f"{name}: no formula, and no estimator named whose formula it shares"
    assert "Guarantee" in text, f"{name}: no guarantee"
    assert anchors_in(text) & set(labels_of_theory()), f"{name}: no theory anchor"
    missing = set(inspect.signature(estimator).parameters) - described_parameters(text)
    assert not missing, f"{name}: parameters without a description: {missing}"
