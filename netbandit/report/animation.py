"""An animated round: one self-contained page that plays a trace back over the drawn network.

Messages move along their links in simulated time, agents are coloured by activity, a cursor moves along the curve of
regret beside a running ledger of messages, bytes and late rewards. Nodes that compute have a ring.
Links that are up are highlighted where links change, and mobile agents are at their positions. Nothing is fetched, and
the browser computes nothing that a run has not written.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from netbandit.plots.network import MOST_AGENTS, network
from netbandit.plots.style import MESSAGE_COLOURS
from netbandit.report.over_time import over_time
from netbandit.results.safe_files import write_whole
from netbandit.results.study_result import StudyResult
from netbandit.simulation.result import RunResult
from netbandit.trace.read import SERVER, Job, Lines, Phase, TraceError, first_trace, read_trace, run_of

LIMIT = 20_000
"""The default number of messages played back, which a browser draws smoothly."""

PAGE = "trace.html"
"""The name of the page beside the trace it was made from."""

STATES = ("explore", "wait", "exploit", "down", "feedback", "answered", "wrong")
"""The phases of an agent, in the order of the page's colours; otherwise it is idle."""


@dataclass(frozen=True)
class Animated:
    """A written animation.

    Attributes:
        path: The page.
        messages: The number of messages it plays.
        total: The number in the trace.
    """

    path: Path
    messages: int
    total: int


def animate(trace: Path, target: Path, limit: int = LIMIT) -> Animated:
    """Write the page that plays *trace* back.

    Args:
        trace: A file that ``--trace`` has written, in the folder of its run.
        target: The page to write.
        limit: The number of messages played, from the first on.

    Raises:
        TraceError: A line is none of a trace, with its number; the trace or its run is not as it was written; or the
            run is missing.
        StorageError: *target* cannot be written.
    """
    lines = read_trace(trace)
    run = run_of(trace)
    if run is None:
        raise TraceError(f"{trace.parent} holds no finished run, whose network the page would show")
    total = len(lines.messages)
    write_whole(target, page(run, lines, limit))
    return Animated(target, min(total, limit), total)


def animated(folder: Path, study: StudyResult) -> str | None:
    """Return the page of the first traced run of a *study* in *folder*, for a frame inside a report; None without."""
    found = next(filter(None, (first_trace(folder, point) for point in study.points)), None)
    try:
        return None if found is None else page(found[1], read_trace(found[0]))
    except TraceError:
        return None  # damaged, or too large: the rest of the report does not need it


def page(run: RunResult, lines: Lines, limit: int = LIMIT) -> str:
    """Return the page of a run and its trace as HTML.

    Raises:
        TraceError: The network is too large to be drawn, or the trace is of another one.
    """
    agents = run.topology.get("agents")
    if agents is not None and agents > MOST_AGENTS:
        raise TraceError(f"the network has {agents:,} agents, and is drawn with {MOST_AGENTS:,} at most")
    ends = (end for message in lines.messages for end in (message.sender, message.receiver))
    if agents is not None and any(end != SERVER and int(end) >= agents for end in ends):
        raise TraceError(f"the run has {agents:,} agents, and the trace messages of others")
    return rendered(playback(run, lines, limit))


def filled_in(template: str, content: Mapping[str, Any], *, trimmed: bool = False) -> str:
    """Return a template of the package with its *content*; *trimmed*: without the lines of its statements."""
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

    environment = Environment(
        loader=PackageLoader(__package__),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=trimmed,
        lstrip_blocks=trimmed,
    )
    return environment.get_template(template).render(content)


def rendered(played: dict[str, Any]) -> str:
    """Return the page of the result of `playback`, as HTML."""
    # In JSON any sign may be written by its number, so that neither "</" nor "<!--" can mean anything.
    data = json.dumps({**played, "kind_colours": MESSAGE_COLOURS}, separators=(",", ":")).replace("<", "\\u003c")
    return filled_in("animation.html", {"name": played["name"], "data": data})


def playback(run: RunResult, lines: Lines, limit: int = LIMIT) -> dict[str, Any]:
    """Return the data of the page, as plain lists: times in nanoseconds, positions from 0 to 1.

    Messages are in the order in which they are put on their links; after each stand the totals up to it.
    """
    drawn = network(run)
    agents = len(drawn.places)
    links, slot = drawn.links.tolist(), run.slot_ns
    messages = sorted(lines.messages, key=lambda message: message.start)[:limit]
    last = max((message.arrival for message in messages), default=0)
    whole = len(messages) == len(lines.messages)
    phases = lines.phases if whole else [phase for phase in lines.phases if phase.begin <= last]
    rewards = lines.rewards if whole else [reward for reward in lines.rewards if reward.pulled <= last]
    jobs = lines.jobs if whole else [job for job in lines.jobs if job.begin <= last]
    kinds = list(dict.fromkeys(message.kind for message in messages))
    used: set[tuple[Any, ...]] = set()
    fresh = []
    for message in messages:
        over_uplink = SERVER in (message.sender, message.receiver)
        pair = frozenset((message.sender, message.receiver))
        use = (pair, message.round if over_uplink else message.start // slot)
        fresh.append(int(use not in used))
        used.add(use)
    ends = (one.end for part in (phases, jobs) for one in part)
    end = max([last, *ends, *(reward.pulled for reward in rewards)], default=0)
    changes = over_time(run, end)
    return {
        "name": run.name,
        "parameters": {key: str(value) for key, value in run.parameters.items()},
        "slot": slot,
        "end": end,
        "left": len(lines.messages) - len(messages),
        "places": _unit_square(drawn.places).round(4).tolist(),
        "up": None if changes is None else changes.up,
        "tracks": None if changes is None else _in_unit_square(changes.tracks),
        "names": list(drawn.names) if drawn.names is not None else [str(agent) for agent in range(agents)],
        "links": links,
        "server": any(SERVER in (message.sender, message.receiver) for message in messages),
        "kinds": kinds,
        "sender": [agents if message.sender == SERVER else message.sender for message in messages],
        "receiver": [agents if message.receiver == SERVER else message.receiver for message in messages],
        "kind": [kinds.index(message.kind) for message in messages],
        "round": [message.round for message in messages],
        "size": [message.size for message in messages],
        "start": [message.start for message in messages],
        "arrival": [message.arrival for message in messages],
        "bytes": list(accumulate(message.size for message in messages)),
        "activations": list(accumulate(fresh)),
        "pulled": sorted(reward.pulled for reward in rewards),
        "due": sorted(reward.due for reward in rewards),
        "jobs": _jobs(jobs, agents),
        "states": STATES,
        "phases": _tracks(phases, agents, _answers(run, slot)),
        "in_slots": not any(phase.name in ("explore", "exploit", "gather") for phase in lines.phases),
        "regret": _regret(run, end // slot),
    }


_KNOTS = 400
"""The number of points of a curve is limited by the width of the page."""


def _regret(run: RunResult, last: int) -> list[list[float]]:
    """Return slots and values of the regret up to the slot *last*; empty where it is unknown."""
    curve = run.curves.get("regret")
    if curve is None:
        return []
    until = np.unique(np.concatenate([curve.slots[curve.slots <= last], [min(last, int(curve.slots[-1]))]]))
    if len(until) > _KNOTS:
        until = until[np.unique(np.linspace(0, len(until) - 1, _KNOTS).astype(int))]
    return [until.tolist(), [float(f"{value:.6g}") for value in curve.at(until)]]


def _unit_square(places: Any) -> Any:
    low = places.min(axis=0)
    extent = float(np.ptp(places, axis=0).max()) or 1.0
    moved = (places - low) / extent
    return moved + (1 - moved.max(axis=0)) / 2


def _in_unit_square(tracks: Sequence[Any] | None) -> list[list[float]] | None:
    """Return for each agent time and place of its points one after the other in one flat list."""
    if tracks is None:
        return None
    places = _unit_square(np.concatenate([track[:, 1:] for track in tracks])).round(4)
    moved = np.split(places, np.cumsum([len(track) for track in tracks])[:-1])
    flat = (np.column_stack([track[:, :1], own]) for track, own in zip(tracks, moved, strict=True))
    return [one.ravel().tolist() for one in flat]


def _answers(run: RunResult, slot: int) -> dict[int, tuple[int, int, int]]:
    """Return begin, end and state of each agent that has answered for good."""
    nodes, end = run.nodes, round(1e9 * float(run.metrics.get("simulated_s") or 0))
    if nodes is None or nodes.answered is None:
        return {}
    wrong = np.zeros(len(nodes.answered)) if nodes.wrong is None else nodes.wrong
    return {
        agent: (int(nodes.answered[agent]) * slot, end, STATES.index("wrong" if wrong[agent] == 1 else "answered"))
        for agent in np.flatnonzero(np.isfinite(nodes.answered)).tolist()
    }


def _tracks(phases: list[Phase], agents: int, answers: Mapping[int, tuple[int, int, int]]) -> list[list[int]]:
    """Return, for each agent, begin, end and state of its phases, one after the other in one flat list.

    What it has answered comes first, as that is shown whatever else it does.
    """
    tracks: list[list[tuple[int, int, int]]] = [[] for _ in range(agents)]
    for phase in phases:
        if 0 <= phase.agent < agents:
            tracks[phase.agent].append((phase.begin, phase.end, STATES.index(_state(phase))))
    first = ([answers[agent]] if agent in answers else [] for agent in range(agents))
    return [
        [number for entry in (*own, *sorted(track)) for number in entry]
        for own, track in zip(first, tracks, strict=True)
    ]


def _jobs(jobs: list[Job], agents: int) -> list[list[list[int]]]:
    """Return, for each agent and then the server, when its jobs begin and when they end; nothing without jobs."""
    found: list[list[list[int]]] = [[[], []] for _ in range(agents + 1)] if jobs else []
    for job in sorted(jobs, key=lambda job: job.begin):
        begins, ends = found[agents if job.node == SERVER else int(job.node)]
        begins.append(job.begin)
        ends.append(job.end)
    return found


def _state(phase: Phase) -> str:
    """Return the activity of an agent in this phase: pulling the best arm during a round is waiting."""
    if phase.name == "exploit":
        return "wait" if phase.round else "exploit"
    return {"gather": "wait"}.get(phase.name, phase.name if phase.name in STATES else "exploit")
