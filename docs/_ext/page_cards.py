"""The directive ``page-cards``: the pages of a group as cards, and its entry in the sidebar.

Its argument is the group's name; each line is a page, below which an indented line may say what is on it. A card has
the page's title and, where there is one, its picture.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from docutils.nodes import Node
    from sphinx.application import Sphinx


class PageCards(SphinxDirective):
    """Show the pages named as cards."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> "list[Node]":
        """Return the cards, and the table of contents that the sidebar shows."""
        folder = Path(self.get_source_info()[0]).parent
        names = [line for line in self.content if not line.startswith(" ")]
        said = dict(zip(self.content, [*self.content[1:], ""], strict=True))
        lines = ["```{toctree}", ":hidden:", f":caption: {self.arguments[0]}", "", *names, "```", ""]
        lines += ["::::{grid} 1 2 3 3", ":gutter: 3", ""]
        for name in names:
            title = (folder / f"{name}.md").read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
            self.env.note_dependency(str(folder / f"{name}.md"))
            lines += [f":::{{grid-item-card}} {title}", f":link: {name}", ":link-type: doc"]
            drawn = (f"pictures/thumbnails/{kind}-{name}.png" for kind in ("round", "regret"))
            picture = next((picture for picture in drawn if (folder / picture).exists()), None)
            if picture is not None:
                lines += [f":img-top: {picture}", ":img-alt: A recorded run", ""]
            lines += [said[name].strip() if said[name] not in names else "", ":::", ""]
        return self.parse_text_to_nodes("\n".join([*lines, "::::"]))


def setup(app: "Sphinx") -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("page-cards", PageCards)
    return {"parallel_read_safe": True}
