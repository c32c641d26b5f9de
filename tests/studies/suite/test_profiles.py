"""Profiles, the gain that leaves harm out, and the order of median midranks."""

from hypothesis import given
from hypothesis import strategies as some
from scipy.stats import rankdata

from netbandit.studies.suite.profiles import gain, midranks, places, profile

TRACKS = ["x", "y", "z"]


def test_a_profile_counts_tracks_on_which_it_did_not_run_as_never_reached():
    assert profile({"x": 0.5, "z": 0.2}, TRACKS) == [(0.2, 1 / 3), (0.5, 2 / 3)]


def test_harm_is_no_gain_and_no_debt():
    assert gain({"x": 0.25, "y": 3.0}, TRACKS) == 0.25
    assert gain({"x": -0.5, "y": 1.0, "z": 0.0}, TRACKS) == 2 / 3


@given(some.lists(some.integers(0, 4), min_size=1, max_size=8))
def test_midranks_are_those_of_ties(values):
    """Where what is undecided is equal: 1 + those before it + half of the others of its value."""
    ranks = {
        str(place): (1 + sum(other < own for other in values), sum(other <= own for other in values))
        for place, own in enumerate(values)
    }
    assert list(midranks(ranks).values()) == rankdata(values).tolist()


def test_the_order_is_that_of_medians_so_that_one_track_of_great_harm_or_gain_decides_nothing():
    tracks = [{"even": 1.0, "other": 2.0, "last": 3.0}] * 3 + [{"even": 3.0, "other": 2.0, "last": 1.0}]
    found = places(tracks)
    assert [found[name].place for name in ("even", "other", "last")] == [1, 2, 3]
    assert [found[name].rank for name in ("even", "other", "last")] == [1.0, 2.0, 3.0]


def test_a_place_has_the_range_of_those_without_any_one_track():
    tracks = [{"one": 1.0, "two": 2.0}, {"one": 1.0, "two": 2.0}, {"one": 2.0, "two": 1.0}]
    assert {name: (each.place, each.best, each.worst) for name, each in places(tracks).items()} == {
        "one": (1, 1, 1),
        "two": (2, 1, 2),  # equal without the first
    }
    equal = places([{"one": 1.5, "two": 1.5}] * 2)
    assert {each.place for each in equal.values()} == {1}
