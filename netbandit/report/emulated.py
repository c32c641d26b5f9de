"""The section on an emulation: what one has written into the results folder."""

import json
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path

from netbandit.report.pictures import Drawn
from netbandit.report.tables import Cell, Table

FILE = "emulation.json"
"""The result of an emulation in a results folder."""
PICTURE = "emulation"
"""The name of the picture beside it."""


@dataclass(frozen=True)
class Emulated:
    """The result of an emulation.

    Attributes:
        comparison: Equal quantities, and the differences of times.
        wire: The traffic over the sockets.
        picture: Times, simulated and measured.
        notes: Its setting, and remarks needed to interpret it.
    """

    comparison: Table
    wire: Table
    picture: Drawn
    notes: list[str]


def emulated(folder: Path) -> Emulated | None:
    """Return the result of the emulation in *folder*; None if there is no readable one."""
    try:
        found = json.loads((folder / FILE).read_text(encoding="utf-8"))
        image = b64encode((folder / f"{PICTURE}.svg").read_bytes()).decode()
        headings = [(name, "") for name in ("basis", "comparison", "simulated", "emulated", "verdict")]
        rows = [[Cell(text, text) for text in row[:5]] for row in found["rows"]]
        wire = [(name, "") for name in ("on the wire", "expected", "counted")]
        counted = [
            [Cell(name, name), *(Cell(f"{count:,}", float(count)) for count in counts)]
            for name, *counts in found["wire_rows"]
        ]
        setting = f"{found['processes']} processes over {found['transport'].upper()}, dilation {found['dilation']:g}"
        notes = [setting, *found["notes"]]
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    picture = f'<img alt="" src="data:image/svg+xml;base64,{image}">'
    return Emulated(
        Table("Simulated and emulated", headings, rows),
        Table("What went over the sockets", wire, counted),
        Drawn(PICTURE, "Measured and simulated times", setting, picture, None),
        notes,
    )
