"""What is played over real sockets is what the simulator does with the measured delays: exactly, on any machine."""

from dataclasses import replace

import pytest
from helpers.emulated import Telepathy, point_of
from helpers.hub import Hub

from netbandit.studies.emulation import DifferentChoiceError, NoEndError, emulate
from netbandit.studies.emulation.comparison import NOISY, same
from netbandit.studies.emulation.notes import replayed, simulated
from netbandit.studies.emulation.processes import play

RUNS = {
    "flooding": (point_of("flooding"), {}),
    "gis over UDP, slotted": (point_of("gis", "slotted"), {"transport": "udp"}),
    "relay on a star": (point_of("relay", family="star"), {}),
    "relay in two processes, slotted": (point_of("relay", "slotted"), {"processes": 2}),
    "gossip, which draws neighbours": (point_of("gossip"), {}),
    "one's own coroutines, in three processes": (point_of(Hub, family="star"), {"processes": 3}),
    "one's own coroutines, slotted, over UDP": (point_of(Hub, "slotted", family="star"), {"transport": "udp"}),
    "jitter and bandwidth": (point_of("gis", jitter="1 ms", bandwidth="1 Mbit/s"), {}),
    "a deadline, which leaves some out": (point_of("relay", family="path", agents=5, deadline="5 ms"), {}),
    "loss": (point_of("flooding", family="complete", agents=5, loss=0.05), {}),
}


IN_SUITE = "relay in two processes, slotted", "one's own coroutines, slotted, over UDP"


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in IN_SUITE else pytest.mark.ci) for name in RUNS]
)
def test_equal_in_choices_waits_messages_bytes_and_regret(name):
    point, options = RUNS[name]
    found = emulate(point, dilation=2.0, **options)
    verdicts = {(row.basis, row.quantity): row.verdict for row in found.rows if row.verdict != NOISY}
    assert {verdicts["replay", what] for what in ("choices", "waits", "messages", "bytes", "regret")} == {"equal"}
    assert verdicts.get(("scenario", "choices"), "equal") == verdicts["scenario", "delays of links"] == "equal"
    assert verdicts.get(("scenario", "lost messages"), "equal") == "equal"
    wire = {row.quantity: row for row in found.wire_rows}
    for quantity in {"frames", "bytes sent", "bytes of the loopback", "packets of the loopback"} & wire.keys():
        assert wire[quantity].expected == wire[quantity].counted
    assert (wire["bytes beyond the ledger"].counted > 0) == isinstance(point.protocol, Hub)


@pytest.mark.ci
def test_a_link_that_is_not_as_measured_differs():
    point = point_of("relay", family="star")  # all that agent 1 hears comes over one link
    played = play(point, 0, simulated(point, 0), dilation=2.0)
    delays = played.delays()
    assert all(row.verdict == "equal" for row in same("replay", replayed(point, 0, delays), played.notes))
    longer = {key: delay * 11 // 10 if key[:2] == (0, 1) else delay for key, delay in delays.items()}
    verdicts = {row.quantity: row.verdict for row in same("replay", replayed(point, 0, longer), played.notes)}
    assert verdicts["choices"] == "equal"
    assert verdicts["waits"] == "differs"


@pytest.mark.ci
def test_agents_that_share_memory_come_to_no_end():
    point = point_of(Telepathy)
    reference = simulated(point, 0)
    assert len(reference.waits) == 8
    with pytest.raises(NoEndError, match=r"no end: the process of agent \d waits in round 1"):
        play(point, 0, reference, patience=2.0)


def test_an_agent_that_concludes_otherwise_stops_the_run():
    point = point_of("flooding")
    reference = simulated(point, 0)
    other = replace(reference, choices={**reference.choices, 2: [reference.choices[2][0], (9, 9)]})
    with pytest.raises(DifferentChoiceError, match="agent 2 concludes round 1 otherwise than in the simulation"):
        play(point, 0, other, dilation=2.0)
