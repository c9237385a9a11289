"""Machine code is kept on disk; where that fails a fit is slow, never lost."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from surefit.core import jit

SORT = """
import warnings
import numpy as np
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    from surefit.core.loops import ascending
    order = ascending(np.array([3.0, 1.0, 2.0]))
print(order.tolist(), *(w.message for w in said if w.category.__name__ == "SlowStart"))
"""


def sort_with_cache_at(folder, before="") -> str:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    environment.pop("NUMBA_DISABLE_JIT", None)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(before) + SORT], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_cache_that_no_folder_can_hold_is_said_once_and_the_fit_goes_on(tmp_path):
    # a file where the folder should be: nothing can be written below it, even by an administrator
    blocked = tmp_path / "blocked"
    blocked.write_text("")
    said = sort_with_cache_at(
        blocked,
        """
        from numba.core import caching
        for locator in ("InTreeCacheLocator", "UserWideCacheLocator", "UserProvidedCacheLocator"):
            getattr(caching, locator).from_function = classmethod(lambda *_: None)
        """,
    )
    assert said.startswith("[1, 2, 0] surefit: compiled code cannot be cached on disk")
    assert said.count("NUMBA_CACHE_DIR") == 1


def test_damaged_and_unwritable_files_cost_time_only(tmp_path):
    folder = tmp_path / "cache"
    assert sort_with_cache_at(folder) == "[1, 2, 0]"
    for index in folder.rglob("*.nbi"):
        index.write_bytes(b"")
    said = sort_with_cache_at(folder)
    assert said.startswith("[1, 2, 0] surefit: compiled code cannot be cached on disk")


LATER = """
from numba import njit
from numba.core import entrypoints
from numba.core.registry import cpu_target
from numba.core.runtime.nrt import rtsys
tables = cpu_target.target_context._registries
prepared = lambda: (len(tables) > 5, rtsys._init, entrypoints._already_initialized)
before = prepared()
first = njit(lambda x: ascending(x)[0] + 1)(np.array([3.0, 1.0]))
print(*before, first, *prepared())
"""


def test_cached_code_runs_without_the_tables_of_the_compiler_which_later_prepares_them(tmp_path):
    folder = tmp_path / "cache"
    assert sort_with_cache_at(folder) == "[1, 2, 0]"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    environment.pop("NUMBA_DISABLE_JIT", None)
    done = subprocess.run([sys.executable, "-c", SORT + LATER], env=environment, capture_output=True, text=True)
    assert done.stdout.split("\n")[:2] == ["[1, 2, 0]", "False False False 2 True True True"], done.stderr


def test_a_full_disk_costs_time_only(tmp_path):
    said = sort_with_cache_at(
        tmp_path / "cache",
        """
        from numba.core import caching
        def full(self, name, data):
            raise OSError(28, "No space left on device")
        caching.IndexDataCacheFile._save_data = full
        """,
    )
    assert said.startswith("[1, 2, 0] surefit: compiled code cannot be cached on disk ([Errno 28] No space left")


@pytest.mark.parametrize("disabled", ["0", "1"])
def test_functions_work_with_and_without_compilation(disabled):
    code = (
        "from surefit.core.loops import ascending; import numpy as np; print(ascending(np.array([2.0, 1.0])).tolist())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "NUMBA_DISABLE_JIT": disabled}, capture_output=True, text=True
    )
    assert done.stdout.strip() == "[1, 0]", done.stderr


def test_compiled_modules_import_only_folders_that_the_stamp_covers():
    package = Path(jit.__file__).parent.parent
    for file in package.rglob("*.py"):
        source = file.read_text(encoding="utf-8")
        if "@compiled" in source and file.parent != package / "core":
            own = file.relative_to(package).parts[0]
            imported = set(re.findall(r"^from surefit\.(\w+)", source, flags=re.MULTILINE))
            assert imported <= {*jit.SHARED, own}, f"{file}: add {imported - {*jit.SHARED, own}} to core/jit.py SHARED"
