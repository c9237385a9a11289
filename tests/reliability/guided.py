"""Files for ``load`` and ``Certificate.from_json``, guided by coverage: ``python -m tests.reliability.guided load|from_json [SECONDS]``.

It needs Linux and ``pip install atheris``. Loops run as plain Python, because atheris rewrites the code of all functions. A file that does
not end in one sentence is written to the current folder, and the run ends with an error.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from tests.reliability.hostile import packed

X, Y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 5.0]]), np.array([1.0, 2.0, 2.0, 7.0])
LIMITS = ("-rss_limit_mb=4000", "-timeout=60", "-max_len=20000")


def models() -> list[Any]:
    """Return fitted models of two kinds."""
    import surefit

    return [model.fit(X, Y) for model in (surefit.Lasso(alpha=0.25), surefit.DecisionTreeRegressor(max_depth=2))]


def from_json(corpus: Path) -> Callable[[bytes], None]:
    """Return the test of one text; whole certificates are the first ones."""
    import surefit

    for i, model in enumerate(models()):
        (corpus / str(i)).write_text(model.certificate_.to_json(), encoding="utf-8")
    return lambda data: in_a_sentence(surefit.Certificate.from_json, data.decode("utf-8", "replace"))


def load(corpus: Path) -> Callable[[bytes], None]:
    """Return the test of one part of a model file: the first byte names the part; checksums are right."""
    import surefit

    file, whole = corpus.with_suffix(".model"), []
    for model in models():
        surefit.save(model, file, overwrite=True)
        with ZipFile(file) as archive:
            whole.append([(name, archive.read(name)) for name in archive.namelist()])
    for i, members in enumerate(whole):
        for k, (_, part) in enumerate(members):
            (corpus / f"{i} {k}").write_bytes(bytes([2 * k + i]) + part)

    def test(data: bytes) -> None:
        which, part = divmod(data[0], 2)[::-1] if data else (0, 0)
        members = list(whole[which])
        part %= len(members)
        members[part] = (members[part][0], data[1:])
        file.write_bytes(packed(members))
        in_a_sentence(surefit.load, file)

    return test


def in_a_sentence(reader: Callable[..., object], given: object) -> None:
    """Read; anything but success or one sentence is an error."""
    from surefit.core.errors import CertificateError, PersistenceError

    try:
        reader(given)
    except (CertificateError, PersistenceError) as error:
        assert str(error) and "\n" not in str(error), "not one sentence"


def main(name: str, seconds: str = "300") -> None:
    """Run for some seconds and print what was tried."""
    os.environ["NUMBA_DISABLE_JIT"] = "1"  # before surefit is imported
    import atheris

    with atheris.instrument_imports(include=["surefit", "skops"]):
        import skops.io  # noqa: F401

        import surefit  # noqa: F401
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        test = {"load": load, "from_json": from_json}[name](corpus)
        atheris.Setup(["guided", f"-max_total_time={seconds}", *LIMITS, str(corpus)], test)
        atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
