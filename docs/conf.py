"""Sphinx configuration; the build is strict (``make docs`` turns every warning into an error)."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import generate_reference

from surefit import __version__

generate_reference.write()

project = "surefit"
author = "The surefit developers"
copyright = "2026, The surefit developers"
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "myst_parser",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "auto_examples/**.ipynb", "auto_examples/**.py"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc states domains, which say more than types
numpydoc_show_class_members = False  # the class template lists them
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": "/plot_",
    "download_all_examples": False,
    "show_memory": False,
    "remove_config_comments": True,
}
myst_heading_anchors = 3

html_theme = "pydata_sphinx_theme"
html_title = "surefit"
html_static_path = ["_static"]
html_theme_options = {"show_prev_next": False, "secondary_sidebar_items": ["page-toc"]}
html_sidebars = {"changelog": [], "cli": []}


def skip_foreign(app, what, name, member, skip, options):
    """Leave out members that another library defines; they are documented there."""
    home = getattr(member, "__module__", None)
    return True if home is not None and not home.startswith("surefit") else None


def setup(app):
    app.connect("autodoc-skip-member", skip_foreign)
