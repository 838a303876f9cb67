"""Formulas as MathML, which browsers draw by themselves: no script, no font, no outside host.

LaTeX is translated by docutils while the pages are built. A command that it does not know is a
warning, so that a misspelt formula fails the build instead of reaching a reader.
"""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ET
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)

NAMESPACE = "http://www.w3.org/1998/Math/MathML"
# What authors may write, and the equal that docutils understands.
ENVIRONMENTS = {
    "align": "aligned",
    "split": "aligned",
    "gather": "matrix",
    "gathered": "matrix",
    "array": "matrix",
}
COMMANDS = {
    "dots": r"\ldots",
    "iff": r"\Longleftrightarrow",
    "bm": r"\boldsymbol",
    "stackrel": r"\overset",
}


def normalise(latex: str) -> str:
    """The same formula in the commands and environments that docutils understands."""
    latex = re.sub(r"\\(begin|end)\{equation\*?\}|\\label\{[^}]*\}|\\notag|\\nonumber", "", latex)
    latex = re.sub(r"(\\begin\{array\})\{[lcr| ]*\}", r"\1", latex)
    for given, known in ENVIRONMENTS.items():
        latex = re.sub(rf"\\(begin|end)\{{{given}\*?\}}", rf"\\\1{{{known}}}", latex)
    for given, known in COMMANDS.items():
        latex = re.sub(rf"\\{given}(?![A-Za-z])", lambda _, known=known: known, latex)
    return latex.strip()


def indices_beside(parent: ET.Element) -> None:
    """Move indices from below accented symbols to their side.

    docutils makes a limit of every index of a symbol with an accent: x̂ᵢ has its i under the x.
    """
    for place, child in enumerate(parent):
        power = child.tag == "msup" and child[0].tag == "munderover"
        stacked = child[0] if power else child
        if stacked.tag == "munderover" and stacked[0].tag != "mo":  # sums and arrows keep limits
            symbol, index, accent = stacked
            base = ET.Element("mover")
            base.extend([symbol, accent])
            parent[place] = ET.Element("msubsup" if power else "msub")
            parent[place].extend([base, index, child[1]] if power else [base, index])
        indices_beside(parent[place])


def to_mathml(latex: str, *, block: bool, location: Any = None) -> str:
    """MathML of one formula; what cannot be drawn is a warning at `location`."""
    try:
        text = str(tex2mathml(normalise(latex), as_block=block))
    except MathError as problem:
        logger.warning("formula %r cannot be drawn: %s", latex, problem, location=location)
        return f"<code>{html.escape(latex)}</code>"
    text = re.sub(r"&(?!amp;|lt;|gt;)\w+;", lambda name: html.unescape(name[0]), text)
    formula = ET.fromstring(text.replace(f' xmlns="{NAMESPACE}"', ""))
    indices_beside(formula)
    for symbol in formula.iter("mover"):  # without a mathematical font, browsers strike it through
        symbol.attrib.pop("accent", None)
    formula.set("xmlns", NAMESPACE)
    return ET.tostring(formula, encoding="unicode")


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(to_mathml(node.astext(), block=False, location=node))
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    ids = node["ids"]
    if node.parent.get("ids") == ids:  # the theme's wrapper carries the anchor already
        node["ids"] = []
    self.body.append(self.starttag(node, "div", CLASS="formula"))
    self.body.append(to_mathml(node.astext(), block=True, location=node))
    node["ids"] = ids
    if node.get("number"):
        number = get_node_equation_number(self, node)
        self.body.append(f'<span class="eqno">({number})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
