"""A math renderer for Sphinx that writes MathML: formulas need neither a script nor a network.

A formula that cannot be converted is a warning, which the strict build turns into an error.
"""

from html import escape

from docutils import nodes
from sphinx.util import logging

from surefit.lab.mathml import mathml

logger = logging.getLogger(__name__)


def converted(text: str, node: nodes.Node, *, block: bool) -> str:
    """Return the formula as MathML, or as code with a warning if that is impossible."""
    try:
        return mathml(text, block)
    except ValueError as error:
        logger.warning("no MathML for %r: %s", text, error, location=node, type="mathml")
        return f"<code>{escape(text)}</code>"


def visit_inline(writer, node) -> None:
    """Write the formula of a sentence."""
    writer.body.append(converted(node.astext(), node, block=False))
    raise nodes.SkipNode


def visit_block(writer, node) -> None:
    """Write a displayed formula, with its number if it has one."""
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    if node["number"]:
        writer.body.append(f'<span class="eqno">({node["number"]})')
        writer.add_permalink_ref(node, "Link to this equation")
        writer.body.append("</span>")
    for part in node.astext().split("\n\n"):
        if part.strip():
            writer.body.append(converted(part.strip(), node, block=True))
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app):
    """Register the renderer under the name "mathml"."""
    app.add_html_math_renderer("mathml", inline_renderers=(visit_inline, None), block_renderers=(visit_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
