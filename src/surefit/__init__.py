"""surefit: classical statistical learning in which every fitted model carries a certificate.

Public names are imported when first used: ``import surefit`` does not import Numba, matplotlib or scikit-learn.
"""

from importlib import import_module
from types import ModuleType
from typing import Any

from surefit._names import HOME as _HOME
from surefit._version import __version__ as __version__
from surefit.core.garbage import uncollected as _uncollected

#: Public folders, reached as attributes: ``surefit.bounds.hoeffding``.
_FOLDERS = ("bounds", "data", "duality", "kernels", "losses", "optimizers", "penalties")

__all__ = sorted(["__version__", *_HOME])


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(_imported(_HOME[name]), name)
        globals()[name] = value
        return value
    if name in _FOLDERS:
        return _imported(f"surefit.{name}")
    raise AttributeError(f"module 'surefit' has no attribute {name!r}")


def _imported(name: str) -> ModuleType:
    """Import a module while the garbage collector rests: modules stay in memory, so it would search them in vain."""
    with _uncollected():
        return import_module(name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_FOLDERS, *_HOME])


def load_ipython_extension(shell: Any) -> None:
    """Handle ``%load_ext surefit``: later cells that import scikit-learn get surefit's estimators."""
    import_module("surefit.sklearn.notebook").load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Handle ``%unload_ext surefit``: later cells get scikit-learn's own estimators."""
    import_module("surefit.sklearn.notebook").unload(shell)
