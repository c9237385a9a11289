"""The trusted checker: re-derives every claim from (model, data) alone; it shares no numerics with any solver.

Every module of this folder registers its checkers when imported; a new family needs no entry here.
"""

from importlib import import_module
from pkgutil import iter_modules

from surefit.checks.base import CHECKERS, Finding, Verification, checker, verify

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = ["CHECKERS", "Finding", "Verification", "checker", "verify"]
