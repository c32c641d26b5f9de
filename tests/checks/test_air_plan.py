"""What `netbandit check` says of the air, and that a round never takes less."""

import re
from contextlib import suppress

import pytest
from click.testing import CliRunner

from netbandit.checks.air_plan import air_plan
from netbandit.checks.check import check
from netbandit.cli import main
from netbandit.learners.ucb import Ucb
from netbandit.parts.registry import BUILT_IN
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load_tables
from netbandit.scenario.toml_text import toml_text
from netbandit.testing.scenes import put_over, small, tables_of

FIELD = {
    "run": {"horizon": 2_000, "slot": "1 s"},
    "topology": {"family": "path", "agents": 4},
    "links": {"peer": {"radio": {"preset": "lora-eu868-sf9"}}},
    "bandit": {"kind": "bernoulli", "means": [0.1, 0.5, 0.9]},
    "learner": {"kind": "elimination", "rounds": 1, "gap": 0.4},
    "protocol": {"kind": "flooding"},
}
UCB = {"learner": {"kind": "ucb"}, "protocol": {"kind": "local"}}


def lines(over):
    return air_plan(check(load_tables(put_over(FIELD, over))).points[0])


def test_it_says_how_often_an_agent_may_send_and_how_long_a_round_takes():
    """48 bytes, 20 + 4 + 3 x 8, are 15 blocks of 5 symbols at spreading factor 9: 308.224 ms, and an inner agent of the
    path sends the items of all four."""
    assert lines({}) == [
        "a message of 48 bytes takes 0.308 s on the air: an agent may send one every 30.8 s, or 30.8 slots "
        "(links.peer.radio.duty = 0.01)",
        'a round of protocol.kind = "flooding" takes at least 92.8 s, or 92.8 slots: some agent sends 4 messages',
        "in one frame of LoRaWAN (EU868) it may be sent at spreading factors 7 to 12",
    ]


@pytest.mark.parametrize(
    ("over", "words"),
    [
        (
            {"topology": {"family": "complete", "agents": 9}},
            "at least 0.308 s, or 0.308 slots: some agent sends 1 message",
        ),
        ({"topology": {"family": "ring", "agents": 9}}, "some agent sends 4 messages"),
        ({"topology": {"family": "star", "agents": 9}}, "some agent sends 9 messages"),
        ({"protocol": {"kind": "sink"}}, "some agent sends 1 message"),
        (UCB, "agents that tell something in every slot do so 30.8 times as often as they may send"),
        ({"bandit": {"kind": "bernoulli", "arms": 20}}, "it may be sent at spreading factors 7 to 8"),
        ({"bandit": {"kind": "bernoulli", "arms": 60}}, "no frame of LoRaWAN (EU868) may hold it"),
    ],
)
def test_it_depends_on_graph_protocol_and_message(over, words):
    found = lines(over)
    assert any(words in line for line in found), found


def test_it_knows_the_totals_of_agents_and_the_life_that_they_are_of():
    """20 + 4 + 16 x 3 + 12 bytes; and 4 of the number of the life, where memory is lost."""
    totals = {"learner": {"kind": "ucb", "share": "totals"}, "protocol": {"kind": "flooding"}}
    assert lines(totals)[0].startswith("a message of 84 bytes takes")
    lost = {"faults": {"nodes": {"up_for": "20 s", "down_for": "5 s", "memory": "lost"}}}
    assert lines(put_over(totals, lost))[0].startswith("a message of 88 bytes takes")


@pytest.mark.sampled(12)
@pytest.mark.parametrize("learner", BUILT_IN["learner"])
def test_it_says_something_of_every_learner_and_its_ways_of_sharing(learner):
    said = 0
    for over in ({}, {"share": "totals"}, {"radius": "trace"}, {"robust": "median"}):
        for protocol in BUILT_IN["protocol"]:
            for bandit in ("bernoulli", "linear"):
                world, keys = small("bandit", bandit), {**small("learner", learner), **over}
                tables = tables_of(world, keys, {"kind": protocol})
                tables = put_over(tables, {"links": {"peer": FIELD["links"]["peer"]}})
                with suppress(ScenarioError):  # what does not go together
                    said += len(air_plan(check(load_tables(tables)).points[0]))
    assert said or learner in ("pfcb", "queued", "otflinucb")  # which play in markets alone, or tell nothing


def test_the_size_of_what_a_learner_of_the_users_own_tells_is_left_open():
    class Own(Ucb):
        def item_bytes(self, numbers):
            return self.world.arms

    assert lines({"learner": {"kind": Own}, "protocol": {"kind": "flooding"}})[0].startswith(
        "a message of 24 bytes and its item takes at least"
    )


@pytest.mark.parametrize(
    "over", [{"links": {"peer": {"radio": None, "latency": "1 ms"}}}, {"protocol": {"kind": "silent"}}]
)
def test_of_wires_and_of_who_is_silent_it_says_nothing(over):
    assert lines(over) == []


def test_check_prints_it_once_for_all_points_at_which_it_is_the_same(tmp_path):
    sweep = {
        "links.peer.radio.preset": ["lora-eu868-sf7", "lora-eu868-sf9"],
        "links.peer.radio.access.aloha": ["1 s", "10 s"],
    }
    file = tmp_path / "field.toml"
    file.write_text(toml_text(put_over(FIELD, {"sweep": sweep})), encoding="utf-8")
    done = CliRunner().invoke(main, ["check", str(file)])
    assert done.exit_code == 0
    said = re.findall(r"^  links.peer.radio.preset = (\S+): a message", done.output, re.MULTILINE)
    assert said == ["lora-eu868-sf7", "lora-eu868-sf9"]


@pytest.mark.parametrize("kind", ["flooding", "relay"])
def test_no_round_takes_less(kind):
    radio = {"preset": "lora-eu868-sf9", "access": {"aloha": "60 s"}}
    least = re.search(r"at least ([\d.]+) s", lines({"protocol": {"kind": kind}})[1])[1]
    metrics = []
    for seed in range(5):
        over = {"links": {"peer": {"radio": radio}}, "protocol": {"kind": kind}, "run": {"seed": seed}}
        point = check(load_tables(put_over(FIELD, over))).points[0]
        metrics.append(point.simulation(0).run().metrics)
    ended = [one["round_slots"] for one in metrics if one["rounds"]]
    assert ended
    assert min(ended) >= float(least)
    assert all(one["airtime_s"] == pytest.approx(0.308224 * one["transmissions"]) for one in metrics)
