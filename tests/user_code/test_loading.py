"""Parts of the user's own that leave by the wrong door: one clear line with their file and line, and pure JSON."""

import json
import sys

import pytest
from click.testing import CliRunner
from helpers.fake_study import fake_study
from helpers.processes import BACKSTOP, started
from helpers.scenes import SMALL, study

from netbandit.checks.check import check
from netbandit.cli import main
from netbandit.running import sweeps
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load
from netbandit.user_code.errors import complaint, message

IMPORTS = "from netbandit.bandits.bernoulli import Bernoulli\n"
CHEATS = (
    IMPORTS
    + """\
class Mute(Exception):
    def __str__(self):
        raise RuntimeError("never")

class Exits(Bernoulli):
    def start(self, agents, generator):
        raise SystemExit(0)

class Unspeakable(Bernoulli):
    def start(self, agents, generator):
        raise Mute()

class Interrupts(Bernoulli):
    def start(self, agents, generator):
        raise GeneratorExit

class Leaves(Bernoulli):
    def start(self, agents, generator):
        __import__("os")._exit(0)

class Coloured(Bernoulli):
    def start(self, agents, generator):
        raise ValueError("\x1b[31mred")

class LeavesInCheck(Bernoulli):
    def check(self):
        __import__("os")._exit(0)

class Prints(Bernoulli):
    def start(self, agents, generator):
        print("{ this is no JSON")
        super().start(agents, generator)

class ExitsInCheck(Bernoulli):
    def check(self):
        raise SystemExit(0)

class FailsInCheck(Bernoulli):
    def check(self):
        yield 1 / 0

class FailsAmongOthers(Bernoulli):
    def check_with(self, others):
        raise Mute()

class FailsInOutline(Bernoulli):
    def outline(self):
        raise KeyError("facts")

class FailsInFiles(Bernoulli):
    def files(self):
        return self.no_such_thing
"""
)


LEAVES = "os._exit(0) would end netbandit, and all other runs with it"


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "cheats.py").write_text(CHEATS)
    monkeypatch.delitem(sys.modules, "cheats", raising=False)
    return tmp_path


def line_of(text):
    return next(number for number, line in enumerate(CHEATS.splitlines(), start=1) if text in line)


def mistakes(folder, kind):
    with pytest.raises(ScenarioError) as error:
        study(folder, f'bandit.kind="{kind}"')
    return error.value.lines


@pytest.mark.parametrize(
    ("kind", "said", "near"),
    [
        ("ExitsInCheck", "SystemExit: 0", "class ExitsInCheck"),
        ("LeavesInCheck", "ProcessExitError: os._exit(0) would end netbandit, and all ", "class LeavesInCheck"),
        ("FailsInCheck", "ZeroDivisionError: division by zero", "class FailsInCheck"),
        ("FailsAmongOthers", "Mute: which cannot be shown", "class FailsAmongOthers"),
        ("FailsInOutline", "KeyError: 'facts'", "class FailsInOutline"),
        ("FailsInFiles", "AttributeError: ", "class FailsInFiles"),
    ],
)
def test_what_fails_in_a_check_is_one_line_with_its_place(place, kind, said, near):
    (line,) = mistakes(place, f"cheats:{kind}")
    assert line.startswith(f"--set bandit.kind: bandit.kind: cheats:{kind} fails: {said}")
    assert line.endswith(f", in {place / 'cheats.py'}, line {line_of(near) + 2}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import sys\nsys.exit(0)\n", "SystemExit: 0, in {file}, line 2"),
        ("import os\nos._exit(0)\n", f"ProcessExitError: {LEAVES}, in {{file}}, line 2"),
        ("raise BaseException('x\\ny')\n", "BaseException: x y, in {file}, line 1"),
        ("class Mute(Exception):\n    __str__ = None\nraise Mute\n", "Mute: which cannot be shown, in {file}, line 3"),
        (
            "def __getattr__(name):\n    if name == 'X':\n        raise ImportError('no')\n    raise AttributeError\n",
            None,
        ),
        ("def (\n", "SyntaxError: invalid syntax (leaves.py, line 1)"),
    ],
)
def test_what_leaves_while_it_is_imported_is_one_line(tmp_path, monkeypatch, text, said):
    (tmp_path / "leaves.py").write_text(text)
    monkeypatch.delitem(sys.modules, "leaves", raising=False)
    (line,) = mistakes(tmp_path, "leaves:X")
    if said is None:
        file = tmp_path / "leaves.py"
        assert line.endswith(f"bandit.kind: cannot import leaves:X: ImportError: no, in {file}, line 3")
        return
    assert line == f"--set bandit.kind: bandit.kind: cannot import leaves: {said.format(file=tmp_path / 'leaves.py')}"


def test_a_module_named_like_one_of_pythons_is_refused_and_breaks_nothing(tmp_path):
    (tmp_path / "queue.py").write_text("raise SystemExit(0)\n")
    (line,) = mistakes(tmp_path, "queue:Mine")
    assert line.endswith("bandit.kind: queue.py is hidden by the module queue of Python itself: give it another name")
    assert str(tmp_path) not in sys.path


@pytest.mark.ci
def test_a_run_that_leaves_by_any_door_fails_with_its_place_and_the_others_go_on(place):
    """In one process and in two: both find the same."""
    kinds = ["Exits", "Unspeakable", "Interrupts", "Leaves", "Coloured", "Prints"]
    (place / "scene.toml").write_text(SMALL + f"[sweep]\nbandit.kind = {[f'cheats:{kind}' for kind in kinds]}\n")
    found = {}
    for jobs in (1, 2):
        result = sweeps.run(check(load(place / "scene.toml")), place / str(jobs), jobs=jobs)
        found[jobs] = [(run.parameters["bandit.kind"], run.failure.text) for run in result.failed]
        assert [len(point.finished) for point in result.study.points] == [0, 0, 0, 0, 0, 1]
        assert all(run.failure.report is not None and run.failure.report.exists() for run in result.failed)
    said = {"Exits": "SystemExit: 0", "Unspeakable": "Mute: which cannot be shown", "Interrupts": "GeneratorExit"}
    said |= {"Leaves": f"ProcessExitError: {LEAVES}", "Coloured": "ValueError: \\x1b[31mred"}
    file = place / "cheats.py"
    assert found[1] == [
        (f"cheats:{kind}", f"{text}, in {file}, line {line_of(f'class {kind}(') + 2}") for kind, text in said.items()
    ]
    assert found[2] == found[1]


def test_what_cannot_be_sent_to_a_worker_fails_with_a_line(tmp_path):
    broken = fake_study(3, replications=2, fails={0: ValueError(lambda: 1), 5: sys.stdout})  # an open file
    result = sweeps.run(broken, tmp_path, jobs=2)
    assert [run.failure.text.partition(":")[0] for run in result.failed] == ["cannot be sent to another process"] * 2


@pytest.mark.ci
def test_json_is_alone_on_stdout_whatever_a_part_prints(place):
    """As a process beside a module of the user's that is named like one that dask needs."""
    (place / "queue.py").write_text("raise SystemExit(0)\n")
    (place / "scene.toml").write_text(SMALL)
    (place / "cheats.py").write_text("print('{ at import')\n" + CHEATS)
    kind = "bandit.kind=cheats:Prints"
    process = started(place, "run", "scene.toml", "--set", kind, "--json", "--jobs", 2, "--replications", 2)
    output, errors = process.communicate(timeout=BACKSTOP)
    assert process.returncode == 0, errors
    assert len(json.loads(output)["points"][0]["fingerprints"]) == 2
    assert "{ at import" in errors
    assert "{ this is no JSON" in errors


def test_a_run_without_results_does_not_end_well(place, monkeypatch):
    (place / "scene.toml").write_text(SMALL)
    monkeypatch.chdir(place)
    found = CliRunner().invoke(main, ["run", "scene.toml", "--set", "bandit.kind=cheats:Exits", "--json"])
    assert found.exit_code == 1
    assert json.loads(found.stdout)["points"][0]["fingerprints"] == [None]
    assert "replication 0: SystemExit: 0, in " in found.stderr


def test_names_and_values_reach_the_terminal_as_text(place, monkeypatch):
    red = "\\u001b[31m"
    (place / "red.py").write_text(IMPORTS + "class Red(Bernoulli):\n    text: str = ''\nglobals()['\x1b[31m'] = Red\n")
    (place / "scene.toml").write_text(SMALL + f'[sweep]\nbandit.kind = ["bernoulli", "red:{red}"]\n')
    monkeypatch.chdir(place)
    for more in ([], ["--set", 'sweep.bandit.kind=["red:Red"]', "--set", f'sweep.bandit.text=["a", "{red}"]']):
        found = CliRunner().invoke(main, ["run", "scene.toml", "--replace", *more])
        assert found.exit_code == 0, found.stderr
        assert "\x1b" not in found.output
        assert "\\x1b[31m" in found.output


def test_a_family_of_ones_own_is_found_by_workers_too(place):
    (place / "scene.toml").write_text(SMALL.replace('"ring"', '"cheats:Round"'))
    (place / "cheats.py").write_text("from netbandit.network.families.ring import Ring\nclass Round(Ring): pass\n")
    assert sweeps._has_own_parts(check(load(place / "scene.toml")))
    assert not sweeps._has_own_parts(check(load(place / "scene.toml", ["topology.family=ring"])))


def test_a_message_never_fails():
    class SilentError(Exception):
        def __str__(self):
            raise SystemExit

    assert message(SilentError()) == "SilentError: which cannot be shown"
    assert message(ValueError("a\n b\r\nc")) == "ValueError: a b c"
    assert message(ValueError()) == "ValueError"
    assert complaint(ValueError("never raised")) == "ValueError: never raised"
