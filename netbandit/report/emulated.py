"""The error of the simulator, if the study's folder contains an emulation."""

from dataclasses import dataclass
from pathlib import Path

from netbandit.report.pictures import Drawn, inline
from netbandit.report.tables import Cell, Table


@dataclass(frozen=True)
class Emulated:
    """What an emulation has shown.

    Attributes:
        comparison: What is equal, and by how much times differ.
        wire: What went over the sockets.
        picture: Times, simulated and measured.
        notes: How it was run, and what must be known to read it.
    """

    comparison: Table
    wire: Table
    picture: Drawn
    notes: list[str]


def emulated(folder: Path) -> Emulated | None:
    """Return what the emulation in *folder* has shown; None if there is none."""
    from netbandit.emulation.emulation import load

    found = load(folder)
    if found is None:
        return None
    headings = [(name, "") for name in ("basis", "comparison", "simulated", "emulated", "verdict")]
    rows = [[Cell(text, text) for text in row[:5]] for row in found.rows]
    wire = [(name, "") for name in ("on the wire", "expected", "counted")]
    counted = [
        [Cell(row.quantity, row.quantity), *(Cell(f"{count:,}", float(count)) for count in row[1:])]
        for row in found.wire_rows
    ]
    setting = f"{found.processes} processes over {found.transport.upper()}, dilation {found.dilation:g}"
    picture = Drawn("emulation", "Measured and simulated times", setting, inline(found.plot(), "emulation-"), None)
    return Emulated(
        Table("Simulated and emulated", headings, rows),
        Table("What went over the sockets", wire, counted),
        picture,
        [setting, *found.notes],
    )
