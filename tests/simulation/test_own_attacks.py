"""Attacks of the user's own: what they say is what is heard, checked as any other lie, and what is wrong is said."""

import sys
import tomllib

import numpy as np
import pytest
from helpers.scenes import study

from netbandit.api.scenario import Scenario
from netbandit.checks.check import check
from netbandit.conditions.adversary import Adversary
from netbandit.results.run_keys import run_key
from netbandit.running import sweeps
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load_tables
from netbandit.scenario.objects import tables_of
from netbandit.user_code.errors import ReturnedError, complaint

RUN = """\
run = { horizon = HORIZON }
topology = { family = "complete", agents = 7 }
links.peer = { latency = "1 ms" }
adversary = { agents = [1, 4] }
"""
ARMS = 'bandit = { kind = "bernoulli", means = [0.3, 0.4, 0.5, 0.9] }\n'
ROUNDS = RUN.replace("HORIZON", "2000") + ARMS + 'learner.kind = "elimination"\nprotocol.kind = "gis"\n'
TOTALS = (
    RUN.replace("HORIZON", "120") + ARMS + 'learner = { kind = "ucb", share = "totals" }\nprotocol.kind = "local"\n'
)
SUMS = RUN.replace("HORIZON", "120") + (
    'bandit = { kind = "linear", dimension = 3, arms = 4 }\nprotocol.kind = "gis"\n'
    'learner = { kind = "oful", threshold = 1.0, radius_scale = 0.3 }\n'
)
TEXTS = {"means": ROUNDS, "totals": TOTALS, "sums": SUMS}
CODE = """\
import numpy as np

class Flip:
    def means(self, truth, view, rng):
        return 1 - truth

    def totals(self, truth, view, rng):
        pulls, rewards = truth
        return pulls, pulls - rewards

    def sums(self, truth, view, rng):
        U, u, n = truth
        return U, -u, n

class Noise:
    def means(self, truth, view, rng):
        return truth + rng.standard_normal(len(truth))

    def totals(self, truth, view, rng):
        pulls, rewards = truth
        rewards += pulls * rng.standard_normal(len(pulls))  # what it is given is its own
        return truth

    def sums(self, truth, view, rng):
        U, u, n = truth
        return U, u + np.abs(u).max() * rng.standard_normal(len(u)), n

class Absurd:
    def means(self, truth, view, rng):
        return truth * np.nan

    def totals(self, truth, view, rng):
        return truth[0] + 1e9, truth[1]

    def sums(self, truth, view, rng):
        return -truth[0], truth[1], truth[2]

class Short:
    def means(self, truth, view, rng):
        return truth[1:]

    def totals(self, truth, view, rng):
        return truth[0]

    def sums(self, truth, view, rng):
        return None

class Breaks:
    def means(self, truth, view, rng):
        return truth / {}

class Needs:
    def __init__(self, much):
        pass

thing = 3
"""


@pytest.fixture
def folder(tmp_path):
    """Return a folder with attacks in a module that no other test has."""
    yield tmp_path
    for name in ("attacks_of_mine", "twice"):
        sys.modules.pop(name, None)


def made(folder, text, attack, *overrides):
    (folder / "attacks_of_mine.py").write_text(CODE)
    attack = attack if attack.islower() or ":" in attack else f"attacks_of_mine:{attack}"  # ours are in small letters
    return study(folder, f"adversary.attack={attack}", *overrides, text=text).points[0]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("form", TEXTS)
@pytest.mark.parametrize("attack", ["Flip", "Noise"])
def test_one_that_says_what_ours_says_gives_the_same_run(folder, form, attack):
    own, ours = (made(folder, TEXTS[form], name).simulation(0).run() for name in (attack, attack.lower()))
    assert own.fingerprint == ours.fingerprint
    assert own.metrics | {"wall_s": 0} == ours.metrics | {"wall_s": 0}
    assert own.metrics["lies"] > 0


@pytest.mark.parametrize("form", TEXTS)
def test_what_cannot_be_true_is_left_out(folder, form):
    assert made(folder, TEXTS[form], "Absurd").simulation(0).run().metrics["rejected"] > 0


@pytest.mark.parametrize(
    ("form", "wanted"),
    [
        ("means", r"Short.means must return means of shape \(4,\), not shapes \(3,\)"),
        ("totals", r"Short.totals must return pulls of shape \(4,\) and rewards of shape \(4,\), not shapes \(\)"),
        ("sums", r"Short.sums must return U of shape \(3, 3\) and u of shape \(3,\) and n, a number, not NoneType"),
    ],
)
def test_a_wrong_shape_fails_the_run(folder, form, wanted):
    with pytest.raises(ReturnedError, match=wanted):
        made(folder, TEXTS[form], "Short").simulation(0).run()


def test_what_it_raises_is_told_with_its_line(folder):
    with pytest.raises(TypeError) as failed:
        made(folder, ROUNDS, "Breaks").simulation(0).run()
    line = CODE.splitlines().index("        return truth / {}") + 1
    again = failed.value.with_traceback(None)  # as if nobody's code but ours had run it
    assert complaint(again).endswith(f"in {folder / 'attacks_of_mine.py'}, line {line}")


@pytest.mark.parametrize(
    ("text", "attack", "said", "more"),
    [
        (TOTALS, "Breaks", "whose agents tell pulls and rewards: it has no method totals", []),
        (
            *(ROUNDS, "Flip", "tell an arm to those that ask: one of your own can forge only means, sums, totals"),
            ["learner.kind=gosine", "protocol.kind=gossip"],
        ),
        (ROUNDS, "Needs", "cannot be made without arguments: TypeError", []),
        (ROUNDS, "thing", "attacks_of_mine:thing is not a class", []),
        (ROUNDS, "Absent", 'the module attacks_of_mine has no class "Absent"', []),
        (ROUNDS, "no_such_module:Flip", "adversary.attack: cannot import no_such_module", []),
    ],
)
def test_what_cannot_be_is_refused(folder, text, attack, said, more):
    name = attack if ":" in attack else f"attacks_of_mine:{attack}"
    with pytest.raises(ScenarioError) as error:
        made(folder, text, name, *more)
    assert said in str(error.value)


def test_from_python_it_may_be_the_class_itself(folder):
    class Flip:
        def means(self, truth, view, rng):
            return 1 - truth

    made(folder, ROUNDS, "Flip")
    adversary = {"agents": [1, 4], "attack": Flip}
    (point,) = check(load_tables(tables_of({**tomllib.loads(ROUNDS), "adversary": adversary}))).points
    assert point.attack is Flip
    assert point.resolved["adversary"]["attack"].endswith(".<locals>.Flip")
    named = made(folder, ROUNDS, "Flip").simulation(0).run()
    assert point.simulation(0).run().fingerprint == named.fingerprint
    scenario = Scenario(adversary=Adversary(**adversary))
    assert scenario.tables["adversary"]["attack"] is Flip
    with pytest.raises(ValueError, match=r"adversary: the class .*Flip is in no module"):
        scenario.to_toml()


def test_a_misspelt_name_of_ours_is_one_mistake(folder):
    with pytest.raises(ScenarioError) as error:
        made(folder, ROUNDS, "flp")
    assert len(error.value.lines) == 1
    assert 'or "package.module:Class", not "flp" (did you mean "flip"?)' in error.value.lines[0]


@pytest.mark.parametrize(("attack", "own"), [("attacks_of_mine:Flip", True), ("flip", False)])
def test_workers_look_for_it_beside_the_scenario(folder, attack, own):
    made(folder, ROUNDS, "Flip")
    assert sweeps._has_own_parts(study(folder, f"adversary.attack={attack}", text=ROUNDS)) is own


def test_its_runs_are_known_by_its_code(folder):
    keys = []
    for said in ("1 - truth", "1 - truth  # the same", "0 * truth"):
        (folder / "twice.py").write_text(f"class Own:\n    def means(self, truth, view, rng):\n        return {said}\n")
        sys.modules.pop("twice", None)
        keys.append(run_key(made(folder, ROUNDS, "twice:Own"), 0))
    assert keys[0] == keys[1] != keys[2]


def test_it_is_told_what_liars_know(folder, monkeypatch):
    seen = []
    point = made(folder, ROUNDS, "Flip")
    monkeypatch.setattr(point.attack, "means", lambda self, truth, view, rng: seen.append(view) or truth)
    assert point.simulation(0).run().metrics["lies"] == 0
    view = seen[0]
    assert {each.agent for each in seen} == {1, 4}
    assert view.arms.tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(view.means, [0.3, 0.4, 0.5, 0.9])
    assert view.honest.shape == (5, 4)
