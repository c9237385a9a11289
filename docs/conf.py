"""Sphinx configuration; the build is strict (``make docs`` turns every warning into an error)."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import generate_differences
import generate_items
import generate_landing
import generate_reference
import generate_reliability
from cycler import cycler

from surefit import __version__

generate_items.write()
generate_landing.write()
generate_reference.write()
generate_reliability.write()
generate_differences.write()  # into the folder that the line above makes

project = "surefit"
author = "The surefit developers"
copyright = "2026, The surefit developers"
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "mathml",  # docs/mathml.py: formulas without script and network
    "matplotlib.sphinxext.plot_directive",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "myst_parser",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "auto_examples/**.ipynb", "auto_examples/**.py"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}

nitpicky = True  # a name without a page is a warning, and warnings are errors
autosummary_generate = True
autodoc_typehints = "none"  # numpydoc states domains, which say more than types
numpydoc_show_class_members = False  # the class template lists them
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": "/plot_",
    "within_subsection_order": "ExampleTitleSortKey",  # titles begin with the algorithm
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,  # its page loads scripts from the network
    "remove_config_comments": True,
    "parallel": True,  # as many examples at a time as sphinx -j says
}
myst_heading_anchors = 3

html_math_renderer = "mathml"

plot_include_source = False
plot_html_show_source_link = False
plot_html_show_formats = False
plot_formats = [("svg", 100)]
plot_apply_rcparams = True
plot_rcparams = {
    "figure.figsize": (7.2, 3.4),
    "figure.constrained_layout.use": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": cycler(color=["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]),
    "font.size": 10.0,
    "legend.frameon": False,
    "svg.hashsalt": "surefit",
}
# The figure first; its code below, folded.
plot_template = """
{% for img in images %}
.. figure:: {{ build_dir }}/{{ img.basename }}.{{ default_fmt }}
   {% for option in options -%}
   {{ option }}
   {% endfor %}

   {{ caption }}
{% endfor %}

{% if source_code %}
.. raw:: html

   <details class="figure-code"><summary>Code of this figure</summary>

{{ source_code }}

.. raw:: html

   </details>
{% endif %}
"""
plot_pre_code = "import numpy as np\nimport matplotlib.pyplot as plt\n"

html_theme = "pydata_sphinx_theme"
html_title = "surefit"
html_static_path = ["_static"]
html_css_files = ["surefit.css"]
html_favicon = "_static/logo-light.svg"
html_theme_options = {
    "logo": {
        "text": "surefit",
        "alt_text": "surefit, home",
        "image_light": "_static/logo-light.svg",
        "image_dark": "_static/logo-dark.svg",
    },
    "header_links_before_dropdown": 6,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"index": [], "changelog": [], "cli": []}
html_show_sourcelink = False


def skip_foreign(app, what, name, member, skip, options):
    """Leave out members that another library defines; they are documented there."""
    if type(member).__name__ == "_tuplegetter":  # a field of a NamedTuple: the class describes it
        return True
    home = getattr(member, "__module__", None)
    return True if home is not None and not home.startswith("surefit") else None


def setup(app):
    app.connect("autodoc-skip-member", skip_foreign)
