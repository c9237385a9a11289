"""Models of other libraries in our words: arrays read off their objects. Every module registers its readers when imported."""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__, f"{__name__}."):
    import_module(_module.name)
