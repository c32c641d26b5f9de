"""The picture files of a results folder: which are drawn, kept, and removed."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from netbandit.plots.bands import Kind
from netbandit.plots.study_pictures import Asked, Planned, plan_asked, planned, timelines
from netbandit.plots.style import save
from netbandit.results.intervals import MEAN, Statistic
from netbandit.results.picture_inputs import FORMATS, PictureInputs, is_of
from netbandit.results.results_folder import PICTURES, ResultsFolder
from netbandit.results.safe_files import write_whole
from netbandit.results.study_result import StudyResult
from netbandit.results.varied_keys import UnknownNameError

KINDS = ("png", "svg", "pdf")
"""The formats of pictures."""


@dataclass(frozen=True)
class Memory:
    """The content of `PICTURES`.

    Attributes:
        files: The pictures that a later plot may redraw or remove.
        asked: The user's requests, with the names of their pictures.
        every: Whether the user has requested all pictures.
        kinds: The formats that later plots draw.
    """

    files: tuple[str, ...] = ()
    asked: Mapping[str, Asked] = field(default_factory=dict)
    every: bool = False
    kinds: tuple[str, ...] = FORMATS

    @classmethod
    def of(cls, folder: ResultsFolder) -> "Memory":
        """Return the record of the pictures in *folder*; empty if its file is damaged."""
        try:
            found = folder.pictures()
            files = tuple(name for name in found["files"] if isinstance(name, str) and Path(name).name == name)
            asked = {name: Asked.from_json(one) for name, one in dict(found.get("asked", {})).items()}
            kinds = tuple(kind for kind in KINDS if kind in found.get("formats", FORMATS)) or FORMATS
            return cls(files, {name: one for name, one in asked.items() if one}, found.get("every") is True, kinds)
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return cls()

    def write(self, folder: Path) -> None:
        """Write it into *folder*."""
        asked = {name: one.as_json() for name, one in sorted(self.asked.items())}
        whole = {"files": list(self.files), "asked": asked, "every": self.every}
        whole |= {"formats": self.kinds} if self.kinds != FORMATS else {}
        write_whole(folder / PICTURES, json.dumps(whole, indent=2) + "\n")


def folder_pictures(
    folder: ResultsFolder, study: StudyResult, *, every: bool = False, statistic: Statistic = MEAN, bands: Kind = "auto"
) -> Iterator[Planned]:
    """Yield the pictures of *study*, whose results are in *folder*, its timelines, and the requested ones.

    What was asked for and is there no more, such as a key that no longer varies, is left out.
    """
    yield from (one for one in planned(study, statistic, bands) if every or one.answers)
    yield from timelines(folder.path, study, every=every)
    for asked in Memory.of(folder).asked.values():
        with suppress(UnknownNameError):
            yield plan_asked(study, asked)


def plot_folder(
    folder: ResultsFolder,
    into: Path | None = None,
    kinds: Sequence[str] | None = None,
    *,
    every: bool | None = None,
    study: StudyResult | None = None,
    statistic: Statistic = MEAN,
    bands: Kind = "auto",
    outdated: PictureInputs | None = None,
) -> list[Path]:
    """Draw the pictures of a results folder and return their files; outdated files of earlier plots are removed.

    Requested pictures are redrawn from the current content of the folder; one that cannot be drawn keeps its old file.

    Args:
        folder: A results folder.
        into: The target folder, created if missing; the results folder itself by default.
        kinds: Some of `KINDS`; as before, if not given: at first ``png`` and ``svg``.
        every: Whether to draw all pictures, or the few about the varied keys; as before, if not given.
        study: The results, with curves and links, if they have been loaded already.
        statistic: The statistic over the replications of a point, except in pictures requested with another one.
        bands: The kind of the intervals, except in pictures requested with another one.
        outdated: What the pictures are drawn from; if given, the files of those that were drawn from that stay.

    Raises:
        FileNotFoundError: *folder* is not a results folder.
        ValueError: It is damaged, or has no finished run.
    """
    study = folder.finished_study() if study is None else study
    target = folder.path if into is None else into
    target.mkdir(parents=True, exist_ok=True)
    memory = Memory.of(folder)
    earlier = memory if target == folder.path else Memory.of(ResultsFolder(target))
    wanted = memory.every if every is None else every
    kinds = memory.kinds if kinds is None else kinds
    inputs = PictureInputs(folder, statistic, bands) if outdated is None else outdated
    files: list[Path] = []
    for picture in folder_pictures(folder, study, every=wanted, statistic=statistic, bands=bands):
        asked = memory.asked.get(picture.name)
        text = inputs.text(None if asked is None else asked.as_json())
        names = {kind: target / f"{picture.name}.{kind}" for kind in kinds}
        old = [kind for kind, file in names.items() if outdated is None or not is_of(file, text)]
        if old:
            save(picture.drawn().figure, target / picture.name, old, text)
        files += names.values()
    now = [file.name for file in files]
    missing = [name for name in memory.asked if not any(file.stem == name for file in files)]
    kept = [f"{name}.{kind}" for name in missing for kind in KINDS if (target / f"{name}.{kind}").is_file()]
    for name in earlier.files:
        if name not in [*now, *kept] and Path(name).suffix[1:] in KINDS:
            (target / name).unlink(missing_ok=True)
    Memory((*now, *kept), memory.asked if target == folder.path else {}, wanted, tuple(kinds)).write(target)
    return files


def plot_against(
    folder: ResultsFolder, asked: Asked, kinds: Sequence[str] | None = None, study: StudyResult | None = None
) -> list[Path]:
    """Draw one requested picture of a results folder, and return its files.

    Formats of *kinds* that later plots did not draw yet are added to theirs, so that the picture remains up to date.

    Raises:
        FileNotFoundError: *folder* is not a results folder.
        ValueError: It is damaged, or has no finished run.
        UnknownNameError: There is no such key, value or metric.
    """
    picture = plan_asked(folder.finished_study() if study is None else study, asked)
    memory = Memory.of(folder)
    text = PictureInputs(folder, MEAN).text(asked.as_json())
    kinds_now = memory.kinds if kinds is None else kinds
    files = save(picture.drawn().figure, folder.path / picture.name, kinds_now, text)
    names = dict.fromkeys([*memory.files, *(file.name for file in files)])
    later = (*memory.kinds, *(kind for kind in kinds or () if kind not in memory.kinds))
    Memory(tuple(names), {**memory.asked, picture.name: asked}, memory.every, later).write(folder.path)
    return files
