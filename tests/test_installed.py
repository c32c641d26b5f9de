"""The package as users install it: the core alone, and with one extra at a time, each in an environment of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.processes import BACKSTOP
from helpers.scenes import SMALL

from netbandit import VERSION
from netbandit.util.extras import PACKAGES

ROOT = Path(__file__).parents[1]
MOST_MB = {"": 500, "plots": 600}
"""What an environment may take, with pip and all that Python's venv brings."""

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="links folders")]


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Make an environment with the extra of a name, which finds what the core needs in that of the core."""
    made = {}

    def of(extra=""):
        if extra not in made:
            place = tmp_path_factory.mktemp(extra or "core")
            subprocess.run([sys.executable, "-m", "venv", place], check=True)
            if extra:
                (packages,) = of().glob("lib/python*/site-packages")
                (own,) = place.glob("lib/python*/site-packages")
                (own / "core.pth").write_text(f"{packages}\n")
            what = f"{ROOT}[{extra}]" if extra else str(ROOT)
            subprocess.run([place / "bin" / "pip", "install", "-q", "-e", what], check=True)
            made[extra] = place
        return made[extra]

    return of


@pytest.fixture
def call(environment, tmp_path):
    """Call the command, or Python, of an environment in a folder with a scenario."""
    (tmp_path / "small.toml").write_text(SMALL)

    def called(extra, *words, program="netbandit"):
        done = subprocess.run(
            [environment(extra) / "bin" / program, *words],
            cwd=tmp_path,
            env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            capture_output=True,
            text=True,
            timeout=BACKSTOP,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return called


def megabytes(place):
    """What a folder takes on the disk, as ``du -m`` says it."""
    return sum(path.lstat().st_blocks for path in place.rglob("*")) / 2048


def test_the_core_does_all_that_needs_no_extra(environment, call, tmp_path):
    found = call("", "freeze", program="pip").lower().replace("-", "_")
    assert not [name for names in PACKAGES.values() for name in names if f"{name}==" in found]
    sweep = ("--set", "sweep.topology.agents=[4, 6]", "--trace")
    assert "no picture" not in call("", "run", "small.toml", *sweep, "--out", "one")
    call("", "run", "small.toml", *sweep, "--out", "two", "--jobs", "2")
    call("", "merge", "one", "two", "--out", "both")
    for command in (
        "check small.toml", "table one", "table one --latex", "table one --csv", "compare one", "links one",
        "links one --csv", "nodes one", "nodes one --csv", "trace one", "trace one --format html", "schema", "parts",
        "topology ring --agents 9 --what-if 1", "suite", "suite show", "clean one", "run small.toml --estimate",
        "reproduce dpmab --estimate",
    ):  # fmt: skip
        assert call("", *command.split()), command
    call("", "-c", "import netbandit as nb; nb.run('small.toml', out='three').table()", program="python")
    assert (tmp_path / "three" / "table.csv").exists()
    assert megabytes(environment()) <= MOST_MB[""]


def test_an_installed_package_names_its_release_and_no_commit(tmp_path):
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", tmp_path, ROOT]
    subprocess.run(pip, check=True, stderr=subprocess.DEVNULL)
    text = "import netbandit, importlib.metadata as of; print(netbandit.__version__, of.version('netbandit'))"
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", text], cwd=tmp_path, env=environment, capture_output=True, check=True)
    assert done.stdout.decode().split() == [VERSION, VERSION]


DIGITS = """\
run = { horizon = 50 }
topology = { family = "star", agents = 4 }
bandit = { kind = "replay", format = "digits" }
learner = { kind = "linucb" }
protocol = { kind = "vertical" }
"""

WITH = {
    "audit": ["audit elimination --samples 1000"],
    "cluster": [],
    "digits": ["run digits.toml"],
    "emulate": ["emulate small.toml --dilation 50 --tolerance 100%"],
    "frames": [],
    "optimize": [],
    "parquet": ["run small.toml --parquet --out other"],
    "plots": ["plot out", "report out"],
}
"""Commands that need an extra and no other."""


@pytest.mark.parametrize("extra", sorted(PACKAGES))
def test_an_extra_alone_does_what_it_is_for(environment, call, tmp_path, extra):
    (tmp_path / "digits.toml").write_text(DIGITS)
    call(extra, "run", "small.toml", "--out", "out")
    for command in WITH[extra]:
        assert call(extra, *command.split())
    for name in PACKAGES[extra]:
        call(extra, "-c", f"import {name}", program="python")
    if extra == "frames":
        text = "import netbandit as nb; found = nb.load_results('out'); print(len(found), len(found.links()))"
        assert call(extra, "-c", text, program="python")
    if extra == "cluster":
        text = (
            "import netbandit as nb\nfrom distributed import LocalCluster\n"
            "with LocalCluster(n_workers=1, processes=False, protocol='tcp', host='127.0.0.1') as cluster:\n"
            "    nb.run('small.toml', out='far', scheduler=cluster.scheduler_address)\n"
        )
        call(extra, "-c", text, program="python")
        assert (tmp_path / "far" / "table.csv").exists()
    if extra == "plots":
        (own,) = environment(extra).glob("lib/python*/site-packages")
        (core,) = environment().glob("lib/python*/site-packages")
        there = {folder.name for folder in core.iterdir()}  # once in an environment that has both
        more = sum(megabytes(folder) for folder in own.iterdir() if folder.name not in there)
        assert megabytes(environment()) + more <= MOST_MB["plots"]
