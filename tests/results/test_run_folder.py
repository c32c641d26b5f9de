"""What is damaged is found out, whichever byte it is."""

import json
import math
import random
import shutil
from dataclasses import replace

import numpy as np
import pytest
from helpers.earlier_format import as_format_1
from helpers.fake_study import fake_result, fake_study, resolved

from netbandit.results.run_folder import DamagedRunError, complete, load_run, read_run, save_run, verify
from netbandit.results.safe_files import partial
from netbandit.results.store import load_study
from netbandit.running.sweeps import run
from netbandit.simulation.result import Nodes

FILES = ["result.json", "scenario.json", "curves.json", "links.json", "nodes.json", "trace.jsonl"]


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    trace = partial(folder / "trace.jsonl")
    trace.write_text('{"t": 0}\n{"t": 1}\n')
    result = fake_result({"learner.epsilon": math.inf}, resolved(learner={"epsilon": math.inf}), 2)
    save_run(folder, replace(result, nodes=Nodes(names=("a", "b"), coordinates=np.zeros((2, 2)))), trace)
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)
    assert verify(folder)
    return folder


@pytest.mark.parametrize("name", FILES)
def test_no_flipped_bit_is_missed(folder, name):
    file = folder / name
    whole = file.read_bytes()
    for place in range(len(whole)):
        bit = 1 << place % 8
        file.write_bytes(whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :])
        with pytest.raises(DamagedRunError, match=rf"^{name} "):
            verify(folder)
    file.write_bytes(whole)
    assert verify(folder)


@pytest.mark.parametrize("name", FILES)
def test_no_corruption_of_the_same_size_is_missed(folder, name):
    file = folder / name
    whole = file.read_bytes()
    chance = random.Random(name)
    for _ in range(100):
        changed = bytearray(whole)
        first = chance.randrange(len(whole))
        last = chance.randint(first + 1, len(whole))
        filling = chance.choice([b"\0", b"\xff", b" ", b"1", chance.randbytes(1)])
        changed[first:last] = filling * (last - first)
        if bytes(changed) != whole:
            file.write_bytes(changed)
            assert not complete(folder)
            assert not complete(folder, trace=True)


@pytest.mark.parametrize("name", FILES)
def test_a_folder_in_place_of_a_file_is_damage_and_makes_way(folder, name):
    (folder / name).unlink()
    (folder / name / "inside").mkdir(parents=True)
    assert not complete(folder)
    save_run(folder, fake_result({}, resolved(), 0))
    assert complete(folder)


def test_a_run_folder_that_is_a_link_is_read_and_never_written_through(tmp_path):
    study = fake_study(3, replications=2)
    elsewhere = tmp_path / "elsewhere"
    run(study, elsewhere)
    here = tmp_path / "here"
    run(fake_study(3, replications=1), here)
    (here / "runs").mkdir(exist_ok=True)
    for there in sorted((elsewhere / "runs").iterdir()):
        if not (here / "runs" / there.name).exists():
            (here / "runs" / there.name).symlink_to(there)
    assert run(study, here).reused == 2
    (linked,) = (path for path in (here / "runs").iterdir() if path.is_symlink())
    there = linked.resolve()
    (there / "curves.json").write_text("{}")
    kept = {path.name: path.read_bytes() for path in there.iterdir()}
    assert run(study, here, trace=True).done == 2
    assert {path.name: path.read_bytes() for path in there.iterdir()} == kept
    assert not linked.is_symlink()
    assert verify(linked)
    failing = fake_study(3, replications=2, fails={0: OSError("x"), 1: OSError("x")})
    for path in (here / "runs").iterdir():
        shutil.rmtree(path)
        path.symlink_to(there)
    run(failing, here)
    assert {path.name: path.read_bytes() for path in there.iterdir()} == kept


def test_a_trace_that_was_removed_is_no_damage(folder):
    (folder / "trace.jsonl").unlink()
    assert verify(folder) is False
    assert complete(folder)
    assert not complete(folder, trace=True)


def test_a_run_done_again_leaves_nothing_of_the_one_before(folder):
    save_run(folder, fake_result({}, resolved(), 0))
    assert sorted(path.name for path in folder.iterdir()) == sorted({*FILES} - {"nodes.json", "trace.jsonl"})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("result.json", '{"seed": 100000000000000000000000000000'),
        ("result.json", '{"metrics": {"regret": NaN}'),
        ("result.json", '{"metrics": {"regret": 1e999}'),
        ("result.json", '{"parameters": 7'),
        ("result.json", '{"kinds": {"DATA": 3}'),
        ("links.json", '{"first": [9223372036854775808]'),
        ("curves.json", '{"regret": {"slots": [1e30], "values": [0]}'),
        ("curves.json", '{"regret": [[[]]]'),
        ("curves.json", "\0" * 40),
        ("scenario.json", '{"scenario": []'),
    ],
)
def test_a_file_of_format_1_that_says_something_else_is_damage(tmp_path, name, text):
    run(fake_study(3, replications=1), tmp_path)
    as_format_1(tmp_path)
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    assert complete(folder)
    whole = json.loads((folder / name).read_text())
    result = json.loads((folder / "result.json").read_text())
    if name == "result.json":
        inner = text.removeprefix("{")
        key = inner.partition('"')[2].partition('"')[0]
        del whole[key]
        (folder / name).write_text(f"{{{inner}, {json.dumps(whole)[1:]}")
    else:
        content = text + "}" if text.startswith("{") else text
        (folder / name).write_text(content)
        result["sizes"][name] = len(content)
        (folder / "result.json").write_text(json.dumps(result))
    with pytest.raises(DamagedRunError):
        verify(folder)
    assert load_run(folder) is None
    assert load_study(tmp_path).points[0].finished == []


def test_runs_of_format_1_are_read_and_taken(tmp_path):
    study = fake_study(3, 4, replications=2)
    before = run(study, tmp_path)
    table = (tmp_path / "table.csv").read_bytes()
    as_format_1(tmp_path)
    there = load_study(tmp_path)
    assert [point.keys for point in there.points] == [point.keys for point in before.study.points]
    assert [len(point.finished) for point in there.points] == [2, 2]
    run(study, tmp_path)
    assert (tmp_path / "table.csv").read_bytes() == table
    result = run(fake_study(3, 4, replications=3), tmp_path)
    assert (result.done, result.reused, result.repeated) == (2, 4, ())
    assert len(list((tmp_path / "runs").iterdir())) == 2
    assert [len(point.finished) for point in result.study.points] == [3, 3]


def test_a_damaged_run_of_format_1_is_done_again_where_runs_are_now(tmp_path):
    study = fake_study(3, replications=2)
    run(study, tmp_path)
    as_format_1(tmp_path)
    curves = next(tmp_path.glob("*/curves.json"))
    curves.write_bytes(b"\0" * curves.stat().st_size)
    result = run(study, tmp_path)
    assert (result.done, result.reused) == (1, 1)
    assert result.repeated == (f"{curves.parent}: curves.json is not what was written",)
    assert complete(tmp_path / "runs" / curves.parent.name)
    assert run(study, tmp_path).reused == 2


def test_a_run_of_a_format_to_come_is_done_again_and_said(tmp_path, monkeypatch):
    study = fake_study(3, replications=1)
    with monkeypatch.context() as later:
        later.setattr("netbandit.results.run_folder.FORMAT", 7)
        run(study, tmp_path)
    result = run(study, tmp_path)
    assert result.done == 1
    (line,) = result.repeated
    assert line.endswith("result.json is of format 7, this version reads 2")


def test_a_damaged_trace_is_written_again_though_it_was_not_asked_for(tmp_path):
    study = fake_study(3, replications=1)
    run(study, tmp_path, trace=True)
    trace = next(tmp_path.glob("runs/*/trace.jsonl"))
    before = trace.read_bytes()
    trace.write_bytes(b"x" * len(before))
    result = run(study, tmp_path)
    assert result.repeated == (f"{trace.parent}: trace.jsonl does not match its checksum",)
    assert trace.read_bytes() == before


def test_damaged_runs_are_named_where_results_are_read(tmp_path):
    run(fake_study(3, 4, replications=2), tmp_path)
    first = sorted(tmp_path.glob("runs/*/curves.json"))[0]
    first.write_bytes(b"\0" * first.stat().st_size)
    assert load_study(tmp_path, details=False).damaged == ()  # its figures are what they were
    study = load_study(tmp_path)
    assert study.damaged == (f"{first.parent}: curves.json does not match its checksum",)
    assert sum(len(point.finished) for point in study.points) == 3


def test_no_flipped_bit_of_the_study_is_missed(tmp_path):
    run(fake_study(3, replications=1), tmp_path)
    file = tmp_path / "study.json"
    whole = file.read_bytes()
    for place in range(len(whole)):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
        with pytest.raises(ValueError, match=r"study\.json is damaged"):
            load_study(tmp_path)


@pytest.mark.parametrize(
    "point",
    [{"parameters": 7, "runs": []}, {"parameters": {}, "runs": ["../../etc"]}, {"parameters": {}, "runs": [3]}, 5],
)
def test_a_study_of_format_1_that_says_something_else_is_damaged(tmp_path, point):
    (tmp_path / "study.json").write_text(json.dumps({"format": 1, "name": "x", "points": [point]}))
    with pytest.raises(ValueError, match=r"study\.json is damaged"):
        load_study(tmp_path)


def test_what_was_never_finished_is_not_there_rather_than_damaged(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_run(tmp_path / "none")
    (tmp_path / "file").write_text("")
    with pytest.raises(FileNotFoundError):
        read_run(tmp_path / "file")
