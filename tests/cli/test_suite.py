"""``netbandit suite``: the tracks, a pair of one's own among all recorded ones, and what is recorded."""

import pytest
from click.testing import CliRunner

from netbandit.cli import main
from netbandit.studies.suite.comparing import OUT
from netbandit.studies.suite.runs import LIMIT

MINE = """\
import netbandit as nb
import numpy as np

class Mine(nb.Learner):
    arm: int = 0

    def start(self, world, agents, rng):
        pass

    def choose(self, slot, agents):
        return np.full(len(agents), self.arm)

    def learn(self, slot, agents, arms, rewards):
        pass
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_entry.py").write_text(MINE)
    return tmp_path


def suite(*arguments):
    return CliRunner().invoke(main, ["suite", *arguments])


def test_its_defaults_are_those_of_python():
    for name in ("run", "record"):
        defaults = {each.name: each.default for each in main.commands["suite"].commands[name].params}
        assert (defaults["out"], defaults["limit"]) == (OUT, LIMIT)


def test_without_a_command_it_lists_the_tracks():
    done = suite()
    assert done.exit_code == 0
    assert "campus" in done.output
    assert "linear-big" in done.output


@pytest.mark.ci
def test_a_learner_of_ones_own_stands_among_all(folder):
    mine = ["run", "--learner", "my_entry:Mine", "--protocol", "silent", "--set", "learner.arm=15", "--tracks", "crowd"]
    done = suite(*mine)
    assert done.exit_code == 0, done.output
    assert "my_entry:Mine (arm = 15) over silent" in done.output
    assert " 1 of " in done.output  # it has drawn the best arm
    assert "elimination over relay" in done.output
    assert len(list((folder / "results" / "suite").glob("my-entry-Mine-*/crowd.json"))) == 1
    page = suite(*mine, "--plot", "--html", "mine.html", "--latex")
    assert page.exit_code == 0, page.output
    assert r"\toprule" in page.output
    assert "my_entry:Mine (arm = 15) over silent (yours)" in (folder / "mine.html").read_text()
    assert (folder / "results" / "suite" / "fronts-arms.png").exists()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["run", "--learner", "klucb", "--protocol", "gis", "--tracks", "fars"], "there is no track fars"),
        (["run", "--learner", "klucb", "--protocol", "gis", "--set", "run.seed=3"], "must be a key of the learner or"),
        (["show", "--against", "my_entry.py"], "is no record of the suite"),
    ],
)
def test_a_mistake_is_one_line(folder, arguments, text):
    done = suite(*arguments)
    assert done.exit_code == 2
    assert text in done.output
    assert not (folder / "results").exists()


@pytest.mark.ci
def test_a_pair_that_runs_nowhere_is_said(folder):
    done = suite("run", "--learner", "gosine", "--protocol", "gis", "--tracks", "campus")
    assert done.exit_code == 1
    assert 'campus: protocol.kind: "gis" offers no asks' in done.output
