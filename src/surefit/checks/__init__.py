"""The trusted checker: re-derives every claim from (model, data) alone; it shares no numerics with any solver.

Every module of this folder registers its checkers when imported; a new family needs no entry here.
"""

from importlib import import_module
from pkgutil import walk_packages

from surefit.checks.base import Verification, stated, verify
from surefit.checks.judge import Finding

for _module in walk_packages(__path__, f"{__name__}."):
    import_module(_module.name)

__all__ = ["Finding", "Verification", "stated", "verify"]
