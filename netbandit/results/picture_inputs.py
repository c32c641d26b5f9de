"""Which pictures of a results folder are up to date: the digest of what a picture was drawn from stands in its file."""

import re
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from netbandit.results.intervals import Statistic
from netbandit.results.results_folder import ResultsFolder
from netbandit.results.safe_files import canonical, digest
from netbandit.simulation.result import versions

_INPUTS = re.compile(rb"netbandit inputs ([0-9a-f]{32})")


class PictureInputs:
    """What the pictures of a folder are drawn from: its results, how they are summarised, and the versions that draw.

    Args:
        folder: The results folder.
        statistic: The statistic over the replications of a point.
        bands: The kind of the intervals.
    """

    def __init__(self, folder: ResultsFolder, statistic: Statistic, bands: str | None = "auto") -> None:
        self._folder = folder
        made_by = {**versions(), "matplotlib": version("matplotlib")}
        self._common = [folder.digest(), made_by, statistic.key, bands]

    def text(self, asked: Mapping[str, Any] | None = None) -> str:
        """Return what stands in the file of a picture: of one that was *asked* for, or of another."""
        return f"netbandit inputs {digest(canonical([*self._common, asked]).encode())}"

    def drawn(self) -> list[Path]:
        """Return the pictures that were drawn last, if they are up to date; none if one of them is not."""
        record = self._folder.pictures()
        texts = {stem: self.text(record.asked.get(stem)) for stem in (Path(name).stem for name in record.files)}
        files = {self._folder.path / f"{stem}.{kind}": text for stem, text in texts.items() for kind in record.kinds}
        there = texts.keys() >= record.asked.keys() and all(is_of(file, text) for file, text in files.items())
        return list(files) if there else []


def is_of(picture: Path, text: str) -> bool:
    """Return whether *text* of `PictureInputs.text` stands in a *picture*."""
    try:
        found = _INPUTS.search(picture.read_bytes())
    except OSError:
        return False
    return found is not None and found[0].decode() == text
