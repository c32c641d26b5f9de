"""What CONTRIBUTING.md says where something is, is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PATHS = sorted(set(re.findall(r"`([\w/]+(?:\.py|/))`", TEXT)))
NAMED = [
    (name, path)
    for names, path in re.findall(r"((?:`\w+`(?:, )?)+) in `([\w/]+\.py)`", TEXT)
    for name in re.findall(r"\w+", names)
]


def test_something_is_said():
    assert len(PATHS) > 30
    assert ("effective_time", "network/clock.py") in NAMED


@pytest.mark.parametrize("path", PATHS)
def test_files_and_folders_are_there(path):
    assert any(
        (base / path).exists() for base in (ROOT, ROOT / "netbandit", ROOT / "tests", ROOT / "netbandit/simulation")
    )


@pytest.mark.parametrize(("name", "path"), NAMED)
def test_functions_are_there(name, path):
    assert re.search(rf"^ *(def|class) {name}\b", (ROOT / "netbandit" / path).read_text(encoding="utf-8"), re.MULTILINE)
