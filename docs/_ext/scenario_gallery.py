"""A page for each shipped scenario, made from the file itself: its question, its picture, its text.

Every scenario is run at build, with the cut of ``gallery/plan.toml`` where it would take long; the picture on its page
is the full one, committed under ``gallery/pictures``, beside the command that makes it.
"""

import json
import os
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
PLAN = Path(__file__).parents[1] / "gallery" / "plan.toml"
_LOG = logging.getLogger(__name__)


def comment_of(text: str) -> str:
    """Return the comment at the head of a scenario file, as paragraphs."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("#").strip())
    return "\n".join(lines).strip()


def page(name: str, entry: dict[str, Any], measured: str) -> str:
    """Return the page of the scenario *name*."""
    text = (SCENARIOS / f"{name}.toml").read_text(encoding="utf-8")
    tables = tomllib.loads(text)
    question = entry.get("question") or tables.get("description") or name
    lines = [f"# {question}\n", comment_of(text), ""]
    for picture in entry.get("pictures", []):
        lines += [
            f"```{{figure}} pictures/{picture['file']}",
            f":alt: {picture['alt']}",
            f"{picture['alt']}",
            "```",
            "",
        ]
    lines += ["The whole study, with this picture:", "", "```sh", f"netbandit run scenarios/{name}.toml", "```", ""]
    if "takes" in entry:
        lines += [f"It takes {entry['takes']} on two cores.", ""]
    lines += [f"`scenarios/{name}.toml`", "", "```toml", text.rstrip(), "```", ""]
    lines += ["When this page was made, the file was run" + measured, ""]
    return "\n".join(lines)


def run(name: str, entry: dict[str, Any]) -> str:
    """Run a scenario as the plan says, and return what a page says of it."""
    cut = entry.get("cut", {})
    command = [sys.executable, "-m", "netbandit", "run", str(SCENARIOS / f"{name}.toml"), "--json", "--no-pictures"]
    for key, value in cut.items():
        command += ["--set", f"{key}={value if isinstance(value, str) else json.dumps(value)}"]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [*command, "--out", folder],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "COLUMNS": "100"},
        )
    if done.returncode:
        raise ExtensionError(f"scenarios/{name}.toml does not run: {done.stderr}")
    points = json.loads(done.stdout)["points"]
    keys = ", ".join(f"`{key} = {value}`" for key, value in cut.items())
    runs = sum(len(point["fingerprints"]) for point in points)
    return (f" with {keys}" if cut else " as it stands") + f": {len(points)} points, {runs} runs."


def write(app: Sphinx) -> None:
    """Write the gallery's pages, and run what has changed since it was last run."""
    plan: dict[str, Any] = tomllib.loads(PLAN.read_text(encoding="utf-8"))
    shipped = {file.stem for file in SCENARIOS.glob("*.toml")}
    if shipped != set(plan):
        lacking, gone = sorted(shipped - set(plan)), sorted(set(plan) - shipped)
        raise ExtensionError(f"docs/gallery/plan.toml lacks {lacking} and has {gone}, which are not there")
    folder = Path(app.srcdir) / "gallery"
    for name, entry in plan.items():
        _LOG.info("running scenarios/%s.toml", name)
        text = page(name, entry, run(name, entry))
        place = folder / f"{name}.md"
        if not place.exists() or place.read_text(encoding="utf-8") != text:
            place.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Have the pages written before Sphinx reads its sources."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
