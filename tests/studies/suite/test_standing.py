"""The order of a family: by ranks on the tracks that all ran; harm, and each entry beside itself alone."""

import numpy as np
import pytest
from helpers.suite_tracks import cell, track

from netbandit.studies.suite.cells import Cell
from netbandit.studies.suite.comparing import Comparison
from netbandit.studies.suite.entries import Entry
from netbandit.studies.suite.record import Record
from netbandit.studies.suite.standing import Standing
from netbandit.studies.suite.tables import GAIN, SELF, among_all, of_track, overview

MEANS = {  # 10 as if all knew all, 100 alone
    "steady over relay": {"x": 40, "y": 40, "z": 90, "some": 40},
    "daring over relay": {"x": 20, "y": 20, "z": 900, "some": 20},
    "steady over silent": {"x": 60, "y": 30, "z": 95, "some": 95},
}


def regrets(mean):
    return (mean + np.random.default_rng(int(mean)).normal(0, 0.5, 20)).tolist()


@pytest.fixture
def world(tmp_path):
    """Three tracks that all ran, and one on which daring cannot run."""
    tracks = [track(tmp_path, name) for name in ("x", "y", "z", "some")]
    entries, cells = {}, {}
    for name, means in MEANS.items():
        learner, protocol = name.split(" over ")
        entries[name] = Entry({"kind": learner}, {"kind": protocol})
        cells[name] = {each: cell(regrets(mean)) for each, mean in means.items()}
    cells["daring over relay"]["some"] = Cell("refused", "it dares not")
    for reference, mean in ((tracks[0].alone, 100), (tracks[0].all, 10)):
        entries[reference.name] = reference
        cells[reference.name] = {each.name: cell(regrets(mean)) for each in tracks}
    return Record(entries, cells, {}, {}), tracks


def column(table, heading):
    place = list(table.head).index(heading)
    return {row[0]: row[place] for row in table.rows}


def test_it_is_by_median_midranks_on_what_all_ran(world):
    standing = Standing(world[0], "arms", world[1])
    assert standing.common == ["x", "y", "z"]
    assert standing.entries == ["daring over relay", "steady over relay", "steady over silent"]
    shown = overview(standing)
    assert column(shown, "place") == {
        "daring over relay": "1 (1–2)",
        "steady over relay": "2 (1–2)",
        "steady over silent": "2 (1–3)",
    }
    assert column(shown, "rank")["daring over relay"] == "1"
    assert "not some" in shown.caption
    assert column(shown, "some")["daring over relay"] == "–"


def test_harm_is_in_every_table_and_the_gain_says_that_it_leaves_it_out(world):
    standing = Standing(world[0], "arms", world[1], "daring over relay")
    assert standing.harmed("daring over relay") == ["z"]
    assert column(overview(standing), "harm") == {
        "daring over relay": "1",
        "steady over relay": "0",
        "steady over silent": "0",
    }
    assert column(of_track(standing, "z"), "harm")["daring over relay"] == "harm"
    assert column(among_all(standing), "harm") == {"x": "", "y": "", "z": "harm", "some": ""}
    assert GAIN == "gain (harm as 0)"
    assert column(overview(standing), GAIN)["daring over relay"] == "0.44"  # (8/9 + 8/9 + 0 + 0) / 4


def test_an_entry_stands_beside_itself_alone_as_recorded_else_beside_a_dash(world):
    standing = Standing(world[0], "arms", world[1])
    assert column(overview(standing), SELF) == {
        "daring over relay": "–",
        "steady over relay": "1 of 4",
        "steady over silent": "–",
    }
    assert standing.behind_itself("steady over relay") == (["y"], 4)
    track = of_track(standing, "y")
    beside = {"daring over relay": "–", "steady over silent": "–"}
    beside["steady over relay"] = column(track, "score")["steady over silent"]
    assert column(track, "itself alone") == beside
    values = Comparison(world[0], world[1]).scores.set_index(["entry", "track"])
    assert values.loc[("steady over relay", "y"), "itself_alone"] == pytest.approx(2 / 9, abs=0.01)
    assert np.isnan(values.loc[("daring over relay", "y"), "itself_alone"])
    assert values.loc[("daring over relay", "z"), "harm"]


def test_with_one_track_nobody_has_a_place(world):
    standing = Standing(world[0], "arms", world[1][2:3])
    shown = overview(standing)
    assert "place" not in shown.head
    assert standing.entries == ["steady over relay", "steady over silent", "daring over relay"]
    assert "in the order of ranks on z" in shown.caption
    assert len({len(row) for row in [shown.head, *shown.rows]}) == 1


def test_where_no_track_was_run_by_all_nobody_is_ordered(world):
    record, tracks = world
    cells = {name: dict(found) for name, found in record.cells.items()}
    for name, place in zip(("steady over relay", "daring over relay", "steady over silent"), "xyz", strict=True):
        cells[name][place] = Cell("refused", "not here")
    standing = Standing(Record(record.entries, cells, {}, {}), "arms", tracks)
    assert standing.common == []
    assert standing.entries == list(MEANS)
    assert "in the order of the record" in overview(standing).caption
