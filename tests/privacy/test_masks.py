import numpy as np
import pytest

from netbandit.privacy import masks
from netbandit.privacy.masks import masked_part, orthogonal_matrix, padded_parts, recover_mask, secure_sum, to_grid


def test_mask_is_orthogonal():
    mask = orthogonal_matrix(np.random.default_rng(1), 40)
    np.testing.assert_allclose(mask.T @ mask, np.eye(40), atol=1e-13)


@pytest.mark.parametrize("dimension", [1, 2, 9])
def test_mask_is_the_one_with_a_positive_triangle(dimension):
    """A Gaussian matrix has one decomposition in which R's diagonal is positive; only with it is Q uniform."""
    for seed in range(20):
        mask = orthogonal_matrix(np.random.default_rng(seed), dimension)
        triangle = mask.T @ np.random.default_rng(seed).standard_normal((dimension, dimension))
        np.testing.assert_allclose(np.tril(triangle, -1), 0.0, atol=1e-13)
        assert (np.diagonal(triangle) > 0).all()


class Nothing:
    """A pad that hides nothing."""

    def random_raw(self, shape):
        return np.zeros(shape, dtype=np.uint64)


def generators(count):
    return [[np.random.SFC64([first, second]) for second in range(first)] for first in range(count)]


def test_known_contexts_give_the_mask_away_but_not_through_a_secure_sum():
    rng = np.random.default_rng(2)
    mask = orthogonal_matrix(rng, 12)
    parts = [rng.standard_normal((20, 4)) * 0.1 for _ in range(3)]
    own_masks = [mask[:, 4 * i : 4 * i + 4] for i in range(3)]
    sent = [masked_part(own, part) for own, part in zip(own_masks, parts, strict=True)]
    np.testing.assert_allclose(recover_mask(parts[0][:4], sent[0][:4]), own_masks[0], atol=1e-10)
    padded = padded_parts(sent, generators(3))
    seen = padded[0].view(np.int64) * 2.0**-52
    assert np.abs(recover_mask(parts[0][:4], seen[:4]) - own_masks[0]).max() > 1
    np.testing.assert_allclose(secure_sum(padded), sum(sent), atol=1e-14)
    # Enough joint contexts still give the joint mask away.
    joint = np.hstack(parts)
    np.testing.assert_allclose(recover_mask(joint, secure_sum(padded)), mask, atol=1e-9)


def test_grid_has_a_limit():
    assert (to_grid(np.array([1023.0, -1023.0] * 4)).view(np.int64) == np.array([1023, -1023] * 4) * 2**52).all()
    for beyond in (1024.0, -1024.0, np.inf, -np.inf, np.nan):
        with pytest.raises(OverflowError):
            to_grid(np.array([0.5, beyond]))


def test_a_pad_is_between_two():
    rng = np.random.default_rng(3)
    parts = [rng.standard_normal((3, 7)) for _ in range(4)]
    bare = [to_grid(part) for part in parts]
    for first in range(4):
        for second in range(first):
            pads = [[Nothing()] * 4 for _ in range(4)]
            pads[first][second] = np.random.SFC64(5)
            sent = padded_parts(parts, pads)
            hidden = [bool((own != plain).any()) for own, plain in zip(sent, bare, strict=True)]
            assert [agent for agent in range(4) if hidden[agent]] == [second, first]
            assert (sent[first] + sent[second] == bare[first] + bare[second]).all()


def test_all_of_a_part_is_hidden_however_it_lies_in_memory():
    rng = np.random.default_rng(4)
    parts = [rng.standard_normal((11, 50)), rng.standard_normal((50, 11)).T, rng.standard_normal((22, 100))[::2, ::2]]
    sent = padded_parts(parts, generators(3))
    for own, part in zip(sent, parts, strict=True):
        assert (np.abs(own.view(np.int64) * masks.GRID - part) > 1e-3).mean() > 0.99
        assert len(np.unique(own)) == own.size
    np.testing.assert_allclose(secure_sum(sent), sum(parts), rtol=0, atol=1e-14)


def test_nobody_short_of_all_learns_from_what_is_sent():
    """What any of the participants but not all send adds up to uniform words, also if there are four of them.

    Kolmogorov and Smirnov's distance is beyond 2.7 / sqrt(n) with a probability of 2 exp(-2 * 2.7^2) < 1e-6.
    """
    sent = padded_parts([np.full((8, 1_000), 0.1 * agent) for agent in range(4)], generators(4))
    for chosen in range(1, 15):
        total = np.zeros_like(sent[0])
        for agent in range(4):
            if chosen >> agent & 1:
                total += sent[agent]
        ranks = np.sort(total.ravel()) / 2.0**64
        assert np.abs(ranks - np.arange(len(ranks)) / len(ranks)).max() < 2.7 / np.sqrt(len(ranks))


def test_a_sum_of_hidden_parts_is_as_exact_as_the_grid():
    """Each part is rounded once to the grid; nothing is lost to the pads or in adding up."""
    rng = np.random.default_rng(6)
    parts = [rng.standard_normal((40, 30)) for _ in range(5)]
    exact = sum(np.rint(part / masks.GRID).astype(np.int64).astype(object) for part in parts)
    found = secure_sum(padded_parts(parts, generators(5)))
    np.testing.assert_array_equal(found, (exact * masks.GRID).astype(float))
