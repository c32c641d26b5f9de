"""What goes with what: the table of the documentation, and a small scenario for each combination."""

import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "algorithms" / "combinations.md").read_text()

WORLDS = {
    "bernoulli": "arms = 4",
    "gaussian": "arms = 4",
    "mixed": "arms = 4",
    "linear": "arms = 4\ndimension = 3",
    "procurement": "producers = 4\ncapacity = [1, 9]",
    "vertical": "arms = 4\ndimension = 8",
    "replay": "arms = 4\nparticipants = 4",
}

LEARNERS = {
    "elimination": "rounds = 2\ngap = 0.9",
    "feducb": "threshold = 1.0",
    "oful": "threshold = 1.0",
    "pfcb": "start = 20\nstop = 100",
}
"""Keys with which something is shared soon."""


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
    return f"""\
[run]
horizon = {horizon}
[topology]
family = "star"
agents = 4
[links.peer]
latency = "0.4 ms"
[bandit]
kind = "{bandit}"
{WORLDS[bandit]}
[learner]
kind = "{learner}"
{LEARNERS.get(learner, "")}
[protocol]
kind = "{protocol}"
"""
