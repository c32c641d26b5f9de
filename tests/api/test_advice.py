"""Advice from Python, and the shipped scenario whose runs bear it out."""

from pathlib import Path

import networkx

import netbandit as nb

SCENARIO = str(Path(__file__).parents[2] / "scenarios" / "advice.toml")


def test_the_advised_backbone_waits_exactly_as_much_less_as_was_said():
    advice = nb.advise_links(SCENARIO, replications=2, run__horizon=5_000)
    (step,) = advice.steps
    best = step.best[0]
    said = best.value - step.before
    assert (step.before, best.value) == (66e6, 53e6)
    confirmed = advice.confirmed[0]
    assert confirmed.link == best.link
    assert confirmed.differences["round_slots"].value == said / 1e6 == -13
    assert advice.unchanged["round_slots"].value == 66


def test_without_runs_nothing_is_confirmed():
    advice = nb.advise_links("ring", 2, lose=True, topology__agents=6)
    assert (advice.unchanged, advice.confirmed) == ({}, [])
    assert [step.lose for step in advice.steps] == [True, True]
    assert advice.steps[0].before == 3e6


def test_a_scenario_of_objects_is_advised_like_its_file(tmp_path):
    def scenario(topology):
        return nb.Scenario(
            topology=topology,
            links=nb.Links(peer=nb.Link(latency="5 ms")),
            bandit=nb.bandits.Bernoulli(means=[0.3, 0.7]),
            learner=nb.learners.Elimination(),
            protocol=nb.protocols.Gis(),
            run=nb.Run(horizon=100),
        )

    ring, file = scenario(nb.families.Ring(agents=8)), tmp_path / "ring.toml"
    ring.to_toml(file)
    assert nb.advise_links(ring).steps == nb.advise_links(str(file)).steps
    (step,) = nb.advise_links(scenario(networkx.path_graph(6))).steps
    # Five hops of the path become three with the best link, and gis speaks three times on each hop.
    assert (step.before, step.best[0].value) == (75e6, 45e6)
