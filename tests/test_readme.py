"""The README is what it says: every command, scenario and piece of code in it runs."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
NAMED = {
    block.split("\n", 1)[0].removeprefix("# "): block
    for language, block in BLOCKS
    if language in ("python", "toml") and block.startswith("# ")
}
COMMANDS = [line for language, block in BLOCKS if language == "sh" for line in block.splitlines()]
UNNAMED = [block for language, block in BLOCKS if language == "python" and not block.startswith("# ")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder like the project's, with the README's own files in it."""
    folder = tmp_path_factory.mktemp("readme")
    for name in ("scenarios", "topologies"):
        shutil.copytree(ROOT / name, folder / name)
    for name, content in NAMED.items():
        (folder / name).write_text(content, encoding="utf-8")
    return folder


def test_the_readme_has_what_is_tested_here():
    assert set(NAMED) == {"difference.toml", "shift.py", "hub.py", "neighbours.py", "neighbours.toml"}
    assert len(COMMANDS) >= 10
    assert all(command.startswith("netbandit ") for command in COMMANDS)
    assert len(UNNAMED) == 1


def test_the_two_commands_stand_in_the_readme():
    assert (
        '\npython3 -m venv .venv && .venv/bin/pip install -q -e ".[plots]" '
        "&& .venv/bin/netbandit run scenarios/quickstart.toml\n" in README
    )
    assert '\npython3 -m venv .venv && .venv/bin/pip install -q -e ".[test]" && .venv/bin/pytest -q\n' in README


def test_a_world_that_changes_takes_at_most_fifteen_lines():
    assert len([line for line in NAMED["shift.py"].splitlines()[1:] if line.strip()]) <= 15


def test_a_protocol_takes_at_most_fifteen_lines():
    assert len([line for line in NAMED["hub.py"].splitlines()[1:] if line.strip()]) <= 15


def test_a_learner_that_shares_takes_at_most_twenty_five_lines():
    assert len([line for line in NAMED["neighbours.py"].splitlines()[1:] if line.strip()]) <= 25


@pytest.mark.ci
def test_every_command_and_piece_of_code_runs(folder, fresh):
    for command in COMMANDS:
        done = fresh(["-m", "netbandit", *shlex.split(command)[1:]], folder)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        assert done.stdout
    for file in ("ring/regret.png", "difference/parameter.png", "neighbours/regret.svg", "difference/report.html"):
        assert (folder / "results" / file).stat().st_size > 0


def test_a_visitor_reads_it_in_two_minutes():
    prose = re.sub(r"^```.*?^```$", "", README, flags=re.MULTILINE | re.DOTALL)
    assert len(prose.split()) < 600


@pytest.mark.ci
def test_the_study_from_objects_draws_its_picture_and_writes_its_scenario(folder, fresh):
    done = fresh(["-c", UNNAMED[0]], folder)
    assert done.returncode == 0, done.stderr
    assert "20 ms" in done.stdout
    assert (folder / "shift.png").stat().st_size > 0
    checked = fresh(["-m", "netbandit", "check", "shift.toml"], folder)
    assert checked.returncode == 0, checked.stderr
