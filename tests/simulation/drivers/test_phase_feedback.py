"""Elimination whose rewards are learned later than they are paid."""

import json
from math import inf

import numpy as np
import pytest
from helpers.feedback_reference import delay_of
from helpers.scenes import study

from netbandit.byzantine.adversaries.attack_kinds import ATTACKS
from netbandit.learners.differing_sets import Told
from netbandit.learners.elimination import Elimination
from netbandit.learners.elimination_pooled import PooledArms, pooled, widths
from netbandit.learners.elimination_schedule import EliminationSchedule
from netbandit.network.draws import Draws
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.toml_text import toml_text
from netbandit.simulation.execution import executed
from netbandit.util.streams import Streams

SLOT = 1_000_000


def scene(feedback=None, *, protocol="gis", learner=None, slots=0, agents=4, means=(0.1, 0.9, 0.4), **others):
    tables = {
        "run": {"horizon": slots or (4000 if "silent" in str(protocol) else 900), "slot": "1 ms"},
        "topology": {"family": "ring", "agents": agents},
        "links": {"peer": {"latency": "0.4 ms"}},
        "bandit": {"kind": "bernoulli", "means": list(means)},
        "learner": {"kind": "elimination"} | (learner or {}),
        "protocol": {"kind": protocol} if isinstance(protocol, str) else protocol,
        "feedback": feedback or {},
        **others,
    }
    return toml_text({key: table for key, table in tables.items() if table})


def run_of(folder, text, trace=None):
    return study(folder, text=text).points[0].simulation(0).run(trace)


def phases(folder, text, name="feedback"):
    """Return the lines of a trace that are phases of this name."""
    run_of(folder, text, folder / "trace.jsonl")
    lines = [json.loads(line) for line in (folder / "trace.jsonl").read_text().splitlines()]
    return [line for line in lines if line.get("phase") == name]


PROTOCOLS = ["silent", "gis", "master-worker", "sink", "flooding", "local"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("feedback", [{"delay": "0 ms"}, {"delay": "1 slot", "window": "2 slots", "missing": "zero"}])
def test_rewards_known_by_the_next_slot_change_nothing(tmp_path, protocol, feedback):
    on_time = run_of(tmp_path, scene(protocol=protocol))
    found = run_of(tmp_path, scene(feedback, protocol=protocol))
    assert found.fingerprint == on_time.fingerprint
    assert found.metrics["bytes"] == on_time.metrics["bytes"]
    assert (found.metrics["feedback_slots"], found.metrics["feedback_wait_slots"]) == (1, 0)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("lag", [2, 7, 40])
def test_with_a_constant_lag_each_round_waits_a_slot_less_than_the_lag(tmp_path, protocol, lag):
    found = run_of(tmp_path, scene({"delay": f"{lag} slots"}, protocol=protocol))
    assert found.metrics["feedback_slots"] == lag
    assert found.metrics["feedback_wait_slots"] == lag - 1
    assert found.metrics["outstanding_most"] == lag - 1
    assert found.metrics["outstanding"] == found.metrics["feedback_late"] == found.metrics["censored"] == 0
    waits = phases(tmp_path, scene({"delay": f"{lag} slots"}, protocol=protocol))
    assert waits
    assert {line["end"] - line["begin"] for line in waits} == {(lag - 1) * SLOT}


def test_each_reward_counts_whatever_it_is_late(tmp_path, monkeypatch):
    """Releases and arms left are of all rewards: a lag only moves them."""
    told = {}
    tell = Elimination.conclude

    def noted(self, means):
        told.setdefault(run, []).append((self.epoch, self.active.tolist(), means.tolist(), self.cumulative))
        tell(self, means)

    monkeypatch.setattr(Elimination, "conclude", noted)
    for run in ("9 slots", "30 slots"):
        run_of(tmp_path, scene({"delay": run}, means=(0.5, 0.6, 0.45), slots=6000))
    assert len(told["9 slots"]) > 2
    assert told["9 slots"] == told["30 slots"]


def test_meanwhile_an_agent_pulls_the_arm_that_is_best_by_what_has_come(tmp_path):
    (first, *_) = phases(tmp_path, scene(), "explore")
    pulls = (first["end"] - first["begin"]) // SLOT // 3
    for lag, arm in [(pulls, 1), (2 * pulls - 1, 1), (2 * pulls + 1, 0), (3 * pulls + 5, 0)]:
        (wait, *_) = phases(tmp_path, scene({"delay": f"{lag} slots"}, means=(0.0, 1.0, 0.0)))
        assert wait["arm"] == arm, lag


@pytest.mark.parametrize(
    "law", [{"geometric": 9.0}, {"pareto": ["2 ms", 1.1]}, "4.5 ms", {"uniform": ["0 ms", "9 ms"]}]
)
@pytest.mark.parametrize("never", [0.0, [0.5, 0.0, 0.2]])
def test_after_the_deadline_means_are_of_what_has_come_with_its_counts(tmp_path, monkeypatch, law, never):
    """How many rewards of each arm are known, by a reference that follows the pulls one by one."""
    observed = []
    observe = Elimination.observe_some
    monkeypatch.setattr(
        Elimination,
        "observe_some",
        lambda self, sums, pulls: (
            observed.append((self.agent, self.epoch, self.active.tolist(), sums[0].tolist(), pulls.tolist()))
            or observe(self, sums, pulls)
        ),
    )
    protocol = {"kind": "gis", "feedback_deadline": "6 slots"}
    text = scene({"delay": law, "never": never}, protocol=protocol, means=(1.0, 0.0, 1.0), slots=400)
    explored = {(line["agent"], line["round"]): line for line in phases(tmp_path, text, "explore")}
    delays, silence = (Draws(Streams(0, 0), purpose, 4) for purpose in ("feedback", "feedback.never"))
    numbers = [0] * 4
    late = 0
    assert observed
    for agent, epoch, arms, sums, pulls in sorted(observed):
        line = explored[agent, epoch]
        begin, end = line["begin"] // SLOT, line["end"] // SLOT
        each = (end - begin) // len(arms)
        counts = dict.fromkeys(arms, 0)
        for slot in range(begin, end):
            arm = arms[(slot - begin) // each]
            number, numbers[agent] = numbers[agent], numbers[agent] + 1
            share = never[arm] if isinstance(never, list) else never
            lag = max(1, -(-delay_of(law, delays.number(agent, number), SLOT) // SLOT))
            known = slot + lag <= end + 6
            counts[arm] += known and silence.number(agent, number) >= share
            late += not known
        assert pulls == list(counts.values())
        assert sums == [count if arm != 1 else 0 for arm, count in counts.items()]
    assert (late > 0) == (law != "4.5 ms")


@pytest.mark.parametrize("protocol", ["gis", "master-worker", "silent"])
def test_if_nothing_ever_comes_no_arm_is_dropped_and_phases_go_on(tmp_path, protocol):
    keys = {"kind": protocol, "feedback_deadline": "5 slots"}
    found = run_of(tmp_path, scene({"never": 1.0}, protocol=keys))
    lines = phases(tmp_path, scene({"never": 1.0}, protocol=keys), "explore")
    assert {line["arms"] for line in lines} == {3}
    assert max(line["round"] for line in lines) == 2
    assert found.metrics["censored"] == 1
    assert found.metrics["feedback_slots"] is None
    assert found.metrics["feedback_wait_slots"] == 5
    assert found.metrics["best_lost"] == 0


def test_a_phase_of_which_a_reward_never_comes_goes_on_for_ever_without_window_or_deadline(tmp_path):
    found = run_of(tmp_path, scene({"never": 0.2}))
    assert found.metrics["messages"] == 0
    assert found.metrics["feedback_wait_slots"] is None
    assert any("4 agents lacked late rewards of a phase at the horizon, 4 of them for ever" in a for a in found.remarks)
    assert not run_of(tmp_path, scene({"delay": "9 slots"})).remarks
    (remark,) = run_of(tmp_path, scene({"delay": "900 slots"})).remarks
    assert "4 agents lacked late rewards of a phase at the horizon, 0 of them for ever" in remark
    notes = study(tmp_path, text=scene({"never": 0.2})).notes
    assert any("a phase in which one reward never arrives does not end" in note for note in notes)


def test_a_window_ends_what_an_agent_waits_for(tmp_path):
    found = run_of(tmp_path, scene({"delay": "30 slots", "never": 0.3, "window": "12 slots"}))
    assert found.metrics["feedback_wait_slots"] == 11
    assert found.metrics["feedback_slots"] is None  # the window is shorter than each delay
    zeros = run_of(tmp_path, scene({"delay": "30 slots", "window": "12 slots", "missing": "zero"}))
    assert zeros.metrics["feedback_slots"] == 12
    clicks = {"delay": "3 slots", "window": "12 slots", "missing": "zero", "reports": "nonzero"}
    for means, wait in [((0.0, 1.0, 1.0), 2), ((1.0, 1.0, 0.0), 11)]:  # the last arm always pays, or never
        lines = phases(tmp_path, scene(clicks, means=means))
        assert {(line["end"] - line["begin"]) // SLOT for line in lines if line["round"] == 1} == {wait}


DOWN = {"up_for": "300 ms", "down_for": "15 ms"}


@pytest.mark.parametrize("faults", [{}, {"nodes": DOWN}, {"nodes": DOWN | {"memory": "lost"}}])
@pytest.mark.parametrize("deadline", [None, "9 slots"])
def test_each_pull_of_a_phase_is_learned_outstanding_censored_or_late(tmp_path, faults, deadline, monkeypatch):
    counted = []
    from netbandit.conditions.phase_feedback import PhaseFeedback

    note = PhaseFeedback.note

    def noted(self, awaited, *given):
        note(self, awaited, *given)
        counted.append((awaited.slots.size, self._learned, self._outstanding, self._censored, self._late))

    monkeypatch.setattr(PhaseFeedback, "note", noted)
    protocol = {"kind": "gis", "deadline": "20 ms"} | ({"feedback_deadline": deadline} if deadline else {})
    feedback = {"delay": {"geometric": 20.0}, "never": 0.1, "window": "50 slots"}
    found = run_of(tmp_path, scene(feedback, protocol=protocol, faults=faults, means=(0.4, 0.6, 0.5)))
    pulls = sum(size for size, *_ in counted)
    assert sum(counted[-1][1:]) == pulls > 500
    assert found.metrics["feedback_late"] > 0
    # Without outages agents pull what their phases have.
    explored = phases(tmp_path, scene(feedback, protocol=protocol, means=(0.4, 0.6, 0.5)), "explore")
    if not faults:
        assert pulls == sum((line["end"] - line["begin"]) // SLOT for line in explored if line["end"] < 900 * SLOT)


def test_what_is_due_while_an_agent_is_down_is_learned_when_it_is_back(tmp_path):
    (first, *_) = phases(tmp_path, scene(protocol="silent"), "explore")
    end = first["end"] // SLOT
    outage = {"outages": [{"nodes": [0], "from": f"{end + 3} ms", "until": f"{end + 40} ms"}]}
    waits = phases(tmp_path, scene({"delay": "11 slots"}, protocol="silent", faults=outage))
    assert [line["end"] // SLOT for line in waits if line["agent"] == 0 and line["round"] == 1] == [end + 40]
    assert [line["end"] // SLOT for line in waits if line["agent"] == 1 and line["round"] == 1] == [end + 10]


def test_a_battery_that_runs_empty_while_rewards_are_awaited_loses_no_count(tmp_path):
    energy = {"capacity": "120 uJ", "idle": "1 mW", "harvest": "700 uW", "recover": 0.3}
    found = run_of(tmp_path, scene({"delay": "25 slots"}, protocol="silent", energy=energy))
    assert found.metrics["absent_slots"] > 0
    assert found.metrics["feedback_wait_slots"] > 24


def test_a_trace_and_the_execution_change_no_number(tmp_path):
    text = scene({"delay": {"geometric": 7.0}}, protocol={"kind": "gis", "feedback_deadline": "9 slots"})
    plain = run_of(tmp_path, text)
    assert run_of(tmp_path, text, tmp_path / "trace.jsonl").fingerprint == plain.fingerprint
    with executed("compiled"):
        assert run_of(tmp_path, text).fingerprint == plain.fingerprint


def test_liars_may_be_among_agents_that_go_on_without_some_rewards(tmp_path):
    adversary = {"agents": [1], "attack": "flip"}
    protocol = {"kind": "flooding", "feedback_deadline": "4 slots"}
    feedback = {"delay": {"geometric": 12.0}, "never": 0.2}
    found = run_of(tmp_path, scene(feedback, protocol=protocol, adversary=adversary, learner={"robust": "median"}))
    assert found.metrics["rounds"] > 0
    assert found.metrics.get("rejected", 0) == 0


@pytest.mark.sampled(3)
@pytest.mark.parametrize("attack", sorted(set(ATTACKS["means"]) - {"hidden", "mute"}))
@pytest.mark.parametrize("protocol", ["gis", "master-worker", "flooding", "gossip"])
def test_a_liar_without_any_reward_of_a_phase_reports_no_arm(tmp_path, attack, protocol):
    """Whatever it would say of the arms: it has none to speak of, as an honest agent."""
    adversary = {"agents": [1], "attack": attack}
    text = scene(
        {"delay": "1 ms", "never": 1.0},
        protocol={"kind": protocol, "feedback_deadline": "2 slots"},
        adversary=adversary,
        learner={"robust": "median"},
    )
    found = run_of(tmp_path, text)
    assert found.metrics["rounds"] > 0
    assert found.metrics["lies"] == found.metrics["rejected"] == 0


def test_agents_that_share_count_each_arm_by_what_they_know_of_it():
    """A mean over agents i with S_ik rewards of arm k: the width of spec 08's rule, from sum 1/S_ik, arm by arm."""
    told = [
        Told(np.array([0, 1]), np.array([0.2, 0.6]), np.array([10, 4])),
        Told(np.array([1]), np.array([0.5]), np.array([7])),
        Told(np.array([0, 1]), np.array([0.4, 0.7]), 12),
    ]
    found = pooled(told)
    assert found.agents.tolist() == [2, 3]
    assert found.inverse == pytest.approx([1 / 10 + 1 / 12, 1 / 4 + 1 / 7 + 1 / 12])
    assert found.means == pytest.approx([0.3, 0.6])
    assert PooledArms.of(told[2]).most.tolist() == [12, 12]
    schedule = EliminationSchedule(3, 1000, 3, inf)
    expected = [
        np.sqrt(np.log(8 * 2 * 2**2 * 1000) * inverse / 2) / agents
        for agents, inverse in zip([2, 3], [1 / 10 + 1 / 12, 1 / 4 + 1 / 7 + 1 / 12], strict=True)
    ]
    assert widths(schedule, 2, 2, found) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("feedback", "others", "text"),
    [
        ({"delay": "3 ms"}, {"learner": {"kind": "ucb"}}, "protocol.feedback_deadline: is of elimination"),
        ({"delay": "3 ms"}, {"learner": {"epsilon": 2.0}}, "feedback_deadline: must be absent with learner.epsilon"),
        (
            {"delay": "3 ms", "window": "9 ms"},
            {"learner": {"epsilon": 2.0}, "protocol": "gis"},
            'feedback.missing: must be "zero" with feedback.window and learner.epsilon',
        ),
        (
            {"delay": "3 ms"},
            {"learner": {"robust": "krum"}, "adversary": {"agents": [1], "attack": "flip"}},
            "learner.robust: must be mean, median or trimmed",
        ),
        ({"delay": "3 ms"}, {"protocol": {"kind": "gis", "feedback_deadline": "0 ms"}}, "feedback_deadline"),
    ],
)
def test_what_cannot_be_is_said_at_its_key(tmp_path, feedback, others, text):
    given = {"protocol": {"kind": "gis", "feedback_deadline": "3 slots"}} | others
    with pytest.raises(ScenarioError) as error:
        study(tmp_path, text=scene(feedback, **given))
    assert text in str(error.value)


def test_private_elimination_may_wait_for_all(tmp_path):
    on_time = run_of(tmp_path, scene(learner={"epsilon": 2.0}))
    found = run_of(tmp_path, scene({"delay": {"geometric": 9.0}}, learner={"epsilon": 2.0}))
    assert found.metrics["epsilon"] == on_time.metrics["epsilon"]
    assert found.metrics["rounds"] == on_time.metrics["rounds"] > 0


def test_a_deadline_of_rewards_that_are_not_late_has_no_effect(tmp_path):
    notes = study(tmp_path, text=scene(protocol={"kind": "gis", "feedback_deadline": "3 slots"})).notes
    assert any("feedback_deadline: has no effect without [feedback]" in note for note in notes)


@pytest.mark.parametrize("patience", [None, "20 slots", "5 slots", "5 ms"])
@pytest.mark.parametrize(("deadline", "noted"), [("2 slots", True), ("6 slots", True), ("8 slots", False)])
def test_a_deadline_shorter_than_the_slowest_agent_waits_for_its_rewards_is_noted(tmp_path, deadline, noted, patience):
    """Of 2 and 9 slots: 7 longer, but with 5 slots of patience 3."""
    feedback = {"by_agent": ["2 slots"] * 3 + ["9 slots"]}
    protocol = {"kind": "gis", "deadline": deadline} | ({"feedback_deadline": patience} if patience else {})
    notes = study(tmp_path, text=scene(feedback, protocol=protocol)).notes
    longer = 3 if patience in ("5 slots", "5 ms") else 7
    noted = noted and int(deadline.split()[0]) < longer
    assert any(f"{longer} slots longer than the fastest" in note for note in notes) == noted
