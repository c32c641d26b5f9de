"""``[links.peer.radio]``: its keys, what a preset fills in, and what does not go together with it."""

import re

import pytest

from netbandit.checks.check import check
from netbandit.network.models.radio_keys import RadioSettings
from netbandit.parts.validation import read
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load_tables

LORA = {"sf": 9, "bandwidth": "125 kHz", "coding": 1, "preamble": 8}


def tables(radio, **peer):
    return {
        "run": {"horizon": 10},
        "topology": {"family": "ring", "agents": 4},
        "links": {"peer": {"radio": radio, **peer}},
        "bandit": {"kind": "bernoulli", "arms": 2},
        "learner": {"kind": "ucb"},
        "protocol": {"kind": "local"},
    }


def read_radio(radio):
    settings, problems = read(RadioSettings, radio)
    assert not problems
    return settings


def test_a_preset_fills_in_what_is_not_given():
    preset = read_radio({"preset": "lora-eu868-sf9"})
    assert preset.model_dump() == {"airtime": {"lora": LORA}, "access": None, "duty": 0.01, "preset": "lora-eu868-sf9"}
    own = read_radio(
        {"preset": "lora-eu868-sf12", "duty": 0.1, "airtime": {"lora": {"coding": 2}}, "access": {"aloha": "1 s"}}
    )
    assert own.airtime.lora.model_dump() == {**LORA, "sf": 12, "coding": 2}
    assert (own.duty, own.access.aloha) == (0.1, "1 s")
    assert read_radio(own.model_dump()) == own  # as a resolved scenario has it


@pytest.mark.parametrize("factor", range(7, 13))
def test_there_is_a_preset_for_each_spreading_factor(factor):
    assert read_radio({"preset": f"lora-eu868-sf{factor}"}).airtime.lora.sf == factor


@pytest.mark.parametrize(
    ("radio", "peer", "place", "words"),
    [
        ({}, {}, "radio.airtime", "is missing: give it, a preset, or links.peer.bandwidth"),
        ({"preset": "lora-us915"}, {}, "radio.preset", 'must be one of "lora-eu868-sf7", "lora-eu868-sf8"'),
        ({"airtime": {"lora": {"sf": 6}}}, {}, "radio.airtime.lora.sf", "must be an integer from 7 to 12, not 6"),
        (
            {"airtime": {"lora": LORA | {"bandwidth": "100 kHz"}}},
            {},
            "bandwidth",
            'must be one of "125 kHz", "250 kHz"',
        ),
        ({"airtime": {"lora": {"bandwidth": "125 kHz"}}}, {}, "radio.airtime.lora.sf", "is missing"),
        ({"duty": 0.0}, {"bandwidth": "1 kbit/s"}, "radio.duty", "must be a number above 0 and of at most 1, not 0.0"),
        ({"duty": 1.5}, {"bandwidth": "1 kbit/s"}, "radio.duty", "not 1.5"),
        ({"access": {"aloha": "1 s", "csma": "1 ms"}}, {"bandwidth": "1 kbit/s"}, "radio.access", "not both"),
        ({"access": {"attempts": 3}}, {"bandwidth": "1 kbit/s"}, "radio.access", '{ aloha = "1 slot" } or { csma'),
        (
            {"access": {"aloha": "1 s", "attempts": 3}},
            {"bandwidth": "1 kbit/s"},
            "radio.access.attempts",
            "unknown key",
        ),
        ({"access": {"csma": "0 s"}}, {"bandwidth": "1 kbit/s"}, "radio.access.csma", "must be above 0"),
    ],
)
def test_mistakes_are_found_at_their_key(radio, peer, place, words):
    with pytest.raises(ScenarioError, match=re.escape(words)) as raised:
        check(load_tables(tables(radio, **peer)))
    assert any(place in line for line in raised.value.lines), raised.value.lines


def test_all_that_does_not_go_together_with_it_is_said_at_once():
    wrong = {"retry": {}, "jitter": "1 ms", "duplicate": 0.1, "overtaking": True}
    with pytest.raises(ScenarioError) as raised:
        check(load_tables(tables({"preset": "lora-eu868-sf7"}, **wrong)))
    assert all(any(f"links.peer.{key}:" in line for line in raised.value.lines) for key in wrong)
    assert len(raised.value.lines) == len(wrong)


def test_a_bandwidth_that_is_not_used_is_noted():
    (note,) = check(load_tables(tables({"preset": "lora-eu868-sf7"}, bandwidth="1 kbit/s"))).notes
    assert "links.peer.bandwidth: is not used" in note
