"""The page of the documentation says what is recorded."""

import re
from pathlib import Path

import pytest

from netbandit.studies.suite.record import shipped_record
from netbandit.studies.suite.standing import standings
from netbandit.studies.suite.tables import STALLED, score_text
from netbandit.studies.suite.tracks import tracks

PAGE = (Path(__file__).parents[3] / "docs" / "suite" / "index.md").read_text(encoding="utf-8")
SCORE = re.compile(r"`([\w-]+)` over `([\w-]+)`\s+has\s+(-?\d+\.\d\d)\s+on\s+`([\w-]+)`")
GAIN = re.compile(r"`([\w-]+)` over `([\w-]+)`\s+has\s+a\s+gain\s+of\s+(\d\.\d\d)")
PLACE = re.compile(r"`([\w-]+)` over `([\w-]+)`\s+(?:is\s+)?in\s+place\s+(\d+)")


@pytest.mark.ci
def test_its_scores_gains_and_places_are_those_of_the_record():
    found = standings(shipped_record(), list(tracks().values()))
    by_track = {track: standing for standing in found for track in standing.names}
    scores, gains, places = (pattern.findall(PAGE) for pattern in (SCORE, GAIN, PLACE))
    assert len(scores) > 10
    assert gains
    assert places
    for learner, protocol, score, track in scores:
        shown = score_text(by_track[track], f"{learner} over {protocol}", track)
        assert shown.rstrip(STALLED) == score, (learner, protocol, track)
    for learner, protocol, gain in gains:
        name = f"{learner} over {protocol}"
        (standing,) = [one for one in found if name in one.entries]
        assert f"{standing.gain(name):.2f}" == gain, name
    for learner, protocol, place in places:
        name = f"{learner} over {protocol}"
        (standing,) = [one for one in found if name in one.entries]
        assert str(standing.places[name].place) == place, name
