"""Times are compared by numbers that were noted: slopes, slow links, dilations."""

import re
from dataclasses import replace

import numpy as np
import pytest

import netbandit as nb
from netbandit.checks.check import check
from netbandit.studies.emulation.clocks import Calibration, dilation_for
from netbandit.studies.emulation.comparison import (
    HopTime,
    RoundTime,
    hop_times,
    own_dues,
    rounds_compared,
    scenario_rows,
    slope_of,
    slowest,
    time_rows,
)
from netbandit.studies.emulation.notes import Hop, Notes, simulated
from netbandit.studies.emulation.processes import Played, grouped

RNG = np.random.default_rng(3)
LATENCIES = [0.001 * (1 + place) for place in range(20)]


def hops(slope=1.0, wrong=None, each=30):
    """Return hops over links of other latencies, with an excess of 0.1 to 0.3 ms; those of one link 10 % slower."""
    rng = np.random.default_rng(7)
    return [
        HopTime(
            place,
            place + 1,
            number,
            "FLOOD",
            48,
            latency,
            latency * slope * (1.1 if place == wrong else 1.0) + rng.uniform(1e-4, 3e-4),
        )
        for place, latency in enumerate(LATENCIES)
        for number in range(1, each + 1)
    ]


def test_the_slope_is_that_of_the_line_and_its_interval_is_narrow():
    line = slope_of(hops())
    assert abs(line.slope - 1) < 0.002
    assert line.low < 1 < line.high
    assert abs(line.intercept_s - 2e-4) < 2e-5
    assert abs(slope_of(hops(slope=1.03)).slope - 1.03) < 0.002


def test_hops_that_all_take_as_long_have_no_slope():
    line = slope_of([hop._replace(simulated_s=0.02, measured_s=0.021) for hop in hops()])
    assert line.slope is None
    assert abs(line.intercept_s - 0.001) < 1e-9


def test_a_slow_link_is_found_and_no_other():
    link, error = slowest(hops(wrong=13), link_of)
    assert link == (13, 14)
    assert error.low < 10 < error.high
    assert error.half_width < 0.3
    _, error = slowest(hops(), link_of)
    assert error.low < 0 < error.high
    assert slowest(hops()[:30], link_of) is None
    assert slowest([hop._replace(simulated_s=0.0) for hop in hops()], link_of) is None


def test_a_single_round_shows_no_slow_link():
    rows = {row.quantity: row for row in time_rows([], hops(wrong=13, each=1), 0.02)}
    assert rows["slowest link"].emulated.startswith("13 to 14: +")
    assert rows["slowest link"].verdict == "host too noisy"


def test_a_process_that_wakes_late_is_late_for_all_that_it_reads_and_is_no_slow_receiver():
    """In each round each receiver is late by some time, up to that of a hop, and by the same for its nine messages."""
    for seed in range(25):
        late = np.random.default_rng(seed).exponential(0.005, size=(10, 5))
        rows = time_rows(
            [],
            [
                HopTime(sender, receiver, number, "FLOOD", 48, 0.005, 0.005 + late[receiver, number])
                for number in range(5)
                for receiver in range(10)
                for sender in range(10)
                if sender != receiver
            ],
            0.02,
        )
        verdicts = {row.quantity: row.verdict for row in rows}
        assert verdicts["slowest receiver"] == verdicts["slowest link"] == "host too noisy", seed


def link_of(hop):
    return hop.sender, hop.receiver


def rounds_with(*errors):
    return [RoundTime(number, 1.0, 1 + error / 100, error) for number, error in enumerate(errors, 1)]


@pytest.mark.parametrize(
    ("errors", "shown", "verdict"),
    [
        ((1.0, 1.2, 1.1), "+1.10 % [+0.85, +1.35]", "within 2 %"),
        ((10.5, 11.3, 10.9), "+10.90 % [+9.91, +11.89]", "differs"),
        ((-10.5, -11.3, -10.9), "-10.90 % [-11.89, -9.91]", "differs"),
        ((1.0, 3.2, 2.1), "+2.10 % [-0.63, +4.83]", "host too noisy"),
        ((1.5, 2.1, 1.8), "+1.80 % [+1.05, +2.55]", "host too noisy"),
        ((4.0, 4.0), "+4.00 %", "differs"),
        ((1.0,), "+1.00 %", "within 2 %"),
        ((4.0,), "+4.00 %", "host too noisy"),
    ],
)
def test_an_error_is_judged_by_its_whole_interval(errors, shown, verdict):
    (row,) = time_rows(rounds_with(*errors), [], 0.02)
    assert (row.emulated, row.verdict) == (shown, verdict)


def test_a_round_that_a_late_host_makes_a_slot_longer_does_not_differ():
    (row,) = time_rows(rounds_with(4.0, 4.0), [], 0.02, late=True)
    assert row.verdict == "host too noisy"


def test_rounds_are_compared_by_how_long_agents_wait():
    rounds = rounds_compared(
        Notes(waits={(1, 0): (0, 1000), (2, 0): (0, 1000)}),
        PlayedNotes(Notes(waits={(1, 0): (0, 1010), (2, 0): (0, 1012)})),
    )
    assert [round(each.error_percent, 6) for each in rounds] == [1.0, 1.2]


POINT = check(
    nb.Scenario(
        topology={"family": "ring", "agents": 6},
        bandit={"kind": "bernoulli", "means": [0.9, 0.85, 0.1]},
        learner={"kind": "elimination", "rounds": 10, "gap": 0.8},
        protocol={"kind": "flooding", "timing": "asynchronous"},
        run={"horizon": 100_000},
        links={"peer": {"latency": {"uniform": ["20 ms", "60 ms"]}, "jitter": "1 ms", "bandwidth": "1 Mbit/s"}},
    ).document()
).points[0]


@pytest.fixture(scope="module")
def reference():
    return simulated(POINT, 0)


def rows_of(reference, due=lambda hop: 1.0, handled=lambda hop: 1.0, rounds=1.0):
    """Return verdicts and values, by quantity, of an emulation on a host that handles messages 0.1 to 0.3 ms late.

    All of it is made up, on the clock of the simulation; *due*, *handled* and *rounds* say how much longer than right
    it takes until messages are due, from then until they are handled, and in a round.
    """
    rng = np.random.default_rng(5)
    own = own_dues(POINT, 0, reference)
    found = replace(reference, hops=[], waits={})
    times = {}
    for hop in reference.hops:
        takes = own[hop.key] - hop.sent
        found.hops.append(hop._replace(due=hop.sent + round(due(hop) * takes)))
        times[hop.key] = hop.sent + round(due(hop) * handled(hop) * takes + 1e6 * rng.uniform(0.1, 0.3))
    for key, (begun, ended) in reference.waits.items():
        found.waits[key] = begun, begun + round(rounds * (ended - begun) + 1e6 * rng.uniform(0.1, 0.3))
    played = Played(found, times, None, 10.0)
    rows = [
        *scenario_rows(POINT, 0, reference, played, own, late=False),
        *time_rows(rounds_compared(reference, played), hop_times(played, own), 0.02),
    ]
    return {row.quantity: row for row in rows}


ONE_LINK, ONE_RECEIVER = (3, 4), 2
PLANTED = {
    "nothing": ({}, set()),
    "all links": ({"due": lambda hop: 1.1, "rounds": 1.1}, {"delays of links", "a round", "a hop's slope"}),
    "the timers of all links": ({"handled": lambda hop: 1.1, "rounds": 1.1}, {"a round", "a hop's slope"}),
    "one link": (
        {"due": lambda hop: 1.1 if (hop.sender, hop.receiver) == ONE_LINK else 1.0},
        {"delays of links", "slowest link"},
    ),
    "the timer of one link": (
        {"handled": lambda hop: 1.1 if (hop.sender, hop.receiver) == ONE_LINK else 1.0},
        {"slowest link"},
    ),
    "one receiver": (
        {"handled": lambda hop: 1.1 if hop.receiver == ONE_RECEIVER else 1.0},
        {"slowest link", "slowest receiver"},
    ),
}


@pytest.mark.parametrize("what", PLANTED)
def test_a_planted_error_is_found_and_named(reference, what):
    """A link whose messages are due later is found although the emulation's own record says that they are in time."""
    planted, differ = PLANTED[what]
    rows = rows_of(reference, **planted)
    assert {quantity for quantity, row in rows.items() if row.verdict == "differs"} >= differ
    assert (not differ) == all(row.verdict != "differs" for row in rows.values())
    place, ten_percent = f"{ONE_LINK[0]} to {ONE_LINK[1]}", r": \+(9\.9|10\.0)\d %"
    if what == "one link":
        assert f"({place})" in rows["delays of links"].emulated
    if "one link" in what:
        assert re.match(place + ten_percent, rows["slowest link"].emulated)
    if what == "one receiver":
        assert re.match(f"{ONE_RECEIVER}{ten_percent}", rows["slowest receiver"].emulated)


class PlayedNotes:
    """What `rounds_compared` asks an emulation for."""

    def __init__(self, notes):
        self.notes = notes


def a_round(slack=-1, frames=10):
    """Return a round of 20 ms."""
    found = Notes(waits={(1, 0): (0, 20_000_000)}, slack=slack)
    found.hops = [Hop(0, 1, number, 1, "FLOOD", 48, 0, 0, 0) for number in range(frames)]
    return found


def test_the_dilation_hides_what_the_host_takes():
    took = Calibration([0.002] * 12, 1e-4)
    assert dilation_for(a_round(), took, 0.02, slotted=False) == 5.0  # 2 ms within 2 % of 100 ms
    assert dilation_for(a_round(), took, 0.2, slotted=False) == 1.0
    assert dilation_for(a_round(slack=100_000), took, 0.02, slotted=True) == 20.0  # and within 2 ms
    assert dilation_for(a_round(slack=0), took, 0.02, slotted=True) == 5.0
    assert dilation_for(a_round(frames=2_000), took, 0.02, slotted=False) == 50.0  # 2,000 frames in a second


def test_agents_are_divided_evenly():
    assert grouped(6, None) == [range(agent, agent + 1) for agent in range(6)]
    assert list(map(len, grouped(60, 4))) == [15] * 4
    assert grouped(3, 8) == grouped(3, None)
