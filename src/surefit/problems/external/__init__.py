"""Readers that convert models of other libraries to arrays under surefit's names. Every module registers its readers on import."""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__, f"{__name__}."):
    import_module(_module.name)
