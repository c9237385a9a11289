"""Write the pages of ``reference/`` from the public names, so that no name can be forgotten.

The index lists the names of ``surefit`` itself by task, estimators first; each public module has a page of its own, and the catalog
of claims is a table. A folder that is not in ``SECTIONS`` stops the build: give it a place.
"""

import inspect
import re
from collections.abc import Iterable
from pathlib import Path

from sklearn.base import BaseEstimator

import surefit
from surefit.core.catalog import loaded

HERE = Path(__file__).parent / "reference"

#: Title of a section of the index -> folders whose public names it lists.
SECTIONS = {
    "Linear models": ("linear",),
    "Perceptrons": ("perceptrons",),
    "Discriminant analysis and naive Bayes": ("discriminants",),
    "Support vector machines and other kernel models": ("kernel_machines", "kernels"),
    "Feature maps and bases": ("feature_maps", "bases"),
    "Gaussian processes": ("gaussian_processes",),
    "Smoothing splines": ("splines",),
    "Nearest neighbors and partitions": ("neighbors", "partitions"),
    "Decision trees": ("trees",),
    "Ensembles": ("ensembles",),
    "Neural networks": ("neural",),
    "Clustering": ("clusters",),
    "Principal components": ("decomposition",),
    "Bayesian statistics": ("bayes",),
    "Risk bounds and prediction sets": ("risk", "bounds"),
    "Model selection": ("selection",),
    "Calibrated probabilities": ("calibration",),
    "Certificates and audits": ("core", "audit", "checks"),
    "Separability and margins": ("separation",),
    "Convex duality and optimization": ("duality", "optimizers", "losses"),
    "Tables, studies and model files": ("studies", "persistence"),
    "Export": ("export",),
    "Plots": ("plots",),
}
ERRORS = "Errors and warnings"

#: Public module -> title of its page.
MODULES = {
    "kernels": "Kernels",
    "losses": "Losses",
    "penalties": "Penalties",
    "bounds": "Bounds",
    "conjugate": "Conjugate priors",
    "data": "Data sets",
    "duality": "Convex programs and duality",
    "optimizers": "Gradient methods",
}

HEAD = """\
Reference
=========

Every public name of surefit {version}, by task. Import names from the package, ``from surefit import Lasso``, or from one of its public
modules, ``from surefit.kernels import RBF``. Nothing is compiled and nothing optional is imported before you use it.
"""

TAIL = """\
Modules and claims
------------------

.. toctree::
   :maxdepth: 1

   {modules}
   claims
"""

SIDES = {
    "upper": "upper bound",
    "lower": "lower bound",
    "exact": "exact",
    "digits": "six digits",
    "none": "no number",
}


def headed(title: str, underline: str = "-") -> str:
    """Return a title with its underline."""
    return f"{title}\n{underline * len(title)}\n"


def home(value: object) -> str:
    """Return the module that defines the value, without the name of the package."""
    name = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", "surefit")
    return name.removeprefix("surefit").lstrip(".")


def section_of(name: str) -> str:
    """Return the section of the index that lists the public name."""
    value = getattr(surefit, name)
    if inspect.isclass(value) and issubclass(value, BaseException):
        return ERRORS
    folder = home(value).split(".")[0] or surefit._HOME[name].split(".")[1]
    for title, folders in SECTIONS.items():
        if folder in folders:
            return title
    raise KeyError(f"docs/generate_reference.py: give the folder {folder!r} of {name} a place in SECTIONS.")


def rank(name: str, owner: object = surefit) -> tuple[int, str]:
    """Return the key that sorts estimators before other classes, and classes before functions."""
    value = getattr(owner, name)
    if not inspect.isclass(value):
        return 2, name.lower()
    return int(not issubclass(value, BaseEstimator)), name.lower()


def listing(names: Iterable[str], prefix: str, *options: str) -> str:
    """Return a table of names with their first sentences."""
    lines = [".. autosummary::", "   :nosignatures:", *(f"   {option}" for option in options), ""]
    return "\n".join([*lines, *(f"   {prefix}.{name}" for name in names)]) + "\n"


def index() -> str:
    """Return the text of the index."""
    sections: dict[str, list[str]] = {title: [] for title in (*SECTIONS, ERRORS)}
    for name in surefit.__all__:
        if not name.startswith("_") and not inspect.ismodule(getattr(surefit, name)):
            sections[section_of(name)].append(name)
    text = [HEAD.format(version=surefit.__version__)]
    for title, names in sections.items():
        if names:
            text += [headed(title), listing(sorted(names, key=rank), "surefit", ":toctree: generated")]
    return "\n".join([*text, TAIL.format(modules="\n   ".join(MODULES))])


def described(module: object, name: str) -> str:
    """Return the directive that documents one name on the page of its module."""
    value = getattr(module, name)
    if inspect.isclass(value):
        return f".. autoclass:: {module.__name__}.{name}\n   :members:\n"
    if callable(value):
        return f".. autofunction:: {module.__name__}.{name}\n"
    return f".. autodata:: {module.__name__}.{name}\n   :no-value:\n"


def module_page(name: str) -> str:
    """Return the page of a public module: its docstring, a table of its names, and each name in full."""
    module = getattr(surefit, name)
    elsewhere = [n for n in module.__all__ if getattr(surefit, n, None) is getattr(module, n)]
    here = sorted(set(module.__all__) - set(elsewhere), key=lambda n: rank(n, module))
    title = f"{MODULES[name]}: ``surefit.{name}``"
    target = f".. py:module:: {module.__name__}\n\n.. py:currentmodule:: None\n"  # a target for links; tables have full names
    text = [target, headed(title, "="), inspect.getdoc(module) or "", "", listing(here, module.__name__)]
    if elsewhere:
        text += [
            "The module also has names that ``surefit`` itself exports:",
            "",
            listing(sorted(elsewhere), "surefit"),
        ]
    return "\n".join([*text, *(described(module, n) for n in here)])


def claim_row(entry) -> str:
    """Return the row of one claim."""
    says = entry.says if isinstance(entry.says, str) else inspect.getdoc(entry.check or entry.says) or ""
    says = re.sub(r"\{(\w+):[^}]*\}", r"{\1}", says.split("\n\n")[0])  # without the format of the numbers
    says = says.replace("\n", " ").replace("`", "'").replace("*", "\\*").replace("|", "\\|").replace("_", "\\_")
    theory = f":ref:`{entry.theory}`" if entry.theory else ""
    return f"   * - ``{entry.name}``\n     - {entry.kind.replace('_', ' ')}\n     - {SIDES[entry.side]}\n     - {says}\n     - {theory}\n"


def claims() -> str:
    """Return the table of all claims, from the catalog."""
    return "\n".join(
        [
            headed("Table of claims", "="),
            "Every claim that a certificate can contain, from the catalog that the checker uses. Placeholders "
            "in braces are numbers of the claim;",
            ":doc:`/guide/certificates` explains the kinds.\n",
            ".. list-table::\n   :header-rows: 1\n   :widths: 18 14 12 40 16\n   :class: stacked\n",
            "   * - claim\n     - kind\n     - the number is\n     - statement\n     - theory",
            *(claim_row(entry) for _, entry in sorted(loaded().items())),
        ]
    )


def pages() -> dict[str, str]:
    """Return all pages by name."""
    return {"index": index(), "claims": claims(), **{name: module_page(name) for name in MODULES}}


def write() -> None:
    """Write the pages that changed (an unchanged file is not rebuilt)."""
    HERE.mkdir(exist_ok=True)
    for name, text in pages().items():
        page = HERE / f"{name}.rst"
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
