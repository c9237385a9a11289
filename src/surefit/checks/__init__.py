"""The trusted checker: it re-derives every claim from (model, data) and shares no numerical code with the solvers.

Every module of this package registers its checkers when it is imported.
"""

from importlib import import_module
from pkgutil import walk_packages

from surefit.checks.base import Verification, stated, verify
from surefit.checks.judge import Finding

for _module in walk_packages(__path__, f"{__name__}."):
    import_module(_module.name)

__all__ = ["Finding", "Verification", "stated", "verify"]
