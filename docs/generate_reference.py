"""Write ``reference/index.rst`` from the public names, so that no name can be forgotten.

The sections follow the rooms of the package: a name is listed under the folder that defines it.
"""

import inspect
from importlib import import_module
from pathlib import Path

import surefit

PAGE = Path(__file__).parent / "reference" / "index.rst"

HEAD = """\
Reference
=========

Every public name of surefit {version}, by the part of the package that defines it. ``from surefit import NAME`` is the
way in; nothing is compiled and nothing optional is imported before you use it.
"""


def room(name: str) -> str:
    """The folder (or module) of the package that defines the public name."""
    value = getattr(surefit, name)
    home = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", "surefit")
    parts = home.split(".")
    return parts[1] if len(parts) > 1 else "package"


def heading(folder: str) -> str:
    """The title of a section: the first sentence of the folder's docstring, or its name."""
    text = surefit.__doc__ if folder == "package" else import_module(f"surefit.{folder}").__doc__
    first = (text or folder.capitalize()).strip().splitlines()[0]
    return first.split(": ")[0].rstrip(".")


def page() -> str:
    """The text of the page."""
    rooms: dict[str, list[str]] = {}
    for name in surefit.__all__:
        if not name.startswith("_"):
            rooms.setdefault(room(name), []).append(name)
    text = [HEAD.format(version=surefit.__version__)]
    for folder, names in sorted(rooms.items(), key=lambda item: item[1][0].lower()):
        title = heading(folder)
        listing = "\n".join(f"   surefit.{name}" for name in sorted(names, key=str.lower))
        text.append(f"{title}\n{'-' * len(title)}\n\n.. autosummary::\n   :toctree: generated\n\n{listing}\n")
    return "\n".join(text)


def write() -> None:
    """Write the page if it changed (an unchanged file is not rebuilt)."""
    PAGE.parent.mkdir(exist_ok=True)
    text = page()
    if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
