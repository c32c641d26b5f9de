"""What the pages of algorithms show of real runs: a round of a protocol, and the regret of a learner.

The directives ``round`` and ``regret-curve`` show what ``docs/algorithms/recorded.py`` keeps beside them.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from recorded_names import CURVES, SLOTS
from sphinx.util.docutils import SphinxDirective

from netbandit.report.animation import rendered

if TYPE_CHECKING:
    from docutils.nodes import Node
    from sphinx.application import Sphinx


_ROUND = """\
```{{figure}} pictures/round-{name}.png
:alt: {what} {name}, as a time-space diagram
:width: 700px

{what} `{name}`, of a small run. Time runs to the right, a row is a node, an arrow a message; hops take two slots, the
way to the server four. Recorded from `netbandit run docs/algorithms/studies/rounds.toml --trace`.
```

```{{raw}} html
<details class="playback"><summary>Play this run back, message by message</summary>
<iframe title="A run of {name}, message by message" loading="lazy" src="../_static/rounds/{name}.html"></iframe>
</details>
```
"""

_LOW = "<style>#stage { height: min(22rem, 95vw); }</style></head>"
"""Makes the network of five agents so low that the counts below it are in the frame."""

_CURVE = """\
```{{figure}} pictures/regret-{name}.png
:alt: Regret over the slots on the page of {name}
:width: 700px

Recorded from `netbandit run docs/algorithms/studies/{study}.toml`, a file that says how the agents of each curve
communicate.
```
"""


class RoundOf(SphinxDirective):
    """Show a round of the protocol named: the picture of who waits for whom, and below it the run played back."""

    required_arguments = 1

    def run(self) -> "list[Node]":
        """Return the figure and the frame."""
        (name,) = self.arguments
        what = "Messages of the first slots of" if name in SLOTS else "The first round of"
        return self.parse_text_to_nodes(_ROUND.format(name=name, what=what))


class RegretCurve(SphinxDirective):
    """Show the regret of the learner of a page beside that of the simplest one."""

    required_arguments = 1

    def run(self) -> "list[Node]":
        """Return the figure."""
        (name,) = self.arguments
        return self.parse_text_to_nodes(_CURVE.format(name=name, study=CURVES[name][0]))


def write(app: "Sphinx") -> None:
    """Write the pages that play the recorded runs back, where git does not look."""
    target = Path(app.srcdir) / "_static" / "rounds"
    target.mkdir(exist_ok=True)
    for file in sorted((Path(app.srcdir) / "algorithms" / "rounds").glob("*.json")):
        played = json.loads(file.read_text(encoding="utf-8"))
        page = rendered(played).replace("</head>", _LOW, 1)
        (target / f"{file.stem}.html").write_text(page, encoding="utf-8")


def setup(app: "Sphinx") -> dict[str, bool]:
    """Add the directives."""
    app.connect("builder-inited", write)
    app.add_directive("round", RoundOf)
    app.add_directive("regret-curve", RegretCurve)
    return {"parallel_read_safe": True}
