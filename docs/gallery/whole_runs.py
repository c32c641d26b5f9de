"""Run shipped scenarios as they are, for the gallery: ``python docs/gallery/whole_runs.py [NAME...]``.

The site runs none of them when it is built. What it shows is kept beside it by this file: the picture of each study in
``pictures/NAME.png``, its thumbnail in ``pictures/thumbnails``, and in ``whole_runs.json`` how long one core was busy
with it, and what was run. A test says which are to be run again.
"""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FIGURES = HERE / "whole_runs.json"
sys.path[:0] = [str(HERE.parent / "_ext"), str(ROOT)]

from scenario_gallery import best_picture, what_runs  # noqa: E402
from thumbnails import thumbnail  # noqa: E402

from netbandit.plots.study_pictures import planned  # noqa: E402
from netbandit.results.results_folder import ResultsFolder  # noqa: E402


def keep(name: str) -> None:
    """Run a scenario whole, keep its picture and what it took."""
    scenario = ROOT / "scenarios" / f"{name}.toml"
    with tempfile.TemporaryDirectory() as folder:
        began = _busy()
        command = [sys.executable, "-m", "netbandit", "run", str(scenario)]
        subprocess.run([*command, "--out", folder], check=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
        busy = _busy() - began
        picture = best_picture(name, Path(folder))
        if picture is not None:
            shutil.copyfile(picture, HERE / "pictures" / f"{name}.png")
            keep_thumbnail(name, Path(folder), picture.stem)
        runs = len(list((Path(folder) / "runs").iterdir()))
    found = json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.exists() else {}
    found[name] = {"runs": runs, "core_seconds": round(busy, 1), "what": what_runs(scenario)}
    FIGURES.write_text(json.dumps(dict(sorted(found.items())), indent=2) + "\n", encoding="utf-8")


def keep_thumbnail(name: str, results: Path, picture: str) -> None:
    """Keep the thumbnail of a scenario's card, of the picture named."""
    (drawn,) = (one for one in planned(ResultsFolder(results).finished_study()) if one.name == picture)
    place = HERE / "pictures" / "thumbnails" / f"{name}.png"
    place.write_bytes(thumbnail(drawn.drawn().figure))


def _busy() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(file.stem for file in (ROOT / "scenarios").glob("*.toml")):
        keep(name)
