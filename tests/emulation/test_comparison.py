"""Times are compared by numbers that were noted: slopes, slow links, dilations."""

import numpy as np

from netbandit.emulation.clocks import Calibration, dilation_for
from netbandit.emulation.comparison import HopTime, rounds_compared, slope_of, slowest_link, time_rows
from netbandit.emulation.notes import Hop, Notes
from netbandit.emulation.processes import grouped

RNG = np.random.default_rng(3)
LATENCIES = [0.001 * (1 + place) for place in range(20)]


def hops(slope=1.0, wrong=None, each=30):
    """Return hops over links of other latencies, with an excess of 0.1 to 0.3 ms; those of one link 10 % slower."""
    rng = np.random.default_rng(7)
    return [
        HopTime(
            place,
            place + 1,
            1,
            "FLOOD",
            48,
            latency,
            latency * slope * (1.1 if place == wrong else 1.0) + rng.uniform(1e-4, 3e-4),
        )
        for place, latency in enumerate(LATENCIES)
        for _ in range(each)
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
    link, chance = slowest_link(hops(wrong=13))
    assert link == (13, 14)
    assert chance < 1e-12
    assert slowest_link(hops())[1] > 1e-3


def test_verdicts_of_times_never_decide():
    rounds = rounds_compared(
        Notes(waits={(1, 0): (0, 1000), (2, 0): (0, 1000)}),
        PlayedNotes(Notes(waits={(1, 0): (0, 1010), (2, 0): (0, 1012)})),
    )
    assert [round(each.error_percent, 6) for each in rounds] == [1.0, 1.2]
    verdicts = {row.quantity: row.verdict for row in time_rows(rounds, hops(slope=1.03, wrong=2), 0.02)}
    assert verdicts["a round"] == "within 2 %"
    assert verdicts["a hop's slope"] == "host too noisy"
    assert verdicts["slowest link"] == "differs"
    assert not any(row.exact for row in time_rows(rounds, hops(), 0.001))


class PlayedNotes:
    """What `rounds_compared` asks an emulation for."""

    def __init__(self, notes):
        self.notes = notes


def reference(slack=-1, frames=10):
    """Return a round of 20 ms."""
    found = Notes(waits={(1, 0): (0, 20_000_000)}, slack=slack)
    found.hops = [Hop(0, 1, number, 1, "FLOOD", 48, 0, 0, 0) for number in range(frames)]
    return found


def test_the_dilation_hides_what_the_host_takes():
    took = Calibration([0.002] * 12, 1e-4)
    assert dilation_for(reference(), took, 0.02, slotted=False) == 5.0  # 2 ms within 2 % of 100 ms
    assert dilation_for(reference(), took, 0.2, slotted=False) == 1.0
    assert dilation_for(reference(slack=100_000), took, 0.02, slotted=True) == 20.0  # and within 2 ms
    assert dilation_for(reference(slack=0), took, 0.02, slotted=True) == 5.0
    assert dilation_for(reference(frames=2_000), took, 0.02, slotted=False) == 50.0  # 2,000 frames in a second


def test_agents_are_divided_evenly():
    assert grouped(6, None) == [range(agent, agent + 1) for agent in range(6)]
    assert list(map(len, grouped(60, 4))) == [15] * 4
    assert grouped(3, 8) == grouped(3, None)
