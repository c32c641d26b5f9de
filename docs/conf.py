"""How the documentation is built: ``python -m sphinx -W -b html docs docs/_build/html``."""

import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]  # benchmarks/ stands beside the package

from trust_page import substitutions  # noqa: E402

import netbandit  # noqa: E402

SOURCE = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Source"]

project = "netbandit"
author = "The netbandit developers"
version = release = netbandit.VERSION
copyright = f"2026, {author}"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
    "generated_reference",
    "scenario_gallery",
    "algorithm_pictures",
    "page_cards",
    "paper_pages",
    "performance_tables",
    "suite_pages",
    "sphinx_gallery.gen_gallery",
]

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery/examples",
    "filename_pattern": r"plot_",
    "image_scrapers": ("example_figures",),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 10**6,
    "write_computation_times": False,
}

source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_ext", "reference/parts", "suite/parts", "examples"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist", "substitution"]
myst_substitutions = substitutions()
myst_heading_anchors = 3
smartquotes = False  # values of scenarios stand in quotation marks

napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_class_signature = "mixed"
nitpicky = False

html_theme = "pydata_sphinx_theme"
html_title = f"netbandit {release}"
html_static_path = ["_static", "gallery/pictures/quickstart.png"]  # the picture of a link to the first page
html_favicon = "_static/icon.svg"
html_css_files = ["netbandit.css"]
html_js_files = [("pictures.js", {"defer": "defer"})]
html_show_sourcelink = False
html_domain_indices = False  # of modules, to which no page leads
# Pages without pages below them have nothing to show in a sidebar.
_alone = (
    "trust/index",
    "suite/index",
    "performance/index",
    "studies",
    "comparison",
    "limits",
    "inside",
    "changelog",
    "search",
)
html_sidebars: dict[str, list[str]] = {page: [] for page in _alone}
html_context = {"default_mode": "auto"}
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "navbar_align": "left",
    "logo": {"image_light": "_static/logo.svg", "image_dark": "_static/logo-dark.svg", "alt_text": "netbandit"},
    "icon_links": [{"name": "Source", "url": SOURCE, "icon": "fa-solid fa-code-branch"}],
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
