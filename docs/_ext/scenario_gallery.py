"""A page for each shipped scenario, made from the file itself: its question, its picture, its text.

Every scenario is run when the site is built, with its horizon cut as its pinned numbers have it
(``tests/data/scenario_numbers.json``). Where a picture of the whole study is committed under ``gallery/pictures``, that
is the one on the page, with the command that makes it; else it is of the run made here, and the page says so.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import logging

ROOT = Path(__file__).parents[2]
SCENARIOS = ROOT / "scenarios"
PINNED = ROOT / "tests" / "data" / "scenario_numbers.json"
BEST = (
    "learners",
    "structure",
    "tradeoff",
    "heatmap",
    "diameter",
    "delay",
    "privacy",
    "communication",
    "parameter",
    "regret",
)
"""Pictures by name, the most telling first."""
TOLD_BY = {
    "pfcb_delay": "parameter",
    "churn": "parameter",
    "loss": "parameter",
    "drift": "regret",
    "bursts": "regret",
    "outage": "regret",
}
"""The most telling picture of a scenario, where that is another than of most."""
WHOLE_RUNS = ROOT / "docs" / "gallery" / "whole_runs.json"
"""What whole studies took, written by ``docs/gallery/whole_runs.py``."""
GROUPS = {
    "Delay and topology": (
        "quickstart delay_regret cost_vs_diameter continents abilene advice structures hybrid ring star random"
    ),
    "Failures": "loss bursts outage churn deadline",
    "Budget and privacy": "budget equal_cost feducb_private",
    "Learners": "baselines drift feducb feducb_delay asynchronous",
    "Procurement": "pfcb pfcb_structures pfcb_delay pfcb_threshold",
    "Vertical data": "vertical replay",
}
"""The scenarios of the gallery, by heading."""
_LOG = logging.getLogger(__name__)


def best_picture(name: str, folder: Path) -> Path | None:
    """Return the most telling picture of a scenario whose results are in *folder*; None where there is none."""
    drawn = [folder / f"{best}.png" for best in (TOLD_BY.get(name, BEST[0]), *BEST)]
    return next((picture for picture in drawn if picture.exists()), None)


def how_long(name: str) -> str:
    """Return what the whole study of a scenario takes, in words; nothing where that was not measured."""
    figures = json.loads(WHOLE_RUNS.read_text(encoding="utf-8")) if WHOLE_RUNS.exists() else {}
    if name not in figures:
        return ""
    runs, seconds = figures[name]["runs"], figures[name]["core_seconds"]
    return f"The whole study, {runs} runs, keeps one core busy for {_rounded(seconds)}; `--jobs 0` uses all cores."


def _rounded(seconds: float) -> str:
    if seconds < 90:
        return f"about {max(1, round(seconds))} seconds"
    return f"about {round(seconds / 60)} minutes"


def comment_of(text: str) -> str:
    """Return the comment at the head of a scenario file, as paragraphs."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("#").strip())
    return "\n".join(lines).strip()


def title_of(name: str) -> str:
    """Return the question that the scenario *name* answers."""
    text = (SCENARIOS / f"{name}.toml").read_text(encoding="utf-8")
    return str(tomllib.loads(text).get("description") or name.replace("_", " "))


def grid(pictures: dict[str, str]) -> str:
    """Return the cards of all scenarios: their picture and question under the heading of their group.

    Args:
        pictures: The file of each scenario's picture, beside the page.
    """
    lines = []
    for heading, names in GROUPS.items():
        lines += [f"## {heading}\n", "::::{grid} 1 2 2 3", ":gutter: 3\n"]
        for name in names.split():
            lines += [f":::{{grid-item-card}} {title_of(name)}", f":link: {name}", ":link-type: doc"]
            lines += [f":img-bottom: pictures/{pictures[name]}"] if name in pictures else []
            lines += [f":img-alt: {title_of(name)}"] if name in pictures else []
            lines.append(":::\n")
        lines.append("::::\n")
    return "\n".join(lines)


def page(name: str, picture: tuple[str, str] | None, said: str) -> str:
    """Return the page of the scenario *name*.

    Args:
        name: Its file, without the ending.
        picture: File and caption of its picture, or None.
        said: What is said of the run that was made for the page.
    """
    text = (SCENARIOS / f"{name}.toml").read_text(encoding="utf-8")
    title = title_of(name)
    lines = [f"# {title}\n", comment_of(text), ""]
    if picture is not None:
        file, caption = picture
        lines += [f"```{{figure}} pictures/{file}", f":alt: {title}", "", caption, "```", ""]
    lines += ["```sh", f"netbandit run scenarios/{name}.toml", "```", "", how_long(name), ""]
    lines += [f"The file, `scenarios/{name}.toml`:", "", "```toml", text.rstrip(), "```", "", said, ""]
    return "\n".join(lines)


def run(name: str, cut: list[str], folder: Path) -> str:
    """Run a scenario into *folder*, with the cuts given, and return what a page says of it."""
    command = [
        sys.executable,
        "-m",
        "netbandit",
        "run",
        str(SCENARIOS / f"{name}.toml"),
        "--json",
        "--out",
        str(folder),
    ]
    command += [word for change in [*cut, "run.replications=1"] for word in ("--set", change)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "100"})
    if done.returncode:
        raise ExtensionError(f"scenarios/{name}.toml does not run: {done.stderr}")
    points: list[Any] = json.loads(done.stdout)["points"]
    shown = ", ".join(f"`{change}`" for change in cut)
    return f"When this page was built it was run once, with {shown}: {len(points)} points, one run each."


def write(app: Sphinx) -> None:
    """Write the gallery's pages."""
    pinned: dict[str, Any] = json.loads(PINNED.read_text(encoding="utf-8"))
    gallery = Path(app.srcdir) / "gallery"
    made = gallery / "pictures" / "made"
    made.mkdir(parents=True, exist_ok=True)
    pictures: dict[str, str] = {}
    for file in sorted(SCENARIOS.glob("*.toml")):
        name = file.stem
        _LOG.info("running scenarios/%s.toml", name)
        with tempfile.TemporaryDirectory() as folder:
            said = run(name, list(pinned.get(name, {}).get("cut", ["run.horizon=1000"])), Path(folder))
            committed = gallery / "pictures" / f"{name}.png"
            found = best_picture(name, Path(folder))
            picture = None
            if committed.exists():
                picture = committed.name, "The whole study, drawn by the command below."
            elif found is not None:
                shutil.copyfile(found, made / f"{name}.png")
                picture = (
                    f"made/{name}.png",
                    "One run of each point, with the cuts named below.",
                )
        if picture is not None:
            pictures[name] = picture[0]
        _keep(gallery / f"{name}.md", page(name, picture, said))
    _keep(gallery / "scenarios.inc", grid(pictures))


def _keep(place: Path, text: str) -> None:
    """Write a page, unless it is there: Sphinx reads again what is newer."""
    if not place.exists() or place.read_text(encoding="utf-8") != text:
        place.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Have the pages written before Sphinx reads its sources."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
