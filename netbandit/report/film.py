"""The animated round as a film: a GIF, or an MP4 where ffmpeg is installed, with the content of the page."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from netbandit.plots.label_placement import place_labels
from netbandit.plots.style import COLOURS, FAINT, MESSAGE_COLOURS, NEUTRAL, drawing, lay_out
from netbandit.report.animation import STATES, playback
from netbandit.results.safe_files import storage
from netbandit.trace.read import TraceError, read_trace, run_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LIMIT = 2_000
"""The default number of messages of a film."""

_FRAMES, _PER_SECOND = 200, 20
_NAMED = 60
"""The most agents with names beside them."""
_STATE_COLOURS = dict(
    zip(STATES, ("#0072b2", "#e69f00", "#009e73", "#555555", "#cc79a7", "#f0e442", "#d55e00"), strict=True)
)
_DECIDING = "#56b4e9"


def write_film(trace: Path, target: Path, kind: Literal["gif", "mp4"], limit: int = LIMIT) -> int:
    """Write a traced run as a film, and return the number of messages shown.

    Messages move along their links slowly enough to be seen; agents are coloured by activity, and
    below them the regret grows.

    Args:
        trace: A file that ``--trace`` has written, in the folder of its run.
        target: The film.
        kind: ``gif``, or ``mp4``, which takes ffmpeg.
        limit: The number of messages shown, from the first on.

    Raises:
        TraceError: It cannot be read, its run is missing, or ffmpeg is not installed.
        StorageError: *target* cannot be written.
    """
    from netbandit.util.extras.plots import FFMpegWriter, Figure, FuncAnimation, PillowWriter

    if kind == "mp4" and shutil.which("ffmpeg") is None:
        raise TraceError("an MP4 takes ffmpeg, which is not installed: --format gif takes nothing")
    lines, run = read_trace(trace), run_of(trace)
    if run is None:
        raise TraceError(f"{trace.parent} holds no finished run, whose network the film would show")
    played = playback(run, lines, limit)
    times = _times(played).tolist()
    with drawing():
        figure = Figure(figsize=(6.4, 6.4), dpi=80, layout="constrained")
        network, below = figure.subplots(2, 1, height_ratios=[4, 1])
        frame = _Frames(played, network, below)
        frame.draw(times[0])  # with its title, for which there has to be room
        figure.draw_without_rendering()
        lay_out(figure)
        frame.name_agents(figure)
        film = FuncAnimation(figure, lambda number: frame.draw(times[number]), frames=len(times))
        writer = PillowWriter(fps=_PER_SECOND) if kind == "gif" else FFMpegWriter(fps=_PER_SECOND)
        with storage(target):
            film.save(target, writer=writer)
    return len(played["start"])


def _times(played: Mapping[str, Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the simulated time (ns) of each frame: as many between any two instants at which something happens."""
    instants = np.unique([0.0, *played["start"], *_shown_until(played), float(played["end"])])
    frames = min(_FRAMES, 12 * len(instants))
    found: np.ndarray[Any, np.dtype[np.float64]] = np.interp(
        np.linspace(0, len(instants) - 1, frames), np.arange(len(instants)), instants
    )
    return found


def _shown_until(played: Mapping[str, Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return until when (ns) each message is shown: one that arrives as it is sent for most of a slot nonetheless."""
    start, arrival = (np.array(played[key], dtype=np.float64) for key in ("start", "arrival"))
    return np.where(arrival > start, arrival, start + 0.8 * played["slot"])


class _Frames:
    """Draws a moment of a film.

    Args:
        played: The result of `playback`.
        network: Where the network is drawn,
        below: and where the regret.
    """

    def __init__(self, played: Mapping[str, Any], network: "Axes", below: "Axes") -> None:
        from netbandit.util.extras.plots import LineCollection

        self._played = played
        places = np.array(played["places"])
        self._places = np.vstack([places, [0.5, places[:, 1].max() + 0.2]])
        self._start, self._arrival = np.array(played["start"], dtype=np.float64), _shown_until(played)
        self._senders, self._receivers = (np.array(played[key], dtype=int) for key in ("sender", "receiver"))
        self._hues = np.array([MESSAGE_COLOURS[kind % len(MESSAGE_COLOURS)] for kind in played["kind"]] or [NEUTRAL])
        network.set_axis_off()
        network.set_aspect("equal", adjustable="datalim")
        network.margins(0.08)
        self._links = LineCollection([], colors=FAINT, linewidths=1.0, zorder=1)
        network.add_collection(self._links)
        size = max(20.0, min(260.0, 3_000 / len(places)))
        self._network, self._radius = network, (size / np.pi) ** 0.5
        self._agents = network.scatter(places[:, 0], places[:, 1], s=size, edgecolors=NEUTRAL, zorder=2)
        if played["server"]:
            network.scatter(self._places[-1:, 0], self._places[-1:, 1], s=160, marker="s", color=NEUTRAL, zorder=2)
            network.annotate("server", self._places[-1], xytext=(0, 10), textcoords="offset points", ha="center")
        self._messages = network.scatter([], [], s=22, marker="s", zorder=3)
        self._title = network.set_title("")
        self._regret = np.array(played["regret"])
        self._cursor = None
        below.set_axis_off()
        if self._regret.size and self._regret.shape[1] > 1:
            below.set_axis_on()
            below.plot(*self._regret, color=FAINT)
            (self._line,) = below.plot([], [], color=COLOURS[0])
            self._cursor = below.axvline(0.0, color=COLOURS[0], linewidth=0.8)
            below.set(xlabel="slot", ylabel="regret")

    def name_agents(self, figure: "Figure") -> None:
        """Write names beside agents that have some, and stay where they are."""
        names, places = self._played["names"], self._places[:-1]
        if self._played["tracks"] is None and len(names) <= _NAMED and names != [*map(str, range(len(names)))]:
            links = np.array(self._played["links"], dtype=np.int64).reshape(-1, 2)
            place_labels(figure, self._network, places, names, self._radius, links)

    def draw(self, time: float) -> None:
        """Draw the moment *time* (ns)."""
        played, slot = self._played, time / self._played["slot"]
        if played["tracks"] is not None:
            for agent, flat in enumerate(played["tracks"]):
                track = np.array(flat).reshape(-1, 3)
                self._places[agent] = [np.interp(time, track[:, 0], track[:, axis]) for axis in (1, 2)]
            self._agents.set_offsets(self._places[:-1])
        up = played["up"]
        there = [
            link
            for index, link in enumerate(played["links"])
            if up is None or np.searchsorted(up[index], time, "right") % 2
        ]
        self._links.set_segments([self._places[link] for link in there])
        moving = (self._start <= time) & (time < self._arrival)
        part = ((time - self._start) / np.maximum(self._arrival - self._start, 1.0))[moving, None]
        begins, ends = (self._places[side[moving]] for side in (self._senders, self._receivers))
        self._messages.set_offsets(begins + part * (ends - begins))
        self._messages.set_facecolor(self._hues[moving].tolist() or "none")
        self._agents.set_facecolor([self._colour(track, time) for track in played["phases"]])
        self._title.set_text(f"{played['name']}: {time / 1e9:.4g} s, slot {int(slot):,}")
        if self._cursor is not None:
            slots, values = self._regret
            known = slots <= slot
            self._line.set_data([*slots[known], slot], [*values[known], np.interp(slot, slots, values)])
            self._cursor.set_xdata([slot, slot])

    def _colour(self, track: list[int], time: float) -> str:
        for begin, end, state in zip(track[::3], track[1::3], track[2::3], strict=True):
            if begin <= time < end:
                return _STATE_COLOURS[STATES[state]]
        return _DECIDING if self._played["in_slots"] else "white"
