"""The record of the pictures of a results folder: which were drawn, which were asked for, and in which formats."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netbandit.results.safe_files import write_whole
from netbandit.util.nesting import read_json

PICTURES = "pictures.json"
"""The file of the record."""

KINDS = ("png", "svg", "pdf")
"""The formats of pictures."""

FORMATS = ("png", "svg")
"""Those that a folder has if nothing else is asked for."""


@dataclass(frozen=True)
class PictureRecord:
    """The content of `PICTURES`.

    Attributes:
        files: The pictures that a later plot may redraw or remove.
        asked: The user's requests by the names of their pictures; see `netbandit.plots.study_pictures.Asked.from_json`.
        every: Whether the user has requested all pictures.
        kinds: The formats that later plots draw.
    """

    files: tuple[str, ...] = ()
    asked: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    every: bool = False
    kinds: tuple[str, ...] = FORMATS

    @classmethod
    def of(cls, folder: Path) -> "PictureRecord":
        """Return the record in *folder*; empty if there is none, or its file is damaged."""
        try:
            found = read_json((folder / PICTURES).read_bytes())
            files = tuple(name for name in found["files"] if isinstance(name, str) and Path(name).name == name)
            asked = {name: one for name, one in dict(found.get("asked", {})).items() if isinstance(one, dict)}
            kinds = tuple(kind for kind in KINDS if kind in found.get("formats", FORMATS)) or FORMATS
            return cls(files, asked, found.get("every") is True, kinds)
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return cls()

    def write(self, folder: Path) -> None:
        """Write it into *folder*."""
        whole = {"files": list(self.files), "asked": dict(sorted(self.asked.items())), "every": self.every}
        whole |= {"formats": self.kinds} if self.kinds != FORMATS else {}
        write_whole(folder / PICTURES, json.dumps(whole, indent=2) + "\n")
