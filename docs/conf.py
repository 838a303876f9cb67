"""Sphinx configuration of the Pliant documentation.

Built by ``make docs``. Everything a page needs is on the page: no outside host is asked for
formulas, fonts or scripts, and the build fails if one is (see ``_ext/offline.py``).
"""

from __future__ import annotations

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parent / "examples"
sys.path.insert(0, str(HERE / "_ext"))

project = "Pliant"
author = "Pliant developers"
project_copyright = "2026, Pliant developers"
release = version = installed_version("pliant")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "groups",
    "reference",
    "offline",
]

source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "sg_execution_times.rst", "gallery/sg_execution_times.rst"]
nitpicky = False
# The gallery settings hold objects that Sphinx cannot pickle.
suppress_warnings = ["config.cache"]

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_type_aliases = {"Array": "Array", "ArrayLike": "ArrayLike"}
autodoc_preserve_defaults = True
autodoc_default_options = {"members": True}
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80
napoleon_use_ivar = True

html_theme = "furo"
html_title = f"Pliant {release}"
html_static_path = ["_static"]
html_css_files = ["pliant.css"]
html_math_renderer = "mathml"
html_show_sphinx = False
html_copy_source = False

sphinx_gallery_conf = {
    "examples_dirs": [str(EXAMPLES)],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"(^|/)_",
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "remove_config_comments": True,
    "capture_repr": (),
    "reset_modules": ("matplotlib",),
    "within_subsection_order": "FileNameSortKey",
    "min_reported_time": 0,
    "image_scrapers": ("matplotlib",),
    "plot_gallery": "True",
}
