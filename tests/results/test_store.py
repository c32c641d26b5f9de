import json
import math
import os
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import psutil
import pytest
from helpers.fake_study import FakePoint, fake_result, resolved
from helpers.finished_runs import finished_runs

from netbandit.results.results_folder import ResultsFolder
from netbandit.results.run_folder import complete, load_run, save_run
from netbandit.results.run_keys import run_key, run_keys
from netbandit.results.safe_files import StorageError, partial, remove_leftovers, sealed, unsealed, write_whole
from netbandit.results.study_result import StudyPlan
from netbandit.simulation.result import Nodes


def point(**changes):
    return FakePoint({}, resolved(**changes))


def saved(folder, **changes):
    result = fake_result({"learner.epsilon": math.inf}, resolved(learner={"epsilon": math.inf}), 2)
    result = replace(result, **changes)
    save_run(folder, result)
    return result


def test_a_run_comes_back_as_it_was_saved(tmp_path):
    result = saved(tmp_path / "run")
    loaded = load_run(tmp_path / "run")
    for name in ("name", "parameters", "resolved", "seed", "replication", "metrics", "kinds", "topology"):
        assert getattr(loaded, name) == getattr(result, name), name
    assert list(loaded.metrics) == list(result.metrics)
    assert loaded.fingerprint == result.fingerprint
    assert loaded.curves["regret"].slots.dtype == np.int64
    np.testing.assert_array_equal(loaded.curves["regret"].slots, result.curves["regret"].slots)
    np.testing.assert_array_equal(loaded.curves["regret"].values, result.curves["regret"].values)
    for name in ("first", "second", "messages", "bytes", "activations"):
        np.testing.assert_array_equal(getattr(loaded.links, name), getattr(result.links, name))


def test_a_run_folder_holds_its_files_and_nothing_else(tmp_path):
    saved(tmp_path / "run")
    names = sorted(path.name for path in (tmp_path / "run").iterdir())
    assert names == ["curves.json", "links.json", "result.json"]


def test_the_files_hold_no_number_that_json_does_not_know(tmp_path):
    saved(
        tmp_path / "run", metrics={"regret": np.float64(2.5), "epsilon": math.inf, "delta": math.nan, "n": np.int64(3)}
    )

    def refuse(word):
        raise AssertionError(word)

    for path in (tmp_path / "run").iterdir():
        json.loads(path.read_text(), parse_constant=refuse)
    loaded = load_run(tmp_path / "run")
    assert loaded.metrics == {"regret": 2.5, "epsilon": None, "delta": None, "n": 3}
    assert loaded.resolved["learner"]["epsilon"] == math.inf


def test_a_name_that_reads_like_a_number_stays_a_name(tmp_path):
    result = fake_result({}, resolved() | {"name": "inf"}, 0)
    save_run(tmp_path / "run", result)
    loaded = load_run(tmp_path / "run")
    assert (loaded.name, loaded.resolved["name"]) == ("inf", "inf")


def test_without_details_the_figures_are_there_and_the_curves_are_not(tmp_path):
    result = saved(tmp_path / "run")
    loaded = load_run(tmp_path / "run", details=False)
    assert loaded.metrics == result.metrics
    assert loaded.curves == {}
    assert loaded.links.first.shape == (0,)


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "7", "null", "{}", '{"format": 1}', '{"format": 0, "run": "run"}', '{"format": "1", "run": "run"}'],
)
def test_a_damaged_result_is_no_result(tmp_path, content):
    saved(tmp_path / "run")
    (tmp_path / "run" / "result.json").write_text(content)
    assert load_run(tmp_path / "run") is None
    assert not complete(tmp_path / "run")


def test_a_result_cut_anywhere_is_no_result(tmp_path):
    saved(tmp_path / "run")
    file = tmp_path / "run" / "result.json"
    whole = file.read_bytes().rstrip()
    for length in range(len(whole)):
        file.write_bytes(whole[:length])
        assert load_run(tmp_path / "run") is None


@pytest.mark.parametrize(
    "change",
    [
        {"format": 4},
        {"run": "another"},
        {"metrics": {"regret": "many"}},
        {"metrics": {"regret": True}},
        {"metrics": None},
        {"parameters": []},
        {"seed": None},
        {"kinds": {"DATA": 1}},
        {"checksums": {}},
        {"metrics": {"regret": math.inf}},
        {"versions": {"netbandit": 1}},
        {"topology": {"agents": "5"}},
    ],
)
def test_a_result_with_a_wrong_entry_is_no_result(tmp_path, change):
    saved(tmp_path / "run")
    file = tmp_path / "run" / "result.json"
    file.write_text(sealed(unsealed(file.read_bytes()) | change))
    assert load_run(tmp_path / "run") is None


@pytest.mark.parametrize("name", ["curves.json", "links.json"])
def test_a_lost_or_cut_file_makes_the_run_incomplete(tmp_path, name):
    saved(tmp_path / "run")
    file = tmp_path / "run" / name
    whole = file.read_bytes()
    file.write_bytes(whole[:-5])
    assert not complete(tmp_path / "run")
    file.unlink()
    assert not complete(tmp_path / "run")
    file.write_bytes(whole)
    assert complete(tmp_path / "run")


def test_a_run_in_a_folder_of_another_name_is_not_that_run(tmp_path):
    saved(tmp_path / "run")
    shutil.copytree(tmp_path / "run", tmp_path / "copy")
    assert load_run(tmp_path / "copy") is None


def test_a_trace_is_asked_for_or_not(tmp_path):
    folder = tmp_path / "run"
    saved(folder)
    assert complete(folder)
    assert not complete(folder, trace=True)
    trace = partial(folder / "trace.jsonl")
    trace.write_text("{}\n")
    save_run(folder, fake_result({}, resolved(), 0), trace)
    assert complete(folder, trace=True)
    (folder / "trace.jsonl").unlink()
    assert complete(folder)
    assert not complete(folder, trace=True)


def test_result_json_is_the_last_file(tmp_path, monkeypatch):
    order = []
    original = write_whole

    def noted(target, text, **how):
        order.append(target.name)
        original(target, text, **how)

    monkeypatch.setattr("netbandit.results.run_folder.write_whole", noted)
    saved(tmp_path / "run")
    assert order[-1] == "result.json"


def test_nothing_is_complete_when_writing_fails(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match=r"cannot write to .*run: No space left on device"):
        saved(tmp_path / "run")
    assert {path.name for path in (tmp_path / "run").iterdir()} == {"curves.json", "links.json"}
    assert not complete(tmp_path / "run")


def test_a_file_in_place_of_the_folder_is_one_clear_line(tmp_path):
    (tmp_path / "run").write_text("")
    with pytest.raises(StorageError, match="there is a file where a folder should be"):
        saved(tmp_path / "run")


WRITE = (
    "import sys; from pathlib import Path; from netbandit.results.safe_files import partial; "
    "partial(Path(sys.argv[1])).touch()"
)
"""A program that begins to write a file, and ends."""


def test_what_a_dead_process_was_writing_is_removed_and_what_a_living_one_writes_is_not(tmp_path):
    target = tmp_path / "trace.jsonl"
    subprocess.run([sys.executable, "-c", WRITE, str(target)], check=True)
    partial(target).touch()
    assert len(list(tmp_path.iterdir())) == 2
    remove_leftovers(tmp_path)
    assert list(tmp_path.iterdir()) == [partial(target)]


def test_what_a_killed_process_was_writing_is_removed_before_anybody_asks_for_it(tmp_path):
    target = tmp_path / "trace.jsonl"
    with subprocess.Popen([sys.executable, "-c", WRITE, str(target)]) as child:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and is not forgotten
        assert len(list(tmp_path.iterdir())) == 1
        remove_leftovers(tmp_path)
        assert list(tmp_path.iterdir()) == []


def test_a_number_given_again_does_not_keep_what_its_first_owner_was_writing(tmp_path, monkeypatch):
    mine = partial(tmp_path / "trace.jsonl")
    mine.touch()
    assert remove_leftovers(tmp_path) == 0
    assert mine.exists()
    later = mine.stat().st_ctime + 60
    monkeypatch.setattr(psutil.Process, "create_time", lambda process: later)
    assert remove_leftovers(tmp_path) == 1
    assert not mine.exists()


def test_the_key_knows_what_decides_the_numbers():
    key = run_key(point(), 0)
    assert len(key) == 20
    assert set(key) <= set("0123456789abcdef")
    assert run_key(point(), 1) != key
    assert run_key(point(agents=6), 0) != key
    assert run_key(point(run={"seed": 1}), 0) != key
    assert run_key(point(run={"slot": "2 ms"}), 0) != key
    assert run_key(point(learner={"epsilon": math.inf}), 0) != run_key(point(learner={"epsilon": 1.0}), 0)


def test_the_key_does_not_know_names_replications_parameters_or_the_order_of_keys():
    key = run_key(point(), 0)
    assert run_key(point(replications=100), 0) == key
    assert run_key(FakePoint({"topology.agents": 5}, resolved()), 0) == key
    assert run_key(FakePoint({}, resolved() | {"name": "other", "description": "words"}), 0) == key
    assert run_key(FakePoint({}, dict(reversed(resolved().items()))), 0) == key


def test_the_key_is_the_same_in_every_process():
    imports = "from helpers.fake_study import FakePoint, resolved; from netbandit.results.run_keys import run_key; "
    code = imports + "print(run_key(FakePoint({}, resolved()), 0))"
    keys = set()
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        keys.add(subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True).stdout)
    assert keys == {run_key(point(), 0) + "\n"}


def test_raising_the_replications_keeps_the_keys():
    assert run_keys(point(replications=5))[:3] == run_keys(point(replications=3))


def test_a_file_counts_by_its_content_and_not_by_its_path(tmp_path):
    def key(name, content):
        (tmp_path / name).write_text(content)
        scenario = resolved() | {"topology": {"family": "file", "file": name, "agents": None}}
        chosen = FakePoint({}, scenario, inputs={"topology.file": tmp_path / name})
        assert chosen.resolved["topology"]["file"] == name
        return run_key(chosen, 0)

    assert key("a.graphml", "<a/>") == key("b.graphml", "<a/>")
    assert key("a.graphml", "<a/>") != key("a.graphml", "<b/>")


def test_a_study_comes_back_by_point_and_replication(tmp_path):
    points = [FakePoint({"topology.agents": size}, resolved(size, 2)) for size in (3, 4)]
    keys = [run_keys(point) for point in points]
    ResultsFolder(tmp_path).describe(StudyPlan("mine", points, keys))
    assert finished_runs(tmp_path) == []
    for chosen, runs in zip(points, keys, strict=True):
        for replication, key in enumerate(runs):
            save_run(tmp_path / "runs" / key, fake_result({"old": 1}, chosen.resolved, replication))
    study = ResultsFolder(tmp_path).study()
    assert study.name == "mine"
    assert [entry.parameters for entry in study.points] == [{"topology.agents": 3}, {"topology.agents": 4}]
    assert [entry.keys for entry in study.points] == keys
    runs = finished_runs(tmp_path)
    assert [(run.name, run.parameters["topology.agents"], run.replication) for run in runs] == [
        ("mine", 3, 0),
        ("mine", 3, 1),
        ("mine", 4, 0),
        ("mine", 4, 1),
    ]
    shutil.rmtree(tmp_path / "runs" / keys[0][1])
    assert [run is None for run in ResultsFolder(tmp_path).study().points[0].runs] == [False, True]
    assert [run.replication for run in ResultsFolder(tmp_path).study().points[0].finished] == [0]


def test_runs_of_an_earlier_study_in_the_same_folder_are_left_out(tmp_path):
    for size in (3, 4):
        points = [FakePoint({}, resolved(size, 1))]
        keys = [run_keys(points[0])]
        ResultsFolder(tmp_path).describe(StudyPlan("mine", points, keys))
        save_run(tmp_path / "runs" / keys[0][0], fake_result({}, points[0].resolved, 0))
    assert [run.topology["agents"] for run in finished_runs(tmp_path)] == [4]


def test_infinite_parameters_survive(tmp_path):
    points = [FakePoint({"learner.epsilon": math.inf}, resolved(replications=1))]
    ResultsFolder(tmp_path).describe(StudyPlan("mine", points, [["00"]]))
    assert ResultsFolder(tmp_path).study().points[0].parameters == {"learner.epsilon": math.inf}


def test_a_folder_without_results_is_told_apart_from_a_damaged_one(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"is not a results folder: it has no study\.json$"):
        ResultsFolder(tmp_path).study()
    (tmp_path / "fig4").mkdir()
    (tmp_path / "fig4" / "study.json").touch()
    with pytest.raises(FileNotFoundError, match=r"those in it are: fig4$"):
        ResultsFolder(tmp_path).study()
    for content in ("{", "{}", "[]", '{"format": 2}', '{"format": 1, "name": 3, "points": []}'):
        (tmp_path / "study.json").write_text(content)
        with pytest.raises(ValueError, match=r"study\.json is damaged"):
            ResultsFolder(tmp_path).study()


def test_names_and_coordinates_of_the_nodes_come_back(tmp_path):
    result = fake_result({}, resolved(agents=2), 0)
    save_run(tmp_path / "none", result)
    for number, nodes in enumerate(
        (
            Nodes(),
            Nodes(names=("Zürich", "Bern")),
            Nodes(names=("a", "b"), coordinates=np.array([[47.4, 8.5], [np.nan, np.nan]])),
        )
    ):
        folder = tmp_path / str(number)
        save_run(folder, replace(result, nodes=nodes))
        loaded = load_run(folder)
        assert loaded.nodes.names == nodes.names
        if nodes.coordinates is None:
            assert loaded.nodes.coordinates is None
        else:
            np.testing.assert_array_equal(loaded.nodes.coordinates, nodes.coordinates)
    assert load_run(tmp_path / "none").nodes is None
