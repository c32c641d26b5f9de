"""A paper to reproduce: its figures and claims, as written beside their scenarios.

A paper is a folder with a ``claims.toml`` and scenario files::

    paper = "Li & Song 2022, ..."
    setting = "How its setting was found: what the paper leaves open, what was tried, what was chosen after looking"
    sources = { text = "agents, arms", code = "means", ours = "the horizon" }

    [[figures]]
    id = "fig4"
    title = "Regret of CDP-MAB with different privacy levels"
    scenarios = ["fig4.toml"]
    series = [{ name = "ε = 0.1", where = { "learner.epsilon" = 0.1 } }]
    panels = [{ kind = "curves", where = { "run.horizon" = 10000 } }]

    [[claims]]
    id = "fig4-order"
    figure = "fig4"
    ...

The keys are those of `Figure`, `Panel` and `netbandit.studies.papers.claims.Claim`; ``paraphrased = true`` before all
tables says that no claim is a quotation.
"""

import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, ValidationError, model_validator

import netbandit
from netbandit.parts.settings import Settings
from netbandit.studies.papers.claims import Claim, Formula
from netbandit.studies.papers.selectors import Selector
from netbandit.util.nesting import TooDeepError, read_toml
from netbandit.util.wording import did_you_mean

FILE = "claims.toml"
"""The file of a paper's folder that holds its figures and claims."""

_INSTALLED = Path("studies") / "papers" / "data"
_CHECKOUT = Path("..") / "scenarios" / "papers"


class PaperError(Exception):
    """A missing paper or figure, or a file of claims with mistakes."""


class Series(Settings):
    """Points of a figure that share a name and a colour.

    Attributes:
        name: Their name in the legend.
        where: Which points they are.
    """

    name: str
    where: Selector = Field(default={})


class Reference(Settings):
    """References for the points of a figure: thin lines without marks, at the height of other points.

    Attributes:
        name: Its name in the legend.
        where: Keys that, in place of a panel's and a series' own, select what to draw: one point for a level line, or
            several of which each stands at its own x.
        each: Whether each series has its own; otherwise the keys of series are left out.
    """

    name: str
    where: Selector
    each: bool = False


class Panel(Settings):
    """One pair of axes.

    Attributes:
        title: The title that distinguishes it from the other panels.
        kind: ``curves``: a curve of the runs over the slots; ``points``: one formula against another; ``bars``: a
            formula, one bar for each series; ``cells``: a table of a formula, of which the numbers are coloured.
        where: Which points it shows.
        series: Which series, all of the figure if there is none.
        x, y: The formulas on the axes; for curves *y* names a curve.
        per: A formula that curves are divided by, such as ``agents``.
        minus: The point whose *y* is taken off, replication by replication; not for curves.
        ratio_to: Keys that, in place of a series' own, select the one point by whose *y* the series is divided,
            replication by replication; not for curves.
        alike: Of cells: the keys in which a point and the one it is divided by are the same.
        x_label, y_label: The labels of the axes.
        joined: Whether a line joins the points of a series.
        log: The axes that are logarithmic.
        across: Of cells: the keys whose values are the columns, the last of them changing fastest.
        upward: Of cells: the key whose values are the rows.
        names: For cells: names of values, where these are clearer than the values.
    """

    title: str = ""
    kind: Literal["curves", "points", "bars", "cells"] = "curves"
    where: Selector = Field(default={})
    series: list[str] = Field(default=[])
    x: Formula = "run.horizon"
    y: Formula = "regret"
    per: Formula | None = None
    minus: Selector | None = None
    ratio_to: Selector | None = None
    alike: list[str] = Field(default=[])
    x_label: str = "time (slots)"
    y_label: str = "regret of all agents (reward)"
    joined: bool = True
    across: list[str] = Field(default=[], max_length=2)
    upward: str = ""
    names: dict[str, str] = Field(default={})
    log: list[Literal["x", "y"]] = Field(default=[])

    @model_validator(mode="after")
    def _has_rows(self) -> Self:
        if (self.kind == "cells") != bool(self.across and self.upward):
            raise ValueError("cells need across and upward, the keys of columns and rows; other panels have neither")
        return self


def _file_name(name: str) -> str:
    if not name.replace("-", "").replace("_", "").isalnum():
        raise ValueError("must be letters, digits, - and _ only: it names files")
    return name


class Figure(Settings):
    """A figure of the paper.

    Attributes:
        id: Its name, such as ``fig4``; its pictures are called so.
        title: The title.
        note: A remark on how it is drawn.
        scenarios: The scenario files whose runs it shows.
        average: A key whose values are instances, such as ``bandit.seed``: points that differ in it alone are one, and
            their mean, replication by replication, is used.
        series: The series, in the order of the legend.
        references: References beside the points of a panel.
        panels: The axes, side by side; none for runs that only decide claims.
        statistic: The statistic over replications: the mean, or the median, which is robust against few of them; cells
            show the median over instances too.
        chosen: Choices made after looking at verdicts, such as the number of replications; stated with each claim.
    """

    id: Annotated[str, AfterValidator(_file_name)]
    title: str
    note: str = ""
    scenarios: list[str] = Field(min_length=1)
    average: str | None = None
    series: list[Series] = Field(default=[])
    references: list[Reference] = Field(default=[], max_length=3)
    panels: list[Panel] = Field(default=[])
    statistic: Literal["mean", "median"] = "mean"
    chosen: str = ""


class Sources(Settings):
    """Where the settings of a paper's figures come from, each in words; empty: nothing does.

    Attributes:
        text: Settings from the paper's text.
        code: Settings from its authors' public code.
        ours: Settings chosen or guessed here.
    """

    text: str = ""
    code: str = ""
    ours: str = ""


class _File(Settings):
    paper: str
    setting: str = Field(min_length=1)
    paraphrased: bool = False
    sources: Sources = Field(default=Sources())
    figures: list[Figure] = Field(min_length=1)
    claims: list[Claim]


@dataclass(frozen=True)
class Paper:
    """A paper to reproduce.

    Attributes:
        name: The name of its folder.
        title: The paper.
        setting: How its setting was found: what the paper leaves open, and what was tried.
        sources: Which settings come from its text, from its authors' code, and from us.
        folder: Where its scenarios are.
        figures: Its figures.
        claims: Its claims.
    """

    name: str
    title: str
    setting: str
    sources: Sources
    folder: Path
    figures: tuple[Figure, ...]
    claims: tuple[Claim, ...]

    def only(self, figure: str) -> "Paper":
        """Return the paper with this figure alone.

        Raises:
            PaperError: It has no such figure.
        """
        chosen = tuple(one for one in self.figures if one.id == figure)
        if not chosen:
            known = [one.id for one in self.figures]
            raise PaperError(
                f"{self.name} has no figure {figure}{did_you_mean(figure, known)}: it has {', '.join(known)}"
            )
        claims = tuple(claim for claim in self.claims if claim.figure == figure)
        return replace(self, figures=chosen, claims=claims)


def papers_folder() -> Path:
    """Return the folder of all papers: in the installed package, or beside it in a checkout.

    Raises:
        PaperError: There is neither.
    """
    package = Path(netbandit.__file__).parent
    for folder in (package / _CHECKOUT, package / _INSTALLED):
        if any(folder.glob(f"*/{FILE}")):
            return folder.resolve()
    raise PaperError(f"the papers' scenarios are missing: neither {package / _INSTALLED} nor scenarios/papers is there")


def paper_names() -> list[str]:
    """Return the names of all papers that can be reproduced.

    Raises:
        PaperError: There are no papers.
    """
    return sorted(file.parent.name for file in papers_folder().glob(f"*/{FILE}"))


def load_paper(name: str) -> Paper:
    """Return a paper by the name of its folder.

    Raises:
        PaperError: There is no such paper, or its file has mistakes.
    """
    names = paper_names()
    if name not in names:
        raise PaperError(f"there is no paper {name}{did_you_mean(name, names)}: there is {', '.join(names)}")
    return read_paper(papers_folder() / name)


def read_paper(folder: Path) -> Paper:
    """Return the paper in *folder*.

    Raises:
        PaperError: Its file is missing or has mistakes; all of them are in the message, one a line.
    """
    path = folder / FILE
    try:
        content = _File.model_validate(read_toml(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, TooDeepError) as error:
        raise PaperError(f"{path}: {error}") from error
    except ValidationError as error:
        lines = [f"{path}: {'.'.join(map(str, entry['loc']))}: {entry['msg']}" for entry in error.errors()]
        raise PaperError("\n".join(lines)) from error
    mistakes = list(_mistakes(content, folder))
    if mistakes:
        raise PaperError("\n".join(f"{path}: {mistake}" for mistake in mistakes))
    return Paper(
        folder.name,
        content.paper,
        content.setting,
        content.sources,
        folder,
        tuple(content.figures),
        tuple(
            claim.model_copy(update={"paraphrased": True}) if content.paraphrased else claim for claim in content.claims
        ),
    )


def _mistakes(content: _File, folder: Path) -> Iterator[str]:
    """Yield mistakes in combinations of keys."""
    for what, found in (("figures", content.figures), ("claims", content.claims)):
        names = Counter(one.id for one in found)
        yield from (f"{what}: {name} is there twice" for name, count in sorted(names.items()) if count > 1)
    known = {figure.id: figure for figure in content.figures}
    for figure in content.figures:
        yield from (f"{figure.id}: there is no {name}" for name in figure.scenarios if not (folder / name).is_file())
        named = [series.name for series in figure.series]
        for panel in figure.panels:
            yield from (f"{figure.id}: there is no series {name}" for name in panel.series if name not in named)
    for claim in content.claims:
        if claim.figure not in known:
            yield f"{claim.id}: there is no figure {claim.figure}{did_you_mean(claim.figure, list(known))}"
        elif claim.measure == "share" and known[claim.figure].average:
            yield f"{claim.id}: no share of runs where runs are averaged over {known[claim.figure].average}"
