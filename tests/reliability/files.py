"""Damaged and hostile files for every reader: ``python -m tests.reliability.files [COUNT [SEED]]``.

A reader returns what is whole, or refuses in one sentence; no other error, no long wait, no large allocation.
"""

from __future__ import annotations

import gzip
import random
import sys
import tempfile
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars
import skops.io
from sklearn.linear_model import Ridge as SklearnRidge
from tests.reliability.hostile import changed_archive, changed_bytes, changed_json
from tests.reliability.results import write

import surefit
from surefit.core.errors import CertificateError, InvalidData, PersistenceError
from surefit.persistence import load_external
from surefit.tables import interpret, read_table

REFUSALS = (CertificateError, InvalidData, PersistenceError)
MOST_MEMORY = 2**26  # bytes beyond the file; all files here are small


class Attack(NamedTuple):
    """A file, the function that opens it, and how to damage it."""

    name: str
    whole: bytes
    opens: Callable[[Path], Any]
    damages: tuple[Callable[..., Any], ...]


def attacks(folder: Path) -> list[Attack]:
    """Return one whole file per reader."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    model = surefit.Lasso(alpha=0.1).fit(X, y)
    tree = surefit.DecisionTreeClassifier(max_depth=2).fit(X, np.where(y > 0, "yes", "no"))
    surefit.save(model, folder / "m")
    surefit.save(tree, folder / "t")
    skops.io.dump(SklearnRidge().fit(X, y), folder / "r")
    frame = polars.DataFrame({"a": X[:, 0], "b": ["x", "y,z", "ü"] * 10, "y": y})
    frame.write_parquet(folder / "p")
    frame.write_ipc(folder / "i")
    table = frame.write_csv().encode()
    lines = "".join(f"{v:.3f} 1:{a:.3f} 3:{b:.3f}\n" for v, a, b in zip(y, X[:, 0], X[:, 1], strict=True)).encode()

    def opened(file: Path) -> Any:
        found = surefit.load(file)
        return found.certificate_ if hasattr(found, "certificate_") else found

    def certified(file: Path) -> Any:
        return surefit.Certificate.from_json(file.read_bytes().decode("utf-8", "replace")).verify(X, y)

    def audited(file: Path) -> Any:
        return surefit.certify(load_external(file), X, y)

    def tabled(file: Path) -> Any:
        return interpret(read_table(file))

    archives, texts = (changed_archive, changed_bytes), (changed_bytes,)
    return [
        Attack("load", (folder / "m").read_bytes(), opened, archives),
        Attack("load a tree", (folder / "t").read_bytes(), opened, archives),
        Attack("certify", (folder / "r").read_bytes(), audited, archives),
        Attack(
            "Certificate.from_json", model.certificate_.to_json().encode(), certified, (changed_json, changed_bytes)
        ),
        Attack("CSV", table, tabled, texts),
        Attack("gzip", gzip.compress(table, mtime=0), tabled, texts),
        Attack("Parquet", (folder / "p").read_bytes(), tabled, texts),
        Attack("Arrow", (folder / "i").read_bytes(), tabled, texts),
        Attack("LIBSVM", lines, tabled, texts),
    ]


def damaged(attack: Attack, draw: random.Random) -> bytes:
    """Return one damaged version of the file."""
    how = draw.choice(attack.damages)
    if how is changed_json:
        return changed_json(attack.whole.decode(), draw).encode("utf-8", "surrogatepass")
    return how(attack.whole, draw)


def faults(attack: Attack, folder: Path, count: int, seed: int) -> Iterator[str]:
    """Yield what went wrong with ``count`` damaged versions."""
    file = folder / "damaged"
    for k in range(count):
        draw = random.Random(f"{attack.name} {seed} {k}")
        file.write_bytes(damaged(attack, draw))
        tracemalloc.start()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                attack.opens(file)
        except REFUSALS as error:
            if "\n" in str(error) or not str(error):
                yield f"{attack.name} {k}: more than a sentence: {error}"
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a panic of a compiled reader is no Exception
            yield f"{attack.name} {k}: {type(error).__name__}: {error}"
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        if peak > MOST_MEMORY:
            yield f"{attack.name} {k}: {peak // 2**20} MB"


def run(count: int, seed: int = 0) -> tuple[int, list[str]]:
    """Return the number of files tried and what went wrong."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = attacks(folder)
        return count * len(found), [fault for attack in found for fault in faults(attack, folder, count, seed)]


def main(words: list[str]) -> int:
    """Print the faults and the count."""
    tried, wrong = run(int(words[0]) if words else 2000, int(words[1]) if len(words) > 1 else 0)
    write("files", "damaged and hostile files for nine readers", tried, len(wrong))
    print(*wrong, f"{tried} files, {len(wrong)} faults", sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
