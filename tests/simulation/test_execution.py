"""How runs are executed: in the way that the environment says, with the same numbers."""

import subprocess
import sys

import pytest
from helpers.scenes import run

from netbandit.simulation.drivers import slots
from netbandit.simulation.execution import VARIABLE, ExecutionError, executed, execution
from netbandit.simulation.kernels import bulk_broadcasts, bulk_trees

UCB = ["learner.kind=ucb", "protocol.kind=local"]
ALONE = ["learner.kind=ucb", "protocol.kind=silent"]
MARKET = [
    "bandit={ kind = 'procurement', producers = 30 }",
    "learner={ kind = 'pfcb', share = 'exact', communicate = 'every' }",
    "protocol.kind=relay",
]


@pytest.fixture
def used(monkeypatch):
    """What is used of all that is compiled, or goes in bulk."""
    found = set()

    def note(module, name):
        function = getattr(module, name)

        def noted(*given):
            result = function(*given)
            if result is not None:
                found.add(name)
            return result

        monkeypatch.setattr(module, name, noted)

    note(bulk_trees, "TreesInBulk")
    note(slots, "compiled_loop")
    note(bulk_broadcasts, "NeighboursInBulk")
    return found


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("scenario", "names"),
    [
        (UCB, {"NeighboursInBulk", "compiled_loop"}),
        (ALONE, {"compiled_loop"}),
        (MARKET, {"TreesInBulk", "compiled_loop"}),
    ],
)
def test_all_goes_in_the_way_that_is_asked_for_with_the_same_numbers(tmp_path, used, scenario, names):
    found = {}
    for way in ("plain", "compiled"):
        used.clear()
        with executed(way):
            found[way] = run(tmp_path, *scenario)
        assert used == (names if way == "compiled" else set())
    assert found["plain"].fingerprint == found["compiled"].fingerprint
    assert found["plain"].metrics["regret"] == found["compiled"].metrics["regret"]


def test_the_environment_says_how_and_is_as_before_afterwards(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert execution() == "chosen"
    with executed("plain"):
        assert execution() == "plain"
        with executed("compiled"):
            assert execution() == "compiled"
        assert execution() == "plain"
    assert execution() == "chosen"


def test_what_it_must_not_say_is_told(monkeypatch, tmp_path):
    monkeypatch.setenv(VARIABLE, "fast")
    with pytest.raises(ExecutionError, match="NETBANDIT_EXECUTION=fast: must be plain or compiled"):
        execution()
    command = [sys.executable, "-m", "netbandit", "check", "scene.toml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.endswith("Error: NETBANDIT_EXECUTION=fast: must be plain or compiled, or not be set\n")
