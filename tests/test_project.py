"""The project as a stranger meets it: public names, README, changelog, and what an import costs."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import surefit

ROOT = Path(__file__).parent.parent
NAMES = [name for name in surefit.__all__ if not name.startswith("__")]


def run_python(code: str, *arguments: str) -> subprocess.CompletedProcess:
    """Run ``code`` in a fresh interpreter, warnings as errors, from a directory that is not the clone."""
    command = [sys.executable, "-W", "error", "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, cwd="/")


def test_public_names_are_sorted_and_unique():
    assert surefit.__all__ == sorted(set(surefit.__all__))


@pytest.mark.parametrize("name", surefit.__all__)
def test_public_name_is_there(name):
    assert getattr(surefit, name) is not None
    assert name in dir(surefit)


def test_unknown_name_is_refused_as_python_does():
    with pytest.raises(AttributeError, match="no_such_name"):
        surefit.no_such_name  # noqa: B018


@pytest.mark.parametrize("name", NAMES)
def test_public_name_has_a_docstring_with_an_example(name):
    public = getattr(surefit, name)
    text = inspect.getdoc(public) or ""
    assert text, f"{name} has no docstring"
    own = "__doc__" in vars(public) and public.__doc__ if inspect.isclass(public) else True
    assert own, f"{name} shows the docstring of its base class"
    is_exception = inspect.isclass(public) and issubclass(public, BaseException)
    if not is_exception and not inspect.ismodule(public):
        assert ">>>" in text, f"{name} has no example"


def test_import_costs_nothing_that_was_not_asked_for():
    code = "import sys, surefit; print(*[m for m in sys.argv[1:] if m in sys.modules])"
    heavy = ["numba", "sklearn", "scipy", "matplotlib", "polars", "pandas", "rich", "typer", "jinja2", "skops"]
    result = run_python(code, *heavy)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == []


@pytest.mark.parametrize("enabled", [True, False])
def test_import_leaves_the_garbage_collector_as_it_was(enabled):
    result = run_python(
        f"import gc; gc.{'enable' if enabled else 'disable'}(); from surefit import Lasso; print(gc.isenabled())"
    )
    assert result.stdout.split() == [str(enabled)], result.stderr


def test_a_fit_needs_no_optional_dependency():
    code = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in sys.argv[1:]:
            raise ImportError(name)

sys.meta_path.insert(0, Missing())
import numpy as np
from surefit import Lasso
X, y = np.array([[-1.0], [0.0], [1.0]]), np.array([-2.0, 0.0, 2.0])
model = Lasso(alpha=1 / 3).fit(X, y)
model.verify(X, y)
print(f"{model.coef_[0]:.6f}")
"""
    result = run_python(code, "matplotlib", "polars", "pandas", "rich", "typer", "jinja2", "skops", "cvxpy")
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "1.500000"


def fenced_blocks(text: str) -> list[tuple[str, str]]:
    """The (language, content) pairs of a Markdown text's fenced blocks."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def without_rounding(text: str) -> str:
    """The text on one line, with numbers of the size of rounding errors, which differ between processors, taken out."""
    return " ".join(re.sub(r"-{4,}", "", re.sub(r"\b\d(\.\d+)?e-\d\d\b", "tiny", text)).split())


def test_readme_tour_prints_what_the_readme_shows():
    blocks = fenced_blocks((ROOT / "README.md").read_text(encoding="utf-8"))
    tours = [i for i, (language, _) in enumerate(blocks) if language == "python"]
    assert tours, "README.md shows no Python"
    for i in tours:
        language, expected = blocks[i + 1]
        assert language == "text", "a Python block of README.md is followed by what it prints"
        result = run_python(blocks[i][1])
        assert result.returncode == 0, result.stderr
        assert without_rounding(result.stdout) == without_rounding(expected)


def test_readme_shows_the_two_commands_and_files_that_exist():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in text and "make test" in text
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        if "://" not in target:
            assert (ROOT / target).exists(), f"README.md points to {target}, which is not there"


def test_commands_named_in_texts_are_targets_of_the_makefile():
    targets = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    for file in ("README.md", "CONTRIBUTING.md", "docs/install.rst"):
        text = (ROOT / file).read_text(encoding="utf-8")
        named = set(re.findall(r"`make ([a-z-]+)", text)) | set(re.findall(r"^ *make ([a-z-]+)", text, re.MULTILINE))
        assert named, f"{file} names no command"
        assert named <= targets, f"{file}: {named - targets}"


def test_changelog_knows_this_version():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## \[(\S+?)\](?: - (\d{4}-\d{2}-\d{2}))?$", text, flags=re.MULTILINE)
    versions = [version for version, _ in headings]
    assert versions[0] in ("Unreleased", surefit.__version__)
    assert surefit.__version__ in versions
    assert all(date for version, date in headings if version != "Unreleased"), "a release has a date"


def test_a_source_file_is_one_idea():
    sources = (ROOT / "src").rglob("*.py")
    lengths = {str(file.relative_to(ROOT)): len(file.read_text(encoding="utf-8").splitlines()) for file in sources}
    long = {file: lines for file, lines in lengths.items() if lines > 300}
    assert not long, f"files of more than 300 lines are two ideas: {long}"


def test_few_functions_are_long_or_take_many_arguments():
    """Fewer than 30: bodies over 60 lines, or more than 9 parameters (``__init__`` follows scikit-learn)."""
    over = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name != "__init__":
                body = node.body[1:] if ast.get_docstring(node) else node.body
                names = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
                lines = node.end_lineno - body[0].lineno + 1 if body else 0
                if lines > 60 or len([name for name in names if name not in ("self", "cls")]) > 9:
                    over.append(f"{path.name}: {node.name}")
    assert len(over) < 30, over


POSIX = (
    "sched_getaffinity",
    "sysconf",
    "fork",
    "killpg",
    "setsid",
    "getuid",
    "fcntl",
    "termios",
    "resource",
    "pwd",
    "mkfifo",
)
PORTABLE_SIGNALS = ("SIGINT", "SIGTERM", "SIG_DFL", "SIG_IGN")


def test_calls_that_not_every_system_offers_stand_in_one_module():
    for path in (ROOT / "src").rglob("*.py"):
        if path.name == "machine.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            imported = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            used = [node.attr] if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "os" else []
            assert not set(imported + used) & set(POSIX), f"{path}: {imported + used}"
            owner = getattr(node.value, "id", "") if isinstance(node, ast.Attribute) else ""
            if owner == "signal" and node.attr.startswith(("SIG", "setitimer", "alarm")):
                assert node.attr in PORTABLE_SIGNALS, f"{path}: signal.{node.attr}"
            text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
            assert not text.startswith(("/proc/", "/dev/", "/sys/")), f"{path}: {text}"


def test_text_files_are_read_and_written_as_utf_8():
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            words = [word.arg for word in node.keywords]
            mode = next((a.value for a in node.args[1:2] if isinstance(a, ast.Constant)), "r")
            text = name in ("read_text", "write_text") or (
                getattr(node.func, "id", "") == "open" and "b" not in str(mode)
            )
            assert not text or "encoding" in words, f"{path}:{node.lineno}: {name} without an encoding"


def test_annotations_are_shipped():
    assert (ROOT / "src" / "surefit" / "py.typed").is_file()


def test_citation_states_the_version():
    stated = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    assert stated and stated.group(1) == surefit.__version__


def test_nothing_opens_a_connection(tmp_path):
    code = """
import socket, sys
def refuse(*args, **kwargs):
    raise AssertionError("a connection was opened")
socket.socket.connect = socket.socket.connect_ex = socket.create_connection = socket.getaddrinfo = refuse
import numpy as np
import surefit
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = (X[:, 0] > 0).astype(int)
for model in (surefit.LogisticRegression(), surefit.Lasso(alpha=0.1), surefit.DecisionTreeClassifier(max_depth=2)):
    model.fit(X, y).verify(X, y)
    surefit.save(model, sys.argv[1] + "/model.surefit", overwrite=True)
    surefit.load(sys.argv[1] + "/model.surefit").verify(X, y)
assert "<html" in surefit.study("iris", max_time=1).report()
"""
    result = run_python(code, str(tmp_path))
    assert result.returncode == 0, result.stderr
