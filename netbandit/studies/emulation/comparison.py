"""Which values of an emulation equal its simulation, and by how much their times differ.

This module works on recorded values; it runs nothing except the simulation, with other delays.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import isclose
from statistics import fmean
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.network.message import Kind, Message
from netbandit.results import intervals
from netbandit.results.intervals import Interval
from netbandit.simulation.replication import RunnablePoint
from netbandit.studies.emulation.clocks import round_times
from netbandit.studies.emulation.node import STAMP
from netbandit.studies.emulation.notes import MessageKey, Notes, Stage, is_apart, put, simulated
from netbandit.studies.emulation.processes import Played
from netbandit.studies.emulation.sockets import PACKET_BYTES, Transport
from netbandit.util.units import Duration

NO_TIES = "0.001 ms"
"""The jitter that breaks ties in time, which do not occur in a real network."""
ROUND, SLOPE, DELAYS = "a round", "a hop's slope", "delays of links"
SLOPE_TOLERANCE = 0.005
DIFFERS, NOISY = "differs", "host too noisy"
_MESSAGES_OF_A_HOP = 3
_OF_ALL_PLACES = 0.99
"""The confidence of the intervals of all links, or of all receivers, together: any of them may be the slowest."""
_RESAMPLES = 2_000

Basis = Literal["replay", "scenario", "time"]


class Row(NamedTuple):
    """A row of the table.

    Attributes:
        basis: The basis of the comparison: the replay, the scenario, or times.
        quantity: The quantity.
        simulated: Its value in the simulation.
        emulated: Its value in the emulation.
        verdict: ``equal``, ``differs``, ``within 2 %``, ``host too noisy``; empty where nothing is judged.
    """

    basis: Basis
    quantity: str
    simulated: str
    emulated: str
    verdict: str


class HopTime(NamedTuple):
    """The time a message took.

    Attributes:
        sender: Its sender.
        receiver: Its receiver.
        round: Its round.
        kind: The name of its kind.
        size: Its bytes in the ledger.
        simulated_s: Its time by the scenario's link, from when it was put on its channel.
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
    return [row if row.verdict == "equal" else row._replace(verdict=verdict) for row in rows]


def own_dues(point: RunnablePoint, replication: int, notes: Notes) -> dict[MessageKey, int]:
    """Return when (ns) each message is due by the scenario's own links, put on them when it was; -1: it is lost."""
    network = Stage.of(point, replication).context.network
    engine = network.speak_through(network.send, ())
    dues: dict[MessageKey, int] = {}
    for hop in sorted(notes.hops, key=lambda hop: (hop.sent, hop.number)):
        network.environment._now = hop.sent
        message = Message(Kind.all[0], hop.size, None, hop.round)  # of whichever kind: links do not look at it
        dues[hop.key] = put(network, engine, message, network.channel(hop.sender, hop.receiver))
    return dues


def late_for_slots(point: RunnablePoint, reference: Notes, played: Played) -> bool:
    """Return whether this host has handled messages so late that they may take effect a slot later."""
    if not point.protocol.slotted:
        return False
    # Each message may be handled late, after its nominal arrival relative to its cause.
    excess = max((handled - hop.caused - (hop.due - hop.sent) for hop, handled in played.hops()), default=0)
    return _MESSAGES_OF_A_HOP * excess >= reference.slack


def scenario_rows(
    point: RunnablePoint, replication: int, reference: Notes, played: Played, dues: Mapping[MessageKey, int], late: bool
) -> list[Row]:
    """Compare an emulation with the simulation of the same scenario.

    Args:
        point: What was run.
        replication: Which of its replications.
        reference: Its simulation.
        played: Its emulation.
        dues: See `own_dues`.
        late: See `late_for_slots`.
    """
    rows = [choices("scenario", reference, played.notes)]
    if is_apart(point):  # which agents are late depends on times
        rows = _excused(rows, NOISY)
    if point.scenario.links.peer.loss:
        expected = {key for key, due in dues.items() if due < 0}
        found = {hop.key for hop in played.notes.hops if hop.due < 0}
        rows.append(_row("scenario", "lost messages", f"{len(expected):,}", f"{len(found):,}", expected == found))
    rows.append(_delays(played.notes, dues))
    if point.protocol.slotted:
        return [*rows, *_effects("scenario", reference, played.notes, NOISY if late else None)]
    apart = _without_ties(point, replication, reference)
    ours, theirs = apart.ledger(), played.notes.ledger()
    for quantity, place in (("messages, no ties", 0), ("bytes, no ties", 1)):
        counts = [sum(value[place] for value in each.values()) for each in (ours, theirs)]
        away = abs(counts[1] / counts[0] - 1) if counts[0] else 0.0
        verdict = "equal" if counts[0] == counts[1] else f"within {max(1, round(100 * away + 0.5))} %"
        rows.append(Row("scenario", quantity, f"{counts[0]:,}", f"{counts[1]:,}", verdict))
    return rows


def _delays(notes: Notes, dues: Mapping[MessageKey, int]) -> Row:
    """Compare when messages were due, from when they were put on their links; show the link that is off by most."""
    links: defaultdict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for hop in notes.hops:
        if hop.due >= 0 and dues[hop.key] >= 0:
            links[hop.sender, hop.receiver].append((dues[hop.key] - hop.sent, hop.due - hop.sent))
    off = {link: sum(abs(found - own) for own, found in delays) for link, delays in links.items()}
    worst = max(off, key=lambda link: off[link], default=None)
    equal = worst is None or not off[worst]
    shown = [each for delays in links.values() for each in delays] if equal or worst is None else links[worst]
    own, found = (
        (f"{sum(delays) / len(delays) / 1e6:,.3f} ms" for delays in zip(*shown, strict=True)) if shown else ("", "")
    )
    return _row(
        "scenario", DELAYS, own, found if equal or worst is None else f"{found} ({worst[0]} to {worst[1]})", equal
    )


def _without_ties(point: RunnablePoint, replication: int, reference: Notes) -> Notes:
    if Stage.of(point, replication).context.network.faults.peer.jitter is not None:
        return reference
    peer = point.scenario.links.peer
    links = point.scenario.links.model_copy(update={"peer": peer.model_copy(update={"jitter": Duration(NO_TIES)})})
    return simulated(replace(point, scenario=point.scenario.model_copy(update={"links": links})), replication)


def hop_times(played: Played, dues: Mapping[MessageKey, int]) -> list[HopTime]:
    """Return the time of each message that was handled, and by the scenario's own links, see `own_dues`."""
    return [
        HopTime(
            *(hop.sender, hop.receiver, hop.round, hop.kind, hop.size),
            *((dues[hop.key] - hop.sent) / 1e9, (handled - hop.sent) / 1e9),
        )
        for hop, handled in played.hops()
        if dues[hop.key] >= 0
    ]


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


def time_rows(rounds: list[RoundTime], hops: list[HopTime], tolerance: float, *, late: bool = False) -> list[Row]:
    """Compare times.

    Args:
        rounds: The times of rounds.
        hops: The times of messages.
        tolerance: By how much a round, a link and a receiver may differ, as a share.
        late: Whether rounds may be a slot longer because the host was late, see `late_for_slots`.
    """
    rows = []
    if rounds:
        error = intervals.mean([each.error_percent for each in rounds], intervals.CONFIDENCE)
        verdict = _verdict(error, 100 * tolerance)
        rows.append(Row("time", ROUND, "0 %", _percent(error), NOISY if late and verdict == DIFFERS else verdict))
    if hops:
        line = slope_of(hops)
        if line.slope is not None:
            text = f"{line.slope:.4f} [{line.low:.4f}, {line.high:.4f}]"
            value, low, high = (100 * (each - 1) for each in (line.slope, line.low, line.high))
            away = Interval(value, low, high, intervals.CONFIDENCE, len(hops))
            rows.append(Row("time", SLOPE, "1", text, _verdict(away, 100 * SLOPE_TOLERANCE)))
        rows.append(Row("time", "intercept", "0 ms", f"{1e3 * line.intercept_s:.3f} ms", ""))
        links = slowest(hops, lambda hop: (hop.sender, hop.receiver))
        receivers = slowest(hops, lambda hop: (hop.receiver,))
        for quantity, found in (("slowest link", links), ("slowest receiver", receivers)):
            if found is not None:
                place, error = found
                text = f"{' to '.join(map(str, place))}: {_percent(error)}"
                rows.append(Row("time", quantity, "0 %", text, _verdict(error, 100 * tolerance)))
    return rows


def _percent(error: Interval) -> str:
    ends = error.ends
    return f"{error.value:+.2f} %" + ("" if ends is None else f" [{ends[0]:+.2f}, {ends[1]:+.2f}]")


def _ends(error: Interval) -> tuple[float, float]:
    return error.ends or (error.value, error.value)


def _verdict(error: Interval, tolerance: float) -> str:
    """Judge an *error* (%) by its interval: all of it is within the *tolerance* (%), all of it beyond, or neither.

    One value has no interval: it may be within, but does not show a difference.
    """
    low, high = _ends(error)
    if -tolerance <= low and high <= tolerance:
        return f"within {tolerance:g} %"
    return DIFFERS if (low > tolerance or high < -tolerance) and error.replications > 1 else NOISY


def slope_of(hops: list[HopTime]) -> Slope:
    """Return the regression of measured times on simulated ones."""
    across = np.array([hop.simulated_s for hop in hops])
    upward = np.array([hop.measured_s for hop in hops])
    if np.ptp(across) <= 1e-9 * across.max():
        return Slope(None, 0.0, 0.0, float((upward - across).mean()))
    links: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for index, hop in enumerate(hops):
        links[hop.sender, hop.receiver].append(index)
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


def slowest(
    hops: list[HopTime], place_of: Callable[[HopTime], tuple[int, ...]]
) -> tuple[tuple[int, ...], Interval] | None:
    """Return the slowest place of *hops*, a link or a receiver, and its excess over the others in % of its own time.

    In each round, the mean excess of a place over its simulated time is compared with the mean of those of the others:
    a process that wakes late is late for all that it reads then, so rounds are independent, and hops are not. The
    intervals of all places together hold with 99 % confidence (Bonferroni). The slowest is the one whose interval
    begins highest above 0, else the one with the largest excess. None: hops of no two places take time when simulated.
    """
    rounds: defaultdict[int, defaultdict[tuple[int, ...], list[HopTime]]] = defaultdict(lambda: defaultdict(list))
    for hop in hops:
        if hop.simulated_s > 0:
            rounds[hop.round][place_of(hop)].append(hop)
    beyond: defaultdict[tuple[int, ...], list[float]] = defaultdict(list)
    for places in rounds.values():
        takes = {place: fmean(hop.simulated_s for hop in each) for place, each in places.items()}
        excess = {place: fmean(hop.measured_s for hop in each) - takes[place] for place, each in places.items()}
        for place in places if len(places) > 1 else ():
            others = (sum(excess.values()) - excess[place]) / (len(places) - 1)
            beyond[place].append(100 * (excess[place] - others) / takes[place])
    level = 1 - (1 - _OF_ALL_PLACES) / max(1, len(beyond))
    found = ((place, intervals.mean(errors, level)) for place, errors in sorted(beyond.items()))
    return max(found, key=lambda one: (max(0.0, _ends(one[1])[0]), one[1].value), default=None)


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


def _row(basis: Basis, quantity: str, expected: str, found: str, equal: bool) -> Row:
    return Row(basis, quantity, expected, found, "equal" if equal else DIFFERS)


def _count(made: Mapping[int, list[tuple[int, ...]]]) -> str:
    return f"{sum(map(len, made.values()))} of {len(made)} agents"


def _waits(notes: Notes) -> str:
    return f"{sum(end - begin for begin, end in notes.waits.values()) / 1e6:,.3f} ms"
