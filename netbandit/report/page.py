"""The page of a report, from its parts and its templates, and whether it is older than its results."""

import re
from hashlib import blake2b
from html import escape
from pathlib import Path
from typing import Any

from netbandit.report.animation import animated, filled_in
from netbandit.report.answers import answers
from netbandit.report.citation import CITATION, citation
from netbandit.report.emulated import emulated
from netbandit.report.hot_spots import hot_spots
from netbandit.report.loads import loads
from netbandit.report.losses import losses
from netbandit.report.methods import methods
from netbandit.report.pictures import drawn
from netbandit.report.recipe import description, recipe
from netbandit.report.tables import details, findings, graphs, privacy, privacy_notes
from netbandit.results.picture_names import REGRET, REWARD
from netbandit.results.remarks import exploration_lines, missing_lines, remarks, result_lines
from netbandit.results.results_folder import ResultsFolder
from netbandit.results.safe_files import canonical, write_whole
from netbandit.results.study_result import StudyResult
from netbandit.util.key_paths import lookup
from netbandit.util.text import each_once

REPORT = "report.html"
"""The name of the report in a results folder."""

_MARK = re.compile(r'<html lang="en" data-results="([0-9a-f]*)">')
_BANNER = re.compile(r'<p class="outdated" role="alert">.*?</p>\n?', re.DOTALL)
_BODY = "<body>\n"


def write_report(folder: Path, study: StudyResult | None = None) -> Path:
    """Write the report of the results in *folder* into it, with ``citation.bib``, and return its path.

    Args:
        folder: A results folder.
        study: Its results with curves and links, if they have been loaded already.

    Raises:
        FileNotFoundError: *folder* is not a results folder.
        ValueError: It is damaged, or has no finished run.
        StorageError: The folder cannot be written.
    """
    study = ResultsFolder(folder).finished_study() if study is None else study
    write_whole(folder / REPORT, page(folder, study))
    write_whole(folder / CITATION, citation(study))
    return folder / REPORT


def page(folder: Path, study: StudyResult) -> str:
    """Return the report of *study*, whose results are in *folder*, as HTML; a run at least is finished."""
    return filled_in("page.html", _content(folder, study), trimmed=True)


def _content(folder: Path, study: StudyResult) -> dict[str, Any]:
    found = [picture for picture in drawn(folder, study) if not picture.name.startswith("network")]
    spent, units = privacy(study)
    return {
        "mark": mark_of(study),
        "name": study.name,
        "description": description(study),
        "facts": _facts(study),
        "findings": findings(study),
        "remarks": each_once([*missing_lines(study), *result_lines(study), *exploration_lines(study), *remarks(study)]),
        "over_time": REWARD if any(picture.name == REWARD for picture in found) else REGRET,
        "regret": [picture for picture in found if picture.reading is not None],
        "pictures": [picture for picture in found if picture.reading is None],
        "networks": hot_spots(folder, study),
        "loads": loads(study),
        "losses": losses(study),
        "answers": answers(study),
        "emulated": emulated(folder),
        "animation": animated(folder, study),
        "graphs": graphs(study),
        "privacy": spent,
        "units": units,
        "privacy_notes": privacy_notes(study),
        "recipe": recipe(study),
        "methods": methods(study),
        "citation": citation(study),
        "details": details(study),
    }


def _facts(study: StudyResult) -> list[tuple[str, str]]:
    """Return the size of the study, in a few words each."""
    results = [run for point in study.points for run in point.finished]
    runs = sum(len(point.runs) for point in study.points)
    facts = [("points", f"{len(study.points):,}"), ("runs", f"{runs:,}")]
    if len(results) < runs:
        facts.append(("finished runs", f"{len(results):,}"))
    ends = any(lookup(run.resolved, "run.until", None) == "answered" for run in results)
    slots = f"slots each agent plays{', at most' if ends else ''}"
    for name, values in (
        ("agents", [run.topology.get("agents") for run in results]),
        (slots, [lookup(run.resolved, "run.horizon", None) for run in results]),
        ("real length of a slot", [lookup(run.resolved, "run.slot", None) for run in results]),
    ):
        known = list(dict.fromkeys(value for value in values if value is not None))
        if all(isinstance(value, int | float) for value in known):
            known = [f"{value:,}" for value in sorted({min(known), max(known)})] if known else []
        if known:
            facts.append((name, " to ".join(map(str, known)) if len(known) < 3 else f"{len(known)} different"))
    for table, name in (("bandit", "world"), ("learner", "learner"), ("protocol", "protocol")):
        kinds = list(dict.fromkeys(str(lookup(run.resolved, f"{table}.kind", "")) for run in results))
        if any(kinds):
            facts.append((name, ", ".join(filter(None, kinds))))
    return facts


def mark_of(study: StudyResult) -> str:
    """Return a hash that identifies the results of *study*: of its points and of its finished runs."""
    points = [
        [point.parameters, [None if run is None else run.fingerprint for run in point.runs], point.keys]
        for point in study.points
    ]
    return blake2b(canonical([study.name, points]).encode(), digest_size=8).hexdigest()


def outdate(page: Path, study: StudyResult, command: str) -> bool:
    """Add a banner to the report *page* if it is older than its results; remove the banner otherwise.

    Args:
        page: A report, which need not exist.
        study: The current results.
        command: The command that writes the report anew.

    Returns:
        Whether there is an outdated page.

    Raises:
        StorageError: The page cannot be written.
    """
    try:
        text = page.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    mark = _MARK.search(text)
    if mark is None:
        return False
    older = mark[1] != mark_of(study)
    plain = _BANNER.sub("", text, count=1)
    banner = (
        '<p class="outdated" role="alert">This page is older than its results, which have changed since it was '
        f"written: <code>{escape(command)}</code> writes it anew.</p>\n"
    )
    now = plain.replace(_BODY, _BODY + banner, 1) if older else plain
    if now != text:
        write_whole(page, now)
    return older
