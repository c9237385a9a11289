"""Import hook: user code that imports scikit-learn gets a mirror of it; libraries get scikit-learn itself."""

from __future__ import annotations

import builtins
import os
import site
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from surefit.sklearn.mirror import ROOT, Mirrors, inside

KINDS = ("stdlib", "platstdlib", "purelib", "platlib")


@cache
def libraries() -> tuple[str, ...]:
    """Return the folders of installed packages, of Python's own modules, and of surefit."""
    paths = sysconfig.get_paths()
    own = str(Path(__file__).parents[1])
    folders = {*(paths[kind] for kind in KINDS), *site.getsitepackages(), site.getusersitepackages(), own}
    return tuple(os.path.realpath(folder) + os.sep for folder in folders)


@cache
def is_users(filename: str) -> bool:
    """Whether a source file belongs to the user and not to an installed package."""
    return not filename.startswith("<frozen") and not os.path.realpath(filename).startswith(libraries())


def asked_by_user(scope: dict[str, Any] | None) -> bool:
    """Whether the module with these globals belongs to the user."""
    if scope is None:
        return False
    file = scope.get("__file__")
    return is_users(file) if isinstance(file, str) else scope.get("__name__") == "__main__"


def install_hook(
    mirrors: Mirrors, serves: Callable[[dict[str, Any] | None], bool] = asked_by_user
) -> Callable[[], None]:
    """Replace names by mirrors in modules whose globals ``serves`` accepts, until the returned function is called."""
    genuine = builtins.__import__

    def hooked(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        module = genuine(name, globals, locals, fromlist, level)
        if level or not inside(name) or not serves(globals):
            return module
        return mirrors.module(name if fromlist else ROOT)

    def end() -> None:
        if builtins.__import__ is hooked:
            builtins.__import__ = genuine

    builtins.__import__ = hooked
    return end


@contextmanager
def mirrored(mirrors: Mirrors) -> Iterator[None]:
    """Context manager in which user code imports mirrors of scikit-learn's modules."""
    end = install_hook(mirrors)
    try:
        yield
    finally:
        end()
