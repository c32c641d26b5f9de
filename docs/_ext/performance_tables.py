"""The figures of the performance page, from the record of benchmarks that is kept beside it.

``netbandit bench --record docs/performance/record.jsonl`` measures them, each benchmark several times; a page without
a record says so.
"""

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from netbandit.bench import catalogue
from netbandit.bench.measure import Row
from netbandit.bench.record import Run, read
from netbandit.plural import counted
from netbandit.results.machine import machine_text
from netbandit.results.numbers import shortest

if TYPE_CHECKING:
    from sphinx.application import Sphinx

RECORD = "record.jsonl"

CHARTS = {
    "messages": ("hops_per_s", "hops a second"),
    "faults": ("ratio", "time of a hop, over that of one without faults"),
    "horizon": ("seconds", "seconds a run"),
    "rounds": ("seconds", "seconds a round"),
    "scale": ("seconds", "seconds a run"),
    "decisions": ("faster", "times as fast as numpy"),
    "procurement": ("share", "share of the time"),
    "slots": ("seconds", "seconds a run"),
    "vertical": ("slots_per_s", "slots a second"),
    "cooperative": ("seconds", "seconds a run"),
}
"""The column of each benchmark that its chart shows, and what the axis says."""


def by_benchmark(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Return the runs of each benchmark, in the order of the catalogue."""
    names = [name for name in (*catalogue.NAMES, *catalogue.ON_REQUEST) if any(run.benchmark == name for run in runs)]
    return {name: [run for run in runs if run.benchmark == name] for name in names}


def label(row: Row) -> str:
    """Return what a row is about: its words, and the whole numbers that say how large it is."""
    return ", ".join(
        value if isinstance(value, str) else f"{column} {shortest(value)}"
        for column, value in row.items()
        if (isinstance(value, str) and value) or (isinstance(value, int) and column in ("agents", "horizon", "latency"))
    )


def table(runs: Sequence[Run]) -> list[str]:
    """Return the table of one benchmark: the median over its runs, and the least and largest where they differ."""
    columns = list(runs[0].rows[0])
    lines = ["| " + " | ".join(columns) + " |"]
    numeric = [not isinstance(runs[0].rows[0][column], str) for column in columns]
    lines.append("|" + "|".join("--:" if each else "---" for each in numeric) + "|")
    rows_of = zip(*(run.rows for run in runs), strict=True)
    return [*lines, *("| " + " | ".join(_cell(rows, column) for column in columns) + " |" for rows in rows_of)]


def _cell(rows: Sequence[Row], column: str) -> str:
    numbers = [row[column] for row in rows if isinstance(row.get(column), int | float)]
    if len(numbers) < len(rows):
        return str(rows[0].get(column, ""))
    middle = median(float(number) for number in numbers)
    texts = [catalogue.text({column: number}, column) for number in (middle, min(numbers), max(numbers))]
    if all(isinstance(number, int) for number in numbers):
        return shortest(round(middle))
    return texts[0] if texts[1] == texts[2] else f"{texts[0]} ({texts[1]} to {texts[2]})"


def chart(runs: Sequence[Run], column: str, axis: str, place: Path) -> None:
    """Draw one benchmark: a line for each row, a dot for each run."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = [row for row in runs[0].rows if isinstance(row.get(column), int | float)]
    places = [runs[0].rows.index(row) for row in rows]
    figure, axes = pyplot.subplots(figsize=(7.5, 0.9 + 0.3 * len(rows)), dpi=100, layout="constrained")
    for height, number in enumerate(places):
        values = [float(run.rows[number][column]) for run in runs]
        axes.plot(values, [height] * len(values), "o", color="#0072B2", alpha=0.5, markersize=6)
    axes.set_yticks(range(len(rows)), [label(row) for row in rows], fontsize=9)
    axes.invert_yaxis()
    found = [float(run.rows[number][column]) for run in runs for number in places]
    if min(found) > 0 and max(found) / min(found) > 20:
        axes.set_xscale("log")
    else:
        axes.set_xlim(left=0)
    axes.set_xlabel(axis)
    axes.grid(axis="x", color="#e5e5e5")
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(y=0.08)
    figure.savefig(place)
    pyplot.close(figure)


def page(runs: Sequence[Run]) -> str:
    """Return the tables of all recorded benchmarks, each below its chart."""
    if not runs:
        return "No figures are recorded with this version.\n"
    lines = []
    for name, some in by_benchmark(runs).items():
        _, axis = CHARTS.get(name, ("", ""))
        lines += [f"### `{name}`: {catalogue.title(name)}\n"]
        if axis:
            lines += [f"```{{figure}} {name}.png\n:alt: {catalogue.title(name)}: {axis}\n```\n"]
        lines += [*table(some), ""]
        made = sorted({run.versions["netbandit"] for run in some})
        where = "; ".join(dict.fromkeys(machine_text(run.machine) for run in some))
        lines += [f"{counted(len(some), 'run')}, netbandit {', '.join(made)}, {where}, {some[-1].at[:10]}.\n"]
    return "\n".join(lines)


def write(app: "Sphinx") -> None:
    """Write the tables and charts."""
    from scenario_gallery import keep

    folder = Path(app.srcdir) / "performance"
    runs = read(folder / RECORD) if (folder / RECORD).exists() else []
    for name, some in by_benchmark(runs).items():
        drawn = folder / f"{name}.png"
        stale = not drawn.exists() or drawn.stat().st_mtime < (folder / RECORD).stat().st_mtime
        if name in CHARTS and stale:
            chart(some, *CHARTS[name], drawn)
    keep(folder / "figures.inc", page(runs))


def setup(app: "Sphinx") -> dict[str, bool]:
    """Have the tables written before Sphinx reads its sources."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
