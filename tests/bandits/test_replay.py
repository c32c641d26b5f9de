import sys

import numpy as np
import pytest
from helpers.criteo_logs import write_log
from helpers.worlds import started

from netbandit.bandits.recorded import Events
from netbandit.bandits.replay import Replay
from netbandit.bandits.synthetic_log import ClickLaw, MadeLog
from netbandit.learners.linear import LinUcb
from netbandit.util.streams import Streams

SURE = 4.8
"""Standard errors that the mean of independent, roughly normal figures exceeds with probability below 2e-6."""


def replay(replication=0, agents=1, **keys):
    streams = Streams(0, replication)
    return started(Replay(**keys), agents, streams.generator), streams


def log_of(bandit, streams, users):
    """Return contexts and rewards of the first *users* users."""
    blocks = [bandit.users(block, streams.generator) for block in range(-(-users // bandit.block))]
    return tuple(np.concatenate([getattr(each, name) for each in blocks])[:users] for name in ("contexts", "rewards"))


def fixed(contexts, rewards):
    return np.zeros(len(contexts), dtype=np.int64)


def by_context(contexts, rewards):
    return (contexts.sum(axis=(1, 2)) * 1_000).astype(np.int64) % contexts.shape[1]


def learner(contexts, rewards):
    player = LinUcb(alpha=0.3)
    player.start(contexts.shape[2])
    return player.play(np.ascontiguousarray(contexts), rewards, np.empty((0, contexts.shape[2])))


def z(values):
    values = np.asarray(values)
    return abs(values.mean()) / (values.std(ddof=1) / np.sqrt(len(values)))


@pytest.mark.ci
@pytest.mark.parametrize("combine", ["sum", "product"])
def test_the_estimate_is_unbiased_on_a_uniform_log(combine):
    """Over 150 logs of 600 users: the truth is known, and the mean error is 0 up to its standard error.

    The error is K / n times the clicks of kept events, less what the chosen arms pay on average: its mean is zero for
    any policy. For one that does not learn so is that of the click-through rate itself.
    """
    policies = (fixed, by_context, learner)
    weighted, plain = ({policy: [] for policy in policies} for _ in range(2))
    for log in range(150):
        bandit, streams = replay(log, arms=5, combine=combine)
        contexts, rewards = log_of(bandit, streams, 600)
        for policy in policies:
            arms = policy(contexts, rewards)
            found = bandit.findings(np.arange(600), arms, streams.generator).metrics
            weighted[policy].append(5 * found["kept"] * found["ctr"] / 600 - found["true_ctr"])
            plain[policy].append(found["ctr"] - found["true_ctr"])
    for policy in policies:
        assert z(weighted[policy]) < SURE, policy
        assert policy is learner or z(plain[policy]) < SURE, policy


class Knowing(MadeLog):
    """A log that is not uniform: arms were shown more often to those who would click on them."""

    def events(self, block, generator):
        events = super().events(block, generator)
        rng = generator("tests.knowing", block)
        chances = self.law.chances(events.users, None)
        weights = 0.01 + chances**4
        shown = (weights / weights.sum(axis=1, keepdims=True)).cumsum(axis=1)
        shown = np.minimum((rng.random((len(shown), 1)) > shown).sum(axis=1), self.arms - 1)
        chance = self.law.chances(events.users, shown)
        return Events(events.users, shown, (rng.random(len(shown)) < chance).astype(float))


@pytest.mark.ci
def test_the_estimate_is_biased_on_a_log_that_is_not():
    """So the test above would tell."""
    errors = []
    for log in range(150):
        _, streams = replay(log)
        source = Knowing(ClickLaw.draw(5, "product", streams.generator))
        bandit = Replay(arms=5, combine="product")
        bandit.settle(source, 1)
        contexts, rewards = log_of(bandit, streams, 600)
        found = bandit.findings(np.arange(600), fixed(contexts, rewards), streams.generator).metrics
        errors.append(found["ctr"] - found["true_ctr"])
    assert z(errors) > SURE


def test_only_what_was_shown_is_known():
    bandit, streams = replay(arms=7)
    users = bandit.users(3, streams.generator)
    assert users.contexts.shape == (bandit.block, 7, 30)
    known = ~np.isnan(users.rewards)
    assert known.sum(axis=1).tolist() == [1] * bandit.block
    np.testing.assert_array_equal(known, ~np.isnan(users.regrets))
    assert set(users.rewards[known]) == {0.0, 1.0}
    assert users.regrets[known].min() == 0


def test_rates_are_those_of_the_kept_events():
    bandit, streams = replay(arms=7, combine="product")
    chosen = np.arange(0, 1_000, 3)  # not every user was decided for
    contexts, rewards = log_of(bandit, streams, 1_000)
    arms = by_context(contexts, rewards)[chosen]
    found = bandit.findings(chosen, arms, streams.generator)
    paid = rewards[chosen, arms]
    base = []
    for seed in range(5):
        random = streams.generator("replay.random", seed).integers(7, size=len(chosen))
        base.append(np.nanmean(rewards[chosen, random]))
    assert found.metrics["kept"] == np.isfinite(paid).sum()
    assert found.metrics["ctr"] == np.nanmean(paid)
    assert found.metrics["random_ctr"] == pytest.approx(np.mean(base), rel=1e-12)
    assert found.metrics["relative_ctr"] == pytest.approx(np.nanmean(paid) / np.mean(base), rel=1e-12)
    means = bandit.source.law.chances(
        np.concatenate([bandit.source.events(block, streams.generator).users for block in range(2)])[chosen], arms
    )
    assert found.metrics["true_ctr"] == pytest.approx(means.mean(), rel=1e-12)
    assert found.tracks["relative_ctr"][-1] == pytest.approx(found.metrics["relative_ctr"], rel=1e-12)


def test_nothing_decided_is_no_rate():
    bandit, streams = replay()
    found = bandit.findings(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), streams.generator)
    expected = {"relative_ctr": None, "ctr": None, "random_ctr": None, "true_ctr": None, "kept": 0}
    assert (found.metrics, found.tracks, found.remarks) == (expected, {}, ())


@pytest.mark.parametrize("format", ["criteo", "digits"])
def test_partial_columns_are_the_first_ones(format):
    whole, streams = replay(agents=5, format=format)
    part, _ = replay(agents=5, format=format, partial=0.3)
    seen = round(0.3 * whole.seen)
    first, second = (bandit.users(1, streams.generator) for bandit in (whole, part))
    np.testing.assert_array_equal(first.contexts[:, :, :seen], second.contexts)
    np.testing.assert_array_equal(first.rewards, second.rewards)
    assert np.concatenate(part.columns).tolist() == list(range(seen))
    assert [len(columns) for columns in whole.columns] == ([6] * 5 if format == "criteo" else [13, 13, 13, 13, 12])


def test_of_a_file_nobody_knows_the_best_arm(tmp_path):
    write_log(tmp_path / "log.txt", 500)
    keys = {"path": str(tmp_path / "log.txt"), "combine": "product"}
    bandit, streams = replay(**keys)
    assert not bandit.knows_best
    assert np.isnan(bandit.users(0, streams.generator).regrets).all()
    found = bandit.findings(np.arange(500), np.arange(500) % 40, streams.generator)
    assert found.metrics["true_ctr"] is None
    (remark,) = found.remarks
    assert remark.startswith("log.txt does not state whether its arms were shown uniformly")
    declared, _ = replay(logging="uniform", **keys)
    assert declared.findings(np.arange(500), np.arange(500) % 40, streams.generator).remarks == ()


def test_skipped_lines_are_remarked(tmp_path):
    path = tmp_path / "log.txt"
    write_log(path, 500)
    path.write_text(path.read_text() + "1,2,3\n")
    bandit, streams = replay(path=str(path), bad_rows="skip", logging="uniform")
    (remark,) = bandit.findings(np.arange(9), np.arange(9), streams.generator).remarks
    assert remark.startswith("1 of 501 lines of log.txt were skipped; the first is line 501: has 1 field, but must")


def test_digits_pay_for_one_picture_of_ten():
    bandit, streams = replay(format="digits")
    users = bandit.users(2, streams.generator)
    assert (bandit.arm_count, bandit.seen, users.contexts.shape[1:]) == (10, 64, (10, 64))
    assert users.rewards.sum(axis=1).tolist() == [1.0] * bandit.block
    np.testing.assert_array_equal(users.regrets, 1 - users.rewards)
    assert (users.contexts.min(), users.contexts.max()) == (0, 1)
    from sklearn.datasets import load_digits

    pictures, labels = load_digits(return_X_y=True)
    known = {picture.tobytes(): int(label) for picture, label in zip(pictures, labels, strict=True)}
    shown = [[known[(16 * picture).tobytes()] for picture in offer] for offer in users.contexts]
    assert [sorted(offer) for offer in shown] == [list(range(10))] * bandit.block
    assert [offer.index(bandit.source.wanted) for offer in shown] == users.rewards.argmax(axis=1).tolist()


@pytest.mark.ci
def test_digits_can_be_learnt():
    """A random choice is right one time in ten; the learner is, after a while, more often than not."""
    bandit, streams = replay(format="digits")
    contexts, rewards = log_of(bandit, streams, 2_000)
    arms = learner(contexts, rewards)
    found = bandit.findings(np.arange(2_000), arms, streams.generator)
    assert found.metrics["kept"] == 2_000
    assert found.metrics["ctr"] == found.metrics["true_ctr"] > 0.5
    assert found.metrics["random_ctr"] == pytest.approx(0.1, abs=0.02)


def test_digits_say_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)  # as if it were not installed
    (mistake,) = Replay(format="digits").check()
    assert mistake.key == "format"
    assert mistake.text == """"digits" needs scikit-learn: pip install 'netbandit[digits]'"""


@pytest.mark.parametrize("partial", [0.2, 0.5, 1.0])
def test_a_random_partition_shows_columns_of_the_log_that_are_drawn_in_each_replication(partial):
    found = []
    for replication in (0, 1, 1):
        parts, streams = replay(replication, agents=5, arms=5, partial=partial, partition="random")
        whole, _ = replay(replication, agents=5, arms=5)
        contexts, rewards = log_of(parts, streams, 50)
        plain, same = log_of(whole, streams, 50)
        assert len(set(parts.shown.tolist())) == len(parts.shown) == round(30 * partial)
        np.testing.assert_array_equal(contexts, plain[:, :, parts.shown])
        np.testing.assert_array_equal(rewards, same)
        found.append(parts.shown.tolist())
    assert found[0] != found[1] == found[2]
