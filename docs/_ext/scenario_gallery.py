"""A page for each shipped scenario, made from the file itself: its question, its picture, its text.

The picture is of the whole study, made by ``docs/gallery/whole_runs.py``, which notes what it ran; a test says which
scenarios have changed since.
"""

import json
import re
import tomllib
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from netbandit.results.run_keys import NUMBERS

if TYPE_CHECKING:
    from sphinx.application import Sphinx


ROOT = Path(__file__).parents[2]
SCENARIOS = ROOT / "scenarios"
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
    "reward",
)
"""Pictures by name, the most telling first."""
TOLD_BY = {
    "pfcb_delay": "parameter",
    "churn": "parameter",
    "loss": "parameter",
    "drift": "regret",
    "late_rewards": "parameter",
    "stragglers": "parameter",
    "queues": "parameter",
    "bursts": "regret",
    "outage": "regret",
    "meet": "regret",
    "walk": "regret",
    "orbit": "regret",
    "lora": "parameter",
    "battery": "battery",
    "lorawan": "battery",
    "liars": "parameter",
    "prompts": "parameter",
    "routing": "parameter",
    "identify": "parameter",
}
"""The most telling picture of a scenario, where that is another than of most."""
WHOLE_RUNS = ROOT / "docs" / "gallery" / "whole_runs.json"
"""What whole studies took, written by ``docs/gallery/whole_runs.py``."""
GROUPS = {
    "Delay and topology": (
        "quickstart delay_regret cost_vs_diameter continents abilene advice structures hybrid ring star random emulate "
        "stragglers queues"
    ),
    "Failures": "loss bursts outage churn deadline",
    "Networks that change": "meet walk orbit lora lorawan battery",
    "Liars": "liars",
    "Answers": "identify",
    "Budget and privacy": "budget equal_cost feducb_private",
    "Contexts of your own": "prompts routing",
    "Learners": "baselines late_rewards drift feducb feducb_delay asynchronous",
    "Procurement": "pfcb pfcb_structures pfcb_delay pfcb_threshold",
    "Vertical data": "vertical replay",
}
"""The scenarios of the gallery, by heading."""


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


def what_runs(scenario: Path) -> str:
    """Return a hash of all that a whole study comes from: its keys, those of files it extends, and of our numbers."""
    said = blake2b(str(NUMBERS).encode(), digest_size=8)
    file: Path | None = scenario
    while file is not None:
        keys = tomllib.loads(file.read_text(encoding="utf-8"))
        keys.pop("description", None)
        said.update(json.dumps(keys, sort_keys=True, default=str).encode())
        file = file.parent / keys["extends"] if "extends" in keys else None
    return said.hexdigest()


def grid() -> str:
    """Return the cards of all scenarios: their picture and question under the heading of their group."""
    lines = []
    for heading, names in GROUPS.items():
        lines += [f"## {heading}\n", "```{toctree}", ":hidden:", f":caption: {heading}\n", *names.split(), "```\n"]
        lines += ["::::{grid} 1 2 2 3", ":gutter: 3\n"]
        for name in names.split():
            lines += [f":::{{grid-item-card}} {title_of(name)}", f":link: {name}", ":link-type: doc"]
            lines += [f":img-bottom: pictures/thumbnails/{name}.png", f":img-alt: {title_of(name)}", ":::\n"]
        lines.append("::::\n")
    return "\n".join(lines)


def page(name: str) -> str:
    """Return the page of the scenario *name*, which is that of its file, without the ending."""
    text = (SCENARIOS / f"{name}.toml").read_text(encoding="utf-8")
    title = title_of(name)
    command = f"netbandit run scenarios/{name}.toml"
    said = re.sub(r"\b(See|Look at) \w+\.png", r"\1 the picture above", comment_of(text).replace(f"\n{command}", ""))
    lines = [f"# {title}\n", f"```{{figure}} pictures/{name}.png", f":alt: {title}", "", "The whole study.", "```", ""]
    lines += [said, "", "```sh", command, "```", "", how_long(name), ""]
    lines += [f"The file, `scenarios/{name}.toml`:", "", "```toml", text.rstrip(), "```", ""]
    return "\n".join(lines)


def write(app: "Sphinx") -> None:
    """Write the gallery's pages."""
    gallery = Path(app.srcdir) / "gallery"
    for file in sorted(SCENARIOS.glob("*.toml")):
        keep(gallery / f"{file.stem}.md", page(file.stem))
    keep(gallery / "scenarios.inc", grid())


def keep(place: Path, text: str) -> None:
    """Write a page, unless it is there: Sphinx reads again what is newer."""
    if not place.exists() or place.read_text(encoding="utf-8") != text:
        place.write_text(text, encoding="utf-8")


def setup(app: "Sphinx") -> dict[str, bool]:
    """Have the pages written before Sphinx reads its sources."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
