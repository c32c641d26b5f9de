"""What agent 0 learns in spite of the masks: the attacks that the privacy report tells of, on what a run sends."""

import numpy as np
import pytest
from helpers.gathering import played, point

from netbandit.bandits import vertical
from netbandit.privacy import masks
from netbandit.privacy.masks import masked_part, recover_mask
from netbandit.simulation.drivers import gathers

OWN = 4
"""The columns of agent 0; the three others have three, five and four."""


def seen_by_agent_0(tmp_path, monkeypatch, *overrides):
    """Return the driver, the contexts of all users in the clear, what agent 0 receives, and the sums it makes of it.

    What it receives is one array for each other participant, shape (users, K, d), words of a pad as numbers.
    """
    received, sums, clear = [], [], []
    plain_gathered, plain_masked, plain_padded = gathers.Gathers._gathered, masked_part, masks.padded_parts

    def gathered(self, contexts):
        clear.append(contexts.copy())
        sums.append(plain_gathered(self, contexts))
        return sums[-1]

    def masked(mask, part):
        found = plain_masked(mask, part)
        received.append(found.copy())
        return found

    def padded(parts, pads):
        sent = plain_padded(parts, pads)
        received[-len(parts) :] = [words.view(np.int64) * masks.GRID for words in sent]
        return sent

    monkeypatch.setattr(gathers.Gathers, "_gathered", gathered)
    monkeypatch.setattr(gathers, "masked_part", masked)
    monkeypatch.setattr(gathers, "padded_parts", padded)
    driver, _ = played(
        point(
            tmp_path,
            "bandit.dimension=16",
            "bandit.participants=[4, 3, 5, 4]",
            "run.horizon=100",
            "bandit.arms=5",
            *overrides,
        )
    )
    assert len(clear) == 1
    return driver, clear[0], received[1:4], sums[0]


def rows(array):
    return array.reshape(-1, array.shape[-1])


def test_known_contexts_of_a_participant_give_its_mask_and_all_its_contexts_away(tmp_path, monkeypatch):
    driver, contexts, received, _ = seen_by_agent_0(tmp_path, monkeypatch)
    for columns, sent in zip(driver._bandit.columns[1:], received, strict=True):
        own, seen, width = rows(contexts[:, :, columns]), rows(sent), len(columns)
        mask = recover_mask(own[:width], seen[:width])
        np.testing.assert_allclose(mask, driver.mask[:, columns], atol=1e-9)
        np.testing.assert_allclose(seen @ mask, own, atol=1e-9)  # of users of whom nothing was known
        # One fewer is not enough.
        fewer = recover_mask(own[: width - 1], seen[: width - 1])
        assert np.abs(seen @ fewer - own).max() > 0.01


def test_norms_and_inner_products_of_each_participant_are_seen(tmp_path, monkeypatch):
    driver, contexts, received, _ = seen_by_agent_0(tmp_path, monkeypatch)
    for columns, sent in zip(driver._bandit.columns[1:], received, strict=True):
        own, seen = rows(contexts[:, :, columns]), rows(sent)
        np.testing.assert_allclose(seen @ seen.T, own @ own.T, atol=1e-12)


def test_a_secure_sum_hides_each_participant(tmp_path, monkeypatch):
    """What one participant sends is uniform on the grid whatever its part: pads are drawn from all 2^64 words."""
    driver, contexts, received, _ = seen_by_agent_0(tmp_path, monkeypatch, "protocol.secure_sum=true")
    for columns, sent in zip(driver._bandit.columns[1:], received, strict=True):
        own, seen, width = rows(contexts[:, :, columns]), rows(sent), len(columns)
        mask = recover_mask(own[:width], seen[:width])
        assert np.abs(mask - driver.mask[:, columns]).max() > 1
        assert np.abs(seen @ mask - own).max() > 1
        assert np.abs(seen @ seen.T - own @ own.T).max() > 1
        # 8,000 words are uniform on [-2048, 2048): a Kolmogorov-Smirnov distance beyond 2.7 / sqrt(n) has a
        # probability of 2 exp(-2 * 2.7^2) < 1e-6.
        ranks = np.sort(seen.ravel()) / 4096 + 0.5
        assert np.abs(ranks - np.arange(len(ranks)) / len(ranks)).max() < 2.7 / np.sqrt(len(ranks))


def test_pads_are_used_once(tmp_path, monkeypatch):
    """Under the same pad two users' words would differ by no more than their contexts do, by 2 at the most.

    So for no two users may all words of a participant do that, whether they are masked together, in another portion of
    the block, or in another block. Of independent words each does with a probability of 1/1000.
    """
    sent = []
    plain = masks.padded_parts

    def padded(parts, pads):
        found = plain(parts, pads)
        sent.append(np.array([words.view(np.int64).reshape(len(words), -1) for words in found]))
        return found

    monkeypatch.setattr(gathers, "padded_parts", padded)
    monkeypatch.setattr(gathers, "_NUMBERS_AT_ONCE", 7 * 80)  # seven users of five arms and sixteen columns
    monkeypatch.setattr(vertical, "_NUMBERS_OF_A_BLOCK", 20 * 80)
    overrides = ["bandit.dimension=16", "bandit.arms=5", "run.horizon=60", "protocol.secure_sum=true"]
    played(point(tmp_path, *overrides))
    words = np.concatenate(sent, axis=1)
    assert words.shape == (3, 60, 80)
    assert len(sent) == 9
    for own in words:
        for first in range(60):
            for second in range(first):
                assert np.abs((own[first] - own[second]) * masks.GRID).max() > 2


@pytest.mark.parametrize("secure", ["true", "false"])
def test_known_joint_contexts_still_give_the_joint_mask_away(tmp_path, monkeypatch, secure):
    """Agent 0 takes its own masked part off; d - d_1 joint contexts of the others do the rest, one fewer does not."""
    driver, contexts, _, sums = seen_by_agent_0(tmp_path, monkeypatch, f"protocol.secure_sum={secure}")
    others = rows(contexts[:, :, OWN:])
    seen = rows(sums - masked_part(driver.mask[:, :OWN], contexts[:, :, :OWN]))
    np.testing.assert_allclose(seen @ seen.T, others @ others.T, atol=1e-12)
    needed = 16 - OWN
    mask = recover_mask(others[:needed], seen[:needed])
    np.testing.assert_allclose(mask, driver.mask[:, OWN:], atol=1e-9)
    np.testing.assert_allclose(seen @ mask, others, atol=1e-9)
    fewer = recover_mask(others[: needed - 1], seen[: needed - 1])
    assert np.abs(seen @ fewer - others).max() > 0.01


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ([], ["each participant's contexts exactly", "relay them encrypted"]),
        (["protocol.secure_sum=true"], ["joint contexts exactly", "relay them encrypted"]),
        (
            ["protocol.secure_sum=true", "bandit.participants=[4, 8, 0, 0]"],
            ["each participant's contexts exactly", "a secure sum of one hides nothing"],
        ),
        (["topology.family=complete"], ["each participant's contexts exactly"]),
        (['protocol.generator="third-party"'], ["each participant's contexts exactly"]),
        (["protocol.masks=false"], []),
        (["bandit.partial=0.2"], []),  # agent 0 has all that is seen
    ],
)
def test_the_result_says_what_masks_do_not_hide(tmp_path, overrides, said):
    remarks = point(tmp_path, *overrides).simulation(0).run().remarks
    assert len(remarks) == len(said)
    assert all(text in line for text, line in zip(said, remarks, strict=True))
