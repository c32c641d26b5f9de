"""What is damaged is found out, whichever byte it is."""

import math
import random
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest
from helpers.fake_study import fake_result, fake_study, resolved

from netbandit.results.results_folder import ResultsFolder
from netbandit.results.run_folder import FORMAT, DamagedRunError, RunFiles, complete, read_run, save_run
from netbandit.results.safe_files import partial, sealed
from netbandit.running.sweeps import run
from netbandit.simulation.result import Nodes

FILES = ["result.json", "curves.json", "links.json", "nodes.json", "trace.jsonl"]


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    trace = partial(folder / "trace.jsonl")
    trace.write_text('{"t": 0}\n{"t": 1}\n')
    result = fake_result({"learner.epsilon": math.inf}, resolved(learner={"epsilon": math.inf}), 2)
    save_run(folder, replace(result, nodes=Nodes(names=("a", "b"), coordinates=np.zeros((2, 2)))), trace)
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)
    assert RunFiles(folder).verify()
    return folder


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FILES)
def test_no_flipped_bit_is_missed(folder, name):
    file = folder / name
    whole = file.read_bytes()
    for place in range(len(whole)):
        bit = 1 << place % 8
        file.write_bytes(whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :])
        with pytest.raises(DamagedRunError, match=rf"^{name} "):
            RunFiles(folder).verify()
    file.write_bytes(whole)
    assert RunFiles(folder).verify()


@pytest.mark.sampled(3)
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
    assert RunFiles(linked).verify()
    failing = fake_study(3, replications=2, fails={0: OSError("x"), 1: OSError("x")})
    for path in (here / "runs").iterdir():
        shutil.rmtree(path)
        path.symlink_to(there)
    run(failing, here)
    assert {path.name: path.read_bytes() for path in there.iterdir()} == kept


def test_a_trace_that_was_removed_is_no_damage(folder):
    (folder / "trace.jsonl").unlink()
    assert RunFiles(folder).verify() is False
    assert complete(folder)
    assert not complete(folder, trace=True)


def test_a_run_done_again_leaves_nothing_of_the_one_before(folder):
    save_run(folder, fake_result({}, resolved(), 0))
    assert sorted(path.name for path in folder.iterdir()) == sorted({*FILES} - {"nodes.json", "trace.jsonl"})


@pytest.mark.parametrize(("format", "age"), [(2, "an earlier"), (7, "another")])
def test_results_of_another_version_are_not_read_and_said_and_done_again(tmp_path, monkeypatch, format, age):
    study = fake_study(3, replications=1)
    with monkeypatch.context() as other:
        other.setattr("netbandit.results.run_folder.FORMAT", format)
        other.setattr("netbandit.results.results_folder.FORMAT", format)
        run(study, tmp_path)
    said = f"is of {age} version of netbandit (format {format}, this one reads 3)"
    with pytest.raises(ValueError, match=re.escape(f"{tmp_path / 'study.json'} {said}; run the scenario again")):
        ResultsFolder(tmp_path).study()
    result = run(study, tmp_path)
    assert result.done == 1
    (line,) = result.repeated
    assert line.endswith(f"result.json {said}")
    assert run(study, tmp_path).reused == 1


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
    assert ResultsFolder(tmp_path).study(details=False).damaged == ()  # its figures are what they were
    study = ResultsFolder(tmp_path).study()
    assert study.damaged == (f"{first.parent}: curves.json does not match its checksum",)
    assert sum(len(point.finished) for point in study.points) == 3


def test_no_flipped_bit_of_the_study_is_missed(tmp_path):
    run(fake_study(3, replications=1), tmp_path)
    file = tmp_path / "study.json"
    whole = file.read_bytes()
    for place in range(len(whole)):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
        with pytest.raises(ValueError, match=r"study\.json is damaged"):
            ResultsFolder(tmp_path).study()


@pytest.mark.parametrize(
    "point",
    [{"parameters": 7, "runs": []}, {"parameters": {}, "runs": ["../../etc"]}, {"parameters": {}, "runs": [3]}, 5],
)
def test_a_study_that_says_what_none_says_is_damaged(tmp_path, point):
    (tmp_path / "study.json").write_text(sealed({"format": FORMAT, "name": "x", "points": [point]}))
    with pytest.raises(ValueError, match=r"study\.json is damaged"):
        ResultsFolder(tmp_path).study()


def test_what_was_never_finished_is_not_there_rather_than_damaged(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_run(tmp_path / "none")
    (tmp_path / "file").write_text("")
    with pytest.raises(FileNotFoundError):
        read_run(tmp_path / "file")
