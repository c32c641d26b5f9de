"""``python tests/oldest.py``: the oldest versions that pyproject.toml states, as constraints for pip."""

import re
import tomllib
from pathlib import Path


def oldest():
    """Return a line for each package that users install, the oldest version of each that is stated."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    stated = [*project["dependencies"], *(text for name in extras if name not in OTHERS for text in extras[name])]
    return [text.replace(">=", "==") for text in stated if not re.match(r"netbandit\b", text)]


OTHERS = ("browser", "dev", "docs", "examples", "test")
"""Extras of which the package imports nothing: they are the newest in any case."""

if __name__ == "__main__":
    print(*oldest(), sep="\n")
