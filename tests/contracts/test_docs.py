"""Documentation is checked like code: anchors resolve, examples run, generated pages are current."""

import inspect
import re
import runpy
import subprocess
import sys
from pathlib import Path

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


def test_reference_lists_every_public_name_once():
    page = runpy.run_path(str(DOCS / "generate_reference.py"))["page"]()
    listed = re.findall(r"^   surefit\.(\S+)$", page, flags=re.MULTILINE)
    assert sorted(listed) == sorted(name for name in surefit.__all__ if not name.startswith("_"))


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
