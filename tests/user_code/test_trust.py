"""What a scenario of somebody else can make netbandit do: only what is announced, and nothing by its data alone."""

import json
import pickle
import py_compile
import sys
from importlib.util import find_spec

import pytest
from click.testing import CliRunner
from helpers.scenes import SMALL

from netbandit.cli import main
from netbandit.parts.registry import BUILT_IN, KindError, kind_key, part_class
from netbandit.user_code import loading

MARKED = """\
import json, sys
from pathlib import Path
from netbandit.bandits.bernoulli import Bernoulli
with (Path(__file__).parent / "imports.jsonl").open("a") as file:
    print(json.dumps(sys.argv), file=file)
class Mine(Bernoulli):
    key: float = 0.5
class Attack:
    def means(self, truth, view, rng):
        return truth
"""
MADE = "compiled_evil", "packed_evil", "linked_evil", "evil", "pack", "pack.evil", "installed_evil"
NOTE = "imports evil.py, beside the scenario\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a scenario and a module beside it that notes each time that it is imported."""
    (tmp_path / "evil.py").write_text(MARKED)
    (tmp_path / "scene.toml").write_text(SMALL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(loading._Beside, "folders", [])
    yield tmp_path
    for name in MADE:
        sys.modules.pop(name, None)


def command(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


def imports(folder):
    file = folder / "imports.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def named(target):
    """What sets each key that can name a class."""
    keys = [f"{table}.{kind_key(table)}" for table in BUILT_IN]
    return [f"{key}={target}" for key in (*keys, "adversary.attack")]


PYTHONS = "venv", "this", "antigravity", "idlelib.idle", "test.autotest", "os", "concurrent.futures", "_thread"
PROGRAMS = "__main__", "venv.__main__", "pip.__main__", "evil.__main__", "netbandit.__main__"
NO_NAMES = " ", ".evil", "evil.", "a..b", "../evil", "evil/x", "evil\\nx"


@pytest.mark.parametrize("module", [*PYTHONS, *PROGRAMS, *NO_NAMES])
def test_what_is_pythons_or_a_program_is_refused_and_not_run(folder, module):
    before = set(sys.modules)
    for change in named(f'"{module}:x"'):
        found = command("check", "scene.toml", "--set", "adversary.share=0.2", "--set", change)
        assert found.exit_code == 2
        what = "of Python itself" if module in PYTHONS else "is a program" if module in PROGRAMS else "not the name of"
        key = change.partition("=")[0]
        assert [line for line in found.stderr.splitlines() if line.startswith(f"--set {key}: {key}: ") and what in line]
        assert "imports" not in found.stderr
    assert not {name for name in set(sys.modules) - before if name.startswith(module or "?")}
    assert imports(folder) == []


def test_no_module_of_pythons_is_imported(folder):
    """Also those that are found by their place alone, and what is in packages."""
    names = sorted(sys.stdlib_module_names | {"test", "test.support", "idlelib.idle", "lib2to3.pgen2.driver"})
    before = set(sys.modules)
    for name in names:
        with pytest.raises(KindError, match=f"{name} is a module of Python itself, which has no parts"):
            part_class("learner", f"{name}:x", folder)
    assert set(sys.modules) == before


def test_a_module_beside_the_scenario_that_another_one_hides_is_not_imported_either(folder):
    (folder / "test.py").write_text(MARKED)
    (folder / "pytest.py").write_text(MARKED)
    for name, of in (("test", "Python itself"), ("pytest", pytest.__file__)):
        found = command("check", "scene.toml", "--set", f"bandit.kind={name}:Mine")
        assert found.exit_code == 2
        assert f"{name}.py is hidden by the module {name} of {of}: give it another name" in found.stderr
    assert imports(folder) == []


def test_where_nothing_beside_the_scenario_is_named_nothing_there_is_found(folder):
    """Libraries try to import others that need not be there."""
    for name in ("numpy", "test.autotest", "no_such_module"):
        assert command("check", "scene.toml", "--set", f"bandit.kind={name}:Mine").exit_code == 2
        assert find_spec("evil") is None


def test_a_module_is_announced_once_and_sees_no_arguments(folder):
    (folder / "scene.toml").write_text(SMALL + '[sweep]\nbandit.kind = ["bernoulli", "evil:Mine"]\n')
    argv = list(sys.argv)
    for name, times in (("check", 1), ("run", 0)):
        found = command(name, "scene.toml", "--set", "sweep.bandit.arms=[2, 3]")
        assert found.exit_code == 0, found.stderr
        assert found.stderr.count(NOTE) == times
    assert imports(folder) == [["netbandit"]]
    assert sys.argv == argv


def test_a_module_that_fails_is_announced_once_too(folder):
    (folder / "evil.py").write_text("raise ValueError\n")
    found = command("check", "scene.toml", "--set", 'sweep.bandit.kind=["evil:Mine", "evil:Other"]')
    assert found.exit_code == 2
    assert found.stderr.count(NOTE) == 1


def test_a_module_of_a_package_and_an_installed_one_are_announced_too(folder, monkeypatch):
    (folder / "pack").mkdir()
    (folder / "pack" / "evil.py").write_text(MARKED)
    found = command("check", "scene.toml", "--set", "bandit.kind=pack.evil:Mine")
    assert found.exit_code == 0, found.stderr
    assert found.stderr == "imports pack/evil.py, beside the scenario\n"
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "installed_evil.py").write_text(MARKED)
    monkeypatch.syspath_prepend(elsewhere)
    found = command("check", "scene.toml", "--set", "bandit.kind=installed_evil:Mine")
    assert found.exit_code == 0, found.stderr
    assert found.stderr == f"imports the module installed_evil, installed in {elsewhere}\n"


def test_whatever_form_a_module_has_it_is_announced_before_it_runs(folder):
    """Compiled, as a package that has no such module, and through links."""
    py_compile.compile("evil.py", "compiled_evil.pyc")
    (folder / "packed_evil").mkdir()
    (folder / "packed_evil" / "__init__.py").write_text(MARKED)
    (folder / "elsewhere").mkdir()
    (folder / "evil.py").rename(folder / "elsewhere" / "any.py")
    (folder / "linked_evil.py").symlink_to(folder / "elsewhere" / "any.py")
    found = {
        kind: command("check", "scene.toml", "--set", f"bandit.kind={kind}:Mine")
        for kind in ("compiled_evil", "packed_evil.none", "linked_evil")
    }
    assert [each.stderr.splitlines()[0] for each in found.values()] == [
        "imports the module compiled_evil, beside the scenario",
        "imports the module packed_evil.none, beside the scenario",
        "imports linked_evil.py, beside the scenario",
    ]
    assert [each.exit_code for each in found.values()] == [0, 2, 0]


@pytest.mark.ci
def test_results_are_read_without_the_code_that_made_them(folder):
    run = command("run", "scene.toml", "--set", "bandit.kind=evil:Mine", "--out", "out")
    assert run.exit_code == 0, run.stderr
    sys.modules.pop("evil")
    (folder / "imports.jsonl").unlink()
    for arguments in (
        ["report", "out"],
        ["table", "out"],
        ["links", "out"],
        ["plot", "out"],
        ["merge", "out", "--out", "both"],
    ):
        found = command(*arguments)
        assert found.exit_code == 0, (arguments, found.output)
    assert imports(folder) == []


@pytest.mark.parametrize("change", named("evil:Mine"))
def test_a_check_without_own_code_imports_nothing_and_says_what_it_left_out(folder, change):
    key = change.partition("=")[0]
    changes = ["--set", change] + ["--set", "adversary.share=0.25"] * key.startswith("adversary")
    found = command("check", "scene.toml", "--no-own-code", "--execution", *changes)
    assert found.exit_code == 0, found.stderr
    assert found.stdout.splitlines() == [
        "scene.toml: no error found, but 1 point checked only in part",
        f'--set {key}: {key}: "evil:Mine" was not imported: its keys, and what depends on it, were not checked',
    ]
    found = command("check", "scene.toml", "--no-own-code", *changes, "--set", "run.horizon=-1")
    assert found.exit_code == 2
    assert [line.partition(" ")[2][:11] for line in found.stderr.splitlines()] == ["run.horizon"]
    assert imports(folder) == []
    assert "evil" not in sys.modules


def test_a_check_without_own_code_looks_at_all_points_that_have_none(folder):
    (folder / "base.toml").write_text(SMALL.replace('"bernoulli"', '"evil:Mine"\nkey = 0.5'))
    (folder / "scene.toml").write_text('extends = "base.toml"\n[sweep]\nbandit.kind = ["bernoulli", "evil:Mine"]\n')
    found = command("check", "scene.toml", "--no-own-code")
    assert found.exit_code == 0, found.stderr
    assert "but 1 point checked only in part\n" in found.stdout
    found = command("check", "scene.toml", "--no-own-code", "--set", "bandit.arms=-1")
    assert found.exit_code == 2
    assert imports(folder) == []


def test_a_worker_imports_as_the_command_does(folder):
    from netbandit.checks.check import check
    from netbandit.running import worker
    from netbandit.scenario.load import load

    point = check(load(folder / "scene.toml", ["bandit.kind=evil:Mine"])).points[0]
    packed = pickle.dumps(point)
    sys.modules.pop("evil")
    worker._unpacked(packed)
    assert imports(folder) == [["netbandit"]] * 2
