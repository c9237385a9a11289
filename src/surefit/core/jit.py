"""``@compiled``: Numba loops that are cached on disk and release the GIL.

Numba decides whether a cached function is stale by looking at the file of that function only; a loop that calls a verb
registered elsewhere would survive an edit of the verb. Here the stamp of every cached function covers all sources of the
package, so an edited or upgraded surefit never runs machine code of another version.

A cache that cannot be written or read (no folder of one's own, a full disk, a damaged file) costs compilation, never a fit.
"""

import pickle
import warnings
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, overload

from numba import njit

from surefit.core.errors import SlowStart

#: What a solver loop may relax: the order of sums, fused multiply-add, the sign of zero. Never used where a claim rests on it.
RELAXED = {"reassoc", "contract", "nsz"}


@overload
def compiled(loop: Callable) -> Any: ...
@overload
def compiled(*, relaxed: bool = False) -> Any: ...
def compiled(loop: Callable | None = None, *, relaxed: bool = False) -> Any:
    """Compile ``loop`` on first call, for the types it is called with; later processes load it from disk.

    Parameters
    ----------
    relaxed : bool, default=False
        Let the compiler reorder sums, which vectorises dot products. For solvers' inner loops only: a certificate is
        computed with IEEE arithmetic.
    """

    def decorate(function: Callable) -> Any:
        fastmath = RELAXED if relaxed else False
        compiler = njit(nogil=True, error_model="numpy", fastmath=fastmath)
        dispatcher = compiler(function)
        try:
            dispatcher.enable_caching()
        except RuntimeError as error:  # neither the package nor the user's cache folder can be written
            _say_once(error)
        except AttributeError:
            return dispatcher  # without JIT the function is plain Python
        _stamp_with_all_sources(dispatcher)
        _forgive(dispatcher)
        return dispatcher

    return decorate if loop is None else decorate(loop)


@cache
def _source_stamp() -> str:
    package = Path(__file__).parent.parent
    stats = ((file, file.stat()) for file in sorted(package.rglob("*.py")))
    listing = [(str(file.relative_to(package)), stat.st_mtime_ns, stat.st_size) for file, stat in stats]
    return sha256(repr(listing).encode()).hexdigest()


def _stamp_with_all_sources(dispatcher) -> None:
    # Numba offers no public hook for the stamp. If its internals move, its own stamp (one file) stays in force.
    index: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if hasattr(index, "_source_stamp"):
        index._source_stamp = (index._source_stamp, _source_stamp())


def _forgive(dispatcher) -> None:
    """Let a fit go on when its machine code cannot be kept, or what was kept cannot be read."""
    kept: Any = getattr(dispatcher, "_cache", None)
    if not hasattr(kept, "_cache_file"):
        return
    load, save = kept.load_overload, kept.save_overload

    def load_overload(signature, context):
        try:
            return load(signature, context)
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            return _say_once(error)

    def save_overload(signature, code):
        try:
            save(signature, code)
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            _say_once(error)

    kept.load_overload, kept.save_overload = load_overload, save_overload


_SAID: set[type] = set()


def _say_once(error: Exception) -> None:
    if type(error) in _SAID:  # hundreds of functions would say the same
        return
    _SAID.add(type(error))
    warnings.warn(
        f"surefit: compiled loops cannot be kept on disk ({error}), so every process compiles them anew. Set NUMBA_CACHE_DIR to a "
        "folder that can be written.",
        SlowStart,
        stacklevel=3,
    )
