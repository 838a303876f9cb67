"""The documentation's own extensions: formulas without an outside host, complete pages."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "_ext"
EXAMPLES = ROOT / "examples"


def extension(name: str) -> ModuleType:
    pytest.importorskip("sphinx")
    sys.path.insert(0, str(FOLDER))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(FOLDER))


@pytest.mark.parametrize(
    "latex",
    [
        r"g(s) = g_0 \prod_{i=1}^{n} \exp\left(\tilde B_i(s)\,\hat\Psi_i\right)",
        r"\begin{bmatrix} R & p \\ 0 & 1 \end{bmatrix} \in SE(3)",
        r"\begin{align*} a &= b \\ c &= d \end{align*}",
        r"a = b \\ c = d",
        r"\begin{gathered} a \iff b \\ c, \dots, d \end{gathered}",
        r"\begin{array}{lc} a & b \\ \bm{c} & d \end{array}",
        r"\mathrm{dexp}_x^{-1} = \sum_{k=0}^\infty \frac{B_k}{k!}\,\mathrm{ad}_x^k",
    ],
)
def test_formula_becomes_mathml(latex: str) -> None:
    result = extension("mathml").to_mathml(latex, block=True)
    assert result.startswith("<math")
    assert "\\" not in result
    assert "&amp;" not in result
    assert result.count("<mtr>") == latex.count(r"\\") + (r"\\" in latex)


def test_unknown_command_in_a_formula_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    mathml = extension("mathml")
    said: list[str] = []
    monkeypatch.setattr(mathml.logger, "warning", lambda text, *a, **k: said.append(text % a))
    mathml.to_mathml(r"\dexpo x", block=False)
    assert len(said) == 1 and r"\dexpo" in said[0]


def test_page_that_fetches_from_another_host_is_noticed() -> None:
    offline = extension("offline")
    page = (
        '<a href="https://example.org">fine</a><script src="_static/x.js"></script>'
        '<script async src="https://cdn.example.org/m.js"></script>'
        '<link rel="stylesheet" href="//fonts.example.org/f.css">'
    )
    found = offline.outside_requests(page)
    assert found == ["https://cdn.example.org/m.js", "//fonts.example.org/f.css"]


def test_symbols_in_docstrings_are_not_markup() -> None:
    line = "xi* = |x| and q_ stay, ``|y|`` and **kw** too"
    escaped = r"xi\* = \|x\| and q\_ stay, ``|y|`` and **kw** too"
    assert extension("reference").escape_symbols(line) == escaped


def test_explained_arguments_become_a_list() -> None:
    lines = ["A tube.", "", "outer, inner : radii, m, each", "    a number.", "E : Pa.", "", "End."]
    assert extension("reference").list_arguments(lines) == [
        "A tube.",
        "",
        "",
        "* ``outer, inner``: radii, m, each a number.",
        "* ``E``: Pa.",
        "",
        "End.",
    ]


def test_each_example_stands_in_one_group_of_the_gallery() -> None:
    groups = extension("groups")
    entry = (
        '.. raw:: html\n\n    <div class="sphx-glr-thumbcontainer" tooltip="t">\n\n.. only:: html\n\n'
        "  :doc:`/gallery/{0}`\n\n.. raw:: html\n\n    </div>\n\n\n"
    )
    names = ("plot_b", "plot_c", "plot_a")
    index = "Head\n====\n\n.. raw:: html\n\n" + groups.OPEN + "\n"
    index += "".join(map(entry.format, names)) + groups.CLOSE
    kinds = {"plot_a": "loads", "plot_b": "methods", "plot_c": "methods"}
    pages = groups.pages(index, kinds)
    assert set(pages) == {"index", "group_loads", "group_methods"}
    assert pages["group_methods"].endswith("   /gallery/plot_b\n   /gallery/plot_c\n")
    order = ["plot_a", "plot_b", "plot_c"]
    assert re.findall(r":doc:`/gallery/(\w+)`", pages["index"]) == order
    assert re.findall(r"^([A-Z]\w+)\n-+$", pages["index"], re.MULTILINE) == ["Loads", "Methods"]


def test_example_names_a_group_of_the_gallery() -> None:
    groups = extension("groups")
    lost = [p.name for p in sorted(EXAMPLES.glob("plot_*.py")) if not groups.group_of(p)]
    known = ", ".join(map(repr, groups.GROUPS))
    assert not lost, (
        f'{lost}: write a line # sphinx_gallery_group = "..." below the docstring with one of {known}'
    )


@pytest.mark.parametrize("latex", [r"\tilde B_i", r"\hat{x}_k", r"\dot q_a^2", r"\bar\Psi_{i-1}"])
def test_index_of_an_accented_symbol_stands_beside_it(latex: str) -> None:
    formula = extension("mathml").to_mathml(latex, block=True)
    assert "munder" not in formula and 'mover accent="true"' not in formula
    first, second = re.findall(r"<(msub|msubsup|mover)\b", formula)
    assert first == ("msubsup" if "^" in latex else "msub") and second == "mover"


def test_limits_of_a_sum_stay_below_and_above_it() -> None:
    formula = extension("mathml").to_mathml(r"\sum_{i=1}^n \hat x_i < 1 \text{ a}", block=True)
    assert formula.count("<munderover>") == 1 and "&lt;" in formula


def test_explanations_that_share_a_line_become_items_of_their_own() -> None:
    lines = ["dt : step, s.  t, u : (T,) s, (T,)", "    metres.  name : of it, see a: b."]
    items = [
        "* ``dt``: step, s.",
        "* ``t, u``: (T,) s, (T,) metres.",
        "* ``name``: of it, see a: b.",
    ]
    assert extension("reference").list_arguments(lines) == ["", *items]


def test_faults_of_the_rendered_reference_fail_the_build() -> None:
    page = (
        "<em>pose: <span>TypeAliasForwardRef</span>('ArrayLike')</em>"
        "<li><p><code>mass</code>: kg.  inertia : kg m^2.</p></li>"
        '<dt class="field-odd">Type<span>:</span></dt>\n<dd class="field-odd"><p>Energies</p></dd>'
        "<p>force : N</p>"
    )
    assert extension("reference").faults(page) == [
        "shows TypeAliasForwardRef",
        "has 'inertia' inside the item before it",
        "takes 'Energies' for a type",
    ]


def test_type_aliases_are_shown_by_their_name() -> None:
    reference = extension("reference")
    from sphinx.util.inspect import TypeAliasForwardRef
    from sphinx.util.typing import stringify_annotation

    class Application:
        def connect(self, *_: object, **__: object) -> None: ...

    reference.setup(Application())
    annotation = dict[str, TypeAliasForwardRef("Array")] | None  # type: ignore[misc]
    assert stringify_annotation(annotation, "smart") == "dict[str, Array] | None"
