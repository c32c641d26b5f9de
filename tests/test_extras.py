"""What each extra installs is imported in one place, and missed in one line."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner
from helpers.fake_study import fake_study
from helpers.scenes import SMALL
from oldest import oldest

from netbandit.cli import main
from netbandit.running import sweeps as sweep
from netbandit.util.extras import PACKAGES, installed

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def imported(tree):
    """Yield the top-level packages that a module imports, but for those that only types need."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.partition(".")[0]
        else:
            yield from imported(node)


@pytest.mark.ci
def test_each_library_of_an_extra_is_imported_by_the_module_of_the_extra_alone():
    extra_of = {name: extra for extra, names in PACKAGES.items() for name in names} | {"PIL": "plots"}
    found = {
        (extra_of[name], str(path.relative_to(ROOT / "netbandit")))
        for path in (ROOT / "netbandit").rglob("*.py")
        for name in imported(ast.parse(path.read_text()))
        if name in extra_of
    }
    assert found >= {("plots", "util/extras/plots.py"), ("frames", "util/extras/frames.py")}
    assert found <= {(extra, f"util/extras/{extra}.py") for extra in PACKAGES}


def test_all_extras_are_in_all_and_in_test():
    extras = PROJECT["optional-dependencies"]
    assert sorted(extras) == sorted({*PACKAGES, "all", "test", "browser", "docs", "dev", "examples"})
    assert extras["all"] == [f"netbandit[{','.join(sorted(PACKAGES))}]"]
    assert "netbandit[all]" in extras["test"]
    core = {re.split(r"[^\w-]", text)[0].replace("-", "_") for text in PROJECT["dependencies"]}
    assert core.isdisjoint({name for names in PACKAGES.values() for name in names})


def test_what_the_documentation_imports_comes_with_its_extra():
    """What it draws with, and tables of results; that it is built from this extra alone CI shows."""
    extra_of = {name: extra for extra, names in PACKAGES.items() for name in names} | {"PIL": "plots"}
    files = [path for folder in ("_ext", "examples") for path in (ROOT / "docs" / folder).rglob("*.py")]
    needed = {extra_of[name] for path in files for name in imported(ast.parse(path.read_text())) if name in extra_of}
    brought = PROJECT["optional-dependencies"]["docs"]
    (own,) = (text for text in brought if text.startswith("netbandit["))
    assert needed | {"frames"} == set(re.findall(r"\w+", own)[1:])


def test_the_oldest_version_of_all_that_users_install_is_stated():
    lines = oldest()
    assert all(re.fullmatch(r"[\w-]+==\d+(\.\d+)*", line) for line in lines)
    assert {"numba", "llvmlite", "pandas", "optuna"} <= {line.partition("==")[0] for line in lines}


@pytest.fixture
def without(monkeypatch):
    """Let extras be as if they were not installed."""

    def hidden(*extras):
        for extra in extras:
            monkeypatch.delitem(sys.modules, f"netbandit.util.extras.{extra}", raising=False)
            for name in PACKAGES[extra]:
                monkeypatch.setitem(sys.modules, name, None)
            assert not installed(extra)

    return hidden


@pytest.mark.parametrize(
    ("extra", "command", "said"),
    [
        ("plots", "plot results/small", "netbandit plot needs matplotlib"),
        ("plots", "report results/small", "netbandit report needs matplotlib"),
        ("plots", "trace results/small --format gif", "--format gif needs matplotlib"),
        ("plots", "reproduce dpmab", "netbandit reproduce needs matplotlib"),
        ("plots", "topology small.toml --plot net.png", "--plot needs matplotlib"),
        ("plots", "suite show --html page.html", "--html needs matplotlib"),
        ("plots", "audit small.toml --plot net.png", "--plot needs matplotlib"),
        ("audit", "audit elimination", "an audit of shipped mechanisms needs dp-accounting"),
        ("emulate", "emulate small.toml", "netbandit emulate needs msgpack"),
        ("parquet", "run small.toml --parquet", "--parquet needs pyarrow"),
        ("cluster", "run small.toml --scheduler tcp://127.0.0.1:9", "--scheduler needs dask and distributed"),
    ],
)
def test_a_command_says_what_to_install_before_it_computes(tmp_path, monkeypatch, without, extra, command, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(SMALL)
    without(extra)
    done = CliRunner().invoke(main, command.split())
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"Error: {said}: pip install 'netbandit[{extra}]'\n"
    assert [path.name for path in tmp_path.iterdir()] == ["small.toml"]


def test_a_run_without_pictures_stores_all_and_says_so(tmp_path, monkeypatch, without):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(SMALL)
    without("plots", "frames")
    done = CliRunner().invoke(main, ["run", "small.toml", "--out", "out"])
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (
        0,
        "no picture is drawn: that needs matplotlib: pip install 'netbandit[plots]'",
    )
    assert (tmp_path / "out" / "table.csv").exists()


USED = """
import sys
sys.modules["pandas"] = None
import netbandit
found = netbandit.load_results(".")
assert [point.parameters for point in found.study.points] == [{"topology.agents": 3}, {"topology.agents": 4}]
assert "301.0" in found._repr_html_()
assert "agents" in found.table().to_latex()
for use in (len, list, lambda it: it["metric"], lambda it: it.groupby("metric"), lambda it: it.links()):
    try:
        use(found)
    except ImportError as error:
        print(error)
"""


@pytest.mark.ci
def test_results_without_pandas_are_stored_and_say_so_when_they_are_used_as_a_table(tmp_path, fresh):
    sweep.run(fake_study(3, 4), tmp_path)
    done = fresh(["-c", USED], tmp_path)
    assert done.stderr == ""
    assert done.stdout == 5 * "the table of results needs pandas: pip install 'netbandit[frames]'\n"
