"""References for a paper about the results: this version of netbandit, and the papers of the algorithms used."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import metadata
from importlib.resources import files
from typing import Any

from netbandit.results.numbers import cell
from netbandit.results.study_result import StudyResult
from netbandit.util.key_paths import lookup

CITATION = "citation.bib"
"""The name of the file in a results folder."""

YEAR = 2026
URL = next(
    (line.partition(", ")[2] for line in metadata("netbandit").get_all("Project-URL", []) if "Homepage" in line), ""
)
"""Where netbandit is found: the homepage that the package states."""

_PARTS = ("bandit", "learner", "protocol")

_NETBANDIT = """@software{{netbandit,
  author  = {{{{The netbandit developers}}}},
  title   = {{netbandit: A Discrete-Event Simulator of Agents that Learn Together over a Network}},
  version = {{{version}}},
  year    = {{{year}}},
  url     = {{{url}}}
}}"""


@dataclass(frozen=True)
class Paper:
    """A paper of ``references.bib``.

    Attributes:
        rules: When it is cited: where a run has all values of any of these, as ``table.csv`` has them, by key.
        entry: The entry for BibTeX.
    """

    rules: list[dict[str, str]]
    entry: str

    def is_for(self, resolved: dict[str, Any]) -> bool:
        """Return whether a run of the scenario *resolved* takes anything of it."""
        return any(
            all(cell(lookup(resolved, key, None)) == value for key, value in rule.items()) for rule in self.rules
        )


def citation(study: StudyResult) -> str:
    """Return the entries for BibTeX of all that the finished runs of *study* take their numbers from."""
    runs = [run for point in study.points for run in point.finished]
    versions = sorted({run.versions.get("netbandit", "") for run in runs} - {""})
    software = _NETBANDIT.format(version=", ".join(versions), year=YEAR, url=URL)
    cited = [paper.entry for paper in papers() if any(paper.is_for(run.resolved) for run in runs)]
    kinds = dict.fromkeys(str(lookup(run.resolved, f"{part}.kind", "")) for run in runs for part in _PARTS)
    own = [f"% {kind} is a part of your own: cite what it follows" for kind in kinds if ":" in kind]
    return "\n\n".join([software, *cited, *filter(None, ["\n".join(own)])]) + "\n"


def papers() -> Iterator[Paper]:
    """Yield all papers of ``references.bib``."""
    text = files(__package__).joinpath("references.bib").read_text(encoding="utf-8")
    for lines, entry in re.findall(r"((?:^% .*\n)+)(@(?:.*\n)*?\})$", text, re.MULTILINE):
        rules = [dict(re.findall(r"([\w.]+) = ([\w-]+)", line)) for line in lines.splitlines()]
        yield Paper(rules, entry)
