"""The picture files of a results folder: which are drawn, kept, and removed."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from netbandit.plots.bands import Kind
from netbandit.plots.study_pictures import Asked, Planned, plan_asked, planned, timelines
from netbandit.plots.style import save
from netbandit.results.intervals import MEAN, Statistic
from netbandit.results.picture_inputs import PictureInputs, is_of
from netbandit.results.picture_record import KINDS, PictureRecord
from netbandit.results.results_folder import ResultsFolder
from netbandit.results.study_result import StudyResult
from netbandit.results.varied_keys import UnknownNameError


def _requests(folder: ResultsFolder) -> dict[str, Asked]:
    """Return what was asked for in *folder*, by the names of the pictures."""
    found = {name: Asked.from_json(one) for name, one in folder.pictures().asked.items()}
    return {name: one for name, one in found.items() if one}


def folder_pictures(
    folder: ResultsFolder, study: StudyResult, *, every: bool = False, statistic: Statistic = MEAN, bands: Kind = "auto"
) -> Iterator[Planned]:
    """Yield the pictures of *study*, whose results are in *folder*, its timelines, and the requested ones.

    What was asked for and is there no more, such as a key that no longer varies, is left out.
    """
    yield from (one for one in planned(study, statistic, bands) if every or one.answers)
    yield from timelines(folder.path, study, every=every)
    for asked in _requests(folder).values():
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
    record, requests = folder.pictures(), _requests(folder)
    earlier = record if target == folder.path else PictureRecord.of(target)
    wanted = record.every if every is None else every
    kinds = record.kinds if kinds is None else kinds
    inputs = PictureInputs(folder, statistic, bands) if outdated is None else outdated
    files: list[Path] = []
    for picture in folder_pictures(folder, study, every=wanted, statistic=statistic, bands=bands):
        asked = requests.get(picture.name)
        text = inputs.text(None if asked is None else asked.as_json())
        names = {kind: target / f"{picture.name}.{kind}" for kind in kinds}
        old = [kind for kind, file in names.items() if outdated is None or not is_of(file, text)]
        if old:
            save(picture.drawn().figure, target / picture.name, old, text)
        files += names.values()
    now = [file.name for file in files]
    missing = [name for name in requests if not any(file.stem == name for file in files)]
    kept = [f"{name}.{kind}" for name in missing for kind in KINDS if (target / f"{name}.{kind}").is_file()]
    for name in earlier.files:
        if name not in [*now, *kept] and Path(name).suffix[1:] in KINDS:
            (target / name).unlink(missing_ok=True)
    again = {name: one.as_json() for name, one in requests.items()} if target == folder.path else {}
    PictureRecord((*now, *kept), again, wanted, tuple(kinds)).write(target)
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
    record, request = folder.pictures(), asked.as_json()
    text = PictureInputs(folder, MEAN).text(request)
    kinds_now = record.kinds if kinds is None else kinds
    files = save(picture.drawn().figure, folder.path / picture.name, kinds_now, text)
    names = dict.fromkeys([*record.files, *(file.name for file in files)])
    later = (*record.kinds, *(kind for kind in kinds or () if kind not in record.kinds))
    PictureRecord(tuple(names), {**record.asked, picture.name: request}, record.every, later).write(folder.path)
    return files
