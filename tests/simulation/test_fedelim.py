"""FedElim: facts that hold exactly, what is refused, and how often answers are wrong."""

from math import log, sqrt
from pathlib import Path

import numpy as np
import pytest
from helpers.scenes import run, study
from scipy.stats import binomtest

from netbandit.learners.fedelim import FedElim
from netbandit.network.network import Network
from netbandit.scenario.errors import ScenarioError
from netbandit.simulation.execution import executed
from netbandit.testing import scenes
from netbandit.testing.properties import differences

HETEROGENEOUS = "bandit={kind='gaussian', means=[[2.0, 0.0, 1.4], [0.0, 2.0, 1.4], [0.3, 0.0, 1.4]]}"
CERTAIN = "bandit={kind='bernoulli', means=[[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]}"
SCENE = """\
[run]
horizon = 6_000
slot = "1 ms"
[topology]
family = "path"
agents = 3
[bandit]
kind = "gaussian"
means = [0.0, 2.0]
[learner]
kind = "fedelim"
[protocol]
kind = "master-worker"
"""
REWARDS = Path(scenes.__file__).with_name("rewards.csv")
PROTOCOLS = ("master-worker", "sink", "gis", "flooding", "gossip", "relay")


@pytest.fixture
def learners(monkeypatch):
    """Keep the learners of runs, to look at their state at the end."""
    kept = []
    start = FedElim.start
    monkeypatch.setattr(FedElim, "start", lambda self, *given: (kept.append(self), start(self, *given))[1])
    return kept


def alpha(n, arms, agents, delta, sigma, *, overall):
    inside = 8 * arms * n**2 / delta * (1 if overall else agents)
    return sigma * sqrt(2 * log(inside) / (n * (agents if overall else 1)))


def ends(agents, delta, sigma, gaps, due):
    """Return the steps in which the arms of each of the *gaps* fall, of local arms and of global ones."""
    arms = len(gaps[0]) + 1
    found = []
    for overall, sizes in zip((False, True), gaps, strict=True):
        falls = []
        for gap in sizes:
            n = 1
            while gap <= 2 * alpha(n, arms, agents, delta, sigma, overall=overall) or (overall and not due(n)):
                n += 1
            falls.append(n)
        found.append(falls)
    return found


def lock_step(means, delta, sigma, rewards, due):
    """Play the algorithm as the paper has it, without network; return steps, selections, uplinks and answers.

    *rewards* is given an agent, an arm and a slot: who has ended a step of communication early, lets slots pass.
    """
    agents, arms = len(means), len(means[0])
    local, overall = [set(range(arms)) for _ in means], set(range(arms))
    sums = np.zeros((agents, arms))
    slots = [0] * agents
    n = selections = uplinks = 0
    while len(overall) > 1 or any(len(each) > 1 for each in local):
        n += 1
        for agent in range(agents):
            pulled = {arm for arms_of in (local[agent], overall) if len(arms_of) > 1 for arm in arms_of}
            for arm in sorted(pulled):
                sums[agent, arm] += rewards(agent, arm, slots[agent])
                slots[agent] += 1
                selections += 1
            if len(local[agent]) > 1:
                best = max(sums[agent, arm] for arm in local[agent])
                width = 2 * alpha(n, arms, agents, delta, sigma, overall=False)
                local[agent] = {arm for arm in local[agent] if (best - sums[agent, arm]) / n <= width}
        if len(overall) > 1 and due(n):
            slots = [max(slots)] * agents
            uplinks += agents * len(overall)
            mean = {arm: sums[:, arm].mean() / n for arm in overall}
            width = 2 * alpha(n, arms, agents, delta, sigma, overall=True)
            overall = {arm for arm in overall if max(mean.values()) - mean[arm] <= width}
    return n, selections, uplinks, [each for (each,) in local], next(iter(overall))


def doubling(n):
    return n & (n - 1) == 0


SCHEDULES = {
    "communicate='doubling'": doubling,
    "communicate='every'": lambda n: True,
    "communicate='every', period=7": lambda n: n % 7 == 0,
}


@pytest.mark.sampled(12)
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_with_certain_rewards_arms_fall_in_the_steps_that_the_formulas_say(protocol, schedule, learners, tmp_path):
    keys = f"learner={{kind='fedelim', confidence=0.1, uplink_cost=10.0, {schedule}}}"
    due = SCHEDULES[schedule]
    # Local gaps are 1; of the global means 2/3, 0, 1/3 they are 2/3 and 1/3.
    (fall, _), (worst, second) = ends(3, 0.1, 0.5, [(1, 1), (2 / 3, 1 / 3)], due)
    bad = "{latency='2.5 ms', jitter='1 ms', loss=0.2, retry={timeout='9 ms'}}"
    links = (f"links.peer={bad}", f"links.uplink={bad}") if "period" in schedule else ()
    result = run(tmp_path, CERTAIN, keys, f"protocol.kind={protocol}", *links, text=SCENE).metrics
    (learner,) = learners
    assert learner.local_arms.tolist() == [[True, False, False], [True, False, False], [False, False, True]]
    assert learner.global_arms.tolist() == [[True, False, False]] * 3
    assert learner.steps.tolist() == [max(fall, second)] * 3
    assert learner.stopped(np.arange(3)).all()
    assert learner.answers(np.arange(3)).tolist() == [0, 0, 0]
    assert learner.local_answers(np.arange(3)).tolist() == [0, 0, 2]
    rounds = [n for n in range(1, second + 1) if due(n)]
    assert result["rounds"] == len(rounds)
    assert result["uplinks"] == 3 * sum(3 if n <= worst else 2 for n in rounds)
    # The arm that falls first of all globally, 1, is pulled for its own sake by all until it has fallen locally, too.
    assert result["selections"] == 3 * (3 * max(fall, worst) + 2 * (second - max(fall, worst)))
    assert result["total_cost"] == result["selections"] + 10 * result["uplinks"]
    answers = ("answered", "wrong", "wrong_any", "wrong_local", "simple_regret")
    assert [result[name] for name in answers] == [1, 0, 0, 0, 0]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_without_latency_it_is_the_lock_step_of_the_paper(schedule, learners, tmp_path):
    keys = f"learner={{kind='fedelim', {schedule}}}"
    result = run(tmp_path, HETEROGENEOUS, keys, "protocol.timing=asynchronous", text=SCENE)
    (learner,) = learners
    means = [[2.0, 0.0, 1.4], [0.0, 2.0, 1.4], [0.3, 0.0, 1.4]]
    noise = [learner.world.streams.generator("rewards", agent).standard_normal(6_000) for agent in range(3)]
    given = lock_step(means, 0.05, 1.0, lambda i, k, slot: means[i][k] + noise[i][slot], SCHEDULES[schedule])
    steps, selections, uplinks, local, overall = given
    assert max(learner.steps) == steps
    assert (result.metrics["selections"], result.metrics["uplinks"]) == (selections, uplinks)
    assert learner.local_answers(np.arange(3)).tolist() == local == [0, 1, 2]
    assert learner.answers(np.arange(3)).tolist() == [overall] * 3 == [2] * 3


@pytest.mark.parametrize("latency", ["0 ms", "7 ms"])
def test_a_run_ends_with_the_last_answer_and_waits_are_no_selections(latency, tmp_path):
    link = f"links.uplink.latency={latency}"
    rows = "bandit={kind='bernoulli', means=[0.0, 1.0]}"
    whole, ended = (run(tmp_path, rows, link, f"run.until={until}", text=SCENE) for until in ("horizon", "answered"))
    names = ("selections", "uplinks", "rounds", "stop_slot", "samples", "messages", "bytes", "wrong_any")
    assert [whole.metrics[name] for name in names] == [ended.metrics[name] for name in names]
    found = ended.metrics
    ((local,), (overall,)) = ends(3, 0.05, 0.5, [(1,), (1,)], doubling)
    assert overall < local  # the last answers are local, and come with a pull
    waits = found["rounds"] * (13 if latency == "7 ms" else 0)  # a message leaves after the decision of its slot
    assert found["rounds"] == len([n for n in range(1, overall + 1) if doubling(n)])
    assert found["stop_slot"] == 2 * local + waits
    assert found["samples"] == 3 * found["stop_slot"]
    assert found["selections"] == 3 * 2 * local


@pytest.mark.sampled(3)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_uplinks_are_the_numbers_that_agents_send_of_their_own(protocol, monkeypatch, learners, tmp_path):
    shared = []
    share = FedElim.share
    monkeypatch.setattr(FedElim, "share", lambda *given: shared.append(share(*given)) or shared[-1])
    sizes = []
    send_up = Network.send_up
    monkeypatch.setattr(
        Network, "send_up", lambda self, message, *to: sizes.append(message.size) or send_up(self, message, *to)
    )
    result = run(tmp_path, HETEROGENEOUS, f"protocol.kind={protocol}", "links.peer.latency='3 ms'", text=SCENE).metrics
    assert result["uplinks"] == sum(row.size for row in shared) == sum(learners[0].uplinks)
    assert len(shared) == 3 * result["rounds"]
    if protocol == "master-worker":
        assert result["uplinks"] == sum((size - 20) // 8 for size in sizes)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("protocol.kind=local", "protocol.kind: cannot be local with fedelim"),
        ("protocol.kind=silent", "protocol.kind: cannot be silent with fedelim"),
        ("protocol.kind=pooled", "protocol.kind: cannot be pooled with fedelim"),
        ("protocol.deadline=50 ms", "protocol.deadline: must be left out"),
        ("bandit={kind='gaussian', arms=3, drift=0.1}", "the means of its arms must stay as they are"),
        (f"bandit={{kind='table', path='{REWARDS}'}}", 'bandit.rows: must be "drawn" or "laws" with fedelim'),
        ("bandit.arms_per_agent=1", "cannot be fedelim: every agent pulls every arm"),
        ("faults.nodes={up_for='1 s', down_for='1 s'}", "cannot be fedelim where agents go down"),
        ("energy={capacity='1 J', pull='1 mJ'}", "cannot be fedelim where agents go down"),
        ("learner.confidence=1.0", "must be a number above 0 and below 1, not 1.0"),
        ("learner.confidence=0.0", "must be a number above 0 and below 1, not 0.0"),
        ("feedback={delay='5 ms'}", 'cannot be with learner.kind = "fedelim"'),
        ("adversary={agents=[1], attack='flip'}", "no lie is defined"),
        ("run.activity=one", "run.activity"),
    ],
)
def test_what_the_proof_does_not_cover_is_refused(given, text, tmp_path):
    with pytest.raises(ScenarioError) as refused:
        study(tmp_path, given, text=SCENE)
    assert any(text in line for line in refused.value.lines), refused.value.lines


def test_a_period_is_of_no_use_with_doubling(tmp_path):
    assert "period" in str(study(tmp_path, "learner.period=3", text=SCENE).notes)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_all_executions_give_the_same_numbers(protocol, tmp_path):
    given = (
        HETEROGENEOUS,
        f"protocol.kind={protocol}",
        "links.peer={latency='2 ms', loss=0.1, retry={timeout='9 ms'}}",
    )
    with executed("plain"):
        plain = run(tmp_path, *given, text=SCENE)
    with executed("compiled"):
        fast = run(tmp_path, *given, text=SCENE)
    assert list(differences(plain, fast)) == []


@pytest.mark.sampled(3)
@pytest.mark.parametrize("runs", [pytest.param(2_000, marks=[pytest.mark.slow, pytest.mark.ci]), 10])
@pytest.mark.parametrize("protocol", ["master-worker", "sink", "gis"])
def test_the_best_arm_is_dropped_at_most_as_often_as_stated(protocol, runs, learners, tmp_path):
    """Two arms that can hardly be told apart; exact binomial test at 1 in 1,000."""
    keys = ("bandit.means=[0.0, 0.05]", "learner.confidence=0.3", "learner.communicate=every", "run.horizon=150")
    point = study(tmp_path, *keys, "topology.agents=2", f"protocol.kind={protocol}", text=SCENE).points[0]
    dropped = 0
    for replication in range(runs):
        learners.clear()
        point.simulation(replication).run()
        dropped += not (learners[0].global_arms[:, 1].all() and learners[0].local_arms[:, 1].all())
    assert binomtest(dropped, runs, 0.3, alternative="greater").pvalue > 1e-3
