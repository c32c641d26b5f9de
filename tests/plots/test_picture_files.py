import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from helpers.made_up_runs import family_sweep, made_up, trace, write
from helpers.scenes import SMALL
from matplotlib.colors import to_hex

from netbandit.cli import main
from netbandit.plots import Asked, draw_asked, plot_against, plot_folder
from netbandit.plots.grouping import arrange
from netbandit.plots.picture_files import folder_pictures
from netbandit.plots.regret import draw_regret
from netbandit.results import picture_inputs
from netbandit.results.picture_record import PictureRecord
from netbandit.results.results_folder import ResultsFolder
from netbandit.results.safe_files import StorageError


def drawn_in(folder):
    return {file.name for file in folder.glob("*.*g")}


@pytest.mark.ci
def test_pictures_of_an_earlier_plot_go_away_and_what_is_not_ours_stays(tmp_path):
    write(tmp_path, family_sweep(1))
    (tmp_path / "mine.png").write_bytes(b"mine")
    before = {file.name for file in plot_folder(ResultsFolder(tmp_path))}
    asked = {file.name for file in plot_against(ResultsFolder(tmp_path), Asked(x="cost"))}
    assert asked == {"regret-against-cost.png", "regret-against-cost.svg"}
    assert {file.name for file in tmp_path.glob("*.*g")} == before | asked | {"mine.png"}
    write(tmp_path, [made_up()])
    after = {file.name for file in plot_folder(ResultsFolder(tmp_path))}
    asked &= drawn_in(tmp_path)
    assert {file.name for file in tmp_path.glob("*.*g")} == after | asked | {"mine.png"}
    assert after == {
        f"{name}.{kind}" for name in ("regret", "network", "regret-against-cost") for kind in ("png", "svg")
    }
    (tmp_path / "pictures.json").write_text('{"files": ["../mine.png", "mine.txt", 3]}')
    plot_folder(ResultsFolder(tmp_path))
    assert (tmp_path / "mine.png").exists()


@pytest.mark.ci
def test_a_folder_gets_a_png_and_an_svg_of_each(tmp_path):
    write(tmp_path, family_sweep())
    files = plot_folder(ResultsFolder(tmp_path))
    assert [file.name for file in files[:4]] == ["regret.png", "regret.svg", "diameter.png", "diameter.svg"]
    assert all(file.parent == tmp_path and file.stat().st_size > 1_000 for file in files)
    elsewhere = plot_folder(ResultsFolder(tmp_path), tmp_path / "pictures", kinds=["svg"])
    assert [file.read_bytes() for file in elsewhere] == [file.read_bytes() for file in files[1::2]]


def test_a_folder_without_results_is_a_clear_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="not a results folder"):
        plot_folder(ResultsFolder(tmp_path))
    write(tmp_path, [made_up()])
    for result in tmp_path.glob("runs/*/result.json"):
        result.unlink()
    with pytest.raises(ValueError, match="has no finished run"):
        plot_folder(ResultsFolder(tmp_path))
    assert list(tmp_path.glob("*.png")) == []


@pytest.mark.ci
def test_a_full_disk_leaves_the_old_pictures_whole(tmp_path, monkeypatch):
    write(tmp_path, [made_up()])
    before = {file.name: file.read_bytes() for file in plot_folder(ResultsFolder(tmp_path))}
    write(tmp_path, [made_up(bend=900)])
    write_bytes = Path.write_bytes

    def full(path, content):
        write_bytes(path, content[: len(content) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(StorageError, match="No space left on device"):
        plot_folder(ResultsFolder(tmp_path))
    assert {file.name: file.read_bytes() for file in tmp_path.glob("*.*g")} == before
    assert not list(tmp_path.glob(".*"))


@pytest.mark.ci
def test_the_same_results_give_the_same_bytes_in_another_process(tmp_path):
    write(tmp_path, family_sweep(1))
    here = {file.name: file.read_bytes() for file in plot_folder(ResultsFolder(tmp_path))}
    code = "import sys; from pathlib import Path; from netbandit.plots import plot_folder; "
    code += "from netbandit.results.results_folder import ResultsFolder; "
    code += "plot_folder(ResultsFolder(Path(sys.argv[1])), Path(sys.argv[2]))"
    there = tmp_path / "there"
    environment = {**os.environ, "PYTHONHASHSEED": "17", "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code, tmp_path, there], check=True, env=environment)
    assert json.loads((there / "pictures.json").read_text()) == {
        "files": list(here),
        "asked": {},
        "every": False,
    }
    assert {file.name: file.read_bytes() for file in there.iterdir() if file.name != "pictures.json"} == here
    for name, content in here.items():
        assert b"atplotlib v" not in content, name
        assert b"<dc:date>" not in content
        assert b"Software" not in content


@pytest.mark.ci
def test_what_was_asked_for_survives_the_next_run_with_its_results(tmp_path):
    write(tmp_path, family_sweep(1))
    asked = {file.name: file.read_bytes() for file in plot_against(ResultsFolder(tmp_path), Asked(x="cost"))}
    write(tmp_path, family_sweep(1, bend=900.0))
    files = {file.name for file in plot_folder(ResultsFolder(tmp_path))}
    assert set(asked) <= files
    assert (tmp_path / "regret-against-cost.png").read_bytes() != asked["regret-against-cost.png"]


@pytest.mark.ci
def test_what_was_asked_for_and_can_be_drawn_no_more_stays_as_it_was(tmp_path):
    write(tmp_path, family_sweep(1))
    (png, svg) = plot_against(ResultsFolder(tmp_path), Asked(x="family", y="cost"))
    before = png.read_bytes()
    write(tmp_path, [made_up()])
    assert png.name not in {file.name for file in plot_folder(ResultsFolder(tmp_path))}
    assert (png.read_bytes(), svg.is_file()) == (before, True)
    plot_folder(ResultsFolder(tmp_path))
    assert png.is_file()


@pytest.mark.ci
def test_all_pictures_stay_once_they_were_asked_for_and_go_when_the_few_are(tmp_path):
    write(tmp_path, family_sweep(1))
    assert CliRunner().invoke(main, ["plot", str(tmp_path), "--all"]).exit_code == 0
    every = drawn_in(tmp_path)
    assert "network-star.png" in every
    plot_folder(ResultsFolder(tmp_path))  # what a run does
    assert drawn_in(tmp_path) == every
    assert CliRunner().invoke(main, ["plot", str(tmp_path)]).exit_code == 0
    assert drawn_in(tmp_path) == {"regret.png", "regret.svg", "diameter.png", "diameter.svg"}


def test_all_and_one_are_not_asked_for_together(tmp_path):
    write(tmp_path, family_sweep(1))
    done = CliRunner().invoke(main, ["plot", str(tmp_path), "--all", "--x", "cost"])
    assert done.exit_code == 2
    assert "--all" in done.stderr


def test_a_series_drawn_alone_keeps_its_colour(tmp_path):
    write(tmp_path, family_sweep())
    study = ResultsFolder(tmp_path).study()
    colours = {line.get_label(): to_hex(line.get_color()) for line in draw_regret(arrange(study)).axes[0].lines}
    alone = draw_asked(study, Asked(x="cost", color="family")).figure.axes[0].containers
    assert {box[0].get_label(): to_hex(box[0].get_color()) for box in alone}.items() <= colours.items()
    ring = draw_asked(study, Asked(x="cost", where={"family": ("ring",)})).figure.axes[0].containers
    assert len(ring) == 1


@pytest.mark.parametrize(
    "text", ["", "[]", '{"files": 3}', '{"files": [], "asked": {"a": 3}}', '{"files": [], "asked": 7}']
)
def test_a_damaged_record_is_no_record(tmp_path, text):
    (tmp_path / "pictures.json").write_text(text)
    assert ResultsFolder(tmp_path).pictures() == PictureRecord()


def test_of_many_traces_one_round_is_drawn_and_six_when_every_picture_is_asked_for(tmp_path):
    write(tmp_path, family_sweep(1))
    study = ResultsFolder(tmp_path).study()
    message = {"type": "message", "kind": "DATA", "round": 1, "from": 0, "to": 1, "bytes": 20}
    line = json.dumps({**message, "sent": 0, "start": 0, "arrival": 10**6}) + "\n"
    for point in study.points:
        trace(ResultsFolder(tmp_path).run_folder(point.keys[0]), line)
    few = [one.name for one in folder_pictures(ResultsFolder(tmp_path), study)]
    every = [one.name for one in folder_pictures(ResultsFolder(tmp_path), study, every=True)]
    assert [name for name in few if name.startswith("round")] == ["round-star"]
    assert [name for name in every if name.startswith("round")] == ["round-star", "round-ring", "round-complete"]


@pytest.mark.ci
def test_a_pdf_has_letters_of_truetype_and_later_plots_keep_its_format(tmp_path):
    write(tmp_path, [made_up()])
    plot_folder(ResultsFolder(tmp_path))
    done = CliRunner().invoke(main, ["plot", str(tmp_path), "--format", "pdf"])
    assert done.exit_code == 0, done.output
    files = [Path(line) for line in done.stdout.splitlines()]
    assert {file.suffix for file in files} == {".pdf"}
    assert not drawn_in(tmp_path)
    for file in files:
        assert b"/FontFile2" in file.read_bytes()
        assert b"/Type3" not in file.read_bytes()
    first = files[0].read_bytes()
    assert [file.suffix for file in plot_folder(ResultsFolder(tmp_path))] == [".pdf"] * len(files)
    assert files[0].read_bytes() == first
    asked = plot_against(ResultsFolder(tmp_path), Asked(x="cost"), ["png"])
    assert [file.suffix for file in asked] == [".png"]
    assert {file.suffix for file in plot_folder(ResultsFolder(tmp_path))} == {".pdf", ".png"}


@pytest.mark.ci
def test_a_figure_that_its_user_saves_has_letters_of_truetype(tmp_path):
    write(tmp_path, [made_up()])
    figure = draw_regret(arrange(ResultsFolder(tmp_path).study()))
    figure.savefig(tmp_path / "mine.pdf")
    assert b"/FontFile2" in (tmp_path / "mine.pdf").read_bytes()
    assert b"/Type3" not in (tmp_path / "mine.pdf").read_bytes()


@pytest.mark.ci
def test_a_run_draws_only_pictures_that_are_out_of_date(tmp_path, monkeypatch):
    (tmp_path / "small.toml").write_text(SMALL + "[sweep]\nlinks.peer.latency = ['0 ms', '5 ms']\n")
    out = tmp_path / "out"

    def drawn(*arguments):
        """The pictures that a run says it has, and those whose files it has written."""
        before = {file: file.stat().st_mtime_ns for file in out.glob("*.*g")}
        done = CliRunner().invoke(main, ["run", str(tmp_path / "small.toml"), "--out", str(out), *arguments])
        assert done.exit_code == 0, done.output
        said = [line for line in done.output.splitlines() if line.startswith("picture: ")]
        return said, {file.name for file in out.glob("*.*g") if before.get(file) != file.stat().st_mtime_ns}

    every = {"regret.png", "regret.svg", "parameter.png", "parameter.svg"}
    said, files = drawn()
    assert files == every
    content = (out / "regret.png").read_bytes()
    assert drawn() == (said, set())
    (out / "regret.png").unlink()
    assert drawn() == (said, {"regret.png"})
    assert (out / "regret.png").read_bytes() == content
    (out / "parameter.svg").write_text("<svg/>")
    assert drawn() == (said, {"parameter.svg"})
    (out / "pictures.json").unlink()
    assert drawn() == (said, set())
    assert drawn("--statistic", "median")[1] == every
    assert drawn()[1] == every
    assert drawn("--replications", "2")[1] == every
    monkeypatch.setattr(picture_inputs, "version", lambda name: "0.1")
    assert drawn("--replications", "2")[1] == every
    assert CliRunner().invoke(main, ["plot", str(out), "--x", "cost", "--format", "pdf"]).exit_code == 0
    every = drawn("--replications", "2")[0]
    assert [line.count(".") for line in every] == [3] * 3, every  # three pictures in three formats
    assert drawn("--replications", "2") == (every, set())
