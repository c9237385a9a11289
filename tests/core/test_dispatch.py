"""One verb, many terms: in Python, in compiled loops, and from Numba's disk cache in a second process."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from surefit.core.dispatch import generic, require
from surefit.core.errors import MissingVerb
from surefit.core.jit import compiled


@generic
def area(shape, factor):
    """Area times a factor."""


@generic
def unused(shape):
    """Nobody defines this."""


class Square(NamedTuple):
    side: float


class Scaled(NamedTuple):
    base: Square
    scales: np.ndarray


@area.register(Square)
def _(shape, factor):
    return shape.side**2 * factor


@area.register(Scaled)
def _(shape, factor):
    return area(shape.base, factor) * shape.scales[0]


@compiled
def total(shape, n):
    result = 0.0
    for i in range(n):
        result += area(shape, float(i))
    return result


@pytest.mark.parametrize("shape", [Square(2.0), Scaled(Square(2.0), np.array([3.0]))], ids=["plain", "nested"])
def test_a_verb_means_the_same_in_python_and_in_a_loop(shape):
    assert total(shape, 5) == sum(area(shape, float(i)) for i in range(5))


def test_a_missing_verb_is_a_sentence():
    with pytest.raises(MissingVerb, match=r"Square: 'unused' is not defined for it \(defined for nothing yet\)"):
        require(Square(1.0), area, unused)
    with pytest.raises(MissingVerb, match="int: 'area'"):
        area(3, 1.0)


def test_a_class_registers_once():
    with pytest.raises(TypeError, match="already registered"):
        area.register(Square)(lambda shape, factor: 0.0)


def test_a_second_process_loads_machine_code_and_an_edit_invalidates_it(tmp_path):
    package = tmp_path / "src" / "surefit"
    sources = Path(__file__).parents[2] / "src" / "surefit"
    files = (
        "dispatch.py",
        "jit.py",
        "errors.py",
        "garbage.py",
        "compilation/__init__.py",
        "compilation/nested.py",
        "compilation/notice.py",
        "compilation/settings.py",
        "guards/__init__.py",
        "guards/interrupts.py",
    )
    for name in (f"core/{file}" for file in files):
        target = package / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text((sources / name).read_text())
    (package / "__init__.py").write_text("")
    (package / "core" / "__init__.py").write_text("")
    (package / "term.py").write_text(
        textwrap.dedent("""
        from typing import NamedTuple
        from surefit.core.dispatch import generic
        @generic
        def verb(term): "A verb."
        class Term(NamedTuple):
            x: float
        @verb.register(Term)
        def _(term): return term.x + 1.0
        """)
    )
    (package / "loop.py").write_text(
        "from surefit.core.jit import compiled\nfrom surefit.term import verb\n"
        "@compiled\ndef loop(term):\n    return verb(term)\n"
    )
    code = (
        "from surefit.loop import loop; from surefit.term import Term; "
        "print(loop(Term(1.0)), sum(loop.stats.cache_hits.values()))"
    )
    kept = {key: value for key, value in os.environ.items() if key not in ("NUMBA_DISABLE_JIT", "NUMBA_CACHE_DIR")}
    environment = {**kept, "PYTHONPATH": str(tmp_path / "src")}

    def run():
        return subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
        ).stdout

    assert run().split() == ["2.0", "0"]
    assert run().split() == ["2.0", "1"]
    edited = package / "term.py"
    edited.write_text(edited.read_text().replace("+ 1.0", "+ 10.0"))
    assert run().split() == ["11.0", "0"]  # the loop's own file did not change, yet nothing stale runs


TWO_VERBS = """
import math
from typing import NamedTuple
from surefit.core.dispatch import generic
from surefit.core.jit import compiled

class Term(NamedTuple):
    value: float

@generic
def by_one(term, n): "Count."

@generic
def by_value(term, n): "Count in steps of the value."

@by_one.register(Term)
def _(term, n):  # long enough that it is not inlined
BODY        total = math.floor(total) + 1.0
    return total

@by_value.register(Term)
def _(term, n):
BODY        total = math.floor(total) + term.value
    return total

@compiled
def ones(term):
    return by_one(term, 4.0) + by_one(term, 5.0) * by_one(term, 6.0)

@compiled
def values(term):
    return by_value(term, 4.0) + by_value(term, 5.0) * by_value(term, 6.0)
""".replace(
    "BODY",
    """    total = term.value
    for i in range(int(n)):
        total += math.exp(-total * 1e3)
        if total > 1e3:
            total = math.sqrt(total) + math.log(total) + math.sin(total) * math.cos(total)
        for j in range(i):
            if math.tan(total) > 1e9:
                total = math.atan(total) + math.sinh(total) / math.cosh(total)
""",
)


def test_code_of_two_verbs_that_two_processes_cached_is_not_mixed_up(tmp_path):
    (tmp_path / "two_verbs.py").write_text(TWO_VERBS)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run(*names):
        code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import two_verbs as loops; "
        code += f"print(*(getattr(loops, name)(loops.Term(3.0)) for name in {names!r}))"
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        return [float(word) for word in done.stdout.split()]

    assert run("ones") == [
        79.0
    ]  # Numba numbers the functions of each process from one, so the two verbs have one number
    assert run("values") == [393.0]
    assert run("ones", "values") == [79.0, 393.0]
