from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import eigh

from netbandit.learners.linear import LinTs, LinUcb
from netbandit.learners.symmetric_root import ROOM, expand, inverse_root


@given(st.floats(-12, 12), st.floats(0, 10))
def test_the_sum_is_the_inverse_root_on_the_whole_interval(lowest, decades):
    shifts, weights = inverse_root(10**lowest, 10 ** (lowest + decades))
    assert (shifts > 0).all()
    assert (weights > 0).all()
    values = np.geomspace(10**lowest, 10 ** (lowest + decades), 200)
    found = (weights / (values[:, np.newaxis] + shifts)).sum(axis=1)
    np.testing.assert_allclose(found * np.sqrt(values), 1.0, rtol=0, atol=1e-12)


def test_more_terms_are_needed_only_with_the_logarithm():
    assert [len(inverse_root(1.0, ratio)[0]) for ratio in (1.0, 1e2, 1e4, 1e8)] == [6, 14, 23, 40]


def test_an_interval_of_one_point_has_a_root():
    shifts, weights = inverse_root(4.0, 4.0)
    assert (weights / (4.0 + shifts)).sum() == pytest.approx(0.5, rel=1e-14)


def world(seed, users, arms, dimension, spread=1.0):
    """Return contexts of norm up to *spread*, rewards of which a tenth is unknown, and normals."""
    rng = np.random.default_rng(seed)
    contexts = rng.standard_normal((users, arms, dimension))
    contexts *= spread * rng.random((users, arms, 1)) / np.linalg.norm(contexts, axis=2, keepdims=True)
    rewards = contexts @ rng.standard_normal(dimension) + 0.1 * rng.standard_normal((users, 1))
    rewards[rng.random(users) < 0.1] = np.nan
    return contexts, rewards, rng.standard_normal((users, dimension))


def reference_lints(contexts, rewards, normals, v, regularizer):
    """Find the symmetric root from all eigenvectors afresh for each user."""
    dimension = contexts.shape[2]
    gram, response = regularizer * np.eye(dimension), np.zeros(dimension)
    arms = []
    for context, reward, normal in zip(contexts, rewards, normals, strict=True):
        values, vectors = eigh(gram)
        theta = vectors @ ((vectors.T @ response) / values + v * (vectors.T @ normal) / np.sqrt(values))
        arms.append(int(np.argmax(context @ theta)))
        if not np.isnan(reward[arms[-1]]):
            gram += np.outer(context[arms[-1]], context[arms[-1]])
            response += reward[arms[-1]] * context[arms[-1]]
    return arms, np.linalg.solve(gram, response)


def reference_linucb(contexts, rewards, alpha, regularizer):
    """Solve for everything afresh for each user."""
    dimension = contexts.shape[2]
    gram, response = regularizer * np.eye(dimension), np.zeros(dimension)
    arms = []
    for context, reward in zip(contexts, rewards, strict=True):
        widths = np.sqrt(np.einsum("ki,ik->k", context, np.linalg.solve(gram, context.T)))
        arms.append(int(np.argmax(context @ np.linalg.solve(gram, response) + alpha * widths)))
        if not np.isnan(reward[arms[-1]]):
            gram += np.outer(context[arms[-1]], context[arms[-1]])
            response += reward[arms[-1]] * context[arms[-1]]
    return arms, np.linalg.solve(gram, response)


def started(player, dimension):
    player.start(dimension)
    return player


CASES = [(1, 400, 1.0, 1.0), (2, 400, 1.0, 1.0), (7, 300, 30.0, 0.01), (40, 200, 1.0, 1.0), (40, 120, 5.0, 1e-6)]


@pytest.mark.sampled(7)
@pytest.mark.parametrize(("dimension", "users", "spread", "regularizer"), CASES)
def test_thompson_sampling_does_what_fresh_eigenvectors_say(dimension, users, spread, regularizer):
    contexts, rewards, normals = world(dimension, users, 6, dimension, spread)
    player = started(LinTs(v=0.3, regularizer=regularizer), dimension)
    arms, parameter = reference_lints(contexts, rewards, normals, 0.3, regularizer)
    assert player.play(contexts, rewards, normals).tolist() == arms
    np.testing.assert_allclose(player.parameter, parameter, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("dimension", "users", "spread", "regularizer"), CASES)
def test_linucb_does_what_fresh_solutions_say(dimension, users, spread, regularizer):
    contexts, rewards, _ = world(dimension, users, 6, dimension, spread)
    player = started(LinUcb(alpha=0.3, regularizer=regularizer), dimension)
    arms, parameter = reference_linucb(contexts, rewards, 0.3, regularizer)
    assert player.play(contexts, rewards, np.empty((0, dimension))).tolist() == arms
    np.testing.assert_allclose(player.parameter, parameter, rtol=0, atol=1e-9)


@pytest.mark.parametrize("learner", ["linucb", "lints"])
def test_users_may_come_in_any_portions(learner):
    """Larger contexts may come later than smaller ones: the interval of eigenvalues is found again then."""
    contexts, rewards, normals = world(3, 100, 4, 5)
    contexts[60:] *= 20
    made = {
        "linucb": lambda: started(LinUcb(alpha=0.5), 5),
        "lints": lambda: started(LinTs(v=0.5), 5),
    }[learner]
    whole, bits = made(), made()
    arms = whole.play(contexts, rewards, normals)
    cuts = [0, 1, 2, 2, 9, ROOM + 9, 59, 60, 61, 100]
    parts = [
        bits.play(contexts[first:last], rewards[first:last], normals[first:last]) for first, last in pairwise(cuts)
    ]
    np.testing.assert_array_equal(np.concatenate(parts), arms)
    np.testing.assert_allclose(bits.parameter, whole.parameter, atol=1e-12)


def test_an_expansion_starts_with_no_context():
    expansion = expand(np.diag([1.0, 4.0, 9.0]), np.array([1.0, 2.0, 3.0]), 1.0, 1.0)
    assert expansion.used.tolist() == [0]
    root = (expansion.vectors * (expansion.weights @ expansion.inverses)) @ expansion.vectors.T
    np.testing.assert_allclose(root, np.diag([1, 1 / 2, 1 / 3]), atol=1e-14)


@pytest.mark.parametrize("learner", ["linucb", "lints"])
def test_arms_within_rounding_are_tied_and_the_first_is_chosen(learner):
    contexts = np.array([[[0.5, 0.5], [0.5, 0.5 + 1e-15], [0.5 - 1e-15, 0.5]]])
    contexts = np.repeat(contexts, 40, axis=0)
    kinds = {"linucb": LinUcb, "lints": LinTs}
    arms = started(kinds[learner](), 2).play(contexts, np.ones((40, 3)), np.ones((40, 2)))
    assert arms.tolist() == [0] * 40
