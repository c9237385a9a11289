"""Every item of the notes has a test of its name that calls surefit's public interface, and nothing else of it."""

import ast
import re
from pathlib import Path

FOLDER = Path(__file__).parent
ITEMS = (FOLDER / "items.txt").read_text(encoding="utf-8").split()


def functions() -> dict[str, bool]:
    """Names of the test functions of this folder, and whether each calls surefit, itself or through a helper of its file."""
    found: dict[str, bool] = {}
    for file in sorted(FOLDER.glob("test_*.py")):
        if file.name == Path(__file__).name:
            continue
        tree = ast.parse(file.read_text(encoding="utf-8"))
        defined = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        helpers = {node.name for node in defined if not node.name.startswith("test_") and calls(node, {"sf"})}
        for node in defined:
            if node.name.startswith("test_"):
                assert node.name not in found, f"{node.name} stands twice"
                found[node.name] = calls(node, {"sf", *helpers})
    return found


def calls(function: ast.FunctionDef, names: set[str]) -> bool:
    """Whether the function calls one of the names, or something that belongs to it (``sf`` is surefit)."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            target = node.func
            while isinstance(target, (ast.Attribute, ast.Call)):
                target = target.value if isinstance(target, ast.Attribute) else target.func
            if isinstance(target, ast.Name) and target.id in names:
                return True
    return False


def test_every_item_has_a_test_that_calls_surefit():
    tests = functions()
    assert len(ITEMS) == len(set(ITEMS)) == 372
    assert not [item for item in ITEMS if f"test_{item}" not in tests], "items without a test"
    assert not [name for name in tests if name.removeprefix("test_") not in ITEMS], "tests without an item"
    silent = [name for name, called in tests.items() if not called]
    assert not silent, f"tests that call nothing of surefit: {silent}"
    print(f"{len(tests)} of {len(ITEMS)} items of the notes have a test that calls surefit")


def test_only_the_public_interface_is_imported():
    for file in sorted(FOLDER.glob("test_*.py")):
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"^\s*(from surefit|import surefit\.)", text, flags=re.MULTILINE), file.name
        assert len(text.splitlines()) < 400, f"{file.name} is too long"
