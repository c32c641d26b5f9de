"""How to reproduce the results: the scenario, the files it needs, the commands, the versions."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

from netbandit.results.study_result import StudyResult
from netbandit.scenario.toml_text import toml_text
from netbandit.util.key_paths import lookup

_PARTS = ("bandit", "learner", "protocol")


@dataclass(frozen=True)
class Recipe:
    """The recipe of the results.

    Attributes:
        file: The scenario's name in the commands.
        scenario: The scenario, as TOML; nothing where the results do not know it.
        needs: Files that have to be beside it: a graph, the user's own parts.
        commands: The commands, in their order.
        versions: The versions used, by name; several if runs differ.
    """

    file: str
    scenario: str
    needs: list[str]
    commands: list[str]
    versions: dict[str, str]


def recipe(study: StudyResult) -> Recipe:
    """Return what makes the results of *study* again."""
    runs = [run for point in study.points for run in point.finished]
    versions: dict[str, dict[str, None]] = {}
    for run in runs:
        for name, version in run.versions.items():
            versions.setdefault(name, {})[version] = None
    file, folder = f"{study.name}.toml", f"results/{study.name}"
    return Recipe(
        file=file,
        scenario=toml_text(without_folders(study, _written(study))) if study.written is not None else "",
        needs=_needs(study),
        commands=[f"netbandit {words}" for words in (f"run {quote(file)}", f"report {quote(folder)}")],
        versions={name: ", ".join(sorted(found)) for name, found in versions.items()},
    )


def description(study: StudyResult) -> str:
    """Return what the scenario says it is about; empty where it says nothing."""
    found = study.written
    if found is None:
        found = next((run.resolved for point in study.points for run in point.finished), {})
    return str(found.get("description") or "")


def _written(study: StudyResult) -> dict[str, Any]:
    """Return the scenario without keys that were written for a kind it no longer has: alone they would be mistakes."""
    assert study.written is not None
    written = {"name": study.name, **study.written}
    resolved = [run.resolved for point in study.points for run in point.finished]
    for part in _PARTS:
        known = {key for one in resolved if isinstance(one.get(part), Mapping) for key in one[part]}
        if known and isinstance(written.get(part), Mapping):
            written[part] = {key: value for key, value in written[part].items() if key in known}
    return written


def _needs(study: StudyResult) -> list[str]:
    found = dict.fromkeys(_shown(study).values())
    for point in study.points:
        for run in point.finished:
            for part in _PARTS:
                kind = str(lookup(run.resolved, f"{part}.kind", ""))
                if ":" in kind:
                    found[f"{kind.partition(':')[0].replace('.', '/')}.py"] = None
    return list(found)


def without_folders(study: StudyResult, tree: dict[str, Any]) -> dict[str, Any]:
    """Return a scenario of *study* with bare names of files that it names by a whole path, which others do not have."""
    shown = _shown(study)

    def bare(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: bare(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [bare(inner) for inner in value]
        return shown.get(value, value) if isinstance(value, str) else value

    return {key: bare(value) for key, value in tree.items()}


def _shown(study: StudyResult) -> dict[str, str]:
    """Return the name under which each file is shown."""
    runs = [run for point in study.points for run in point.finished]
    files = [lookup(run.resolved, key, None) for run in runs for key in study.inputs]
    paths = [Path(str(file)) for file in files if file is not None]
    return {str(path): path.name if path.is_absolute() else str(path) for path in paths}
