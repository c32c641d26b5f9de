import numpy as np
import pytest
from helpers.criteo_logs import write_log

from netbandit.bandits.criteo import read
from netbandit.bandits.criteo_features import combined
from netbandit.bandits.criteo_lines import pieces
from netbandit.bandits.synthetic_log import ClickLaw, MadeLog
from netbandit.util.streams import Streams


def events_of(log, count, streams):
    """Return users, arms and clicks of the first *count* events."""
    blocks = [log.events(block, streams.generator) for block in range(-(-count // log.block))]
    return tuple(
        np.concatenate([getattr(each, name) for each in blocks])[:count] for name in ("users", "shown", "clicks")
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("combine", ["sum", "product"])
@pytest.mark.parametrize("name", ["log.txt", "log.txt.gz"])
def test_the_file_holds_the_events_of_the_scenario(tmp_path, combine, name):
    law = write_log(tmp_path / name, 2_000, seed=4, replication=2, combine=combine)
    log = read(tmp_path / name, arms=40, skip=False, lines=None, watch=lambda *told: None)
    made = MadeLog(law)
    users, shown, clicks = events_of(made, 2_000, Streams(4, 2))
    np.testing.assert_array_equal(log.items, made.items)
    np.testing.assert_array_equal(log.scaled_users(slice(None)), users)
    np.testing.assert_array_equal(log.shown, shown)
    np.testing.assert_array_equal(log.clicks, clicks)
    again = write_log(tmp_path / "again", 2_000, seed=4, replication=2, combine=combine)
    np.testing.assert_array_equal(again.theta, law.theta)


@pytest.mark.parametrize("events", [1, 2, 3, 2_000])
def test_what_criteo_lacks_is_missing_here_too(tmp_path, events):
    write_log(tmp_path / "log.txt", events)
    (rows,) = pieces(tmp_path / "log.txt", None, lambda *told: None)
    assert (rows.lines, rows.bad) == (events, ())
    share = rows.missing.mean(axis=0)
    dropped = [0, 9, 11, *(13 + category for category in (18, 19, 21, 24, 25))]
    assert np.flatnonzero(share > 0.4).tolist() == dropped
    assert share.sum() == share[dropped].sum()


@pytest.mark.parametrize("combine", ["sum", "product"])
def test_chances_are_linear_in_the_contexts(combine):
    streams = Streams(1, 0)
    law = ClickLaw.draw(40, combine, streams.generator)
    users = np.vstack([np.zeros(10), np.ones(10), np.random.default_rng(0).random((200, 10))])
    chances = law.chances(users, None)
    contexts = combined(users[:, np.newaxis], law.items, combine)
    np.testing.assert_allclose(contexts @ law.theta, chances, atol=1e-14)
    arms = np.arange(len(users)) % 40
    np.testing.assert_allclose(law.chances(users, arms), chances[np.arange(len(users)), arms], atol=1e-14)
    assert chances.min() >= 0
    assert chances.max() == pytest.approx(0.8)
    assert len(set(chances[2:].argmax(axis=1))) > 1 or combine == "sum"


def test_arms_are_shown_evenly_and_clicked_by_their_chances():
    """Chi-squares of 39 and 9 degrees of freedom: above these bounds with probability below 1e-6 each."""
    streams = Streams(7, 0)
    log = MadeLog(ClickLaw.draw(40, "product", streams.generator))
    users, shown, clicks = events_of(log, 40_000, streams)
    expected = len(shown) / 40
    assert ((np.bincount(shown, minlength=40) - expected) ** 2 / expected).sum() < 101
    chances = log.chances(users, shown)
    tenth = np.argsort(np.argsort(chances)) * 10 // len(chances)
    surplus = np.bincount(tenth, clicks - chances)
    assert (surplus**2 / np.bincount(tenth, chances * (1 - chances))).sum() < 48


def test_a_log_that_cannot_be_made_is_told(tmp_path):
    with pytest.raises(ValueError, match="at most of 253"):
        write_log(tmp_path / "log.txt", 10, arms=254)
    with pytest.raises(ValueError, match="would be empty"):
        write_log(tmp_path / "log.txt", 0)
    assert not (tmp_path / "log.txt").exists()
