"""Agents that move: where they are, in law and from files, and when they meet."""

from itertools import combinations, pairwise
from math import hypot, log
from time import process_time

import numpy as np
import pytest
from helpers.examples import examples
from hypothesis import given
from hypothesis import strategies as st

from netbandit.network.approaches import approaches
from netbandit.network.contact_files import listed
from netbandit.network.families import Mobile, mobile
from netbandit.network.topology import TopologyError
from netbandit.network.tracks import GaussMarkov, Waypoint, joined, mean_distance
from netbandit.parts.component import read_part
from netbandit.util.streams import Streams

S = 10**9


def tracks_of(points, end):
    """Return tracks of agents given as lists of (s, x, y)."""
    columns = [np.array(own, dtype=float) for own in points]
    return joined(0, end * S, [((own[:, 0] * S).astype(np.int64), own[:, 1:]) for own in columns])


def met(points, end, reach):
    rows = np.concatenate([np.empty((0, 4), dtype=np.int64), *approaches(tracks_of(points, end), reach)])
    edges, contacts = listed(rows[:, :2], rows[:, 2], rows[:, 3])
    times = [contacts.times[contacts.first[link] : contacts.first[link + 1]].tolist() for link in range(len(edges))]
    return dict(zip(map(tuple, edges.tolist()), times, strict=True))


def test_two_that_pass_each_other():
    points = [[(0, 0, 0), (100, 1000, 0)], [(0, 1000, 0), (100, 0, 0)]]
    assert met(points, 100, 100) == {(0, 1): [[45 * S, 55 * S]]}
    assert met(points, 50, 100) == {(0, 1): [[45 * S, 50 * S]]}
    assert met([points[0], [(0, 1000, 101), (100, 0, 101)]], 100, 100) == {}


def test_who_stays_is_where_it_is():
    assert met([[(5, 0, 0)], [(0, 3, 4)], [(9, 3, 9.1)]], 10, 5) == {(0, 1): [[0, 10 * S]]}


def place_at(own, moment):
    for (begin, *here), (end, *there) in pairwise(own):
        if begin <= moment <= end:
            share = (moment - begin) / (end - begin)
            return [one + share * (other - one) for one, other in zip(here, there, strict=True)]
    return own[0][1:] if moment < own[0][0] else own[-1][1:]


def contacts_between(one, other, end, reach):
    """Return when two are near each other, by solving each stretch on which both go straight, in plain Python."""
    knots = sorted({0, end, *(min(end, time) for own in (one, other) for time, _, _ in own)})
    found = []
    for begin, until in pairwise(knots):
        gap = [a - b for a, b in zip(place_at(one, begin), place_at(other, begin), strict=True)]
        then = [a - b for a, b in zip(place_at(one, until), place_at(other, until), strict=True)]
        rate = [(b - a) / (until - begin) for a, b in zip(gap, then, strict=True)]
        square = sum(each**2 for each in rate)
        if square == 0:
            inside = [(begin, until)] if hypot(*gap) <= reach else []
        else:
            towards = sum(a * b for a, b in zip(gap, rate, strict=True))
            root = towards**2 - square * (sum(each**2 for each in gap) - reach**2)
            if root < 0:
                continue
            roots = [begin + (-towards + sign * root**0.5) / square for sign in (-1, 1)]
            inside = [(max(begin, roots[0]), min(until, roots[1]))]
        for first, last in inside:
            if first < last:
                if found and first - found[-1][1] < 1e-7:
                    found[-1][1] = last
                else:
                    found.append([first, last])
    return found


@pytest.mark.ci
@given(st.integers(0, 10**6))
@examples(30)
def test_contacts_are_the_roots_of_distances(seed):
    rng = np.random.default_rng(seed)
    points = []
    for _ in range(6):
        times = np.sort(rng.choice(np.arange(1, 60), size=rng.integers(1, 6), replace=False))
        points.append([(int(time), *(float(each) for each in rng.uniform(0, 300, 2))) for time in times])
    reach = float(rng.uniform(5, 120))
    found = met(points, 50, reach)
    for one, other in combinations(range(6), 2):
        expected = [
            each for each in contacts_between(points[one], points[other], 50, reach) if each[1] - each[0] > 1e-6
        ]
        here = [each for each in found.get((one, other), []) if each[1] - each[0] > 1_000]
        assert len(here) == len(expected)
        for (begin, end), (first, last) in zip(here, expected, strict=True):
            assert 0 <= begin - first * S < 10
            assert 0 <= end - last * S < 10


def test_there_is_room_for_any_number_of_contacts(monkeypatch):
    from netbandit.network import approaches as module

    points = [[(0, 0, place)] for place in range(9)]
    whole = met(points, 10, 2.5)
    monkeypatch.setattr(module, "_ROOM", 1)
    assert met(points, 10, 2.5) == whole
    assert len(whole) == 8 + 7


def law_at(model, moment, agents=2_000):
    """Return where agents are at a moment (s), and how fast, shape (agents, 2) and (agents,)."""
    (tracks,) = model.tracks(agents, Streams(0, 0), moment * S + S)
    places, speeds = [], []
    for agent in range(agents):
        time = tracks.time[tracks.first[agent] : tracks.first[agent + 1]] / S
        place = tracks.place[tracks.first[agent] : tracks.first[agent + 1]]
        then = np.searchsorted(time, moment, side="right")
        places.append([np.interp(moment, time, place[:, axis]) for axis in (0, 1)])
        speeds.append(np.hypot(*(place[then] - place[then - 1])) / (time[then] - time[then - 1]))
    return np.array(places), np.array(speeds)


@pytest.mark.ci
def test_waypoints_begin_in_the_law_in_which_they_stay():
    """On a line of 1: pausing share, mean speed (b - a) / ln(b / a), variance .05, two within .1: .2363."""
    model = Waypoint((1.0, 0.0), (0.05, 0.2), 5.0)
    leg = log(0.2 / 0.05) / 0.15 / 3
    for moment in (0, 60):
        places, speeds = law_at(model, moment)
        moving = speeds > 0
        share = 5 / (5 + leg)
        assert 1 - moving.mean() == pytest.approx(share, abs=5 * (share * (1 - share) / 2_000) ** 0.5)
        assert speeds[moving].mean() == pytest.approx(0.15 / log(4), abs=5 * 0.045 / moving.sum() ** 0.5)
        along = places[moving, 0]
        assert along.mean() == pytest.approx(0.5, abs=5 * (0.05 / len(along)) ** 0.5)
        assert along.var() == pytest.approx(0.05, abs=5 * 0.06 / len(along) ** 0.5)
        near = np.abs(np.subtract.outer(along, along))[np.triu_indices(len(along), 1)] < 0.1
        assert near.mean() == pytest.approx(0.2363, abs=5 * 0.2 / len(along) ** 0.5)


@pytest.mark.parametrize("area", [(3.0, 0.0), (0.0, 2.0), (1.0, 1.0), (4.0, 1.5)])
def test_the_mean_distance_of_two_points(area):
    one, other = np.random.default_rng(0).random((2, 20_000, 2)) * area
    drawn = np.hypot(*(one - other).T)
    assert mean_distance(*area) == pytest.approx(drawn.mean(), abs=5 * drawn.std() / 20_000**0.5)


def test_velocities_are_as_steady_as_they_say():
    model = GaussMarkov((1e9, 1e9), 2 * S, 0.9, 3.0)
    (tracks,) = model.tracks(500, Streams(0, 0), 100 * S)
    velocity = np.diff(tracks.place.reshape(500, 51, 2), axis=1) / 2
    assert velocity.std() == pytest.approx(3.0, rel=0.05)
    kept = (velocity[:, 5:] * velocity[:, :-5]).mean() / 9
    assert kept == pytest.approx(0.9**5, abs=0.08)


def test_nobody_leaves_the_area(monkeypatch):
    from netbandit.network import tracks as module

    whole = [*GaussMarkov((40.0, 0.0), S, 0.7, 5.0).tracks(9, Streams(0, 0), 100 * S)]
    monkeypatch.setattr(module, "_POINTS", 90)
    parts = [*GaussMarkov((40.0, 0.0), S, 0.7, 5.0).tracks(9, Streams(0, 0), 100 * S)]
    assert len(whole) == 1
    assert [part.begin for part in parts] == [number * 10 * S for number in range(10)]
    assert (
        np.concatenate([part.place.reshape(9, 11, 2)[:, :-1] for part in parts], axis=1)
        == whole[0].place.reshape(9, 101, 2)[:, :-1]
    ).all()
    assert (whole[0].place[:, 0] >= 0).all()
    assert (whole[0].place[:, 0] <= 40).all()
    assert (whole[0].place[:, 1] == 0).all()


@pytest.mark.parametrize(
    ("keys", "path", "words"),
    [
        ({"speed": ["0 m/s", "2 m/s"]}, ("speed", 0), "must be above 0"),
        ({"speed": ["3 m/s", "2 m/s"]}, ("speed",), "from the smallest to the largest"),
        ({"area": ["0 m", "0 m"]}, ("area",), "above 0"),
        ({"range": "0 m"}, ("range",), "above 0"),
        ({"range": "5 s"}, ("range",), "must be a length"),
        ({"agents": None}, ("agents",), "is missing"),
        ({"model": "file"}, ("file",), "is missing"),
        ({"changes": {"up": 0.5}}, ("changes",), "must be left out"),
    ],
)
def test_keys_that_cannot_be(keys, path, words):
    table = {"agents": 5, "range": "10 m", **keys}
    table = {key: value for key, value in table.items() if value is not None}
    _, problems, _ = read_part(Mobile, table, "topology")
    ((found, text),) = problems
    assert found == ("topology", *path)
    assert words in text


@pytest.mark.parametrize(
    ("keys", "key", "words"),
    [
        ({"speed": ["0.5 m/s", "1e12 m/s"]}, "speed", "3.4e+12 legs in a run, which take some"),
        ({"model": "gauss-markov", "step": "1 ns"}, "step", "1,000,000,000,000 steps in a run"),
        ({"agents": 10**6, "model": "gauss-markov"}, "agents", "pairs would be in range at a time; at most 4,194,304"),
        ({"agents": 20_000, "range": "2 km"}, "agents", "about 2e+08 pairs would be in range at a time"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_drawn(monkeypatch, keys, key, words):
    for model in (Waypoint, GaussMarkov):
        monkeypatch.setattr(model, "tracks", None)
    with pytest.raises(TopologyError) as error:
        Mobile(**{"agents": 50, "range": "100 m", **keys}).meetings(Streams(0, 0), S, 1_000 * S)
    ((path, text),) = error.value.problems
    assert path == (key,)
    assert words in text


def test_a_file_of_agents_who_are_all_in_range_is_refused(tmp_path):
    (tmp_path / "crowd.txt").write_text("0 1 2\n" * 3_500)
    crowd = Mobile(model="file", format="bonnmotion", file=str(tmp_path / "crowd.txt"), range="1 m")
    with pytest.raises(TopologyError, match=r"file: too many: about 6.1e\+06 pairs would be in range at a time"):
        crowd.meetings(Streams(0, 0), S, S)


def test_more_contacts_than_are_possible_are_refused_as_they_are_found(monkeypatch):
    monkeypatch.setattr(mobile, "_ROWS", 4)
    walkers = Mobile(agents=9, range="100 m")
    expected = walkers.meetings(Streams(0, 0), S, 3600 * S)
    monkeypatch.setattr(mobile, "_ROWS", 1 << 20)
    at_once = walkers.meetings(Streams(0, 0), S, 3600 * S)
    assert (expected.edges == at_once.edges).all()
    assert (expected.contacts.times == at_once.contacts.times).all()
    monkeypatch.setattr(mobile, "MOST_CONTACTS", len(at_once.contacts.times) - 1)
    with pytest.raises(TopologyError, match="range: too large: there are more contacts than"):
        walkers.meetings(Streams(0, 0), S, 3600 * S)


@pytest.mark.ci
def test_the_contacts_of_fifty_walkers_for_an_hour_take_less_than_a_second():
    walkers = Mobile(agents=50, range="100 m", pause="60 s")
    walkers.meetings(Streams(1, 0), S, 60 * S)  # which compiles
    began = process_time()
    found = walkers.meetings(Streams(0, 0), S, 3600 * S)
    assert process_time() - began < 1
    assert len(found.contacts.times) > 500


@pytest.mark.slow
@pytest.mark.parametrize("model", ["waypoint", "gauss-markov"])
def test_a_day_of_a_thousand_walkers_takes_less_than_a_minute(model):
    walkers = Mobile(agents=1_000, range="100 m", area=["10 km", "10 km"], model=model)
    began = process_time()
    found = walkers.meetings(Streams(0, 0), S, 24 * 3600 * S)
    assert process_time() - began < 60
    assert len(found.contacts.times) > 10**5


def test_agents_of_a_file_are_called_as_there(tmp_path):
    file = tmp_path / "tracks.txt"
    file.write_text("0 9 0 10 0 10\n0 p10 0 0\n0 c3 5 5\n0 p9 9 9\n")
    family = Mobile(range="1 km", model="file", file=str(file))
    assert family.meetings(Streams(0, 0), 1_000_000, S).names == ["c3", "p10", "p9"]
    file.write_text("0 9 0 10 0 10\n0 12 0 0\n0 3 5 5\n")
    assert family.meetings(Streams(0, 0), 1_000_000, S).names == ["3", "12"]
