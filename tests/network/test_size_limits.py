"""What does not fit the memory is refused before it is drawn."""

import gc
import resource
import subprocess
import sys

import pytest
from helpers.processes import BACKSTOP
from helpers.scenes import SMALL, study

from netbandit.checks.check import check
from netbandit.network.size_limits import memory_of, too_large
from netbandit.network.topology import Topology
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load
from netbandit.util import memory

HUGE = [
    '{ family = "complete", agents = 7_000 }',
    '{ family = "geometric", agents = 10_000, reach = 1.5 }',
    '{ family = "small-world", agents = 10_000, degree = 9_998 }',
    '{ family = "scale-free", agents = 10_000, attach = 5_000 }',
    '{ family = "ring", agents = 10_000_000 }',
    '{ family = "random", agents = 10_000, p = 0.5 }',
    '{ family = "regular", agents = 10_000, degree = 5_000 }',
    '{ family = "hybrid", components = [7_000, 7_000] }',
]


@pytest.fixture
def small(monkeypatch):
    """A machine that can spare 8 GB, whatever it is."""
    monkeypatch.setattr("netbandit.util.memory.affordable", lambda: 8 * 10**9)


def of(topology, text=SMALL):
    head, _, rest = text.partition('[topology]\nfamily = "ring"\nagents = 4\n')
    return load("scene.toml", text=f"topology = {topology}\n{head}{rest}")


@pytest.mark.parametrize("topology", HUGE)
def test_a_graph_that_does_not_fit_is_refused_with_its_estimate(small, topology):
    with pytest.raises(ScenarioError) as error:
        check(of(topology))
    (line,) = error.value.lines
    assert "too many: the graph would have about " in line
    assert " is available here" in line or "at most 50,000,000 are possible" in line


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ("bandit.kind=vertical bandit.dimension=1000000000000", "bandit.dimension"),
        ("bandit.kind=linear bandit.dimension=1000 topology.agents=1000000", "bandit.dimension"),
        ("bandit.arms=1000000 topology.agents=100000", "bandit.arms"),
    ],
)
def test_agents_that_would_have_to_keep_too_much_in_mind_are_refused(small, changes, key):
    protocol = "vertical" if "vertical" in changes else "silent"
    learner = {"vertical": "linucb", "linear": "feducb"}.get(changes.partition("=")[2].partition(" ")[0], "elimination")
    overrides = [*changes.split(), f"learner.kind={learner}"]
    overrides += [f"protocol.kind={protocol if learner != 'elimination' else 'sink'}"]
    with pytest.raises(ScenarioError) as error:
        check(load("scene.toml", overrides, text=SMALL))
    assert any(line.startswith(f"--set {key}: {key}: too many: ") for line in error.value.lines), error.value.lines


def test_the_limit_is_that_of_the_machine(monkeypatch):
    fits = list(too_large("agents", 10**6, 4 * 10**6))
    monkeypatch.setattr("netbandit.util.memory.affordable", lambda: memory_of(10**6, 4 * 10**6) - 1)
    (mistake,) = too_large("agents", 10**6, 4 * 10**6)
    assert "about 4e+06 links, which take some 6.3 GB of memory; 6.3 GB is available here" in mistake.text
    assert len(fits) <= 1
    monkeypatch.setattr("netbandit.util.memory.affordable", lambda: memory_of(10**6, 4 * 10**6))
    assert list(too_large("agents", 10**6, 4 * 10**6)) == []


def test_a_ulimit_and_a_container_count(monkeypatch, tmp_path):
    before = memory.affordable()
    (tmp_path / "memory.max").write_text("3000000\n")
    (tmp_path / "memory.current").write_text("1000000\n")
    monkeypatch.setattr(memory, "_GROUP", tmp_path)
    assert memory.affordable() == 1_000_000 < before


def test_sizes_are_said_with_two_digits():
    assert [memory.shown(size) for size in (2e4, 5.5e7, 1.23e9, 8e13, 8e24)] == [
        "0.02 MB", "55 MB", "1.2 GB", "80 TB", "8.0e+24 bytes",
    ]  # fmt: skip


@pytest.mark.ci
def test_a_check_keeps_one_graph_however_many_points_there_are():
    def alive():
        gc.collect()
        return [thing for thing in gc.get_objects() if isinstance(thing, Topology)]

    others = {id(thing): thing for thing in alive()}  # of other tests
    sizes = list(range(10, 40))
    study = check(load("scene.toml", [f"sweep.topology.agents={sizes}"], text=SMALL))
    assert len(study.points) == 30
    assert sum(id(thing) not in others for thing in alive()) <= 1
    study.points[0].topology(0)
    study.points[1].topology(0)
    assert sum(id(thing) not in others for thing in alive()) <= 1


@pytest.mark.ci
@pytest.mark.skipif(sys.platform != "linux", reason="sets a limit of Linux")
def test_the_command_stays_below_a_ceiling(tmp_path):
    """2.5 GB of addresses: what does not fit is refused by the limit itself, and the rest is checked within it."""
    for number, topology in enumerate(HUGE[:2]):
        head, _, rest = SMALL.partition('[topology]\nfamily = "ring"\nagents = 4\n')
        (tmp_path / f"{number}.toml").write_text(f"topology = {topology}\n{head}{rest}")

    def ceiling():
        resource.setrlimit(resource.RLIMIT_AS, (2_500_000_000, 2_500_000_000))

    done = subprocess.run(
        [sys.executable, "-m", "netbandit", "check", "0.toml", "1.toml"],
        cwd=tmp_path,
        preexec_fn=ceiling,
        capture_output=True,
        text=True,
        timeout=BACKSTOP,
    )
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.splitlines()) == 2
    assert done.stderr.count("of memory; ") == 2


def test_totals_of_all_agents_at_each_that_do_not_fit_are_refused(tmp_path, monkeypatch):
    """8 bytes for each of 2 x 3 + 1 numbers of each pair of agents."""
    totals = ["topology.agents=3_000", "learner.kind=ucb", "learner.share=totals", "protocol.kind=local"]
    for most in (8 * 7 * 3_000**2, 8 * 7 * 3_000**2 - 1):
        monkeypatch.setattr("netbandit.util.memory.affordable", lambda most=most: most)
        if most % 8:
            with pytest.raises(ScenarioError, match=r"learner.share: cannot be .*take 5e\+02 MB of memory"):
                study(tmp_path, *totals)
        else:
            study(tmp_path, *totals)
