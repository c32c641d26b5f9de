from netbandit.suite.profiles import gain, places, profile

TRACKS = ["x", "y", "z"]


def test_a_profile_counts_tracks_on_which_it_did_not_run_as_never_reached():
    assert profile({"x": 0.5, "z": 0.2}, TRACKS) == [(0.2, 1 / 3), (0.5, 2 / 3)]


def test_harm_is_no_gain_and_no_debt():
    assert gain({"x": 0.25, "y": 3.0}, TRACKS) == 0.25
    assert gain({"x": -0.5, "y": 1.0, "z": 0.0}, TRACKS) == 2 / 3


def test_the_order_without_any_one_track():
    scores = {"even": dict.fromkeys(TRACKS, 0.4), "one-sided": {"x": 0.0, "y": 0.3, "z": 0.95}}
    found = places(scores, TRACKS)
    assert (found["even"].place, found["even"].best, found["even"].worst) == (1, 1, 2)
    assert (found["one-sided"].place, found["one-sided"].best) == (2, 1)
    assert found["one-sided"].best_without == "z"
    assert found["even"].best_without == ""
