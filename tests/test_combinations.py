"""The table of learners and protocols says what can be run, and what cannot."""

import re
from pathlib import Path

import pytest

from netbandit.registry import BUILT_IN
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load
from netbandit.simulation.check import check

PAGE = (Path(__file__).parents[1] / "docs" / "algorithms" / "combinations.md").read_text()

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


def table():
    """Yield (learner, bandit, protocol, whether it can be run) for each combination."""
    head, _, *rows = re.search(r"^\| \| master-worker.*?\n\n", PAGE, re.MULTILINE | re.DOTALL).group().splitlines()[:-1]
    protocols = [cell.strip() for cell in head.split("|")[2:-1]]
    assert sorted(protocols) == sorted(BUILT_IN["protocol"])
    for row in rows:
        what, *cells = row.split("|")[1:-1]
        learners, worlds = what.split(" in ")
        for learner in re.findall(r"`([\w-]+)`", learners):
            for bandit in re.findall(r"`(\w+)`", worlds):
                for protocol, cell in zip(protocols, cells, strict=True):
                    yield learner, bandit, protocol, cell.strip() == "●"


TABLE = list(table())


def test_every_learner_and_world_is_in_the_table():
    assert {learner for learner, *_ in TABLE} == set(BUILT_IN["learner"])
    assert {bandit for _, bandit, *_ in TABLE} == set(BUILT_IN["bandit"]) == set(WORLDS)


@pytest.mark.parametrize(("learner", "bandit", "protocol", "runs"), TABLE)
def test_what_the_table_says_runs_and_nothing_else(tmp_path, learner, bandit, protocol, runs):
    file = tmp_path / "one.toml"
    file.write_text(
        f"""\
[run]
horizon = 2_000
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
    )
    if not runs:
        with pytest.raises(ScenarioError, match=r'protocol\.kind: "[a-z-]+" offers no [a-z]+s, in which'):
            check(load(file))
        return
    metrics = check(load(file)).points[0].simulation(0).run().metrics
    assert (metrics["regret"] or metrics["ctr"]) > 0
    assert (metrics["messages"] > 0) == (protocol not in ("silent", "pooled"))
