"""What cannot be emulated is refused before anything is run, at the key that says so."""

import re
import resource
from dataclasses import replace

import pytest

import netbandit as nb
from netbandit.checks.check import check
from netbandit.scenario.load import load_tables
from netbandit.scenario.toml_text import toml_text
from netbandit.studies.emulation import RefusedError, emulate
from netbandit.studies.emulation.limits import too_long, too_many_files

BASE = {
    "run": {"horizon": 400},
    "topology": {"family": "ring", "agents": 4},
    "bandit": {"kind": "bernoulli", "arms": 3},
    "learner": {"kind": "elimination"},
    "protocol": {"kind": "flooding"},
    "links": {"peer": {"latency": "2 ms"}},
}
SERVER = "the server's answer has no content in the simulator to go on with"
REFUSED = {
    "a learner in slots": (
        {"learner__kind": "ucb"},
        "learner.kind",
        'emulate plays learners of rounds; "ucb" decides for all agents in one call',
    ),
    "a server": ({"protocol__kind": "master-worker"}, "protocol.kind", SERVER),
    "a sink": ({"protocol__kind": "sink"}, "protocol.kind", SERVER),
    "agents alone": ({"protocol__kind": "silent"}, "protocol.kind", "nothing to compare: its agents"),
    "a deadline": ({"protocol__deadline": "5 ms"}, "protocol.deadline", "a deadline is not emulated yet"),
    "retry": ({"links__peer__retry": {}}, "links.peer.retry", "is not emulated yet"),
    "copies": ({"links__peer__duplicate": 0.1}, "links.peer.duplicate", "is not emulated yet"),
    "loss in bursts": (
        {"links__peer__loss": {"good": 0.0, "bad": 0.5, "good_for": "1 s", "bad_for": "1 s"}},
        "links.peer.loss",
        "loss in bursts is not emulated yet",
    ),
    "a slow link of gossip": (
        {"links__peer__bandwidth": "1 Mbit/s", "protocol__kind": "gossip"},
        "links.peer.bandwidth",
        "with a protocol that waits until its messages have left is not emulated yet",
    ),
    "a finite queue": (
        {"links__peer__queue": 5, "links__peer__bandwidth": "1 Mbit/s"},
        "links.peer.queue",
        "is not emulated yet",
    ),
    "faults": ({"faults__links": {"up_for": "1 s", "down_for": "1 s"}}, "faults", "is not emulated yet"),
    "batteries": ({"energy__capacity": "20 J", "energy__idle": "1 mW"}, "energy", "is not emulated yet"),
    "nodes that compute": ({"compute__agents": {"item": "1 ms"}}, "compute", "is not emulated yet"),
    "liars": ({"adversary__agents": [1], "adversary__attack": "flip"}, "adversary", "is not emulated yet"),
    "many agents": ({"topology__agents": 65}, "topology.family", "emulate plays at most 64 agents, not 65"),
    "many links": (
        {"topology__family": "complete", "topology__agents": 30},
        "topology.family",
        "emulate plays over at most 400 links, not 435",
    ),
    "no round": ({"run__horizon": 3}, "run.horizon", "nothing to compare: rounds do not end (none begins"),
    "stalled": (
        {"links__peer__loss": 0.9},
        "run.horizon",
        "nothing to compare: rounds do not end (stalled)",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_at_its_key(name):
    overrides, key, text = REFUSED[name]
    document = load_tables(BASE, overrides, keywords=True)
    with pytest.raises(RefusedError) as error:
        emulate(check(document).points[0])
    lines = document.error(error.value.problems).lines
    assert any(line.partition(": ")[2].startswith(f"{key}: {text}") or f"{key}: {text}" in line for line in lines), (
        lines
    )


class Mistaken(nb.RoundProtocol):
    """Returns no item."""

    def round(self, me, item):
        return 5


def test_what_cannot_be_simulated_is_refused_in_a_line():
    point = replace(check(load_tables(BASE, {}, keywords=True)).points[0], protocol=Mistaken())
    with pytest.raises(RefusedError, match=r"the simulation fails: Mistaken.round of agent 0 in round 1 returns 5"):
        emulate(point)


def test_what_takes_too_long_says_how_long():
    assert too_long(48_000_000_000, 50.0) == ("would take 40 min at dilation 50: use fewer slots, or longer latencies")
    assert too_long(18_000_000_000, 50.0) is None


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
sys.argv = ["netbandit", "emulate", "scene.toml", "--set", "topology.agents={agents}", "--dilation", "2"]
from netbandit.cli import main
main()
"""


@pytest.mark.ci
def test_more_open_files_than_are_allowed_are_refused_with_their_number(fresh, tmp_path):
    (tmp_path / "scene.toml").write_text(toml_text(BASE | {"topology": {"family": "complete"}}))
    done = fresh(["-c", LIMITED.format(agents=10)], tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(
        r"scene\.toml:\d+:\d+: topology\.family: emulate needs 1[23]\d open files here, two for each link, and 64 "
        r"are allowed: use fewer links, or allow more \(ulimit -Hn\)\n",
        done.stderr,
    )


@pytest.mark.slow
@pytest.mark.ci
def test_fewer_links_need_fewer_files(fresh, tmp_path):
    (tmp_path / "scene.toml").write_text(toml_text(BASE | {"topology": {"family": "complete"}}))
    assert "frames" in fresh(["-c", LIMITED.format(agents=3)], tmp_path).stdout


@pytest.mark.parametrize(
    ("limits", "raised"),
    [((64, 20_000), True), ((64, -1), True), ((1_024, 20_000), False), ((-1, -1), False), ((64, 64), None)],
)
def test_as_many_open_files_as_are_needed_are_allowed(monkeypatch, limits, raised):
    now = {"limits": limits}
    monkeypatch.setattr(resource, "getrlimit", lambda which: now["limits"])
    monkeypatch.setattr(resource, "setrlimit", lambda which, limits: now.update(limits=limits))
    why = too_many_files(links=45, processes=10)
    assert (why is None) == (raised is not None)
    soft, hard = now["limits"]
    assert hard == limits[1]
    assert 100 < soft < 200 if raised else soft == limits[0]
    assert "1,024 are allowed: use fewer links" in too_many_files(links=550, processes=10) or hard == 64
