"""What a preset fills in, nobody has written: no note and no mistake says that a user has."""

import networkx as nx
import pytest
from helpers.combinations import scenario, table

import netbandit as nb
from netbandit.checks.check import check
from netbandit.conditions.energy import Energy
from netbandit.conditions.energy_keys import CHIPS
from netbandit.network.models.radio_keys import PRESETS, RadioSettings
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load
from netbandit.studies.advice.protocol_measures import left_out
from netbandit.util.key_paths import lookup

ONE_EACH = {protocol: (learner, bandit) for learner, bandit, protocol, goes in table() if goes}
SET = {
    **{chip: [f"energy.preset={chip}"] for chip in CHIPS},
    "battery": ["energy={ preset = 'cc2420', capacity = '9 J' }"],
    "slow": ["energy.preset=cc2420", "links.uplink.bandwidth='9 kbit/s'"],
    "radio": [f"links.peer.radio.preset={PRESETS[0]}"],
    "radio and chip": [f"links.peer.radio.preset={PRESETS[0]}", "energy.preset=sx1272"],
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("protocol", ONE_EACH)
@pytest.mark.parametrize("name", SET)
def test_notes_and_mistakes_name_keys_that_are_written(protocol, name):
    learner, bandit = ONE_EACH[protocol]
    document = load("s.toml", SET[name], scenario(learner, bandit, protocol))
    try:
        said = check(document).notes
    except ScenarioError as error:
        said = error.lines
    keys = [key for key in (line.split(": ")[1] for line in said) if key.startswith(("energy", "links"))]
    assert [key for key in keys if lookup(document.data, key) is None] == []


def test_a_bandwidth_that_is_written_is_noted_beside_a_preset():
    text = scenario("ucb", "bernoulli", "local")
    (note,) = check(load("s.toml", SET["slow"], text)).notes
    assert "links.uplink.bandwidth: has no effect" in note
    assert check(load("s.toml", SET["cc2420"], text)).notes == []


def test_keys_of_a_preset_do_not_count_as_written():
    assert Energy(preset="cc2420", send="1 W").model_fields_set == {"preset", "send"}
    radio = RadioSettings(preset=PRESETS[2], access={"aloha": "1 s"})
    assert radio.model_fields_set == {"preset", "access"}
    assert RadioSettings(preset=PRESETS[2], duty=0.5).model_fields_set == {"preset", "duty"}


def test_a_scenario_of_objects_is_written_as_it_was_given(tmp_path):
    made = nb.Scenario(
        topology=nx.cycle_graph(4),
        energy=nb.Energy(preset="cc2420"),
        bandit=nb.bandits.Bernoulli(arms=3),
        learner=nb.learners.Ucb(),
        protocol=nb.protocols.Local(),
        run=nb.Run(horizon=9),
    )
    made.to_toml(tmp_path / "made.toml")
    text = (tmp_path / "made.toml").read_text()
    assert "cc2420" in text
    assert not [key for key in ("idle", "send", "receive", "bandwidth") if key in text]


def test_what_advice_leaves_out_names_the_preset_where_it_comes_from():
    (point,) = check(load("s.toml", SET["cc2420"], scenario("ucb", "bernoulli", "local"))).points
    assert [*left_out(point)] == ["links.peer.bandwidth (energy.preset)"]
