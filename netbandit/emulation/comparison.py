"""Which values of an emulation equal its simulation, and by how much their times differ.

This module works on recorded values; it runs nothing except the simulation, with other delays.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isclose
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.emulation.clocks import round_times
from netbandit.emulation.node import STAMP
from netbandit.emulation.notes import MessageKey, Notes, Stage, is_apart, simulated
from netbandit.emulation.processes import Played
from netbandit.emulation.sockets import PACKET_BYTES, Transport
from netbandit.network.transmission import chance_of_loss
from netbandit.results import intervals
from netbandit.simulation.replication import RunnablePoint
from netbandit.util.units import Duration

NO_TIES = "0.001 ms"
"""The jitter that breaks ties in time, which do not occur in a real network."""
ROUND, SLOPE = "a round", "a hop's slope"
SLOPE_TOLERANCE = 0.005
NOISY = "host too noisy"
_MESSAGES_OF_A_HOP = 3
_WRONG_LINK = 1e-3
_RESAMPLES = 2_000

Basis = Literal["replay", "scenario", "time"]


class Row(NamedTuple):
    """A row of the table.

    Attributes:
        basis: The basis of the comparison: the replay, the scenario, or times.
        quantity: The quantity.
        simulated: Its value in the simulation.
        emulated: Its value in the emulation.
        verdict: ``equal``, ``differs``, ``within 2 %``, ``host too noisy``.
        exact: Whether a difference means that the simulator, or the protocol, is wrong.
    """

    basis: Basis
    quantity: str
    simulated: str
    emulated: str
    verdict: str
    exact: bool


class HopTime(NamedTuple):
    """The time a message took.

    Attributes:
        sender: Its sender.
        receiver: Its receiver.
        round: Its round.
        kind: The name of its kind.
        size: Its bytes in the ledger.
        simulated_s: Its time in the simulation, from when it was put on its channel.
        measured_s: Its time until it was handled.
    """

    sender: int
    receiver: int
    round: int
    kind: str
    size: int
    simulated_s: float
    measured_s: float


class WireRow(NamedTuple):
    """A row of the table of traffic over the sockets.

    Attributes:
        quantity: The quantity.
        expected: The value according to the ledger.
        counted: The counted value, from the kernel for packets and bytes sent.
    """

    quantity: str
    expected: int
    counted: int


class Slope(NamedTuple):
    """Regression of measured hop times on simulated ones, with 95 % intervals of a bootstrap over links.

    Attributes:
        slope: Its slope; None if all hops take equally long.
        low: The lower end.
        high: The upper end.
        intercept_s: Its value at 0; without a slope, the mean excess.
    """

    slope: float | None
    low: float
    high: float
    intercept_s: float


def same(basis: Basis, expected: Notes, found: Notes) -> list[Row]:
    """Compare all records of two runs, exactly."""
    return [choices(basis, expected, found), *_effects(basis, expected, found, None)]


def choices(basis: Basis, expected: Notes, found: Notes) -> Row:
    """Compare the choices of the agents."""
    return _row(basis, "choices", _count(expected.choices), _count(found.choices), expected.choices == found.choices)


def _effects(basis: Basis, expected: Notes, found: Notes, noisy: str | None) -> list[Row]:
    """Compare waits, messages, bytes and regret; *noisy* is the verdict if differences are due to the host."""
    ours, theirs = expected.ledger(), found.ledger()
    alike = ours == theirs
    totals = [[f"{sum(value[place] for value in each.values()):,}" for each in (ours, theirs)] for place in (0, 1)]
    rows = [
        _row(basis, "waits", _waits(expected), _waits(found), expected.waits == found.waits),
        _row(basis, "messages", totals[0][0], totals[0][1], alike),
        _row(basis, "bytes", totals[1][0], totals[1][1], alike),
        _row(
            basis,
            "regret",
            f"{expected.regret:,.4f}",
            f"{found.regret:,.4f}",
            isclose(expected.regret, found.regret, rel_tol=1e-9, abs_tol=1e-9),
        ),
    ]
    return rows if noisy is None else _excused(rows, noisy)


def _excused(rows: Sequence[Row], verdict: str) -> list[Row]:
    """Return *rows* with this *verdict*, which refutes nothing, in place of a difference."""
    return [row if row.verdict == "equal" else row._replace(verdict=verdict, exact=False) for row in rows]


def scenario_rows(point: RunnablePoint, replication: int, reference: Notes, played: Played) -> list[Row]:
    """Compare an emulation with the simulation of the same scenario."""
    rows = [choices("scenario", reference, played.notes)]
    if is_apart(point):  # which agents are late depends on times
        rows = _excused(rows, NOISY)
    expected, found = _lost(point, replication, played.notes)
    if point.scenario.links.peer.loss:
        rows.append(_row("scenario", "lost messages", f"{len(expected):,}", f"{len(found):,}", expected == found))
    if point.protocol.slotted:
        # Each message may be handled late, after its nominal arrival relative to its cause.
        excess = max((handled - hop.caused - (hop.due - hop.sent) for hop, handled in played.hops()), default=0)
        noisy = None if _MESSAGES_OF_A_HOP * excess < reference.slack else NOISY
        return [*rows, *_effects("scenario", reference, played.notes, noisy)]
    apart = _without_ties(point, replication, reference)
    ours, theirs = apart.ledger(), played.notes.ledger()
    for quantity, place in (("messages, no ties", 0), ("bytes, no ties", 1)):
        counts = [sum(value[place] for value in each.values()) for each in (ours, theirs)]
        away = abs(counts[1] / counts[0] - 1) if counts[0] else 0.0
        verdict = "equal" if counts[0] == counts[1] else f"within {max(1, round(100 * away + 0.5))} %"
        rows.append(Row("scenario", quantity, f"{counts[0]:,}", f"{counts[1]:,}", verdict, False))
    return rows


def _without_ties(point: RunnablePoint, replication: int, reference: Notes) -> Notes:
    if Stage.of(point, replication).context.network.faults.peer.jitter is not None:
        return reference
    peer = point.scenario.links.peer
    links = point.scenario.links.model_copy(update={"peer": peer.model_copy(update={"jitter": Duration(NO_TIES)})})
    return simulated(replace(point, scenario=point.scenario.model_copy(update={"links": links})), replication)


def _lost(point: RunnablePoint, replication: int, notes: Notes) -> tuple[set[MessageKey], set[MessageKey]]:
    """Return the messages lost by the draws of their channels, and those lost in the run."""
    network = Stage.of(point, replication).context.network
    expected, found = set(), set()
    for hop in sorted(notes.hops, key=lambda hop: hop.number):
        channel = network.channel(hop.sender, hop.receiver)
        if channel.faults.loses and next(channel.losses) < chance_of_loss(channel, hop.size, hop.sent):
            expected.add(hop.key)
        if hop.due < 0:
            found.add(hop.key)
    return expected, found


def hop_times(played: Played) -> list[HopTime]:
    """Return the time of each message that was handled."""
    found = []
    for hop, handled in played.hops():
        times = (hop.due - hop.sent) / 1e9, (handled - hop.sent) / 1e9
        found.append(HopTime(hop.sender, hop.receiver, hop.round, hop.kind, hop.size, *times))
    return found


class RoundTime(NamedTuple):
    """The mean time that agents waited in a round.

    Attributes:
        round: Its number.
        simulated_s: In the simulation.
        measured_s: In the emulation.
        error_percent: The relative excess.
    """

    round: int
    simulated_s: float
    measured_s: float
    error_percent: float


def rounds_compared(reference: Notes, played: Played) -> list[RoundTime]:
    """Return the times of all rounds that take time in the simulation."""
    expected, found = round_times(reference), round_times(played.notes)
    return [
        RoundTime(number, time, found[number], 100 * (found[number] / time - 1))
        for number, time in expected.items()
        if time > 0 and number in found
    ]


def time_rows(rounds: list[RoundTime], hops: list[HopTime], tolerance: float) -> list[Row]:
    """Compare times."""
    rows = []
    if rounds:
        error = intervals.mean([each.error_percent for each in rounds], intervals.CONFIDENCE)
        half = error.half_width
        text = f"{error.value:+.2f} %" + ("" if half is None else f" [{error.low:+.2f}, {error.high:+.2f}]")
        rows.append(_within(ROUND, "0 %", text, abs(error.value) / 100, tolerance))
    if hops:
        line = slope_of(hops)
        if line.slope is not None:
            text = f"{line.slope:.4f} [{line.low:.4f}, {line.high:.4f}]"
            rows.append(_within(SLOPE, "1", text, abs(line.slope - 1), SLOPE_TOLERANCE))
        rows.append(Row("time", "intercept", "0 ms", f"{1e3 * line.intercept_s:.3f} ms", "", False))
        link, chance = slowest_link(hops)
        verdict = "differs" if chance < _WRONG_LINK else "as the others"
        rows.append(Row("time", "slowest link", "", f"{link[0]} to {link[1]}, p = {chance:.2g}", verdict, False))
    return rows


def slope_of(hops: list[HopTime]) -> Slope:
    """Return the regression of measured times on simulated ones."""
    across = np.array([hop.simulated_s for hop in hops])
    upward = np.array([hop.measured_s for hop in hops])
    if np.ptp(across) <= 1e-9 * across.max():
        return Slope(None, 0.0, 0.0, float((upward - across).mean()))
    links: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for place, hop in enumerate(hops):
        links[hop.sender, hop.receiver].append(place)
    centre = across.mean(), upward.mean()  # centred sums avoid cancellation
    x, y = across - centre[0], upward - centre[1]
    columns = np.stack([np.ones_like(x), x, y, x * x, x * y], axis=1)
    sums = np.array([columns[places].sum(axis=0) for places in links.values()])
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), _RESAMPLES)
    with np.errstate(invalid="ignore", divide="ignore"):
        resampled = _slopes(drawn @ sums)
    low, high = np.nanquantile(resampled, [0.025, 0.975])
    slope = float(_slopes(sums.sum(axis=0, keepdims=True))[0])
    return Slope(slope, float(low), float(high), float(centre[1] - slope * centre[0]))


def _slopes(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    count, x, y, squares, products = sums.T
    return np.asarray((products - x * y / count) / (squares - x * x / count))


def slowest_link(hops: list[HopTime]) -> tuple[tuple[int, int], float]:
    """Return the channel whose hops are most significantly slower than the others', and the p-value.

    Under the null hypothesis a quarter of a channel's hops take longer than the upper quartile of the others' hops.
    The p-value is that of a binomial test, times the number of channels.
    """
    from scipy.stats import binom

    excess = np.array([hop.measured_s - hop.simulated_s for hop in hops])
    links = np.array([(hop.sender, hop.receiver) for hop in hops])
    channels, of = np.unique(links, axis=0, return_inverse=True)
    found: list[tuple[float, tuple[int, int]]] = []
    for place, (sender, receiver) in enumerate(channels.tolist()):
        own, others = excess[of == place], excess[of != place]
        beyond = int((own > np.quantile(others, 0.75)).sum()) if len(others) else 0
        chance = min(1.0, len(channels) * float(binom.sf(beyond - 1, len(own), 0.25)))
        found.append((chance, (sender, receiver)))
    chance, link = min(found)
    return link, chance


def wire_rows(played: Played, transport: Transport) -> list[WireRow]:
    """Return the traffic over the sockets."""
    notes, carried = played.notes, played.carried
    frames = [hop for hop in notes.hops if hop.due >= 0]
    written = sum(hop.size for hop in frames) + STAMP.size * len(frames) + carried.beyond
    rows = [("frames", len(frames), carried.frames)]
    if transport == "tcp":
        rows.append(("bytes sent", written, carried.sent - carried.again))
        rows.append(("bytes sent again", 0, carried.again))
    if carried.isolated:
        packets = carried.packets if transport == "tcp" else len(frames)
        headers = PACKET_BYTES[transport] * packets
        rows.append(("bytes of the loopback", written + carried.again + headers, carried.loopback))
        rows.append(("packets of the loopback", packets, carried.loopback_packets))
    rows.append(("bytes beyond the ledger", 0, carried.beyond))
    rows.append(("messages after their round's end", 0, notes.afterwards))
    rows.append(("senders that waited", 0, carried.blocked))
    rows.append(("frames read overdue", 0, carried.overdue))
    return [WireRow(*row) for row in rows]


def _within(quantity: str, expected: str, found: str, away: float, tolerance: float) -> Row:
    verdict = f"within {100 * tolerance:g} %" if away <= tolerance else NOISY
    return Row("time", quantity, expected, found, verdict, False)


def _row(basis: Basis, quantity: str, expected: str, found: str, equal: bool) -> Row:
    return Row(basis, quantity, expected, found, "equal" if equal else "differs", True)


def _count(made: Mapping[int, list[tuple[int, ...]]]) -> str:
    return f"{sum(map(len, made.values()))} of {len(made)} agents"


def _waits(notes: Notes) -> str:
    return f"{sum(end - begin for begin, end in notes.waits.values()) / 1e6:,.3f} ms"
