"""Mathematical problems that estimators solve, built from their parameters.

``fit`` derives its problem with the function registered here, and ``verify`` calls the same function again. A
certificate therefore always refers to the problem that its parameters define.
"""

from importlib import import_module
from pkgutil import walk_packages

from surefit.problems.base import Given, derived, pose, problem_of

for _module in walk_packages(__path__, f"{__name__}."):
    import_module(_module.name)

__all__ = ["Given", "derived", "pose", "problem_of"]
