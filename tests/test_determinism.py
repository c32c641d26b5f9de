"""No test passes or fails by chance or by the clock: each run draws the same, and who looks at a clock says why."""

import importlib
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

TESTS = Path(__file__).parent

CLOCK = re.compile(
    r"(?<!def )\b(sleep|monotonic|perf_counter|process_time|thread_time|time_ns|getrusage|Timer)(?:_ns)?\("
    r"|\b(gzip\.compress\((?![^\n]*mtime=0))|\b(settimeout|setitimer|time\.time\(|os\.times|datetime\.now|datetime\.utcnow|timeout=(?!BACKSTOP|[\"']))"
)
"""A wait, a look at a clock, or a limit other than the one for what hangs."""

PROCESSOR = "a limit of processor time, several times what it takes"
ALLOWED = {
    "bandits/test_criteo.py": {"process_time": PROCESSOR},
    "byzantine/test_rules.py": {"thread_time": "times as long as the mean takes, of one thread's processor time"},
    "checks/test_check.py": {"process_time": PROCESSOR},
    "cli/test_limits.py": {"process_time": PROCESSOR},
    "cli/test_processes.py": {
        "sleep": "a run that is not to end by itself; keys pressed apart, whose effect is the same"
    },
    "helpers/fake_study.py": {"sleep": "a run that is under way", "time_ns": "the name of a file"},
    "helpers/processes.py": {"monotonic": "gives up what hangs", "sleep": "between two looks at what surely comes"},
    "helpers/suite_tracks.py": {"sleep": "a run that never ends"},
    "network/test_contact_files.py": {"process_time": PROCESSOR},
    "network/test_mobile.py": {"process_time": PROCESSOR},
    "running/test_array.py": {"sleep": "between two looks at the jobs of a Slurm that runs, by hand"},
    "running/test_faults.py": {"sleep": "between two looks at whether to go on"},
    "running/test_pool.py": {"sleep": "orders that each worker gets some of, and one that never ends"},
    "running/test_schedulers.py": {"timeout=": "a worker that never comes is waited for until then"},
    "running/test_sweeps.py": {
        "monotonic": "how idle cores are, which is what is measured, on a machine that has nothing else to do: by hand",
        "process_time": PROCESSOR,
    },
    "scenario/test_load.py": {"thread_time": PROCESSOR},
    "scenario/test_sweep.py": {"process_time": PROCESSOR},
    "studies/suite/test_runs.py": {"sleep": "a run that does not end by itself"},
    "test_imports.py": {"os.times": PROCESSOR},
}

CHANCE = re.compile(
    r"default_rng\(\)|\bRandom\(\)|SystemRandom|urandom|uuid[14]|\bsecrets\.|use_true_random=True|random\.seed\(\)"
    r"|derandomize=|suppress_health_check=|\bdatabase=|settings\([^)\n]*deadline=(?!None)"
)
"""Random numbers of no seed, and settings that take the place of those of conftest.py."""


def found(pattern):
    """Return what matches in each file of the tests but this one and conftest.py."""
    files = {}
    for path in sorted(TESTS.rglob("*.py")):
        if path.name not in (Path(__file__).name, "conftest.py"):
            matches = {next(filter(None, match.groups()), match[0]) for match in pattern.finditer(path.read_text())}
            if matches:
                files[path.relative_to(TESTS).as_posix()] = matches
    return files


def test_whoever_looks_at_a_clock_says_why():
    assert found(CLOCK) == {file: set(reasons) for file, reasons in ALLOWED.items()}


def test_nothing_is_drawn_without_a_seed():
    assert found(CHANCE) == {}


@pytest.mark.parametrize("text", ["sleep(1)", "time.monotonic_ns()", "call(timeout=5)", "time.time() - began"])
def test_a_use_of_a_clock_is_seen(text):
    assert CLOCK.search(text)
    assert not CLOCK.search("environment.timeout(5), retry={timeout='3 ms'}, join(timeout=BACKSTOP), times.time")


def test_examples_are_the_same_whatever_has_been_imported(tmp_path, monkeypatch):
    """Numbers that stand in modules would be drawn, too, were they not kept out."""
    drawn = []

    @given(st.lists(st.integers()))
    def draw(numbers):
        drawn.append(numbers)

    draw()
    first = drawn.copy()
    (tmp_path / "of_mine.py").write_text(f"SIZES = {list(range(10_000, 12_000, 7))}\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("of_mine")
    drawn.clear()
    draw()
    assert drawn == first
