"""The film of a traced run: as many frames as it has moments, and what they show."""

import shutil

import pytest
from click.testing import CliRunner

import netbandit as nb
from netbandit.cli import main
from netbandit.report import film
from netbandit.report.animation import playback
from netbandit.trace.perfetto import find_trace
from netbandit.trace.read import read_trace, run_of

TABLES = {
    "run": {"horizon": 6},
    "topology": {"family": "ring", "agents": 3},
    "links": {"peer": {"latency": "0.4 ms"}},
    "bandit": {"kind": "bernoulli", "means": [0.2, 0.9]},
    "learner": {"kind": "ucb", "share": "totals"},
    "protocol": {"kind": "local"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("traced")
    nb.run(TABLES, out=folder, trace=True)
    return folder


def written(folder, tmp_path, monkeypatch, kind):
    """Write a film of six frames by the command, and return its file."""
    monkeypatch.setattr(film, "_FRAMES", 6)
    target = tmp_path / f"round.{kind}"
    done = CliRunner().invoke(main, ["trace", str(folder), "--format", kind, "--out", str(target), "--limit", "9"])
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[-1] == f"film: {target}, 9 messages"
    return target


@pytest.mark.ci
def test_a_film_is_written(folder, tmp_path, monkeypatch):
    from PIL import Image

    target = written(folder, tmp_path, monkeypatch, "gif")
    with Image.open(target) as picture:
        assert picture.n_frames == 6
        first = picture.convert("RGB").tobytes()
        picture.seek(3)
        assert picture.convert("RGB").tobytes() != first


def test_names_of_agents_cover_neither_agents_nor_one_another(tmp_path):
    from netbandit.util.extras.plots import Figure

    names = ["a gateway", "a sensor", "another sensor"]
    (tmp_path / "named.csv").write_text("source,target\n" + "\n".join(f"{names[i - 1]},{names[i]}" for i in range(3)))
    topology = {"family": "file", "file": str(tmp_path / "named.csv")}
    nb.run({**TABLES, "topology": topology}, out=tmp_path, trace=True)
    trace = find_trace(tmp_path)
    figure = Figure(figsize=(6.4, 6.4))
    network, below = figure.subplots(2, 1)
    frame = film._Frames(playback(run_of(trace), read_trace(trace)), network, below)
    frame.draw(0.0)
    frame.name_agents(figure)
    assert sorted(text.get_text() for text in network.texts) == names
    boxes = [text.get_window_extent() for text in network.texts]
    agents = network.transData.transform(frame._places[:-1])
    for place, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:place])
        assert not any(box.contains(*agent) for agent in agents)


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed")
def test_a_film_is_an_mp4_where_there_is_ffmpeg(folder, tmp_path, monkeypatch):
    assert written(folder, tmp_path, monkeypatch, "mp4").read_bytes()[4:8] == b"ftyp"


def test_without_ffmpeg_a_gif_is_what_there_is(folder, monkeypatch):
    monkeypatch.setattr(film.shutil, "which", lambda name: None)
    done = CliRunner().invoke(main, ["trace", str(folder), "--format", "mp4"])
    assert done.exit_code == 2
    assert "an MP4 takes ffmpeg, which is not installed: --format gif takes nothing" in done.output


def test_learners_of_slots_have_a_state_and_the_page_the_regret(folder):
    trace = find_trace(folder)
    run = run_of(trace)
    made = playback(run, read_trace(trace))
    assert made["in_slots"] is True
    slots, values = made["regret"]
    assert (slots[0], values[0]) == (0, 0)
    assert slots[-1] <= 6
    assert values == sorted(values)
    assert values[-1] == pytest.approx(run.curves["regret"].at(slots[-1]), rel=1e-5)
