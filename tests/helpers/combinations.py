"""What goes with what: the table of the documentation, and a small scenario for each combination."""

import re
from pathlib import Path

from netbandit.scenario.toml_text import toml_text
from netbandit.testing.scenes import small, tables_of

PAGE = (Path(__file__).parents[2] / "docs" / "algorithms" / "combinations.md").read_text()


def head_and_rows():
    """Return the protocols, and the rows of the table."""
    head, _, *rows = re.search(r"^\| \| master-worker.*?\n\n", PAGE, re.MULTILINE | re.DOTALL).group().splitlines()[:-1]
    return [cell.strip() for cell in head.split("|")[2:-1]], rows


def table():
    """Yield (learner, bandit, protocol, whether it can be run) for each combination."""
    protocols, rows = head_and_rows()
    for row in rows:
        what, *cells = row.split("|")[1:-1]
        learners, worlds = what.split(" in ")
        for learner in re.findall(r"`([\w-]+)`", learners):
            for bandit in re.findall(r"`(\w+)`", worlds):
                for protocol, cell in zip(protocols, cells, strict=True):
                    yield learner, bandit, protocol, cell.strip() == "●"


def scenario(learner, bandit, protocol, *, horizon=400):
    """Return the text of a scenario of four agents."""
    return toml_text(tables_of(small("bandit", bandit), small("learner", learner), {"kind": protocol}, horizon=horizon))
