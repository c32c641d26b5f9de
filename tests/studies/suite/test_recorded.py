"""The record that is shipped: of these tracks, with runs that anybody may repeat, in replications that are pairs."""

import json

import numpy as np
import pytest

from netbandit.studies.suite.differences import pairing
from netbandit.studies.suite.entries import Entry, shipped
from netbandit.studies.suite.record import FILE, RecordError, read_record, shipped_record, write_record
from netbandit.studies.suite.scores import score, separation
from netbandit.studies.suite.standing import standings
from netbandit.studies.suite.tracks import point_of, tracks
from netbandit.studies.suite.worker import DIGITS

RECORD = shipped_record()
TRACKS = list(tracks().values())

SAMPLE = [
    ("elimination over gis", "campus"),
    ("dducb over consensus", "lossy"),
    ("gosine over gossip", "churn"),
    ("klucb over local", "crowd"),
    ("thompson over gis", "thin"),
    ("klucb over local", "far"),
    ("oful over parameter-server", "linear-uneven"),
    ("feducb over master-worker", "linear-far"),
    ("lints over gossip", "linear-lossy"),
]


@pytest.mark.ci
@pytest.mark.parametrize(("name", "track"), SAMPLE)
def test_a_recorded_run_is_what_it_was(name, track):
    entry, cell = RECORD.entries[name], RECORD.cell(name, track)
    found = point_of(entry, tracks()[track]).simulation(0).run()
    assert found.fingerprint[:DIGITS] == cell.fingerprints[0]
    assert found.metrics["regret"] == pytest.approx(cell.of("regret")[0], rel=1e-6)


@pytest.mark.parametrize("track", TRACKS, ids=lambda track: track.name)
def test_free_cooperation_is_worth_more_than_ten_standard_errors(track):
    assert separation(RECORD, track) > 10
    alone, everybody = RECORD.cell(track.alone.name, track.name), RECORD.cell(track.all.name, track.name)
    assert score(alone, alone, everybody).value == 1.0
    assert score(everybody, alone, everybody).value == 0.0


def test_every_shipped_entry_is_in_it_with_the_state_of_each_track():
    assert {entry.name for entry in shipped()} <= set(RECORD.entries)
    for entry in shipped():
        for track in TRACKS:
            if track.family == entry.family:
                assert RECORD.cell(entry.name, track.name).state in ("ran", "refused", "private")


@pytest.mark.ci
def test_all_entries_meet_the_same_faults():
    """In a replication, whoever plays; and other ones in the next."""
    absent = [
        [
            point_of(Entry({"kind": kind}, {"kind": "silent"}), tracks()["churn"])
            .simulation(number)
            .run()
            .metrics["absent_slots"]
            for kind in ("klucb", "thompson")
        ]
        for number in range(2)
    ]
    assert absent[0][0] == absent[0][1] != absent[1][0] == absent[1][1]


@pytest.mark.parametrize("standing", standings(RECORD, TRACKS), ids=lambda standing: standing.family)
def test_differences_vary_less_than_those_of_unpaired_runs(standing):
    """Little less, as instances are fixed and agents soon pull other arms; on average over tracks, not on each."""
    found = np.array([pairing(standing.ran(track)) for track in standing.names], dtype=np.float64)  # None is NaN
    assert np.mean(found) < 1
    assert np.max(found) < 1.1


def test_writing_and_reading_keeps_it(tmp_path):
    write_record(RECORD, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == FILE.read_text()
    assert FILE.stat().st_size < 2_000_000


def test_a_record_of_other_tracks_is_refused(tmp_path):
    file = tmp_path / "other.json"
    other = {**json.loads(FILE.read_text()), "tracks": "0" * 16}
    file.write_text(json.dumps(other))
    with pytest.raises(RecordError, match="was made with other tracks"):
        read_record(file)
    file.write_text("[]")
    with pytest.raises(RecordError, match="is no record"):
        read_record(file)
    file.write_text(json.dumps({**json.loads(FILE.read_text()), "entries": [{}]}))
    with pytest.raises(RecordError, match="is damaged"):
        read_record(file)
