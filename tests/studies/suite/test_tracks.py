"""The tracks of a version never change, and are scenarios without learner and protocol."""

import tomllib

import pytest

from netbandit.checks.check import check
from netbandit.scenario.load import load
from netbandit.studies.suite.entries import Entry, shipped
from netbandit.studies.suite.tracks import FOLDER, TrackError, chosen, digest, point_of, tracks


def test_version_1_is_what_it_was():
    """Whoever has to change this number makes a new version instead: recorded runs are of these tracks."""
    assert digest() == "704699c7638a9f9d"


@pytest.mark.parametrize("track", tracks().values(), ids=lambda track: track.name)
def test_a_track_leaves_learner_and_protocol_open(track):
    written = tomllib.loads(track.path.read_text())
    assert written["name"] == track.name
    assert not {"learner", "protocol", "sweep"} & written.keys()
    assert written["run"]["replications"] == 20
    references = [point_of(one, track) for one in (track.alone, track.all)]
    assert [point.topology(0).agents for point in references] == [track.agents] * 2


def test_every_file_is_that_of_a_track():
    named = {path.stem for path in FOLDER.glob("*.toml")} - {"references"}
    assert named == set(tracks())


def test_a_track_is_a_scenario_that_others_may_extend(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(f'extends = "{tracks()["linear-far"].path}"\n[learner]\nkind = "oful"\n[protocol]\nkind = "gis"\n')
    assert check(load(file)).points[0].topology(0).agents == 23


def test_a_name_that_is_none_is_told():
    assert [track.name for track in chosen(["far", "campus", "far"])] == ["far", "campus"]
    with pytest.raises(TrackError, match=r'there is no track loss.*"lossy".*the tracks are campus, far'):
        chosen(["loss"])
    with pytest.raises(TrackError, match="no track is named"):
        chosen([])


def test_entries_have_names_of_their_own():
    names = [entry.name for entry in shipped()]
    assert len(names) == len(set(names))
    assert Entry({"kind": "elimination", "epsilon_total": 1.0}, {"kind": "gis"}).name in names
