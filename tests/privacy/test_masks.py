import numpy as np
import pytest

from netbandit.privacy.masks import masked_part, orthogonal_matrix, padded_parts, recover_mask, secure_sum, to_grid


def test_mask_is_orthogonal():
    mask = orthogonal_matrix(np.random.default_rng(1), 40)
    np.testing.assert_allclose(mask.T @ mask, np.eye(40), atol=1e-13)


def generators(count):
    return [[np.random.default_rng([first, second]) for second in range(first)] for first in range(count)]


def test_known_contexts_give_the_mask_away_but_not_through_a_secure_sum():
    rng = np.random.default_rng(2)
    mask = orthogonal_matrix(rng, 12)
    parts = [rng.standard_normal((20, 4)) * 0.1 for _ in range(3)]
    masks = [mask[:, 4 * i : 4 * i + 4] for i in range(3)]
    sent = [masked_part(own, part) for own, part in zip(masks, parts, strict=True)]
    np.testing.assert_allclose(recover_mask(parts[0][:4], sent[0][:4]), masks[0], atol=1e-10)
    padded = padded_parts(sent, generators(3))
    seen = padded[0].view(np.int64) * 2.0**-52
    assert np.abs(recover_mask(parts[0][:4], seen[:4]) - masks[0]).max() > 1
    np.testing.assert_allclose(secure_sum(padded), sum(sent), atol=1e-14)
    # Enough joint contexts still give the joint mask away.
    joint = np.hstack(parts)
    np.testing.assert_allclose(recover_mask(joint, secure_sum(padded)), mask, atol=1e-9)


def test_grid_has_a_limit():
    with pytest.raises(OverflowError):
        to_grid(np.array([1024.0]))
