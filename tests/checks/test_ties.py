"""Over links of equal latency messages meet as on no network; who sends fewer then says so."""

from pathlib import Path

import pytest

from netbandit.checks.check import check
from netbandit.scenario.load import load
from netbandit.studies.emulation.notes import simulated

SCENARIO = str(Path(__file__).parents[2] / "scenarios/emulate.toml")
SAYS = "over links of equal latency messages meet at a node in the same instant"


def notes(*sets):
    return [note for note in check(load(SCENARIO, list(sets))).notes if SAYS in note]


@pytest.mark.parametrize("kind", ["flooding", "gis"])
def test_asynchronous_rounds_over_equal_links_have_a_note(kind):
    (note,) = notes(f"protocol.kind={kind}")
    assert "protocol.timing: " in note
    for without in (
        "protocol.timing=slotted",
        "links.peer.jitter=0.001 ms",
        'links.peer.latency={ uniform = ["1 ms", "5 ms"] }',
        "protocol.kind=relay",
        "protocol.kind=gossip",
    ):
        assert notes(f"protocol.kind={kind}", without) == []


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("kind", "tied", "apart"), [("flooding", 108, 123), ("gis", 318, 390), ("relay", 90, 90)])
def test_fewer_messages_are_sent_with_ties(kind, tied, apart):
    """The numbers of the documentation."""
    found = [
        len(simulated(check(load(SCENARIO, [f"protocol.kind={kind}", *jitter])).points[0], 0).hops)
        for jitter in ([], ["links.peer.jitter=0.001 ms"])
    ]
    assert found == [tied, apart]
