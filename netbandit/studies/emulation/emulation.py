"""The pipeline of an emulation: simulate, calibrate, play, replay, compare."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netbandit.parts.settings import Problem
from netbandit.report.emulated import FILE, PICTURE
from netbandit.results.safe_files import make_folder, write_whole
from netbandit.simulation.replication import RunnablePoint
from netbandit.studies.emulation import comparison
from netbandit.studies.emulation.clocks import Calibration, calibrated, dilation_for
from netbandit.studies.emulation.comparison import HopTime, RoundTime, Row, WireRow
from netbandit.studies.emulation.limits import refusals, too_long, too_many_files
from netbandit.studies.emulation.notes import Notes, replayed, simulated
from netbandit.studies.emulation.processes import NoEndError, Played, grouped, play
from netbandit.studies.emulation.sockets import Transport

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from netbandit.util.extras.frames import pandas

_PATIENCE = 60.0
"""The time (s) an emulation may take in addition to its dilated time."""


@dataclass(frozen=True)
class Emulation:
    """The result of an emulation.

    Attributes:
        name: The scenario's name.
        transport: ``tcp`` or ``udp``.
        dilation: Real seconds per virtual second.
        processes: The number of processes.
        tolerance: The tolerated relative error of the times of rounds, links and receivers.
        rows: The table: the quantities compared, and whether they are equal.
        round_times: The waiting time of agents in each round.
        hop_times: The time of each message.
        wire_rows: The traffic over the sockets.
        calibration_s: For each round of the calibration its time in excess of the simulation; empty without.
        notes: What a reader must know.
    """

    name: str
    transport: str
    dilation: float
    processes: int
    tolerance: float
    rows: list[Row]
    round_times: list[RoundTime]
    hop_times: list[HopTime]
    wire_rows: list[WireRow]
    calibration_s: list[float]
    notes: list[str]

    @property
    def equal(self) -> bool:
        """Whether nothing differs: neither what is compared exactly, nor a time by more than its tolerance."""
        return all(row.verdict != comparison.DIFFERS for row in self.rows)

    @property
    def exact(self) -> "pandas.DataFrame":
        """The exact comparisons: ``basis``, ``quantity``, ``simulated``, ``emulated``, ``verdict``."""
        rows = [row for row in self.rows if row.basis != "time"]
        return _frame(rows, Row)

    @property
    def rounds(self) -> "pandas.DataFrame":
        """The waiting time of agents in each round, see `netbandit.studies.emulation.comparison.RoundTime`."""
        return _frame(self.round_times, RoundTime)

    @property
    def hops(self) -> "pandas.DataFrame":
        """The time of each message, see `netbandit.studies.emulation.comparison.HopTime`."""
        return _frame(self.hop_times, HopTime)

    @property
    def wire(self) -> "pandas.DataFrame":
        """The traffic over the sockets, see `netbandit.studies.emulation.comparison.WireRow`."""
        return _frame(self.wire_rows, WireRow)

    @property
    def calibration(self) -> "pandas.DataFrame":
        """The excess time of each round of the calibration: ``round``, ``extra_s``."""
        from netbandit.util.extras.frames import pandas

        return pandas.DataFrame({"round": range(1, len(self.calibration_s) + 1), "extra_s": self.calibration_s})

    def plot(self) -> "Figure":
        """Return the picture: rounds, simulated against measured, and the excess time of hops, by link."""
        from netbandit.studies.emulation.picture import drawn

        setting = f"{self.name}: {self.processes} processes over {self.transport.upper()}"
        setting += f", {self.dilation:g} real seconds for each simulated one"
        return drawn(setting, self.rows, self.round_times, self.hop_times)

    def save(self, folder: Path) -> list[Path]:
        """Write `FILE` and the picture into *folder*, and return the files.

        Raises:
            StorageError: They cannot be written.
        """
        from netbandit.plots.style import save

        make_folder(folder)
        write_whole(folder / FILE, json.dumps(asdict(self), allow_nan=False, indent=1) + "\n")
        return [folder / FILE, *save(self.plot(), folder / PICTURE)]


class RefusedError(Exception):
    """A scenario cannot be emulated.

    Attributes:
        problems: The reasons, at the keys responsible.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = list(problems)
        super().__init__("; ".join(text for _, text in problems))


def emulate(
    point: RunnablePoint,
    *,
    replication: int = 0,
    transport: Transport = "tcp",
    dilation: float | None = None,
    tolerance: float = 0.02,
    processes: int | None = None,
    retries: int = 2,
    calibrate: bool = False,
    says: Callable[[str], None] = lambda text: None,
) -> Emulation:
    """Emulate a replication of a point, and compare it with its simulation.

    Args:
        point: The scenario's point.
        replication: Its replication.
        transport: What the sockets speak.
        dilation: How many real seconds a virtual one takes; None: as few as the host allows.
        tolerance: By how much the times of rounds, links and receivers may differ, as a share.
        processes: In how many processes the agents act; None: each in one of its own.
        retries: How often it is tried again, at twice the dilation, if it comes to no end.
        calibrate: Whether the host is measured although the dilation is given.
        says: Told what is done now.

    Raises:
        RefusedError: It cannot be emulated.
        NoEndError: It came to no end.
        DifferentChoiceError: An agent has concluded something else than in the simulation.
        DiedError: A process has ended of itself.
        StrangerError: Something else has connected to a socket.
    """
    problems = list(refusals(point, replication))
    if problems:
        raise RefusedError(problems)
    topology = point.topology(replication)
    groups = len(grouped(topology.agents, processes))
    files = too_many_files(topology.links, groups)
    if files is not None:
        raise RefusedError([(("topology", "family"), files)])
    says("simulating it")
    try:
        reference = simulated(point, replication)
    except Exception as error:  # of a class of the user's own
        raise RefusedError([(("protocol", "kind"), f"the simulation fails: {error}")]) from error
    if reference.stalled or not reference.waits:
        why = "stalled" if reference.stalled else "none begins before the horizon"
        raise RefusedError([(("run", "horizon"), f"nothing to compare: rounds do not end ({why})")])
    calibration: Calibration | None = None
    if dilation is None or calibrate:
        says("measuring how long a round takes on this host")
        calibration = calibrated(point, replication, transport, processes)
    notes = []
    if dilation is None:
        assert calibration is not None
        dilation = dilation_for(reference, calibration, tolerance, slotted=point.protocol.slotted)
    if reference.slack == 0:
        notes.append("waits may be a slot longer: messages arrive exactly at slot boundaries, which no clock decides")
    played = _played(point, replication, reference, transport, dilation, processes, retries, says)
    replay = replayed(point, replication, played.delays())
    dues, late = (
        comparison.own_dues(point, replication, played.notes),
        comparison.late_for_slots(point, reference, played),
    )
    rounds, hops = comparison.rounds_compared(reference, played), comparison.hop_times(played, dues)
    times = comparison.time_rows(rounds, hops, tolerance, late=late)
    if calibration is None and any(row.verdict == comparison.DIFFERS for row in times):
        notes.append("times include what this host takes: a larger --dilation makes that less, and auto measures it")
    if not played.carried.isolated:
        notes.append("sockets are in no network namespace of their own, so the loopback's counters say nothing")
    return Emulation(
        name=point.scenario.name,
        transport=transport,
        dilation=played.dilation,
        processes=groups,
        tolerance=tolerance,
        rows=[
            *comparison.same("replay", replay, played.notes),
            *comparison.scenario_rows(point, replication, reference, played, dues, late),
            *times,
        ],
        round_times=rounds,
        hop_times=hops,
        wire_rows=comparison.wire_rows(played, transport),
        calibration_s=[] if calibration is None else calibration.rounds,
        notes=notes,
    )


def _played(
    point: RunnablePoint,
    replication: int,
    reference: Notes,
    transport: Transport,
    dilation: float,
    processes: int | None,
    retries: int,
    says: Callable[[str], None],
) -> Played:
    """Play until it comes to an end, each time at twice the dilation."""
    for attempt in range(retries + 1):
        why = too_long(reference.lasts, dilation)
        if why is not None:
            raise RefusedError([(("run", "horizon"), why)])
        takes = reference.lasts / 1e9 * dilation
        says(f"running for {takes:,.0f} s, at dilation {dilation:g}")
        try:
            return play(
                point,
                replication,
                reference,
                transport=transport,
                dilation=dilation,
                processes=processes,
                patience=1.2 * takes + _PATIENCE,
            )
        except NoEndError as error:
            if attempt == retries:
                raise
            says(f"{error}; it is tried again at twice the dilation")
            dilation *= 2
    raise AssertionError("the last attempt raises")


def _frame(rows: Sequence[Any], kind: Any) -> "pandas.DataFrame":
    from netbandit.util.extras.frames import pandas

    return pandas.DataFrame(rows, columns=list(kind._fields))
