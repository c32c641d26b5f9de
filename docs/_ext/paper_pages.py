"""A page for each reproduced paper, made from its claims and from the record that is shipped with netbandit.

Pictures were drawn when the figures were recorded; ``docs/papers/keep_pictures.py`` puts them beside the pages.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from netbandit.results.numbers import level_text
from netbandit.studies.papers.claim_text import asked, stated_remarks, tagged
from netbandit.studies.papers.claims import Claim, Kind
from netbandit.studies.papers.figures import Figure, Paper, load_paper, paper_names
from netbandit.studies.papers.record import Record, RecordedClaim, RecordedFigure, shipped
from netbandit.studies.papers.regions import BY_TEXT, FAILS, HOLDS, NOT_TESTED, OPEN
from netbandit.util.process import machine_text
from netbandit.util.text import pluralize
from netbandit.util.units import rough_time

if TYPE_CHECKING:
    from sphinx.application import Sphinx

NOT_RUN = "not recorded"
"""The verdict on a claim whose figure is not in the record."""

ORDER = (
    *("dpmab", "feducb", "pfcb", "vertical"),
    *("coop", "dducb", "decucb", "rcl", "gosine", "fwa", "fedelim"),
    *("asynchronous", "unreliable", "delay", "byzantine", "changing", "contexts"),
)
"""The papers in the order in which readers ask for them."""


def names() -> list[str]:
    """Return the names of all papers, in `ORDER`."""
    return sorted(paper_names(), key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))


def overview(record: Record) -> str:
    """Return a table of all papers for each kind of claim: how many have each verdict."""
    return "\n".join(line for kind, heading in _HEADINGS.items() for line in (heading, "", *_table(record, kind), ""))


_HEADINGS: Mapping[Kind, str] = {
    "the paper's": "Claims of the papers:",
    "not the paper's number": "Claims of the papers, decided by what is not theirs: a margin, a threshold, the "
    "constant of an order, a formula that the text has lost:",
    "fitted": "Claims of the papers that a setting was fitted to, so that they are no test:",
    "ours": "Questions of our own, which are no sentences of the papers:",
}


_VERDICTS = (HOLDS, FAILS, OPEN, BY_TEXT, NOT_TESTED, NOT_RUN)


def _table(record: Record, kind: Kind) -> Iterator[str]:
    yield f"| paper | {'questions' if kind == 'ours' else 'claims'} | {' | '.join(_VERDICTS)} |"
    yield f"|---|--:|{'--:|' * len(_VERDICTS)}"
    total: Counter[str] = Counter()
    for name in names():
        paper = load_paper(name)
        found = Counter(_verdict(record, paper, claim) for claim in paper.claims if claim.kind == kind)
        if found:
            total += found
            yield f"| [{name}]({name}.md): {paper.title} | {_counts(found)} |"
    yield f"| **all** | {_counts(total)} |"


def _counts(found: Counter[str]) -> str:
    return " | ".join(str(number) for number in (found.total(), *(found[each] for each in _VERDICTS)))


def _verdict(record: Record, paper: Paper, claim: Claim) -> str:
    figure = record.get((paper.name, claim.figure))
    return NOT_RUN if figure is None else _recorded(figure, claim).verdict


def _recorded(figure: RecordedFigure, claim: Claim) -> RecordedClaim:
    return next(one for one in figure.claims if one.id == claim.id)


def page(paper: Paper, record: Record, pictures: Path) -> str:
    """Return the page of a paper.

    Args:
        paper: The paper.
        record: What was recorded.
        pictures: The folder of the pictures, of which some may be missing.
    """
    lines = [f"# {paper.name}: {_title(paper)}\n", f"{paper.title}\n", *_summary(paper, record), ""]
    lines += ["## Verdicts\n", ":::{div} prose claims", *_verdict_table(paper, record), ":::\n"]
    for figure in paper.figures:
        lines += _section(paper, figure, record.get((paper.name, figure.id)), pictures)
    lines += ["## Setting\n", f"{_sentence(paper.setting)}\n"]
    for key, said in _SOURCES.items():
        lines.append(f"- **{said}**: {_plain(getattr(paper.sources, key)) or 'nothing'}")
    return "\n".join([*lines, ""])


def _summary(paper: Paper, record: Record) -> Iterator[str]:
    """Yield what was found, and what of it is doubtful, a line each."""
    verdicts = [(claim, _verdict(record, paper, claim)) for claim in paper.claims]
    found = Counter(verdict for _, verdict in verdicts)
    counts = ", ".join(f"*{each}* {found[each]}" for each in _VERDICTS if found[each])
    yield f"{pluralize(len(verdicts), 'claim')}: {counts}. `netbandit reproduce {paper.name}` repeats all figures.\n"
    for doubtful in (FAILS, OPEN, BY_TEXT, NOT_TESTED):
        if found[doubtful]:
            named = [f"[`{claim.id}`](#{_anchor(paper, claim.figure)})" for claim, one in verdicts if one == doubtful]
            yield f"- **{_sentence(doubtful)}**: {', '.join(named)}"
    kinds = Counter(claim.kind for claim in paper.claims)
    weak = [f"{kinds[kind]} {said}" for kind, said in _DOUBTFUL.items() if kinds[kind]]
    if weak:
        yield f"- **No test of the paper alone**: {', '.join(weak)}"


_DOUBTFUL: Mapping[Kind, str] = {
    "not the paper's number": "decided by a number of ours",
    "fitted": "that a setting was fitted to",
    "ours": "questions of our own",
}


_SOURCES = {"text": "From the paper's text", "code": "From its authors' code", "ours": "Chosen or guessed here"}


def _title(paper: Paper) -> str:
    """Return the title of the paper, without its authors and year."""
    return paper.title.partition(": ")[2].partition(" (")[0] or paper.title


def _sentence(text: str) -> str:
    text = text.strip()
    first = text.split(maxsplit=1)[0]
    return text if len(first) == 1 and first != "a" else f"{text[0].upper()}{text[1:]}"  # symbols stay as they are


def _verdict_table(paper: Paper, record: Record) -> Iterator[str]:
    yield "| claim | verdict | number [interval] | figure |"
    yield "|---|---|---|---|"
    for claim in paper.claims:
        figure = record.get((paper.name, claim.figure))
        found = None if figure is None else _recorded(figure, claim)
        number = "" if found is None else _cell(found.number)
        link = f"[{claim.figure}](#{_anchor(paper, claim.figure)})"
        name, _, kind = tagged(claim).partition(" ")
        said = f"`{name}`{kind and ' '}{kind}: {_cell(claim.says)}"
        yield f"| {said} | {_mark(found)} | {number} | {link} |"


def _mark(found: RecordedClaim | None) -> str:
    return f"*{NOT_RUN}*" if found is None else f"**{found.verdict}**"


def _anchor(paper: Paper, figure: str) -> str:
    return f"{paper.name}-{figure}"


def _cell(text: str) -> str:
    return _plain(text).replace("|", "\\|")


def _plain(text: str) -> str:
    """Return words without the marks that Markdown would read in them."""
    parts = text.split("`")
    for place in range(0, len(parts), 2):  # what stands between two of them is code
        for sign in "\\*_<>[]$":
            parts[place] = parts[place].replace(sign, f"\\{sign}")
    return " ".join(("`" if len(parts) % 2 else "\\`").join(parts).split())


def _section(paper: Paper, figure: Figure, found: RecordedFigure | None, pictures: Path) -> Iterator[str]:
    """Yield the section of a figure: its picture, and behind a fold how to repeat it, and its claims."""
    yield f"({_anchor(paper, figure.id)})="
    yield f"## {figure.id}: {_plain(figure.title)}\n"
    if (pictures / f"{paper.name}-{figure.id}.png").exists() and found is not None:
        yield f"```{{figure}} pictures/{paper.name}-{figure.id}.png\n:alt: {_plain(figure.title)}\n```\n"
    claims = [claim for claim in paper.claims if claim.figure == figure.id]
    yield f"::::{{dropdown}} How it was run, and {pluralize(len(claims), 'claim')} compared with it\n"
    if figure.note:
        yield f"{_sentence(_plain(figure.note))}.\n"
    yield f"```sh\nnetbandit reproduce {paper.name}/{figure.id}\n```\n"
    yield f"{_how(found)}\n"
    for claim in claims:
        yield from _claim(claim, figure.chosen, None if found is None else _recorded(found, claim))
    yield "::::\n"


def _how(found: RecordedFigure | None) -> str:
    """Return how a figure was recorded, in words."""
    if found is None:
        return "Not recorded yet: running it needs more computing than was spent on this record."
    took = "" if found.seconds is None else f", {rough_time(found.seconds)} of one core"
    made = f"netbandit {found.versions['netbandit']}, Python {found.versions['python']}"
    return f"Recorded on {found.at[:10]}: {pluralize(found.runs, 'run')}{took}, {made}, {machine_text(found.machine)}."


def _claim(claim: Claim, chosen: str, found: RecordedClaim | None) -> Iterator[str]:
    """Yield a claim: what the paper says, how it is read, what was measured, and why it may not hold."""
    yield f"**{claim.id}** ({_plain(claim.where)}): {_plain(asked(claim))}\n: {_mark(found)}"
    yield f": *Read as*: {_plain(claim.read_as)}; {'in each run ' if claim.every_run else ''}{claim.region}."
    if found is not None:
        yield f": *Measured*: {_plain(found.measured)}: {_plain(found.number)}{_certainty(found)}."
        if found.each:
            yield f": *Each*: {_plain('; '.join(found.each))}."
    remarks = [] if found is None else [*found.remarks, *stated_remarks(claim, found.verdict, chosen, found.margins)]
    for remark in remarks:
        yield f": {_sentence(_plain(remark))}."
    if found is not None and found.verdict == FAILS and not claim.if_not:
        yield ": Why it does not hold is not known."
    yield ""


def _certainty(found: RecordedClaim) -> str:
    """Return how sure the number is, in words."""
    parts = []
    if found.confidence is not None and "no interval" not in found.number:
        parts.append(f"{100 * found.confidence:.4g} % interval")
    if found.replications is not None:
        parts.append(pluralize(found.replications, "replication"))
    if found.comparisons > 1:
        which = "one" if found.verdict in (NOT_TESTED, BY_TEXT) else "the one that decides"
        parts.append(f"{which} of {found.comparisons} comparisons")
    if found.p is not None:
        p = level_text(found.p)
        together = f", {found.together} claims judged together" if found.together > 1 else ""
        parts.append(f"p {p if p.startswith('<') else f'= {p}'} at level {level_text(found.level)}{together}")
    return f" ({'; '.join(parts)})" if parts else ""


def write(app: "Sphinx") -> None:
    """Write the papers' pages."""
    from scenario_gallery import keep

    folder = Path(app.srcdir) / "papers"
    record = shipped()
    for name in names():
        keep(folder / f"{name}.md", page(load_paper(name), record, folder / "pictures"))
    pages = "\n".join(["```{toctree}", ":hidden:", "", *names(), "```", ""])
    keep(folder / "papers.inc", f"{overview(record)}\n{pages}")


def setup(app: "Sphinx") -> dict[str, bool]:
    """Have the pages written before Sphinx reads its sources."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
