"""What no run leaves is not read as a run, though its checksums are right."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from helpers.fake_study import fake_result, resolved
from helpers.resealed import resealed

from netbandit.results.run_folder import DamagedRunError, load_run, read_run, save_run
from netbandit.results.safe_files import digest
from netbandit.simulation.result import Curve, Nodes

RESULT, CURVES, LINKS, NODES = (f"{name}.json" for name in ("result", "curves", "links", "nodes"))


@pytest.fixture
def folder(tmp_path):
    result = fake_result({}, resolved(agents=4), 0)
    nodes = Nodes(names=("a", "b", "c", "d"), coordinates=np.array([[47.4, 8.5], [0, 0], [1, 1], [np.nan, np.nan]]))
    figures = {"energy": np.ones(4), "capacity": np.full(4, 2.0), "drain": np.array([0, 0.5, np.nan, 1])}
    save_run(tmp_path, replace(result, nodes=replace(nodes, **figures)))
    for name, values in figures.items():
        np.testing.assert_array_equal(getattr(read_run(tmp_path).nodes, name), values)
    assert read_run(tmp_path).nodes.names == nodes.names
    return tmp_path


def written(folder, name, path, value):
    """Say something else at a place of a file, and seal it."""
    content = json.loads((folder / name).read_text())
    at = content
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    content.pop("checksum", None)
    text = json.dumps(content)
    result = json.loads((folder / RESULT).read_text())
    del result["checksum"]
    if name == RESULT:
        result = content
    else:
        (folder / name).write_text(text)
        result["checksums"][name] = digest(text.encode())
    (folder / RESULT).write_text(resealed(json.dumps(result)))


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        (RESULT, ["topology", "agents"], 1e308),
        (RESULT, ["topology", "agents"], 10**8),
        (RESULT, ["topology", "agents"], 0),
        (RESULT, ["topology", "agents"], True),
        (RESULT, ["topology", "agents"], 3),
        (RESULT, ["topology", "diameter"], -1),
        (RESULT, ["topology", "links"], 2.5),
        (RESULT, ["metrics", "regret"], 1e308),
        (RESULT, ["metrics", "regret"], "7"),
        (RESULT, ["kinds", "DATA"], [1, 2, 3]),
        (RESULT, ["kinds", "DATA"], [-1, 2]),
        (RESULT, ["versions"], [1]),
        (RESULT, ["remarks"], "word"),
        (RESULT, ["name"], "\ud800"),
        (RESULT, ["parameters"], {"a": math.inf}),
        (RESULT, ["checksums", "../../etc/passwd"], "x"),
        (RESULT, ["checksums"], 3),
        (RESULT, ["scenario", "run", "horizon"], 0),
        (RESULT, ["scenario", "run", "slot"], "soon"),
        (RESULT, ["scenario", "run", "slot"], 5),
        (RESULT, ["scenario", "run"], None),
        (RESULT, ["scenario", "topology"], []),
        (RESULT, ["scenario", "topology", "family"], 10**30),
        (CURVES, ["regret", "slots"], [0, 500, 500]),
        (CURVES, ["regret", "slots"], [-1, 500, 1000]),
        (CURVES, ["regret", "slots"], [0.0, 500, 1000]),
        (CURVES, ["regret", "values"], [0, "inf", 1]),
        (CURVES, ["regret", "values"], [0, 1e308, 1]),
        (CURVES, ["regret", "values"], [[0], [1], [2]]),
        (CURVES, ["regret"], {"slots": [], "values": []}),
        (LINKS, ["first"], [0, 1]),
        (LINKS, ["first"], [0, 2, 2]),
        (LINKS, ["messages"], [0, -1, 0]),
        (LINKS, ["bytes"], [0, 2**63, 0]),
        (NODES, ["names"], ["a", "b"]),
        (NODES, ["names"], ["a", "b", "c", 4]),
        (NODES, ["coordinates"], [[1, 2], [1, 2], [1, 2]]),
        (NODES, ["coordinates"], [[1, 2], [1, 2], [1, 2], [1e3, 2]]),
        (NODES, ["coordinates"], [[1, 2], [1, 2], [1, 2], [1]]),
    ],
)
def test_it_is_named(folder, name, path, value):
    written(folder, name, path, value)
    with pytest.raises(DamagedRunError, match=r"say what no run does: \S+|which files the run has"):
        read_run(folder)


def test_what_is_as_good_as_infinite_is_written_as_what_does_not_exist(tmp_path):
    result = fake_result({}, resolved(agents=4), 0)
    save_run(tmp_path, replace(result, metrics={"regret": 1e200, "cost": -math.inf, "rounds": 3, "energy_j": 1e100}))
    assert load_run(tmp_path).metrics == {"regret": None, "cost": None, "rounds": 3, "energy_j": 1e100}


def test_a_curve_comes_back_to_the_last_bit(tmp_path):
    result = fake_result({}, resolved(agents=4), 0)
    values = np.array([0.1 + 0.2, 1 / 3, 1e-300])
    save_run(tmp_path, replace(result, curves={"regret": Curve(np.array([0, 1, 7]), values)}))
    assert (load_run(tmp_path).curves["regret"].values == values).all()
