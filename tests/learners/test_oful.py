"""OFUL alone and together: its radii, what it is over which protocol, and its relation to other learners."""

from math import inf

import numpy as np
import pytest
from helpers.deposit_scenes import LAGGING, metrics, regret, run
from helpers.one_by_one import OneByOne

from netbandit.learners.ellipsoid import bonus_at
from netbandit.learners.feducb import FedUcb
from netbandit.learners.feducb_radius import radius
from netbandit.learners.oful import Oful


def bonus(learner, slot):
    """What the width of an arm is multiplied with when the first agent decides."""
    beliefs = learner.beliefs
    return bonus_at(beliefs.log_det[0, 0], beliefs.held[0, 0], learner.bonus_terms[0], 3, slot)


ONE = 'run={ horizon = 1_500, activity = "one" }'


@pytest.mark.ci
def test_who_never_uploads_is_alone():
    silent = metrics(ONE, 'protocol.kind="silent"')
    for answer in ("uploader", "lagging"):
        found = metrics(ONE, "learner.upload=inf", f'protocol.answer="{answer}"')
        assert (found["messages"], found["uploads"]) == (0, 0)
        assert found["regret"] == silent["regret"]
        assert found["round_slots"] is None


@pytest.mark.ci
def test_one_agent_that_hears_its_own_is_alone():
    one = "topology.agents=1"
    found = metrics(one, "learner.upload=1", 'learner.decide="received"')
    assert found["messages"] == 2 * 300
    assert found["regret"] == pytest.approx(regret(one, 'protocol.kind="silent"'), rel=1e-12)


def test_the_trace_is_never_less_than_the_determinant():
    widths = []
    for law in ("logdet", "trace"):
        learner = OneByOne(Oful(radius=law), 1, arms=3, dimension=3, isolated=True)
        rng = np.random.default_rng(0)
        of_this = []
        for _ in range(40):
            action = rng.standard_normal(3)
            learner.learn(0, 0, action / np.linalg.norm(action), rng.random())
            of_this.append(bonus(learner, 0))
        widths.append(of_this)
    assert (np.array(widths[1]) >= np.array(widths[0])).all()


def test_radii_are_those_of_the_papers():
    actions = np.random.default_rng(1).standard_normal((20, 3)) / 2
    gram = 2.0 * np.eye(3) + actions.T @ actions
    expected = {
        "logdet": 0.5 * np.sqrt(np.linalg.slogdet(gram)[1] - 3 * np.log(2) + 2 * np.log(1 / 0.05)) + np.sqrt(2),
        "trace": 0.5 * np.sqrt(3 * np.log(1 + 20 / (3 * 2)) + 2 * np.log(1 / 0.05)) + np.sqrt(2),
        0.7: 0.7,
    }
    for law, value in expected.items():
        keys = Oful(radius=law, regularizer=2.0, delta=0.05, radius_scale=0.3)
        learner = OneByOne(keys, 1, arms=3, dimension=3, isolated=True)
        for action in actions:
            learner.learn(0, 0, action, 0.5)
        assert bonus(learner, 9) == pytest.approx(0.3 * value, rel=1e-12)


PATH_OF_5 = ("topology.agents=5", 'protocol.server="centre"', LAGGING, "learner.upload=inf")


@pytest.mark.ci
def test_a_number_as_radius_is_linucb_with_that_alpha_choice_by_choice():
    """The fingerprint takes in all choices and all messages."""
    for protocol in ("master-worker", "gossip", "local", "silent", "parameter-server"):
        same = [
            run(f'protocol.kind="{protocol}"', *keys).fingerprint
            for keys in (
                ('learner={ kind = "linucb", alpha = 0.5, every = 20 }',),
                ('learner={ kind = "oful", radius = 0.5, schedule = "fixed", every = 20 }',),
            )
        ]
        assert same[0] == same[1]


class FedUcbRadius(Oful):
    """DisLinUCB with the radius that FedUCB has: t M for the observations in V, and 2 ln(2 / alpha)."""

    def _bonus_terms(self):
        return FedUcb(epsilon=inf)._bonus_terms(feducb_radius(self.world))


def feducb_radius(world):
    return radius(
        members=world.agents,
        dimension=world.dimension,
        alpha=0.1,
        sub_gaussian=world.sub_gaussian,
        regularizer=1.0,
        noise=None,
        quietest=None,
        paper_beta=False,
        epsilon=inf,
    )


def test_feducb_without_noise_is_dislinucb_but_for_the_radius():
    over = ('protocol.kind="master-worker"', 'links.uplink.latency="2 ms"')
    feducb = run(*over, f'learner={{ kind = "feducb", epsilon = {inf}, threshold = "dislinucb" }}')
    same = run(*over, f'learner.kind="{__name__}:FedUcbRadius"')
    assert feducb.metrics["rounds"] == same.metrics["rounds"] > 1
    assert feducb.fingerprint == same.fingerprint
    other = run(*over)
    assert other.fingerprint != same.fingerprint


@pytest.mark.ci
@pytest.mark.parametrize("learner", ["linucb", "lints"])
def test_linear_learners_deposit_too(learner):
    keys = f'learner={{ kind = "{learner}", upload = 1.5 }}'
    found = metrics(keys, 'links.uplink.latency="4 ms"')
    assert found["uploads"] > 10
    assert found["regret"] != regret(keys, 'protocol.kind="silent"')
    assert found["epsilon"] is None


@pytest.mark.ci
def test_who_decides_by_what_was_received_over_calls_decides_by_all_once_it_has_come():
    """Synchronised in every slot at once, nothing is ever known that was not received."""
    calls = ('protocol.kind="master-worker"', "learner.threshold=0")
    received = 'learner.decide="received"'
    assert regret(*calls, received) == pytest.approx(regret(*calls), rel=1e-12)
    late = (*calls, 'links.uplink.latency="9 ms"')
    assert regret(*late, received) > 1.2 * regret(*late)
    assert regret(received, 'protocol.kind="silent"') > 2 * regret('protocol.kind="silent"')
