"""scikit-learn's module paths with surefit's estimators: ``from surefit.sklearn.linear_model import Lasso``.

To migrate a project, replace ``sklearn`` by ``surefit.sklearn`` in its imports. A name that surefit does not define is
scikit-learn's own object; :func:`report` lists both groups. The modules are created when they are imported.
"""

from __future__ import annotations

from typing import Any

from surefit.sklearn.mirror import Mirrors, install, replacement
from surefit.sklearn.names import report

__all__ = ["report"]

_MIRRORS = Mirrors(replacement, prefix="surefit.")
install(_MIRRORS)


def __getattr__(name: str) -> Any:
    return getattr(_MIRRORS.module("sklearn"), name)
