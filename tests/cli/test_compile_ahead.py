"""``netbandit parts --compile``: what runs need is compiled before they are run."""

import pytest
from helpers.processes import started

from netbandit.parts.registry import BUILT_IN, kind_of
from netbandit.testing.scenes import scenes_of_learners

SCENARIO = """\
schema = 1
name = "ahead"
topology = { family = "ring", agents = 3 }
bandit = { kind = "bernoulli", means = [0.6, 0.5] }
learner = { kind = "ucb" }
protocol = { kind = "silent" }
run = { horizon = 300, replications = 1 }
"""


def done(tmp_path, *arguments):
    """Return the exit code of the command, and what it prints, in a folder with a cache of its own."""
    process = started(tmp_path, *arguments, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    output, errors = process.communicate()
    return process.returncode, output, errors


@pytest.mark.ci
@pytest.mark.compiled
def test_what_is_compiled_ahead_no_run_compiles(tmp_path):
    (tmp_path / "ahead.toml").write_text(SCENARIO)
    code, said, errors = done(tmp_path, "parts", "--compile", "ahead.toml")
    assert code == 0
    assert "compiling the loop of ucb and bernoulli" in errors
    assert said.endswith("compiled, once on this machine\n")
    kept = sorted((tmp_path / "cache").rglob("*.nbc"))
    code, _, errors = done(tmp_path, "run", "ahead.toml")
    assert (code, "compiling" in errors) == (0, False)
    assert sorted((tmp_path / "cache").rglob("*.nbc")) == kept
    assert done(tmp_path, "parts", "--compile", "ahead.toml")[:2] == (0, "all is compiled already\n")


OWN = """\
from netbandit import Learner


class Own(Learner):
    def start(self, world, agents, rng):
        pass

    def choose(self, slot, agents):
        return 1 / 0

    def learn(self, slot, agents, arms, rewards):
        pass
"""


@pytest.mark.ci
def test_mistakes_are_said_and_what_fails_is_told(tmp_path):
    (tmp_path / "wrong.toml").write_text(SCENARIO.replace("ucb", "ucbb"))
    (tmp_path / "fails.toml").write_text(SCENARIO.replace("ucb", "own:Own"))
    (tmp_path / "own.py").write_text(OWN)
    code, said, errors = done(tmp_path, "parts", "--compile", "wrong.toml")
    assert (code, said) == (2, "")
    assert errors.startswith("wrong.toml:5:13: learner.kind: must be one of")
    code, _, errors = done(tmp_path, "parts", "--compile", "fails.toml")
    assert code == 1
    assert "\na short run of a point failed: " in errors  # after the import of own code
    assert "Traceback" not in errors


@pytest.mark.ci
def test_all_is_each_built_in_learner():
    found = {kind_of("learner", scene.tables["learner"]["kind"]) for scene in scenes_of_learners()}
    assert found == {*BUILT_IN["learner"]}
