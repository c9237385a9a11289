"""``@compiled``: Numba loops that are cached on disk and release the GIL.

Numba checks only the file of a cached function to decide whether it is stale. The cached code of a loop would therefore
remain in use after an edit of a verb that it calls from another file. Here the stamp of every cached function covers
its folder and all folders with compiled code, so surefit never runs machine code of another version.

A compiled function that another one calls is linked into its caller (:mod:`surefit.core.compilation.nested`).

If the cache cannot be written or read (no permission, full disk, damaged file), functions are compiled again and the fit succeeds.
"""

import os
import pickle
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache, partial
from hashlib import sha256
from typing import Any, overload

import numpy as np
from llvmlite import binding
from numba import config, njit
from numba.core.runtime import _nrt_python  # type: ignore[attr-defined]

import surefit.core.compilation.notice  # noqa: F401  (says when compilation takes long)
from surefit.core.compilation.nested import PartCompiler, WholeCompiler
from surefit.core.errors import SlowStart
from surefit.core.garbage import uncollected
from surefit.core.guards.interrupts import deferred

#: Relaxations for solver loops: order of sums, fused multiply-add, sign of zero. Never used for numbers in a claim.
RELAXED = {"reassoc", "contract", "nsz"}


@overload
def compiled(loop: Callable[..., Any]) -> Any: ...
@overload
def compiled(*, relaxed: bool = False) -> Any: ...
def compiled(loop: Callable[..., Any] | None = None, *, relaxed: bool = False) -> Any:
    """Compile ``loop`` on first call, for the types it is called with; later processes load it from disk.

    Parameters
    ----------
    relaxed : bool, default=False
        Let the compiler reorder sums, which vectorizes dot products. Intended only for inner loops of solvers;
        certificates are computed in IEEE arithmetic.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        fastmath = RELAXED if relaxed else False
        compiler = partial(njit, nogil=True, error_model="numpy", fastmath=fastmath)
        dispatcher: Any = compiler(pipeline_class=WholeCompiler)(function)
        try:
            dispatcher.enable_caching()
        except RuntimeError as error:  # neither the package folder nor the user's cache folder is writable
            _say_once(error)
        except AttributeError:
            return dispatcher  # without JIT the function is plain Python
        _compile_whole(dispatcher)
        dispatcher._compilation_chain_init_hook = _nothing  # extensions of Numba: the compiler loads them
        _stamp_with_sources(dispatcher)
        _forgive(dispatcher)
        _link_parts(dispatcher, cache(lambda: compiler(pipeline_class=PartCompiler)(function)))
        return dispatcher

    return decorate if loop is None else decorate(loop)


def _nothing() -> None:
    pass


_NOTHING = nullcontext()


def quietly(**kinds: Any) -> AbstractContextManager[Any]:
    """Return ``np.errstate`` for compiled loops, which do not read the error state unless they run as Python."""
    return np.errstate(**kinds) if config.DISABLE_JIT else _NOTHING  # type: ignore[attr-defined]


def _compile_whole(dispatcher: Any) -> None:
    """Let Ctrl-C wait for the end of a compilation: interrupted in between, Numba's tables of implementations stay incomplete.

    Cyclic garbage is not collected meanwhile, which would take a tenth of the time.
    """
    dispatcher.compile = deferred()(uncollected()(dispatcher.compile))


def _link_parts(dispatcher: Any, part: Callable[[], Any]) -> None:
    """Let compiled callers use the code of ``part()``, which is created on first use."""
    dispatcher.get_call_template = lambda *types: part().get_call_template(*types)
    dispatcher.get_overload = lambda types: part().get_overload(types)


PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
#: Folders whose loops and terms compiled functions of any folder may call (a test compares this with the imports).
SHARED = ("core", "losses", "penalties", "operators", "kernels", "problems", "solvers", "trees")


@cache
def _source_stamp(folder: str) -> str:
    return sha256(repr([_sources(name) for name in sorted({"", *SHARED, folder})]).encode()).hexdigest()


@cache
def _sources(folder: str) -> list[tuple[str, int, int]]:
    """Return paths, times and sizes of the sources in a folder ("": of the package itself), read once for all stamps."""
    found = []
    for place, folders, names in os.walk(os.path.join(PACKAGE, folder)):
        for path in (os.path.join(place, name) for name in names if name.endswith(".py")):
            stat = os.stat(path)
            found.append((os.path.relpath(path, PACKAGE), stat.st_mtime_ns, stat.st_size))
        if not folder:
            folders.clear()
    return sorted(found)


def _stamp_with_sources(dispatcher: Any) -> None:
    # Numba has no public hook for the stamp. If its internals change, its own stamp (one file) is used.
    index: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if hasattr(index, "_source_stamp"):
        _, folder, *_ = (
            dispatcher.py_func.__module__.split(".") if "." in dispatcher.py_func.__module__ else ("", "core")
        )
        index._source_stamp = (index._source_stamp, _source_stamp(folder))


def _forgive(dispatcher: Any) -> None:
    """Continue without a cache if machine code cannot be written to it or read from it."""
    kept: Any = getattr(dispatcher, "_cache", None)
    if not hasattr(kept, "_cache_file"):
        return
    load, save = _without_tables(kept), kept.save_overload

    def load_overload(signature: Any, context: Any) -> Any:
        try:
            return load(signature, context)
        except (AttributeError, ImportError):  # written by another version, whose classes have moved
            return None
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            return _say_once(error)

    def save_overload(signature: Any, code: Any) -> None:
        try:
            try:
                save(signature, code)
            except (AttributeError, ImportError):  # the index was written by another version: start a new one
                kept.flush()
                save(signature, code)
        except (AttributeError, ImportError, OSError, EOFError, pickle.UnpicklingError) as error:
            _say_once(error)

    kept.load_overload, kept.save_overload = load_overload, save_overload


def _without_tables(kept: Any) -> Callable[[Any, Any], Any]:
    """Return a function that reads machine code from the cache.

    Numba prepares its tables of types and implementations and compiles its memory management before it reads the cache, though only the
    compiler uses them, and the compiler prepares them itself. Machine code contains what it uses of the memory management, and needs no
    more than the addresses of the functions in C below it.
    """
    if not hasattr(kept, "_load_overload"):  # another version of Numba
        return kept.load_overload

    def load(signature: Any, context: Any) -> Any:
        _name_functions_in_c()
        return kept._load_overload(signature, context)

    return load


@cache
def _name_functions_in_c() -> None:
    """Tell the linker the addresses of Numba's functions in C for memory, as Numba does before it compiles."""
    for name, address in _nrt_python.c_helpers.items():
        binding.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


_SAID: set[type] = set()


def _say_once(error: Exception) -> None:
    if type(error) in _SAID:  # warn once, not for each function
        return
    _SAID.add(type(error))
    warnings.warn(
        f"surefit: compiled code cannot be cached on disk ({error}), so every process compiles it again. Set NUMBA_CACHE_DIR to a "
        "folder that can be written.",
        SlowStart,
        stacklevel=3,
    )
