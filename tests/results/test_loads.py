"""The load on links and nodes: of a hand-made run by arithmetic, of whole runs by what must add up."""

import networkx
import numpy as np
import pytest
from helpers.made_up_runs import made_up

import netbandit as nb
from netbandit.results.loads import battery_life, battery_lives, link_loads, mean_loads, node_loads, nodes_of
from netbandit.simulation.result import LinkUse, Nodes

SENSORS = """
schema = 1
name = "sensors"

[topology]
family = "file"
file = "sensors.csv"

[links.peer]
latency = "5 ms"
bandwidth = "20 kbit/s"
energy = { per_message = "1 mJ", per_byte = "10 uJ", sender_share = 0.75 }

[links.uplink]
bandwidth = "10 kbit/s"
energy.per_message = "3 mJ"

[bandit]
kind = "bernoulli"
means = [0.2, 0.7]

[learner]
kind = "elimination"

[protocol]
kind = "sink"

[run]
horizon = 3000
replications = 2
"""


@pytest.fixture(scope="module")
def sensors(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sensors")
    (folder / "sensors.csv").write_text("source,target\ngate,hall\nhall,attic\nhall,cellar\ncellar,garden\n")
    (folder / "sensors.toml").write_text(SENSORS)
    sweep = {"protocol.kind": ["sink", "master-worker", "gis"]}
    return nb.Scenario.from_toml(folder / "sensors.toml").sweep(sweep, out=folder / "out")


def made(**keys):
    """A path of three agents, the middle one with an uplink."""
    run = made_up(networkx.path_graph(3), family="path", **keys)
    run.resolved["links"] = {
        "peer": {"bandwidth": "1 kbit/s", "energy": {"per_message": 2.0, "per_byte": 0.1, "sender_share": 0.75}},
        "uplink": {"energy": {"per_message": 4.0}},
    }
    run.metrics["simulated_s"] = 100.0

    def columns(*rows):
        return (np.array(row) for row in rows)

    links = columns([0, 1], [1, 2], [10, 4], [100, 40], [5, 2], [1, 0], [4, 4], [40, 40])
    queues = columns([int(50e9), 0], [int(20e9), int(2e9)], [int(30e9), 0], [int(9e9), 0])
    uplinks = LinkUse(*columns([1], [3], [5], [500], [2], [0], [2], [200]))
    for name, value in (("links", LinkUse(*links, *queues)), ("uplinks", uplinks)):
        object.__setattr__(run, name, value)
    return run


def test_the_load_on_links_follows_from_what_was_counted():
    loads = link_loads(made())
    assert loads["energy_j"].tolist() == [10 * 2 + 10, 4 * 2 + 4, 20]
    assert loads["utilisation"].tolist() == [0.5, 0, 0]
    assert loads["utilisation_back"].tolist() == [0.2, 0.02, 0]
    assert loads["mean_wait_s"].tolist() == [3, 0, 0]
    assert loads["longest_wait_s"].tolist() == [9, 0, 0]


def test_the_load_on_nodes_follows_from_what_was_counted():
    run = made()
    loads = node_loads(run)
    assert nodes_of(run) == ["0", "1", "2", "server"]
    assert loads["messages_sent"].tolist() == [6, 4 + 0 + 3, 4, 2]
    assert loads["messages_received"].tolist() == [4, 6 + 4 + 2, 0, 3]
    assert loads["bytes_sent"].tolist() == [60, 40 + 300, 40, 200]
    # A message of 10 bytes costs 3 J, three quarters of it at its sender.
    np.testing.assert_allclose(loads["energy_sent_j"], [6 * 2.25, 4 * 2.25 + 3 * 2, 4 * 2.25, 2 * 2])
    np.testing.assert_allclose(loads["energy_received_j"], [4 * 0.75, 10 * 0.75 + 2 * 2, 0, 3 * 2])
    np.testing.assert_allclose(loads["power_w"], loads["energy_j"] / 100)
    assert loads["energy_j"].sum() == pytest.approx(link_loads(run)["energy_j"].sum())


def test_a_battery_lasts_as_long_as_its_energy_at_that_power():
    run = made()
    power = node_loads(run)["power_w"]
    np.testing.assert_allclose(battery_lives(run, 10.0), [*(10 / power[:3]), np.inf])
    assert battery_life(run, 10.0) == (10 / np.median(power[:3]), 10 / power[1], 1)


def test_a_battery_of_its_own_lasts_by_what_the_run_says_of_it():
    figures = {"energy": np.array([1.0, 2, 3]), "capacity": np.array([4.0, 4, 8]), "drain": np.array([0.5, 0, np.nan])}
    run = made(nodes=Nodes(**figures))
    assert node_loads(run)["energy_j"][:3].tolist() == [1, 2, 3]
    np.testing.assert_array_equal(battery_lives(run, None), [8, np.inf, np.nan, np.inf])
    np.testing.assert_array_equal(battery_lives(run, 1.0), [2, np.inf, np.nan, np.inf])


def test_how_long_batteries_lasted_is_not_known_of_versions_that_did_not_say():
    run = made()
    run.resolved["energy"] = {"capacity": 5.0, "idle": 0.1}
    np.testing.assert_array_equal(battery_lives(run, 1.0), [np.nan] * 3 + [np.inf])


def test_what_earlier_versions_did_not_tell_is_no_zero():
    run = made_up(networkx.path_graph(3), family="path")
    assert run.uplinks is None
    assert np.isnan(node_loads(run)["energy_j"]).all()
    assert np.isnan(link_loads(run)["messages_back"]).all()
    assert not np.isnan(link_loads(run)["messages"]).any()


def test_means_are_over_replications_with_the_same_links():
    runs, links, _ = mean_loads([made(), made(replication=1)])
    assert len(runs) == 2
    assert links["messages"].tolist() == [10, 4, 5]
    other = made(replication=1)
    object.__setattr__(other, "uplinks", LinkUse(*(np.array([number]) for number in (0, 3, 1, 20, 1, 0, 0, 0))))
    assert mean_loads([made(), other])[0][0].replication == 0
    assert len(mean_loads([made(), other])[0]) == 1


def test_links_and_nodes_of_runs_add_up_to_their_metrics(sensors):
    keys = ["protocol.kind", "replication"]
    metrics = sensors.pivot_table(index=keys, columns="metric", values="value")
    links, nodes = sensors.links(), sensors.nodes()
    for name, column in (("messages", "messages"), ("bytes", "bytes"), ("activations", "activations")):
        assert (links.groupby(keys)[column].sum() == metrics[name]).all()
    for name in ("messages", "bytes"):
        for end in ("sent", "received"):
            assert (nodes.groupby(keys)[f"{name}_{end}"].sum() == metrics[name]).all()
    for table in (links, nodes):
        np.testing.assert_allclose(table.groupby(keys)["energy_j"].sum(), metrics["energy_j"])
    peers = links[links["class"] == "peer"]
    busy = (peers["utilisation"] + peers["utilisation_back"]) * 3.0
    np.testing.assert_allclose(busy, peers["bytes"] * 8 / 20_000)
    assert (links[["utilisation", "utilisation_back"]] <= 1).all().all()
    assert (links["longest_wait_s"] >= links["mean_wait_s"]).all()
    assert links["longest_wait_s"].max() > 0


def test_links_and_nodes_have_the_names_of_the_graph_file(sensors):
    links, nodes = sensors.links(), sensors.nodes()
    assert set(nodes[nodes["protocol.kind"] == "sink"]["node"]) == {
        *("attic", "cellar", "garden", "gate", "hall"),
        "server",
    }
    assert "server" not in set(nodes[nodes["protocol.kind"] == "gis"]["node"])
    served = links[(links["protocol.kind"] == "sink") & (links["class"] == "uplink")]
    assert set(served["link"]) == {"cellar-server"}
    assert links[links["class"] == "peer"]["link"].unique().tolist() == [
        *("attic-hall", "cellar-garden", "cellar-hall", "gate-hall"),
    ]


def test_how_long_a_battery_lasts_each_node_and_the_first_to_run_out(sensors):
    nodes = sensors.nodes(battery="1 kJ")
    agents = nodes[nodes["node"] != "server"]
    np.testing.assert_allclose(agents["battery_life_s"], 1_000 / agents["power_w"])
    life = sensors.battery_life(1_000)
    keys = ["protocol.kind", "replication"]
    lives = agents.groupby(keys, sort=False)["battery_life_s"]
    np.testing.assert_allclose(life["first_s"], lives.min())
    np.testing.assert_allclose(life["median_s"], lives.median())
    assert life[life["protocol.kind"] == "gis"]["first"].unique().tolist() == ["hall"]
    with pytest.raises(ValueError, match=r"battery must be a number of joule, or an energy .*, not \"1 kg\""):
        sensors.nodes(battery="1 kg")
    with pytest.raises(ValueError, match="above 0"):
        sensors.battery_life(0)


def test_names_have_their_places_in_made_up_runs():
    assert nodes_of(made(nodes=Nodes(("a", "b", "c")))) == ["a", "b", "c", "server"]
