"""Show the pictures of netbandit in examples: figures that were made without pyplot, under the name ``figure``."""

from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst, matplotlib_scraper


def _get_sg_image_scraper() -> Any:
    """Return the scraper, as sphinx-gallery asks for it by the name of this module."""
    return scrape


def scrape(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any], **options: Any) -> str:
    """Save the figures that a block made, and return how to show them."""
    shown = str(matplotlib_scraper(block, block_vars, gallery_conf, **options))
    figure = block_vars["example_globals"].pop("figure", None)
    if shown or not isinstance(figure, Figure):
        return shown
    path = next(block_vars["image_path_iterator"])
    figure.savefig(path, dpi=110)
    return str(figure_rst([path], gallery_conf["src_dir"]))
