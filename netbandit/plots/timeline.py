"""A round in time, from a trace: which agent waits for which, with an arrow for each message."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from netbandit.plots.grouping import described
from netbandit.plots.style import (
    FAINT,
    MESSAGE_COLOURS,
    NEUTRAL,
    drawing,
    figure,
    legend_below,
    readable,
)
from netbandit.results.numbers import rounded, scaled
from netbandit.simulation.result import RunResult
from netbandit.trace.read import SERVER, WAITS, Job, Lines, Phase, Transfer
from netbandit.util.text import pluralize

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_NODES = 24
"""The most agents shown, those with the lowest numbers."""

MOST_MESSAGES = 400
"""The most messages shown, the first ones, and the time they take."""

MOST_LINES = 200_000
"""The lines read of a trace: the first round is among them, or too large to be drawn."""

_WAIT, _EXPLORE, _LACK = "#F3D9A4", "#CFE3F1", "#EBCFE0"
_COMPUTE = "#8C8C8C"
_THICK = 0.62


@dataclass(frozen=True)
class Round:
    """The drawn part of a round; times in nanoseconds.

    Attributes:
        number: The round.
        nodes: The rows: the server, if it takes part, and agents.
        agents: The number of agents.
        messages: The messages that are shown, in the order in which they are put on a link.
        total: The number of messages of the round.
        waits: The phases in which agents wait for the round.
        explores: The exploration phases before it.
        lacks: The phases before it in which agents await late rewards.
        jobs: The jobs of the nodes meanwhile.
        begin: The begin of the time shown.
        end: When it ends.
    """

    number: int
    nodes: list[int | str]
    agents: int
    messages: list[Transfer]
    total: int
    waits: list[Phase]
    explores: list[Phase]
    lacks: list[Phase]
    jobs: list[Job]
    begin: int
    end: int


def first_round(lines: Lines) -> Round | None:
    """Return the first round of a trace in which a message is sent, cut to the size of a picture; None without."""
    numbers = [message.round for message in lines.messages if message.round > 0]
    if not numbers:
        return None
    number = min(numbers)
    sent = [message for message in lines.messages if message.round == number]
    waits = [phase for phase in lines.phases if phase.round == number and phase.name in WAITS]
    explores, lacks = (
        [phase for phase in lines.phases if phase.round == number and phase.name == name]
        for name in ("explore", "feedback")
    )
    ends = {node for message in sent for node in (message.sender, message.receiver)}
    everybody = sorted({node for node in ends if isinstance(node, int)} | {wait.agent for wait in waits})
    agents: list[int | str] = [*everybody[:MOST_NODES]]
    nodes = [*([SERVER] if SERVER in ends else []), *agents]
    shown = sorted(
        (message for message in sent if message.sender in nodes and message.receiver in nodes),
        key=lambda message: (message.start, message.arrival),
    )
    waits = [wait for wait in waits if wait.agent in nodes]
    begin = min([message.start for message in shown] + [wait.begin for wait in waits], default=0)
    end = max([message.arrival for message in shown] + [wait.end for wait in waits], default=0)
    if len(shown) > MOST_MESSAGES:
        shown = shown[:MOST_MESSAGES]
        end = max(message.arrival for message in shown)
    jobs = [job for job in lines.jobs if job.node in nodes and job.begin < end and begin < job.end]
    return Round(number, nodes, len(everybody), shown, len(sent), waits, explores, lacks, jobs, begin, end)


@drawing()
def draw_timeline(run: RunResult, what: Round, values: dict[str, Any] | None = None) -> "Figure":
    """Draw a round of *run*: a row for each node, bars for its phases, an arrow for each message.

    Args:
        run: The run the trace is of.
        what: The round to draw.
        values: The values by which the title identifies the run.
    """
    from netbandit.util.extras.plots import Patch

    slot = run.slot_ns
    notes = [f"replication {run.replication}", described(values or {})]
    if len(what.nodes) < what.agents:
        notes.append(f"the first {MOST_NODES} of {scaled(what.agents)} agents")
    if len(what.messages) < what.total:
        notes.append(f"{scaled(len(what.messages))} of {scaled(what.total)} messages")
    longest = scaled(rounded(max((wait.end - wait.begin for wait in what.waits), default=0) / slot, 3))
    waited = f", and agents wait up to {pluralize(longest, 'slot')}" if what.waits else ""
    title = f"{run.name}: round {what.number} takes {pluralize(scaled(what.total), 'message')}{waited}"
    drawn, (panel,) = figure(title, "; ".join(filter(None, notes)))
    row = {node: index for index, node in enumerate(what.nodes)}
    span = max(what.end - what.begin, slot) / slot
    low, high = what.begin / slot - 0.04 * span, what.end / slot + 0.04 * span
    handles: list[Any] = []
    waits = "gathers" if all(wait.name == "gather" for wait in what.waits) else "waits, and exploits"
    for phases, colour, text in (
        (what.explores, _EXPLORE, "explores"),
        (what.lacks, _LACK, "waits for rewards"),
        (what.waits, _WAIT, waits),
    ):
        bars = [phase for phase in phases if phase.agent in row and phase.end > low * slot]
        if bars and any(phase.end > phase.begin for phase in bars):
            panel.barh(
                [row[phase.agent] for phase in bars],
                [(phase.end - phase.begin) / slot for phase in bars],
                left=[phase.begin / slot for phase in bars],
                height=_THICK,
                color=colour,
                zorder=1.5,
            )
            handles.append(Patch(color=colour, label=text))
    if what.jobs:
        begins = np.array([job.begin for job in what.jobs])
        spans = np.array([job.end for job in what.jobs]) - begins
        rows = [row[job.node] for job in what.jobs]
        panel.barh(rows, spans / slot, left=begins / slot, height=_THICK / 2, color=_COMPUTE, zorder=2)
        handles.append(Patch(color=_COMPUTE, label="computes"))
    handles += _draw_messages(panel, what.messages, row, slot)
    _axes(panel, what, run, low, high)
    if handles:
        legend_below(drawn, handles, [str(handle.get_label()) for handle in handles], "")
    return drawn


def _draw_messages(panel: "Axes", messages: Sequence[Transfer], row: dict[int | str, int], slot: int) -> "list[Any]":
    from netbandit.util.extras.plots import Line2D

    handles = []
    many = len(messages) > MOST_MESSAGES // 4
    for index, kind in enumerate(dict.fromkeys(message.kind for message in messages)):
        some = [message for message in messages if message.kind == kind]
        colour = MESSAGE_COLOURS[index % len(MESSAGE_COLOURS)]
        x = np.array([message.start for message in some]) / slot
        y = np.array([row[message.sender] for message in some], dtype=np.float64)
        panel.quiver(
            x,
            y,
            np.array([message.arrival for message in some]) / slot - x,
            np.array([row[message.receiver] for message in some]) - y,
            angles="xy",
            scale_units="xy",
            scale=1,
            units="dots",
            width=1.1 if many else 1.8,
            headwidth=6,
            headlength=7,
            headaxislength=6,
            color=colour,
            zorder=3,
        )
        handles.append(Line2D([], [], color=colour, marker=">", markersize=4, label=kind))
    return handles


def _axes(panel: "Axes", what: Round, run: RunResult, low: float, high: float) -> None:
    from netbandit.util.extras.plots import MaxNLocator

    names = run.nodes.names if run.nodes is not None else None
    texts = []
    for node in what.nodes:
        text = str(node) if node == SERVER or names is None else names[int(node)]
        texts.append(text if len(text) <= 16 else f"{text[:15]}…")
    panel.set_xlim(low, high)
    panel.xaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 2.5, 5, 10], integer=True))
    panel.set_ylim(len(what.nodes) - 0.4, -0.6)
    panel.set_yticks(range(len(what.nodes)), texts, fontsize=8 if len(what.nodes) <= 16 else 6.5, color=NEUTRAL)
    panel.tick_params(axis="y", length=0)
    panel.grid(axis="y", color=FAINT, linewidth=0.5)
    panel.set_xlabel("time (slots)")
    panel.set_ylabel("agent")
    readable(panel, y=False)
