"""Write ``theory/items.rst``: the items of the lecture notes, each with its page and the public names that its test calls.

``theory/items.tsv`` gives each item a page and a title; the names come from the tests in ``tests/spec``, so they cannot go stale.
"""

import ast
import inspect
from collections import Counter
from pathlib import Path

import surefit

HERE = Path(__file__).parent
TABLE = HERE / "theory" / "items.tsv"
TESTS = HERE.parent / "tests" / "spec"
SHOWN = 4  # names per item
NOTES = {
    "A": "Lectures on supervised learning",
    "B": "Topics in statistical learning theory, chapters 1 to 6",
    "C": "Topics in statistical learning theory, chapters 7 to 11",
    "D": "Lectures on machine learning",
    "E": "Summary of supervised learning and learning theory",
    "F": "Regression",
}
HEAD = """\
.. _items:

Index by item of the notes
==========================

surefit covers the theorems, algorithms and examples of lecture notes on statistical learning, in six parts, A to F. Each item
has a test of that name in ``tests/spec``, which computes it through the public names in the last column. :ref:`errata` lists errors of the
notes and their corrections.
"""


def rows() -> list[tuple[str, str, str]]:
    """Return item, target and title of every line of the table."""
    return [tuple(line.split("\t")) for line in TABLE.read_text(encoding="utf-8").splitlines()]


def names_in(function: ast.FunctionDef, helpers: dict[str, Counter]) -> Counter:
    """Return how often a function uses each public name, its helpers included."""
    found: Counter = Counter()
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and (name := dotted(node)):
            found[name] += 1
        elif isinstance(node, ast.Name):
            found += helpers.get(node.id, Counter())
    return found


def dotted(node: ast.Attribute) -> str:
    """Return ``X`` for ``sf.X``, ``kernels.X`` for ``sf.kernels.X``, and nothing for a module, an error or anything else."""
    parts = [node.attr]
    while isinstance(node.value, ast.Attribute):
        node = node.value
        parts.insert(0, node.attr)
    if not isinstance(node.value, ast.Name) or node.value.id != "sf":
        return ""
    value = getattr(surefit, parts[0])
    depth = 2 if inspect.ismodule(value) else 1
    if len(parts) != depth or (inspect.isclass(value) and issubclass(value, BaseException)):
        return ""
    return ".".join(parts)


def names() -> dict[str, list[str]]:
    """Return the public names that the test of each item uses, the most used first."""
    found: dict[str, list[str]] = {}
    for file in sorted(TESTS.glob("test_[a-f]*.py")):
        functions = [
            node for node in ast.parse(file.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)
        ]
        helpers: dict[str, Counter] = {}
        for node in functions:
            if node.name.startswith("test_"):
                found[node.name.removeprefix("test_")] = [
                    name for name, _ in names_in(node, helpers).most_common(SHOWN)
                ]
            else:
                helpers[node.name] = names_in(node, helpers)
    return found


def target_of(name: str) -> str:
    """Return the name under which the reference describes a public object."""
    home, _, last = name.rpartition(".")
    if not home:
        return f"surefit.{name}"
    module = getattr(surefit, home)
    return f"surefit.{last}" if getattr(surefit, last, None) is getattr(module, last) else f"{module.__name__}.{last}"


def page() -> str:
    """Return the text of the index."""
    used, text = names(), [HEAD]
    for letter, title in NOTES.items():
        text += [f"{letter}. {title}", "-" * (len(title) + 3), ""]
        text += [
            ".. list-table::\n   :header-rows: 1\n   :widths: 8 44 22 26\n\n   * - item\n     - title\n     - page\n     - names"
        ]
        for item, target, subject in rows():
            if item[0] == letter:
                link = f":doc:`{target}`" if target.startswith("/") else f":ref:`{target}`"
                calls = ", ".join(f":obj:`~{target_of(name)}`" for name in used[item])
                text.append(f"   * - {item}\n     - {subject}\n     - {link}\n     - {calls}")
        text.append("")
    return "\n".join(text)


def write() -> None:
    """Write the page if it changed."""
    target, text = HERE / "theory" / "items.rst", page()
    if not target.exists() or target.read_text(encoding="utf-8") != text:
        target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
