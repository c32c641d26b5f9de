"""The shipped mechanisms release what is stated, and an audit sees it if they do not."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import netbandit
from netbandit.cli import main
from netbandit.learners import elimination, pfcb
from netbandit.privacy.accountant import PrivacySpent
from netbandit.privacy.tree import Tree
from netbandit.studies.auditing import mechanisms
from netbandit.studies.auditing.audit import audit_mechanism
from netbandit.studies.auditing.mechanisms import MECHANISMS, Mechanism

TOO_SMALL = 0.8


@pytest.fixture
def broken(monkeypatch):
    """All noise is 20 % too small."""
    laplace, gaussian = elimination.laplace, pfcb.gaussian
    monkeypatch.setattr(elimination, "laplace", lambda rng, scale, shape: laplace(rng, TOO_SMALL * scale, shape))
    monkeypatch.setattr(pfcb, "gaussian", lambda rng, scale: gaussian(rng, TOO_SMALL * scale))
    monkeypatch.setattr(mechanisms, "Tree", lambda size, deviation, rng: Tree(size, TOO_SMALL * deviation, rng))


@pytest.mark.ci
@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", MECHANISMS)
def test_noise_that_is_too_small_is_caught(broken, name):
    found = audit_mechanism(MECHANISMS[name](), seed=1)
    assert found.caught
    assert found.bound.epsilon > found.spent.epsilon


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", MECHANISMS)
def test_what_is_stated_is_exact_and_nearly_found(name):
    found = audit_mechanism(MECHANISMS[name](), seed=1)
    assert found.spent.epsilon == pytest.approx(found.exact, rel=1e-6)  # an account that is not ours
    assert 0.7 * found.spent.epsilon < found.bound.epsilon <= found.spent.epsilon
    if name == "pfcb":  # an outside audit of the paper's setting has found 0.111
        assert found.spent.epsilon == pytest.approx(0.136, abs=5e-4)


def alarms(audits, samples):
    return [
        (name, seed)
        for name in MECHANISMS
        for seed in range(audits)
        if audit_mechanism(MECHANISMS[name](), samples=samples, seed=seed).caught
    ]


@pytest.mark.ci
def test_the_stated_noise_raises_no_alarm():
    # 40 audits, each of which may raise one with probability 0.001.
    assert alarms(10, 4_000) == []


@pytest.mark.slow
def test_the_stated_noise_raises_no_alarm_in_two_hundred_audits():
    assert alarms(200, None) == []


@pytest.mark.ci
def test_a_mechanism_of_ones_own_takes_one_call():
    def draw(scale):
        return lambda world, samples, rng: world + rng.laplace(0, scale, (samples, 1))

    stated = PrivacySpent(epsilon=0.5, delta=0.0, epsilon_claimed=0.5, unit="one number")
    (sound,) = netbandit.audit(Mechanism(name="mine", setting="epsilon 0.5", spent=stated, draw=draw(2.0)))
    (leaky,) = netbandit.audit(Mechanism(name="mine", setting="epsilon 0.5", spent=stated, draw=draw(1.6)))
    assert not sound.caught
    assert leaky.caught
    assert netbandit.audit("elimination", samples=1_000)[0].name == "elimination"


def command(*words):
    return CliRunner().invoke(main, ["audit", *words])


def test_the_command_shows_what_is_stated_exact_and_found(tmp_path):
    picture = tmp_path / "audit.png"
    done = command("elimination", "tree-zcdp", "--samples", "2000", "--plot", str(picture))
    assert done.exit_code == 0
    assert "tree-zcdp" in done.stdout
    assert "MORE" not in done.stdout
    assert picture.stat().st_size > 10_000


def test_json_has_all_of_it():
    done = command("elimination", "--samples", "2000", "--json")
    (found,) = json.loads(done.stdout)
    assert (found["epsilon"], found["epsilon_exact"], found["delta"]) == (1.0, 1.0, 0.0)
    assert 0 < found["epsilon_audited"] < 1
    assert found["unit"] == "one reward of one agent"
    assert found["confidence"] == 0.999


def test_a_leak_is_an_exit_code(broken):
    done = command("elimination", "--samples", "40000")
    assert done.exit_code == 1
    assert "MORE THAN IS STATED" in done.stdout


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ["nothing"],
            "There is no mechanism 'nothing'; there are elimination, tree-zcdp, tree-paper, pfcb",
        ),
        (["elimination", "--set", "a=1"], "--set changes a scenario"),
        (["elimination", "--plot", "a.txt"], "--plot draws a .png or an .svg file"),
        (["elimination", "--samples", "3"], "--samples"),
    ],
)
def test_a_mistake_is_one_line(words, line):
    done = command(*words)
    assert done.exit_code == 2
    assert line in done.stderr


def test_the_transcripts_are_those_of_the_learners_own_code():
    found = MECHANISMS["elimination"]().draw(1, 50_000, np.random.default_rng(0))
    assert found.shape == (50_000, 4)
    first = MECHANISMS["elimination"]().draw(0, 50_000, np.random.default_rng(0))
    changed = found - first
    assert np.ptp(changed, axis=0) == pytest.approx(0)  # the same noise, another reward
    assert np.all(changed.mean(axis=0)[[0, 2]] > 0)
    assert changed.mean(axis=0)[[1, 3]] == pytest.approx(0)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"samples": -1}, "samples must be 10 or more"),
        ({"samples": 0}, "samples must be 10 or more"),
        ({"samples": 1e3}, "samples must be 10 or more"),
        ({"confidence": float("nan")}, "confidence must be above 0 and below 1"),
        ({"confidence": 1}, "confidence must be above 0 and below 1"),
        ({"seed": -1}, "seed must be 0 or above"),
    ],
)
def test_what_no_audit_can_have_is_said_before_it_begins(keys, said):
    with pytest.raises(ValueError, match=said):
        netbandit.audit("elimination", **keys)
