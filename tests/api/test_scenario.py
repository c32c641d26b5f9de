import inspect
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
from helpers.scenes import SMALL

import netbandit as nb
from netbandit.results.results_folder import OtherStudyError


class Fair(nb.bandits.Bernoulli):
    """A class of one's own."""


def small(**changes):
    given = {
        "topology": nb.families.Ring(agents=3),
        "bandit": nb.bandits.Bernoulli(means=[0.2, 0.5]),
        "learner": nb.learners.Elimination,
        "protocol": {"kind": "gis"},
        "run": nb.Run(horizon=300),
    }
    return nb.Scenario(**{key: value for key, value in {**given, **changes}.items() if value is not None})


def metrics(results):
    kept = results[~results["metric"].isin(["wall_s"])]
    return kept["value"].tolist()


def same(one, other):
    return np.array_equal(metrics(one), metrics(other), equal_nan=True)


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_objects_dictionaries_and_files_are_the_same_scenario(place):
    objects = small(name="one", links=nb.Links(peer=nb.Link(latency="2 ms")))
    tables = {
        "name": "one",
        "topology": {"family": "ring", "agents": 3},
        "bandit": {"kind": "bernoulli", "means": (0.2, 0.5)},
        "learner": {"kind": "elimination"},
        "protocol": {"kind": "gis"},
        "run": {"horizon": 300},
        "links": {"peer": {"latency": "2 ms"}},
    }
    objects.to_toml("one.toml")
    first = objects.run(out="a")
    for other in (nb.Scenario(**tables), nb.Scenario.from_toml("one.toml")):
        assert other.check() == []
        found = other.run(out="a")
        assert found["run"].tolist() == first["run"].tolist()  # the same run folder
    assert nb.run(tables, out="a")["run"].tolist() == first["run"].tolist()
    assert nb.run(objects, out="a")["run"].tolist() == first["run"].tolist()
    assert len(list((place / "a" / "runs").iterdir())) == 1


def test_another_study_takes_the_place_of_one_only_if_that_is_asked_for(place):
    small(name="one").run(out="a")
    assert len(small(name="two").run(out="a")["run"].unique()) == 1  # the same by another name
    with pytest.raises(OtherStudyError, match=r"run.seed is 0 there and 1 here; .*replace=True"):
        nb.run(small(), run__seed=1, out="a")
    with pytest.raises(OtherStudyError, match=r"run\.horizon is 300 there, which is none of its values here"):
        nb.sweep(small(name="one"), run__horizon=[200, 400], out="a")
    assert set(nb.sweep(small(), run__horizon=[300, 400], out="a", replace=True)["run.horizon"]) == {300, 400}


def test_a_family_by_its_name_is_that_family():
    named, itself = small(topology=nb.Topology(family="ring", agents=3)), small()
    assert named.to_toml() == itself.to_toml()
    assert small(topology=nb.Topology(family=nb.families.Ring, agents=3)).to_toml() == itself.to_toml()
    assert (
        small(topology=nb.Topology(family="rings", agents=3)).check()[0].startswith("topology=...: topology.family: ")
    )


def test_what_has_no_effect_is_told():
    assert small().notes() == []
    (note,) = small(links=nb.Links(uplink=nb.Link(latency="5 ms"))).notes()
    assert "links.uplink.latency" in note
    assert "has no effect" in note
    with pytest.raises(nb.ScenarioError, match="rings"):
        small(topology=nb.Topology(family="rings", agents=3)).notes()


def test_all_mistakes_are_said_at_once_each_with_its_keyword():
    scenario = small(
        run={"horizon": 0}, learner={"kind": "elimination", "epsilon": -1}, topology={"family": "ring", "agents": 2}
    )
    assert scenario.check() == [
        "learner=...: learner.epsilon: must be a number above 0 or inf, not -1",
        "run=...: run.horizon: must be an integer from 1 to 10^12, not 0",
        "topology=...: topology.agents: a ring has at least 3 agents, not 2",
    ]
    with pytest.raises(nb.ScenarioError, match=r"learner=\.\.\.: learner\.epsilon"):
        scenario.run()
    assert [line.split(": ")[1] for line in nb.Scenario().check()] == [
        "bandit", "learner", "protocol", "run", "topology",
    ]  # fmt: skip


def test_an_object_says_its_mistakes_with_its_keywords():
    with pytest.raises(ValueError, match="unknown key") as caught:
        nb.bandits.Bernoulli(means=(0.2, 2.0), armz=3)
    first, second = str(caught.value).splitlines()
    assert first == "Bernoulli(means[1]=...): must be a number from 0 to 1, not 2.0"
    assert second.startswith("Bernoulli(armz=...): unknown key")
    assert second.endswith('(did you mean "arms"?)')
    with pytest.raises(ValueError, match=r"^Run\(horizon=\.\.\.\): must be an integer from 1 to 10\^12, not 0$"):
        nb.Run(horizon=0)


@pytest.mark.parametrize(
    ("keyword", "meant"),
    [
        ("run_horizon", "run__horizon"),
        ("links__peer_latency", "links__peer__latency"),
        ("links_peer_latency", "links__peer__latency"),
        ("topolgy__agents", "topology__agents"),
    ],
)
@pytest.mark.parametrize("values", [5, [5, 6]])
def test_one_underscore_gets_the_hint_to_use_two(keyword, meant, values):
    with pytest.raises(nb.ScenarioError) as caught:
        small().sweep(**{keyword: values})
    (line,) = caught.value.lines
    assert line == f'{keyword}=...: unknown key; two underscores stand for a dot (did you mean "{meant}"?)'


def test_a_wrong_value_of_a_keyword_names_it():
    with pytest.raises(nb.ScenarioError) as caught:
        small().sweep(run__horizon=[300, 0], learner__epsilon=-1)
    assert caught.value.lines == [
        "run__horizon=...: sweep.run.horizon[1]: must be an integer from 1 to 10^12, not 0",
        "learner__epsilon=...: learner.epsilon: must be a number above 0 or inf, not -1",
    ]


def test_a_graph_of_networkx_works_as_it_is_and_in_a_file(place):
    graph = nx.grid_2d_graph(3, 4)
    nx.set_node_attributes(graph, {node: {"latitude": node[0], "longitude": node[1]} for node in graph})
    nx.set_edge_attributes(graph, 1e6, "speed")
    scenario = small(topology=graph, links={"peer": {"latency": "geographic"}})
    first = scenario.run(out="a")
    scenario.to_toml("grid.toml")
    assert same(nb.run("grid.toml", out="b"), first)
    other = graph.copy()
    other.remove_edge((0, 0), (0, 1))
    second = small(topology=other, links={"peer": {"latency": "geographic"}}).run(out="c")
    assert second["run"][0] != first["run"][0]
    again = small(topology=nx.grid_2d_graph(3, 4), links={"peer": {"latency": "1 ms"}})
    assert again.run(out="d")["run"][0] not in (first["run"][0], second["run"][0])


def test_agents_of_a_graph_are_numbered_by_its_sorted_nodes():
    graph = nx.Graph([(10, 2), (2, 1), (10, 1)])
    built = nb.families.Graph(graph=graph).build(np.random.default_rng(0))
    assert [built.nodes[node]["name"] for node in range(3)] == ["1", "2", "10"]
    mixed = nx.Graph([("b", 1), (1, "a")])
    assert nb.families.Graph(graph=mixed).build(np.random.default_rng(0)).number_of_nodes() == 3


def test_what_is_no_topology_is_said():
    scenario = small(topology=nx.Graph([(0, 1), (2, 3)]))
    (line,) = scenario.check()
    assert line.startswith("topology=...: topology.component: missing: the graph has 2 components")
    (line,) = small(topology={"family": nb.families.Graph, "graph": 3}).check()
    assert line == "topology=...: topology.graph: must be a graph of networkx, not int"


def test_a_class_of_ones_own_and_a_sweep_of_classes():
    found = small(bandit=Fair(means=[0.2, 0.5])).run(out="own")
    ours = small().run(out="ours")
    assert same(found, ours)
    swept = small().sweep({"protocol.kind": ["gis", nb.protocols.Flooding]}, out="swept")
    assert list(dict.fromkeys(swept["protocol.kind"])) == ["gis", "flooding"]


def test_a_link_serves_both_classes_of_links():
    links = nb.Links(peer=nb.Link(cost=2.0), uplink=nb.Link(latency="3 ms", energy={"per_byte": "2 nJ"}))
    assert (links.peer.cost, links.uplink.cost, links.uplink.latency) == (2.0, 25.0, "3 ms")
    assert links.uplink.energy.per_byte == 2e-9
    with pytest.raises(ValueError, match="the server has no coordinates"):
        nb.Links(uplink=nb.Link(latency="geographic"))
    with pytest.raises(
        ValueError, match=r"^Link\(energy\.per_message=\.\.\.\): must be a number of joule, or an energy"
    ):
        nb.Link(energy={"per_message": "1 cal"})


def test_a_class_of_no_module_cannot_be_written():
    class Inner(nb.bandits.Bernoulli):
        """Local."""

    with pytest.raises(ValueError, match=r"the class .*Inner is in no module"):
        small(bandit=Inner(means=[0.1, 0.2])).to_toml()


def test_without_a_name_each_scenario_has_a_folder_of_its_own(place):
    small().run()
    small().run()
    small(run={"horizon": 301}).run()
    small(name="mine").run()
    folders = sorted(path.name for path in (place / "results").iterdir())
    assert len(folders) == 3
    assert folders[0] == "mine"
    assert all(name.startswith("scenario-") and len(name) == 17 for name in folders[1:])


def test_replications_are_no_column():
    found = small().run(replications=2, out="a")
    assert "run.replications" not in found
    assert found["replication"].max() == 1


def test_toml_goes_and_comes_back(place):
    scenario = small(name="mine", sweep={"links.peer.latency": ["1 ms", "2 ms"]})
    text = scenario.to_toml("mine.toml")
    assert nb.Scenario.from_toml("mine.toml").to_toml() == text
    assert 'links.peer.latency = ["1 ms", "2 ms"]' in text
    assert nb.Scenario.from_toml("mine.toml", run__horizon=5).tables["run"] == {"horizon": 5}


def test_extends_works_from_a_dictionary(place):
    (place / "base.toml").write_text(SMALL)
    document = nb.Scenario.from_toml("base.toml")
    found = nb.run({"extends": "base.toml", "run": {"horizon": 50}}, out="a")
    assert found["run"][0] == nb.run(document, run__horizon=50, out="b")["run"][0]


NOTEBOOK = """
import netbandit as nb

class Mine(nb.bandits.Bernoulli):
    '''Defined here alone.'''
    def start(self, agents, generator):
        super().start(agents, generator)

if __name__ == "__main__":
    found = nb.Scenario(
        topology={"family": "ring", "agents": 3}, bandit=Mine(means=[0.2, 0.5]), learner={"kind": "elimination"},
        protocol={"kind": "gis"}, run={"horizon": 300, "replications": 3},
    ).run(jobs=2, out="out")
    print(len(found[found["metric"] == "regret"]))
"""


@pytest.mark.ci
def test_a_class_of_main_runs_in_processes_too(place):
    done = subprocess.run([sys.executable, "-c", NOTEBOOK], capture_output=True, text=True, check=False, cwd=place)
    assert done.stdout.strip() == "3", done.stderr


def test_help_and_completion_know_every_key():
    for room in (nb.bandits, nb.learners, nb.protocols, nb.families):
        assert [name for name in dir(room) if name[0].isupper()]
    keys = inspect.signature(nb.bandits.Linear).parameters
    assert list(keys) == ["seed", "dimension", "arms", "actions", "draw", "theta", "gap_means", "rewards", "deviation"]
    assert all(each.kind is each.KEYWORD_ONLY for each in keys.values())
    for name in nb.__all__:
        assert getattr(nb, name) is not None


def test_a_mistake_of_a_file_stands_at_its_line(place):
    (place / "bad.toml").write_text('run = { horizon = 0 }\ntopology = { family = "rng", agents = 3 }\n')
    lines = nb.Scenario.from_toml("bad.toml", learner__kind="elimnation").check()
    assert lines[0].startswith("bad.toml:1:1: bandit: is missing")
    assert any(line.startswith("bad.toml:1:9: run.horizon: must be") for line in lines)
    assert any(line.startswith("learner__kind=...: learner.kind: must be one of") for line in lines)
    with pytest.raises(nb.ScenarioError, match=r"none\.toml:1:1: file: no such file"):
        nb.Scenario.from_toml("none.toml").run()


def test_what_goes_wrong_is_an_object_too():
    failing = {"up_for": "100 slots", "down_for": "20 slots"}
    objects = small(links=nb.Links(peer=nb.Link(loss=0.3)), faults=nb.Faults(links=failing))
    tables = small(links={"peer": {"loss": 0.3}}, faults={"links": failing})
    assert objects.check() == tables.check() == []
    first = objects.run(out="a")
    assert same(first, tables.run(out="b"))
    links = first.links()
    assert links["messages"].sum() > 0
    if "lost" in links:
        assert 0 < links["lost"].sum() <= links["messages"].sum()


def test_parts_are_swept_as_objects_and_classes(tmp_path):
    scenario = small(links=nb.Links(peer=nb.Link(latency="1 ms")), protocol=nb.protocols.Silent())
    found = scenario.sweep({"protocol": [nb.protocols.Gis(), nb.protocols.Flooding]}, out=tmp_path)
    messages = found[found.metric == "messages"].value.tolist()
    named = scenario.sweep({"protocol.kind": ["gis", "flooding"]}, out=tmp_path / "named")
    assert messages == named[named.metric == "messages"].value.tolist()
    assert len(set(messages)) == 2
    same = nb.sweep(scenario, protocol=[nb.protocols.Gis(), nb.protocols.Flooding], out=tmp_path)
    assert same[same.metric == "messages"].value.tolist() == messages
