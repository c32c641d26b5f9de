"""What a scenario says of links that its protocol does not use is noted by ``check`` and ``run``."""

import pytest
from click.testing import CliRunner
from helpers.scenes import SMALL

from netbandit.checks.check import check
from netbandit.cli import main
from netbandit.scenario.load import load

BETWEEN, SERVER = "links between agents", "links to the server"


def notes(*changes, text=SMALL):
    return [note.split(": ", 1)[1] for note in check(load("s.toml", list(changes), text)).notes]


@pytest.mark.parametrize(
    ("kind", "table", "used"),
    [
        ("gis", "uplink", SERVER),
        ("flooding", "uplink", SERVER),
        ("gossip", "uplink", SERVER),
        ("relay", "uplink", SERVER),
        ("silent", "uplink", SERVER),
        ("silent", "peer", BETWEEN),
        ("master-worker", "peer", BETWEEN),
    ],
)
def test_a_key_of_links_that_the_protocol_does_not_use_is_noted(kind, table, used):
    found = notes(f"protocol.kind={kind}", f'links.{table}.latency="1 ms"')
    assert found[0].startswith(f'links.{table}.latency: has no effect: protocol.kind = "{kind}" uses no {used}')


@pytest.mark.parametrize(("kind", "table"), [("gis", "peer"), ("master-worker", "uplink"), ("sink", "uplink")])
def test_links_that_are_used_are_not_noted(kind, table):
    assert notes(f"protocol.kind={kind}", f'links.{table}.latency="1 ms"') == []


def test_a_key_at_its_default_or_of_an_extended_file_is_not_noted(tmp_path):
    assert notes("protocol.kind=silent", 'links.peer.latency="0 ms"') == []
    (tmp_path / "base.toml").write_text(f'{SMALL}[links.peer]\nlatency = "3 ms"\n')
    (tmp_path / "a.toml").write_text('extends = "base.toml"\nprotocol.kind = "silent"\n')
    assert check(load(tmp_path / "base.toml", ["protocol.kind=silent"])).notes[0].count("links.peer.latency") == 1
    assert check(load(tmp_path / "a.toml")).notes == []


def test_where_a_parameter_server_is_says_which_links_it_uses():
    deposits = ["bandit.kind=linear", "bandit.arms=3", "bandit.dimension=2", "learner.kind=oful"]
    own = [*deposits, "protocol.kind=parameter-server", 'links.peer.latency="1 ms"']
    assert notes(*own) == ['links.peer.latency: has no effect: protocol.kind = "parameter-server" uses no ' + BETWEEN]
    assert notes(*own, "protocol.server=centre") == []


def test_a_sweep_says_at_how_many_points_it_changes_nothing():
    text = f'{SMALL}[sweep]\nprotocol.kind = ["gis", "silent"]\nlinks.peer.latency = ["0 ms", "2 ms", "4 ms"]\n'
    assert notes(text=text) == [
        "sweep.links.peer.latency: has no effect at 3 of 6 points, "
        "and those that differ in nothing else have equal results: "
        f'protocol.kind = "silent" uses no {BETWEEN}'
    ]
    case = f'{SMALL}[[sweep.cases]]\nprotocol.kind = "silent"\nlinks.peer.latency = "2 ms"\n'
    assert notes(text=case)[0].startswith("sweep.cases[0].links.peer.latency: has no effect: protocol.kind = ")


def test_a_run_says_it_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(SMALL)
    words = ["run", "s.toml", "--set", "protocol.kind=silent", "--set", "links.peer.latency=1 ms", "--json"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0
    assert 'links.peer.latency: has no effect: protocol.kind = "silent"' in done.stderr
    assert done.stdout.startswith("{")
