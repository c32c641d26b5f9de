"""Entries in processes of their own: those that fail are shown as what they are, and what was run is not run again."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import suite_tracks
from helpers.processes import BACKSTOP, eventually, is_alive
from helpers.suite_tracks import Dies, Endless, Raises, track

from netbandit.studies.suite.entries import Entry
from netbandit.studies.suite.runs import file_of, run_pairs

SILENT = {"kind": "silent"}
KLUCB = Entry({"kind": "klucb"}, SILENT)


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    """What entries of all kinds come to."""
    folder = tmp_path_factory.mktemp("suite")
    small, lossy = track(folder), track(folder, "lossy", loss=0.9)
    secret = track(folder, "secret", epsilon=1.0)
    entries = {
        "raises": (Entry({"kind": Raises}, SILENT, "own"), small),
        "dies": (Entry({"kind": Dies}, SILENT, "own"), small),
        "refused": (Entry({"kind": "klucb"}, {"kind": "consensus"}), small),
        "open": (Entry({"kind": "klucb"}, {"kind": "local"}), secret),
        "spends": (
            Entry({"kind": "elimination", "epsilon_total": 3.0, "gap": 0.9, "rounds": 2}, {"kind": "gis"}),
            secret,
        ),
        "keeps": (
            Entry({"kind": "elimination", "epsilon_total": 0.5, "gap": 0.9, "rounds": 2}, {"kind": "gis"}),
            secret,
        ),
        "stalls": (Entry({"kind": "elimination", "gap": 0.9, "rounds": 2}, {"kind": "gis"}), lossy),
        "fine": (KLUCB, small),
    }
    found = run_pairs(list(entries.values()), folder / "runs", limit=BACKSTOP)
    entries["endless"] = Entry({"kind": Endless}, SILENT, "own"), small
    found |= run_pairs([entries["endless"]], folder / "runs", limit=1.0)
    return {name: found[entry.name][on.name] for name, (entry, on) in entries.items()}


@pytest.mark.ci
@pytest.mark.parametrize(
    ("name", "state", "why"),
    [
        ("raises", "failed", "ZeroDivisionError: a mistake of mine, in "),
        ("endless", "late", "did not end in 1 s, in which it ran 0 of 3 replications"),
        ("dies", "failed", "the process ended after 0 of 3 replications"),
        ("refused", "refused", 'protocol.kind: "consensus" offers no broadcasts'),
        ("open", "private", "spends an unbounded epsilon; the track allows 1"),
        ("spends", "private", "spends an epsilon of 3; the track allows 1"),
        ("keeps", "ran", ""),
        ("stalls", "ran", ""),
        ("fine", "ran", ""),
    ],
)
def test_what_an_entry_comes_to_is_said(cells, name, state, why):
    assert cells[name].state == state
    assert cells[name].why.startswith(why)
    assert (cells[name].values is not None) == (state == "ran")


@pytest.mark.ci
def test_who_waits_for_ever_is_counted(cells):
    assert cells["stalls"].stalled > 0
    assert cells["fine"].stalled == 0
    assert len(cells["fine"].of("regret")) == 3


@pytest.mark.ci
def test_what_was_run_is_not_run_again(tmp_path):
    """A replication that is in the file stays as it is; one that is torn, or lacks, is run."""
    small = track(tmp_path)
    run_pairs([(KLUCB, small)], tmp_path / "runs")
    file = file_of(tmp_path / "runs", KLUCB, small)
    whole = json.loads(file.read_text())
    whole["runs"][0]["values"]["regret"] = -1.0
    file.write_text(json.dumps({"runs": whole["runs"][:2], "end": None}))  # as it is when the process is killed
    again = run_pairs([(KLUCB, small)], tmp_path / "runs")[KLUCB.name]["small"]
    assert again.of("regret") == [-1.0, *(run["values"]["regret"] for run in whole["runs"][1:])]
    file.write_text(file.read_text()[:-20])
    fresh = run_pairs([(KLUCB, small)], tmp_path / "runs")[KLUCB.name]["small"]
    assert fresh.of("regret")[0] >= 0
    assert list(fresh.fingerprints) == [run["fingerprint"] for run in whole["runs"]]


@pytest.mark.ci
def test_a_class_of_a_notebook_is_run(tmp_path):
    """One that is in no module goes to the other process by its code."""
    source = Path(suite_tracks.__file__).read_text().split("class Raises")[1].split("class Endless")[0]
    script = (
        "import sys, numpy as np, netbandit as nb\n"
        f"class Raises{source.replace('slot == 10', 'slot == -1')}\n"
        "from pathlib import Path\n"
        f"sys.path.insert(0, {str(Path(suite_tracks.__file__).parents[1])!r})\n"
        "from helpers.suite_tracks import track\n"
        "from netbandit.studies.suite.entries import Entry\n"
        "from netbandit.studies.suite.runs import run_pairs\n"
        f"folder = Path({str(tmp_path)!r})\n"
        "own = Entry({'kind': Raises}, {'kind': 'silent'}, 'own')\n"
        "found = run_pairs([(own, track(folder))], folder)\n"
        "print([cell.state for cells in found.values() for cell in cells.values()])\n"
    )
    done = subprocess.run([sys.executable, "-"], input=script, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "['ran']", done.stderr


@pytest.mark.ci
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a worker ends when its replication does")
def test_a_worker_ends_with_who_has_started_it_whatever_it_is_in(tmp_path):
    """It holds the lock of Python's interpreter, as a compiled loop does, so that no thread of its own may look."""
    mine = tmp_path / "mine.py"
    mine.write_text(
        "import ctypes, os, pathlib\n"
        "from helpers.suite_tracks import Raises\n"
        "class Busy(Raises):\n"
        "    def choose(self, slot, agents):\n"
        "        pathlib.Path(__file__).with_name('part').write_text(str(os.getpid()))\n"
        "        pathlib.Path(__file__).with_name('part').rename(pathlib.Path(__file__).with_name('worker'))\n"
        "        ctypes.PyDLL(None).sleep(3600)\n"
    )
    script = (
        "from pathlib import Path\n"
        "from mine import Busy\n"
        "from helpers.suite_tracks import track\n"
        "from netbandit.studies.suite.entries import Entry\n"
        "from netbandit.studies.suite.runs import run_pairs\n"
        "folder = Path.cwd()\n"
        "run_pairs([(Entry({'kind': Busy}, {'kind': 'silent'}, 'own'), track(folder))], folder)\n"
    )
    tests = str(Path(suite_tracks.__file__).parents[1])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), tests, *sys.path])}
    with subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path, env=environment) as process:
        assert eventually((tmp_path / "worker").exists)
        worker = int((tmp_path / "worker").read_text())
        assert is_alive(worker)
        process.kill()
    assert eventually(lambda: not is_alive(worker))
