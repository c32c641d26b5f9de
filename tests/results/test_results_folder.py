"""A command reads each file of a results folder once, and says nothing that is no longer so."""

import os
import sys
from collections import Counter

import pytest
from click.testing import CliRunner
from helpers.scenes import SMALL

from netbandit.cli import main
from netbandit.results.results_folder import ResultsFolder

_watching = []


def _note(event, arguments):
    if _watching and event == "open" and isinstance(arguments[0], str | os.PathLike) and "r" in str(arguments[1]):
        _watching[-1].append(os.fspath(arguments[0]))


sys.addaudithook(_note)  # one cannot be removed


@pytest.fixture
def scenario(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL)
    return tmp_path / "small.toml"


def reads(folder, *arguments):
    """How often a command reads each file of a results folder."""
    _watching.append([])
    done = CliRunner().invoke(main, [*map(str, arguments)])
    opened = _watching.pop()
    assert done.exit_code == 0, done.output
    return Counter(file.removeprefix(f"{folder}/") for file in opened if file.startswith(f"{folder}/"))


@pytest.mark.ci
def test_a_command_reads_each_file_of_its_folder_once(scenario, tmp_path):
    out = tmp_path / "out"
    run = ("run", scenario, "--out", out)
    for arguments in (run, run, ("plot", out), ("report", out), ("links", out), ("table", out), run):
        found = reads(out, *arguments)
        assert found
        assert {file: times for file, times in found.items() if times > 1} == {}


def test_what_another_command_has_written_meanwhile_is_read_again(scenario, tmp_path):
    CliRunner().invoke(main, ["run", str(scenario), "--out", str(tmp_path / "out")])
    folder = ResultsFolder(tmp_path / "out")
    (point,) = folder.study().points
    key = point.keys[0]
    assert folder.run_files(key) is folder.run_files(key)
    again = folder.run_folder(key) / "result.json"
    again.write_text(again.read_text().replace('"seed"', '"feed"'))
    assert folder.study().damaged
    (tmp_path / "out" / "study.json").write_text("{}")
    with pytest.raises(ValueError, match="is damaged"):
        folder.study()
