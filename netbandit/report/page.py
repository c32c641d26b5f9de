"""The page of a report, from its parts and its templates."""

from pathlib import Path
from typing import Any

from netbandit.report.age import mark_of
from netbandit.report.animation import animated
from netbandit.report.citation import CITATION, citation
from netbandit.report.emulated import emulated
from netbandit.report.hot_spots import hot_spots
from netbandit.report.loads import loads
from netbandit.report.losses import losses
from netbandit.report.pictures import drawn
from netbandit.report.recipe import description, recipe
from netbandit.report.tables import details, findings, graphs, privacy, privacy_notes
from netbandit.results.remarks import cost_lines, energy_lines, exploration_lines, failure_lines, remarks, trouble_lines
from netbandit.results.safe_files import write_whole
from netbandit.results.store import StudyResult, load_finished, lookup

REPORT = "report.html"
"""The name of the report in a results folder."""


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
    study = load_finished(folder) if study is None else study
    write_whole(folder / REPORT, page(folder, study))
    write_whole(folder / CITATION, citation(study))
    return folder / REPORT


def page(folder: Path, study: StudyResult) -> str:
    """Return the report of *study*, whose results are in *folder*, as HTML; a run at least is finished."""
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

    environment = Environment(
        loader=PackageLoader(__package__),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html").render(_content(folder, study))


def _content(folder: Path, study: StudyResult) -> dict[str, Any]:
    found = [picture for picture in drawn(folder, study) if not picture.name.startswith("network")]
    spent, units = privacy(study)
    return {
        "mark": mark_of(study),
        "name": study.name,
        "description": description(study),
        "facts": _facts(study),
        "findings": findings(study),
        "remarks": [
            *cost_lines(study),
            *trouble_lines(study),
            *energy_lines(study),
            *failure_lines(study),
            *exploration_lines(study),
            *remarks(study),
        ],
        "regret": [picture for picture in found if picture.reading is not None],
        "pictures": [picture for picture in found if picture.reading is None],
        "networks": hot_spots(folder, study),
        "loads": loads(study),
        "losses": losses(study),
        "emulated": emulated(folder),
        "animation": animated(folder),
        "graphs": graphs(study),
        "privacy": spent,
        "units": units,
        "privacy_notes": privacy_notes(study),
        "recipe": recipe(study),
        "citation": citation(study),
        "details": details(study),
    }


def _facts(study: StudyResult) -> list[tuple[str, str]]:
    """Return the size of the study, in a few words each."""
    results = [run for point in study.points for run in point.finished]
    runs = sum(len(point.runs) for point in study.points)
    facts = [("points", f"{len(study.points):,}"), ("runs", f"{runs:,}")]
    if len(results) < runs:
        facts.append(("runs that have come to their end", f"{len(results):,}"))
    for name, values in (
        ("agents", [run.topology.get("agents") for run in results]),
        ("slots each agent plays", [lookup(run.resolved, "run.horizon", None) for run in results]),
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
