"""Servers of learners of one's own: against what is known without one, and on networks that fail."""

import numpy as np
import pytest
from helpers.choices import runs_with_choices
from helpers.own_servers import Grouped, OwnOful

import netbandit as nb
from netbandit.scenario.errors import ScenarioError
from netbandit.testing import check_learner


class Constant(nb.ArmBandit):
    """Pays what it always pays, each agent its own: no noise."""

    first: int = 0
    """The number of the first agent in a larger world."""

    def start(self, agents, generator):
        self.agents = agents
        self.table = np.random.default_rng(7).random((4, 5))[self.first : self.first + agents]

    def means_at(self, slot):
        return self.table

    def pull(self, slot, agents, arms, numbers):
        return self.table[agents, arms]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a scenario; see `runs_with_choices`."""
    return runs_with_choices(
        tmp_path,
        monkeypatch,
        protocol=nb.protocols.ParameterServer(),
        topology=nb.families.Path(agents=4),
        run=nb.Run(horizon=125),
        links={"uplink": {"latency": "3 ms"}},
        bandit=Constant(),
    )


LINEAR = {"bandit": nb.bandits.Linear(dimension=3, arms=4, actions="fresh"), "run": nb.Run(horizon=300)}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("answer", ["uploader", "lagging"])
@pytest.mark.parametrize(
    "uplink", [{"latency": "3 ms"}, {"latency": "1 ms", "bandwidth": "200 kbit/s", "jitter": "5 ms"}]
)
def test_a_server_that_answers_with_the_sum_for_all_is_that_of_oful(run, answer, uplink):
    parts = {**LINEAR, "links": {"uplink": uplink}, "protocol": nb.protocols.ParameterServer(answer=answer)}
    own, choices = run(**parts, learner=OwnOful(radius=0.5, upload=1.7))
    ours, expected = run(**parts, learner=nb.learners.Oful(radius=0.5, upload=1.7))
    assert choices == expected
    assert own.fingerprint == ours.fingerprint  # every delivery, to the nanosecond
    for name in ("messages", "bytes", "uploads", "downloads", "rounds", "round_slots", "regret", "reward"):
        assert own.metrics[name] == ours.metrics[name] != 0
    assert "unseen" not in own.metrics


@pytest.mark.parametrize(
    "protocol", [nb.protocols.ParameterServer(), nb.protocols.MasterWorker(), nb.protocols.Pooled()]
)
def test_an_agent_alone_learns_what_it_learns_without_a_server(run, protocol):
    one = {"topology": nb.families.Path(agents=1)}
    _, served = run(**one, learner=Grouped(), protocol=protocol)
    _, alone = run(**one, learner=Grouped(), protocol=nb.protocols.Silent())
    assert served == alone


@pytest.mark.parametrize("answer", ["uploader", "lagging"])
def test_groups_that_the_server_knows_are_runs_of_their_own(run, answer):
    parts = {"protocol": nb.protocols.ParameterServer(answer=answer)}
    _, together = run(**parts, learner=Grouped(groups=2))
    half = {**parts, "topology": nb.families.Path(agents=2), "learner": Grouped()}
    _, first = run(**half)
    _, second = run(**half, bandit=Constant(first=2))
    assert together == first + second
    assert together != run(**parts, learner=Grouped())[1]


def test_a_row_weighs_its_numbers_on_each_way(run):
    found, _ = run(learner=Grouped(every=10))
    assert found.metrics["uploads"] == found.metrics["downloads"] == 4 * 12
    assert found.metrics["bytes"] == 2 * 4 * 12 * (20 + 8 * 10)
    assert found.metrics["broadcasts"] == 0


def test_where_all_upload_at_once_each_is_answered_alone(run):
    found, _ = run(learner=Grouped(every=10), protocol=nb.protocols.MasterWorker())
    rounds = found.metrics["rounds"]
    assert rounds > 3
    assert found.metrics["broadcasts"] == 0
    assert found.kinds["UPLOAD"] == found.kinds["ANSWER"] == (4 * rounds, 4 * rounds * (20 + 8 * 10))
    assert set(found.kinds) == {"ASK", "CALL", "UPLOAD", "ANSWER"}


def test_pooled_agents_are_answered_from_slot_to_slot(run):
    found, choices = run(learner=Grouped(every=1), protocol=nb.protocols.Pooled())
    assert found.metrics["messages"] == 0
    # In every slot each is answered with the latest rows: over links that take no time they are the same.
    at_once = run(learner=Grouped(every=1), links={"uplink": {"latency": "0 ms"}}, protocol=nb.protocols.MasterWorker())
    assert choices == at_once[1]


class SaysNothing(Grouped):
    def answer_for(self, agent):
        return None


def test_nothing_to_say_is_a_message_without_a_row_to_who_waits_and_none_to_others(run):
    waits, choices = run(learner=SaysNothing(every=10))
    assert waits.metrics["bytes"] == 4 * 12 * (20 + 8 * 10) + 4 * 12 * 20
    assert choices == run(learner=Grouped(), protocol=nb.protocols.Silent())[1]
    pushed, _ = run(learner=SaysNothing(every=10), protocol=nb.protocols.ParameterServer(answer="lagging"))
    assert pushed.metrics["downloads"] == 0
    assert pushed.metrics["messages"] == 4 * 12


class Half(Grouped):
    def answer_for(self, agent):
        return super().answer_for(agent)[:5]

    def answer_numbers(self, numbers):
        return numbers // 2

    def adopt(self, slot, agents, rows):
        assert rows.shape == (len(agents), 5)


def test_an_answer_may_be_shorter_than_a_row(run):
    found, _ = run(learner=Half(every=10))
    assert found.metrics["bytes"] == 4 * 12 * (20 + 8 * 10) + 4 * 12 * (20 + 8 * 5)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "parts",
    [
        {"links": {"uplink": {"latency": "3 ms", "loss": 0.3}}, "protocol": {"deadline": "9 ms"}},
        {"links": {"uplink": {"latency": "3 ms", "loss": 0.3, "retry": {"timeout": "8 ms"}}}},
        {"links": {"uplink": {"jitter": "9 ms", "duplicate": 0.3}}},
        {
            "faults": {"nodes": {"up_for": "20 ms", "down_for": "5 ms", "memory": "lost"}},
            "protocol": {"deadline": "9 ms"},
        },
        {"faults": {"server": {"up_for": "20 ms", "down_for": "5 ms"}}, "protocol": {"deadline": "9 ms"}},
    ],
)
@pytest.mark.parametrize("kind", ["parameter-server", "master-worker"])
def test_every_message_is_accounted_for_and_nobody_is_forgotten(run, kind, parts):
    protocol = {"kind": kind, **parts.get("protocol", {})}
    found, _ = run(**{**parts, "protocol": protocol}, learner=Grouped(every=4))
    metrics = found.metrics
    ends = sum(metrics[name] for name in ("delivered", "lost", "in_flight", "duplicates_dropped", "unsent"))
    assert metrics["handed"] + metrics["duplicates"] == ends
    assert metrics["rounds"] >= 3
    assert metrics["stalled"] == 0


class Including(Grouped):
    """Finds in what the server has of it the row that it is told is there."""

    def start(self, world, agents, rng):
        super().start(world, agents, rng)
        self.rows, self.told = {}, {}

    def share(self, slot, agents):
        for agent in agents.tolist():
            self.rows.setdefault(agent, [np.zeros(2 * self.arms)]).append(self.own[agent].copy())
        return super().share(slot, agents)

    def answer_for(self, agent):
        return self.server[agent]

    def included(self, agents, shared):
        self.told = dict(zip(agents.tolist(), shared.tolist(), strict=True))

    def adopt(self, slot, agents, rows):
        for agent, row in zip(agents.tolist(), rows, strict=True):
            assert np.array_equal(row, self.rows[agent][self.told.pop(agent)])
        self.checked = True

    def figures(self):
        return {"checked": int(self.checked)}


@pytest.mark.parametrize("answer", ["uploader", "lagging"])
def test_an_agent_is_told_which_of_its_rows_is_in_an_answer(run, answer):
    links = {"uplink": {"latency": "12 ms", "loss": 0.2}}  # in order, and lost now and then
    protocol = nb.protocols.ParameterServer(answer=answer, **({"deadline": "30 ms"} if answer == "uploader" else {}))
    assert run(learner=Including(), links=links, protocol=protocol)[0].metrics["checked"]
    links = {"uplink": {"latency": "2 ms", "loss": 0.2}}
    protocol = nb.protocols.MasterWorker(deadline="9 ms")
    assert run(learner=Including(), links=links, protocol=protocol)[0].metrics["checked"]


@pytest.mark.ci
@pytest.mark.parametrize("learner", [Grouped(groups=2), Grouped(every=1)])
def test_the_checks_of_the_package_pass(learner):
    check_learner(learner)


def liar(kind, **methods):
    return type("Liar", (kind,), {"__module__": __name__} | methods)


@pytest.mark.parametrize(
    ("learner", "protocol", "text"),
    [
        (
            liar(Grouped, answer_for=lambda self, agent: np.ones(3)),
            "parameter-server",
            "answer_for must return 10 numbers",
        ),
        (liar(Grouped, answer_for=lambda self, agent: [1.0] * 10), "parameter-server", "not list (slot"),
        (liar(Grouped, answer_for=lambda self, agent: np.full(10, np.nan)), "parameter-server", "not NaN"),
        (
            liar(Grouped, answer_for=lambda self, agent: None),
            "master-worker",
            "must return a row for each agent where all",
        ),
        (liar(Grouped, answer_for=lambda self, agent: None), "pooled", "must return a row for each agent where all"),
        (liar(Grouped, lagging=lambda self: [9]), "lagging", "agents from 0 to 3, not 9"),
        (liar(Grouped, lagging=lambda self: None), "lagging", "agents from 0 to 3, not NoneType"),
        (liar(Grouped, answer_numbers=lambda self, numbers: -1), "parameter-server", "a number of numbers"),
        (
            liar(Grouped, wants=nb.Learner.wants),
            "parameter-server",
            "a server needs serve, answer_for, share, wants and",
        ),
        (liar(Grouped, serve=nb.Learner.serve), "parameter-server", "adopt: it has no serve"),
        (
            Grouped,
            "gis",
            'has no server, which learner.kind = "helpers.own_servers:Grouped" needs: must be "parameter-',
        ),
        (Grouped, "sink", "has no server"),
        (Grouped, "relay", "has no server"),
    ],
)
def test_what_cannot_be_is_said(run, learner, protocol, text):
    lagging = protocol == "lagging"
    table = {"kind": "parameter-server", "answer": "lagging"} if lagging else {"kind": protocol}
    with pytest.raises((ScenarioError, nb.RunsFailedError)) as caught:
        run(learner=learner, protocol=table)
    assert text in str(caught.value)


def test_nobody_can_lie_to_a_server_of_ones_own(run):
    with pytest.raises(ScenarioError, match="no lie is defined for what its agents send"):
        run(learner=Grouped, adversary=nb.Adversary(agents=[0], attack="flip"))
