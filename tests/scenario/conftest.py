from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from netbandit.parts.settings import Problem
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load
from netbandit.scenario.sweep import expand, problems
from netbandit.scenario.topology import read_topology
from netbandit.scenario.validate import validate

VALID = """\
schema = 1
name = "small"

[run]
horizon = 100

[topology]
family = "star"
agents = 5

[bandit]
kind = "bernoulli"

[learner]
kind = "elimination"

[protocol]
kind = "gis"
"""

Write = Callable[..., None]
Check = Callable[..., list[str]]


@pytest.fixture
def valid() -> str:
    return VALID


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Return a function that writes files by name; the tests' working folder is theirs, so names are short."""
    monkeypatch.chdir(tmp_path)

    def write_files(**files: str | bytes) -> None:
        for name, content in files.items():
            path = tmp_path / f"{name}.toml"
            if isinstance(content, str):
                content = content.encode()
            path.write_bytes(content)

    return write_files


@pytest.fixture
def check() -> Check:
    """Return a function that gives the lines of all mistakes of a file, as a check of the whole scenario does."""

    def check_file(file: str, overrides: Sequence[str] = ()) -> list[str]:
        def topology(data: dict[str, Any]) -> list[Problem]:
            return read_topology(data.get("topology"), Path())[1]

        try:
            document = load(file, overrides)
            found = problems(document.data)
            for point in expand(document.data, document.parameters):
                found += [point.origin(problem) for problem in [*validate(point.data)[1], *topology(point.data)]]
            if found:
                raise document.error(found)
        except ScenarioError as error:
            return error.lines
        return []

    return check_file
