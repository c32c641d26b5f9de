"""Files of tables drawn at random, and what they say by the csv module alone."""

import csv
import gzip
import io
from collections import Counter
from decimal import Decimal, InvalidOperation
from pathlib import Path
from random import Random

import numpy as np

from netbandit.bandits import reward_tables
from netbandit.bandits.table_sources import TableError
from netbandit.conditions.energy_plan import read_harvest
from netbandit.network import readers
from netbandit.network.readers import NotAGraphError
from netbandit.util.table_files import TableFileError

NAMES = [
    "1",
    "01",
    "1.0",
    "1.1",
    "1.10",
    "1e2",
    "100",
    "NA",
    "nan",
    "a b",
    "a#b",
    "#1",
    "é",
    'say "x"',
    "x,y",
    "x;y",
    "%p",
    "w",
]
"""What arms, agents and nodes are called, among them what pandas takes for one another or for nothing."""
SIGNS = [",", ";", "\t", '"', "\n", "\r\n", "#", " ", "1", ".", "x", "-", b"\xff", b"\0", b"\xef\xbb\xbf"]
"""What is added to files, and taken away."""
MISSING = {"", "na", "n/a", "#n/a", "nan", "-nan", "null", "none", "<na>"}
KINDS = ("wide", "long", "edges", "harvest")


class Drawn:
    """A file: what was written, and how.

    Attributes:
        kind: What it is a table of, of KINDS.
        rows: Its rows, with that of the names if it has one.
        header: Whether it has.
        changed: Whether signs were then added or taken away.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        rng = Random(seed)
        self.kind = rng.choice(KINDS)
        self.header = self.kind != "edges" or rng.random() < 0.5
        self.rows = getattr(self, f"_{self.kind}")(rng)
        self.changed = rng.random() < 0.5
        content = self._written(rng)
        for _ in range(rng.randint(1, 3) if self.changed else 0):
            place = rng.randrange(len(content) + 1)
            sign = rng.choice(SIGNS)
            added = b"" if rng.random() < 0.4 else sign if isinstance(sign, bytes) else sign.encode()
            content = content[:place] + added + content[place + rng.randint(0, 2) :]
        packed = rng.random() < 0.2
        self.path = folder / f"{self.kind}.csv{'.gz' if packed else ''}"
        self.path.write_bytes(gzip.compress(content, 1, mtime=0) if packed else content)
        self.content = content

    def _wide(self, rng: Random) -> list[list[str]]:
        names = rng.sample(NAMES, rng.randint(1, 5))
        gaps = rng.random() < 0.3
        rows = [[_number(rng, gaps and rng.random() < 0.2) for _ in names] for _ in range(rng.randint(1, 6))]
        if rng.random() < 0.2:  # the index of pandas
            return [["", *names], *([str(place), *row] for place, row in enumerate(rows))]
        return [names, *rows]

    def _long(self, rng: Random) -> list[list[str]]:
        arms, agents = rng.sample(NAMES, rng.randint(1, 4)), rng.sample(NAMES, rng.randint(1, 3))
        slots = [rng.choice(["{}", "{}.5", "{}.25e0"]).format(rng.randint(-3, 3) + 10 * place) for place in range(3)]
        names = ["arm", "reward", *rng.sample(["agent", "slot", "note"], rng.randint(0, 3))]
        rng.shuffle(names)
        rows = []
        for agent in agents if "agent" in names else [""]:
            for slot in slots if "slot" in names else [""]:
                rows += [
                    {"arm": arm, "reward": _number(rng), "agent": agent, "slot": slot, "note": rng.choice(NAMES)}
                    for arm in arms
                ]
        rng.shuffle(rows)
        return [names, *([row[name] for name in names] for row in rows)]

    def _edges(self, rng: Random) -> list[list[str]]:
        nodes = rng.sample(NAMES, rng.randint(2, 6))
        links = [[rng.choice(nodes), rng.choice(nodes)] for _ in range(rng.randint(1, 8))]
        if not self.header:
            return links
        return [["source", "target", "colour"], *([*link, rng.choice(NAMES)] for link in links)]

    def _harvest(self, rng: Random) -> list[list[str]]:
        times = sorted(rng.sample(range(10_000), rng.randint(1, 6)))
        return [["FROM", "WATT"], *([str(time / 8), str(rng.randint(0, 99) / 1000)] for time in times)]

    def _written(self, rng: Random) -> bytes:
        quoting = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
        end = rng.choice(["\n", "\r\n", "\r"])
        empty = [""] * (rng.randint(1, 2) if self.header and rng.random() < 0.15 else 0)
        self.separator = rng.choice(",;\t")
        lines = []
        for row in self.rows:
            text = io.StringIO()
            always = row[0].startswith(("#", "%")) or row == [""] or any(sign in cell for sign in ",;" for cell in row)
            csv.writer(
                text, delimiter=self.separator, lineterminator=end, quoting=csv.QUOTE_ALL if always else quoting
            ).writerow([*row, *empty])
            lines.append(text.getvalue())
            if rng.random() < 0.1:
                lines.append(rng.choice(["# no, row", "  #", *(["", "   "] if len(row) > 1 else [])]) + end)
        if rng.random() < 0.2:
            lines.insert(0, "# of a laboratory; 3,4" + end)
        text = "".join(lines)
        return (text if rng.random() < 0.5 else text.removesuffix(end)).encode(
            "utf-8-sig" if rng.random() < 0.2 else "utf-8"
        )

    def read(self) -> object:
        """Return what our reader makes of it; the text of its error if it refuses it."""
        try:
            if self.kind == "edges":
                return [link[:2] for link in readers.edge_list(self.path).links]
            return read_harvest(self.path) if self.kind == "harvest" else reward_tables.read(self.path)
        except (NotAGraphError, TableFileError, TableError) as error:
            return str(error)

    def by_csv(self, separator: str = "") -> list[list[str]] | None:
        """Return the rows by the csv module alone, without comments; None where these may be within a field.

        Without a *separator* it is that with which the file was written, or what the first line has most of since.
        """
        text = self.content.decode("utf-8-sig")
        comment = ("#", "%") if self.kind == "edges" else ("#",)
        lines = [line for line in io.StringIO(text, newline="") if not line.strip(" ").startswith(comment)]
        first = next((place for place, line in enumerate(lines) if line.strip()), None)
        if first is None:
            return []
        bare = "".join(lines[first].split('"')[::2])  # what was changed may have another separator
        single = self.kind == "wide" and not set(bare) & set(",;\t")  # then a blank line is an empty field
        lines = [line if line.strip() else '""\n' for line in lines[first:] if single or line.strip()]
        separator = separator or (max(",;\t", key=bare.count) if self.changed else self.separator)
        rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=separator, skipinitialspace=True)]
        return None if any("\n" in cell or "\r" in cell for row in rows for cell in row) else rows


def disagreement(drawn: Drawn) -> str:
    """Return "" if our reader and the csv module agree on what is in a file; ours may refuse what was changed."""
    found = drawn.read()
    if isinstance(found, str):
        if not found or "\n" in found:
            return f"not said in a line: {found}"
        return "" if drawn.changed or _may_be_refused(drawn) else f"refused: {found}"
    rows = drawn.by_csv()
    if rows is None:
        return "" if drawn.changed else "written in one line, read as two"
    if drawn.kind == "edges":
        ours = [list(link) for link in found]
        allowed = [rows] if not drawn.header else []
        if drawn.changed:  # even where separators begin and end may be unclear
            allowed = [other for other in map(drawn.by_csv, (*",;\t", " ")) if other]
        allowed = [[row[:2] for row in one] for one in allowed]
        words = not any((_value(cell) or 0) == _value(cell) for cell in rows[0]) if rows else False
        if drawn.header or drawn.changed or words:  # words before numbers are names of columns
            allowed += [one[1:] for one in [[row[:2] for row in rows], *allowed]]
        return "" if ours in allowed or (not ours and not rows) else f"{ours} != {allowed}"
    while rows and not any(rows[-1]):
        rows.pop()
    names = rows[0]
    if len({len(row) for row in rows}) != 1 and drawn.kind != "long":
        return f"rows of different lengths were read: {rows}"
    rows = [row for row in rows[1:] if any(row) or drawn.kind == "wide"]
    if any(len(row) != len(names) for row in rows):
        return f"rows of different lengths were read: {rows}"
    if drawn.kind == "harvest":
        expected = [(round(float(row[0]) * 10**9), round(Decimal(repr(float(row[1]))) * 10**9)) for row in rows]
        return "" if found == expected else f"{found} != {expected}"
    column = {name: [row[place] for row in rows] for place, name in enumerate(names) if name}
    if max(Counter(filter(None, names)).values()) > 1:
        return "a name was there twice"
    return _of_wide(found, column) if drawn.kind == "wide" else _of_long(found, column)


def _may_be_refused(drawn: Drawn) -> bool:
    """Tell whether rewards ascend by accident, no arm has one, or names are numbers alone."""
    if drawn.kind == "edges":  # of one link, or of one that stands apart
        ends = Counter(cell for row in drawn.rows for cell in row[:2])
        first = drawn.rows[0][:2]
        return not drawn.header and all(ends[cell] == first.count(cell) for cell in first)
    if drawn.kind != "wide":
        return False
    names, rows = drawn.rows[0], drawn.rows[1:]
    if all(_value(name) is not None for name in names if name):
        return True
    columns = [[_value(row[place]) for row in rows] for place, name in enumerate(names) if name]
    if any(all(np.isnan(cell) for cell in one) for one in columns):
        return True
    return any(len(one) > 2 and (np.diff(one) == 1).all() for one in columns)


def _of_wide(found: reward_tables.RewardTable, column: dict[str, list[str]]) -> str:
    if list(found.arms) != list(column):
        return f"arms {found.arms} != {list(column)}"
    values = np.array([[_value(text, missing=True) for text in column[arm]] for arm in found.arms], dtype=float).T
    if (found.rows is None) != bool(np.isnan(values).any()) or (
        found.rows is not None and found.rows.tolist() != values.tolist()
    ):
        return f"{found.rows} != {values}"
    expected = [sorted(one[~np.isnan(one)].tolist()) for one in values.T]
    return "" if [one.tolist() for one in found.values] == expected else f"{found.values} != {expected}"


def _of_long(found: reward_tables.RewardTable, column: dict[str, list[str]]) -> str:
    if list(found.arms) != list(dict.fromkeys(column["arm"])):
        return f"arms {found.arms} != {column['arm']}"
    agents = column.get("agent", [""] * len(column["arm"]))
    if set(found.agents or [""]) != set(agents):
        return f"agents {found.agents} != {agents}"
    rewards = [float(text) for text in column["reward"]]
    cells = [(agent, arm) for agent in found.agents or [""] for arm in found.arms]
    of = list(zip(agents, column["arm"], strict=True))
    expected = [sorted(paid for paid, cell in zip(rewards, of, strict=True) if cell == wanted) for wanted in cells]
    if [one.tolist() for one in found.values] != expected:
        return f"{found.values} != {expected}"
    if ("slot" in column) != (found.rows is not None):
        return "slots"
    if "slot" not in column:
        return ""
    try:
        order = sorted(set(column["slot"]), key=Decimal)
    except InvalidOperation:
        return ""  # a text, by then
    paid = dict(zip(zip(column["slot"], of, strict=True), rewards, strict=True))
    rows = [[paid[slot, cell] for cell in cells] for slot in order]
    assert found.rows is not None
    return "" if found.rows.reshape(len(order), -1).tolist() == rows else f"{found.rows} != {rows}"


def _number(rng: Random, missing: bool = False) -> str:
    return (
        rng.choice(["", "NA", "NaN"])
        if missing
        else rng.choice(["{}", "{}.5", "-{}", "{}e-2"]).format(rng.randint(0, 9))
    )


def _value(text: str, *, missing: bool = False) -> float | None:
    if text.lower() in MISSING:
        return float("nan")
    try:
        return float(text)
    except ValueError:
        return None
