"""Mirrors of scikit-learn's modules, in which a rule determines the object of each name."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

ROOT = "sklearn"

#: (object of scikit-learn, name of its module, its own name) -> object to use in its place
Rule = Callable[[Any, str, str], Any]
#: Names by module that treat trees of scikit-learn's own classes differently; surefit's of the same name treat both equally.
TREE_TOOLS = {
    "sklearn.tree": ("surefit.export.drawings", ("export_graphviz", "export_text", "plot_tree")),
    "sklearn.inspection": ("surefit.export.inspection", ("PartialDependenceDisplay", "partial_dependence")),
}


def replacement(value: Any, module: str, name: str) -> Any:
    """Return surefit's estimator (or tool for trees) of this name, or ``value`` if there is none.

    Examples
    --------
    >>> from sklearn.linear_model import Lars, Lasso
    >>> from surefit.sklearn.mirror import replacement
    >>> replacement(Lasso, "sklearn.linear_model", "Lasso").__module__
    'surefit.linear.lasso.lasso'
    >>> replacement(Lars, "sklearn.linear_model", "Lars") is Lars
    True
    """
    import surefit

    where, tools = TREE_TOOLS.get(module, ("", ()))
    if name in tools:
        return getattr(import_module(where), name)
    if not is_estimator(value) or not is_public(module) or name not in surefit.__all__:
        return value
    ours = getattr(surefit, name)
    return ours if is_estimator(ours) else value


def is_estimator(value: Any) -> bool:
    """Whether an object is a class of estimators."""
    from sklearn.base import BaseEstimator

    return inspect.isclass(value) and issubclass(value, BaseEstimator)


def is_public(module: str) -> bool:
    """Whether no part of a module's path is private."""
    return not any(part.startswith("_") for part in module.split("."))


class Mirror(ModuleType):
    """Mirror of a module of scikit-learn, with names replaced by a rule."""

    def __init__(self, original: ModuleType, mirrors: Mirrors):
        super().__init__(mirrors.prefix + original.__name__, original.__doc__)
        self.__dict__.update(_original=original, _mirrors=mirrors, _shadowed={})
        if hasattr(original, "__path__"):
            self.__path__: list[str] = []  # marks a package, whose modules are found by name

    def __getattr__(self, name: str) -> Any:
        original, mirrors = self.__dict__["_original"], self.__dict__["_mirrors"]
        if name == "__all__":
            return list(getattr(original, "__all__", [n for n in dir(original) if not n.startswith("_")]))
        value = getattr(original, name)
        if isinstance(value, ModuleType):
            return mirrors.module(value.__name__) if inside(value.__name__) else value
        return mirrors.rule(value, original.__name__, name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a name; in a private module, whose names are not replaced, in the module itself, so that a patch has an effect."""
        original, shadowed = self.__dict__["_original"], self.__dict__["_shadowed"]
        if is_public(original.__name__) or name.startswith("__") or isinstance(value, ModuleType):
            super().__setattr__(name, value)
            return
        if hasattr(original, name):
            shadowed.setdefault(name, getattr(original, name))
        setattr(original, name, value)

    def __delattr__(self, name: str) -> None:
        """Delete a name that was set; the one before it returns."""
        original, shadowed = self.__dict__["_original"], self.__dict__["_shadowed"]
        if name in shadowed:
            setattr(original, name, shadowed.pop(name))
        elif name in self.__dict__ or is_public(original.__name__):
            super().__delattr__(name)
        else:
            delattr(original, name)

    def __dir__(self) -> list[str]:
        return dir(self.__dict__["_original"])


class Mirrors:
    """The mirrors of one rule; ``prefix`` is prepended to the names of the modules."""

    def __init__(self, rule: Rule, prefix: str = ""):
        self.rule, self.prefix = rule, prefix
        self._made: dict[str, Mirror] = {}

    def module(self, name: str) -> Mirror:
        """Return the mirror of scikit-learn's module ``name``."""
        if name not in self._made:
            self._made[name] = Mirror(import_module(name), self)
        return self._made[name]


def inside(name: str) -> bool:
    """Whether a module belongs to scikit-learn."""
    return name == ROOT or name.startswith(ROOT + ".")


class _Finder(MetaPathFinder, Loader):
    """Finder of modules such as ``surefit.sklearn.linear_model``; Python finds real files such as ``mirror`` first."""

    def __init__(self, mirrors: Mirrors):
        self.mirrors = mirrors

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if not fullname.startswith(f"{self.mirrors.prefix}{ROOT}."):
            return None
        try:
            original = import_module(fullname.removeprefix(self.mirrors.prefix))
        except ModuleNotFoundError:
            return None
        return ModuleSpec(fullname, self, is_package=hasattr(original, "__path__"))

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self.mirrors.module(spec.name.removeprefix(self.mirrors.prefix))

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing, because names are looked up when they are used."""


def install(mirrors: Mirrors) -> None:
    """Register the finder of the mirrors; real files take precedence."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder(mirrors))
