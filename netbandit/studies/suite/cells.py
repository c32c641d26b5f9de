"""The results of an entry on a track: the values of each metric by replication, or the reason why there are none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from netbandit.simulation.result import RunResult
from netbandit.studies.suite.tracks import Track

State = Literal["ran", "refused", "failed", "late", "private", "missing"]
"""``refused``: `check` says that it cannot run; ``failed``: a run raised an error; ``late``: it was ended, as it took
too long; ``private``: it spends more privacy than the track allows; ``missing``: it was not run."""

METRICS: Mapping[str, str] = {
    "regret": "regret of all agents",
    "bytes": "bytes an agent and slot",
    "energy": "joule of all links",
    "round_slots": "slots an agent waited for a round, mean",
    "stalled": "agents that waited for ever",
    "epsilon": "privacy spent of one reward; none: without bound",
}
"""The values kept of a run, with their meanings."""

Values = Mapping[str, float | None]


@dataclass(frozen=True)
class Cell:
    """The result of an entry on a track.

    Attributes:
        state: Whether its runs are there.
        why: Why not, in a line; empty where they are.
        values: Of each of `METRICS` the value by replication; empty where there are no runs.
        fingerprints: The first digits of the fingerprint of each replication.
        seconds: The processor time of all replications.
    """

    state: State
    why: str = ""
    values: Mapping[str, Sequence[float | None]] | None = None
    fingerprints: Sequence[str] = ()
    seconds: float = 0.0

    def of(self, metric: str) -> list[float]:
        """Return a metric by replication; only of a cell that ran, and a metric that is a number there."""
        assert self.values is not None, self.why
        found = self.values[metric]
        assert all(value is not None for value in found), metric
        return [float(value) for value in found if value is not None]

    @property
    def stalled(self) -> int:
        """In how many replications agents waited for ever."""
        return sum(value > 0 for value in self.of("stalled")) if self.values is not None else 0


def values_of(result: RunResult, track: Track) -> Values:
    """Return the values kept of a run."""
    found = result.metrics
    size = found["bytes"]
    assert size is not None
    return {
        "regret": found["regret"],
        "bytes": size / (track.agents * track.horizon),
        "energy": found["energy_j"],
        "round_slots": found["round_slots"],
        "stalled": found["stalled"],
        "epsilon": found["epsilon"],
    }


def cell_of(runs: Sequence[Mapping[str, Any]], track: Track) -> Cell:
    """Return the cell of the *runs* of all replications, as `netbandit.studies.suite.worker` writes them."""
    values = {metric: [run["values"][metric] for run in runs] for metric in METRICS}
    prints, seconds = [run["fingerprint"] for run in runs], sum(run["seconds"] for run in runs)
    over = spends_too_much(values["epsilon"], track)
    return Cell("private" if over else "ran", over, None if over else values, prints, seconds)


def spends_too_much(epsilons: Sequence[float | None], track: Track) -> str:
    """Return why *epsilons* of some runs are more than a track allows; nothing if they are not."""
    if track.epsilon is None:
        return ""
    if any(epsilon is None for epsilon in epsilons):
        return f"spends an unbounded epsilon; the track allows {track.epsilon:g}"
    most = max(epsilon for epsilon in epsilons if epsilon is not None)
    # A sum that reaches the limit may be rounded.
    over = most > track.epsilon * (1 + 1e-9)
    return f"spends an epsilon of {most:g}; the track allows {track.epsilon:g}" if over else ""
