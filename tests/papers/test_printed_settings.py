"""The settings of figures beside the passages that print them, so that none drifts from its source."""

import math
from collections.abc import Iterator

import pytest

from netbandit.papers.figure_runs import points_of
from netbandit.papers.figures import load_paper

TABLES = ("run", "topology", "bandit", "learner", "protocol")

# What the texts of Solanki et al. print, where, and for which figures; several values where passages differ.
SOLANKI = {
    "bandit.kind": ({"procurement"}, "Section 3.1"),
    "bandit.sampling": ({"uniform", "normal"}, "captions (a) and (b) of Figures 2 to 5; Section 6.1"),
    "bandit.spread": ({0.2}, "captions of Figures 3(b), 4(b) and 5(b)"),
    "bandit.producers": ({30}, "captions of Figures 2 and 3; Section 6.1"),
    "bandit.quality_threshold": ({0.4}, "captions of Figures 3(b), 4(b) and 5(b); Section 6.1"),
    "bandit.capacity": ({(1, 50)}, "Section 6.1"),
    "bandit.homogeneous": ({False}, "Section 5; Figure 2 has both"),
    "topology.agents": ({10}, "captions of Figures 2 to 4; Section 6.1"),
    "run.horizon": ({100_000}, "captions of Figures 4 and 5; axes of Figures 2 and 3; Section 4"),
    "learner.kind": ({"pfcb"}, "Algorithms 1 and 2"),
    "learner.delta": ({0.01}, "Section 6.1"),
    "learner.start": ({200}, "Section 6.1"),
    "learner.stop": ({40_000}, "Section 6.1"),
    "learner.band, learner.weight": ({(0.1, 10.0)}, "Section 6.1"),
    "learner.share": ({"private", "exact", "never"}, "Section 6.1: P-FCB, FCB and Non-Federated"),
    "learner.epsilon": ({1.0}, "Section 6.2; caption of Figure 5"),
}
OF_FIGURES = {
    "fig2": {
        "bandit.spread": ({0.1}, "caption of Figure 2(b); Section 4"),
        "bandit.homogeneous": ({True, False}, "caption of Figure 2"),
        "learner.share": ({"exact", "never"}, "Section 4"),
    },
    "exp1": {
        "learner.epsilon": ({1.0, 0.3}, "legend of Figure 3"),
        "learner.band, learner.weight": ({(0.1, 10.0), (10.0, 0.1)}, "Section 6.1; Section 5.4: omega_2 in [0, 1]"),
    },
    "exp2": {
        "learner.epsilon": ({0.2, 0.6, 1.0}, "axis of Figure 4: from 0.2 to 1"),
        "learner.band, learner.weight": ({(0.1, 10.0), (10.0, 0.1)}, "Section 6.1; Section 5.4: omega_2 in [0, 1]"),
    },
    "exp3": {"topology.agents": ({10, 25, 40}, "axis of Figure 5: from 10 to 40")},
}
NOT_PRINTED = {
    *("bandit.rho", "bandit.seed", "learner.explore", "learner.zeta", "learner.margin", "learner.communicate"),
    *("run.seed", "run.slot", "run.activity", "run.skew", "run.replications"),  # the paper: 5 markets x 20
    *("topology.family", "topology.changes", "topology.neighbours", "topology.seed"),
    *("protocol.kind", "protocol.timing", "protocol.deadline", "protocol.carry"),
}


# The same of the text of Li and Song.
LI_SONG = {
    "topology.agents": ({50}, "Sections VII-A and VII-B1"),
    "bandit.kind": ({"bernoulli"}, "Section VII-A"),
    "bandit.arms": ({100}, "Sections VII-A and VII-B1"),
    "bandit.means": ({"uniform"}, "Section VII-A"),
    "bandit.heterogeneity": ({0.0}, "Section VII-A: all agents see the same means"),
    "links.peer.cost": ({1.0}, "Sections VII-B1 and VII-C"),
    "links.uplink.cost": ({25.0}, "Section VII-A"),
    "learner.kind": ({"elimination"}, "Algorithms 1, 3 and 5"),
    "learner.epsilon": ({1.0}, "Section VII-A2, on p and R together"),
    "learner.participation": ({1.0}, "Sections VII-A1 and VII-A2"),
    "learner.rounds": ({None}, "Algorithms 1, 3 and 5"),
    "protocol.kind": ({"master-worker"}, "Section VII-A"),
}
RATES, BUDGETS = {0.2, 0.4, 0.6, 0.8, 1.0}, {2, 3, 4, 5}
HUNDRED = {"topology.agents": ({100}, "Section VII-C"), "links.uplink.cost": ({50.0}, "Section VII-C")}
OF_LI_SONG = {
    "fig4": {"learner.epsilon": ({0.1, 0.3, 0.5, 1.0, math.inf}, "Section VII-A1; inf is ours")},
    "fig5": {"learner.participation": (RATES, "Section VII-A2")},
    "fig6": {"learner.rounds": (BUDGETS, "Section VII-A2")},
    "fig7": {
        "learner.participation": (RATES, "Section VII-A2"),
        "learner.rounds": (BUDGETS | {None}, "Section VII-A2: the centralized setting"),
    },
    "fig8": {
        "topology.agents": ({5}, "Section VII-A3"),
        "bandit.arms": ({10}, "Section VII-A3"),
        "bandit.heterogeneity": ({0.3}, "Section VII-A3: means differ, by how much is not printed"),
        "protocol.kind": ({"master-worker", "silent"}, "Section VII-A3"),
    },
    "fig10": {
        "topology.family": ({"complete", "star", "ring", "random", "regular"}, "Section VII-B1; regular: Table I"),
        "protocol.kind": ({"gis", "master-worker"}, "Section VII-B1"),
    },
    "fig11": {
        **HUNDRED,
        "topology.components": (
            {(20,) * 5, (53, 24, 10, 6, 7), (100,), (1,) * 100},
            "Table II; the printed 63 makes 110 agents in case 2",
        ),
        "topology.inside": ({"complete", "random", "star"}, "Table II"),
        "learner.aggregate": ({"paper", "weighted"}, "Algorithm 5 lines 9 and 14; weighted is ours"),
        "protocol.kind": ({"sink"}, "Section VI-A2"),
        "protocol.collect": ({"gis", "sink"}, "Section VI-A2; gis: Section VII-C1 on case 3"),
    },
    "fig12": {
        **HUNDRED,
        "bandit.heterogeneity": ({0.3}, "Section VII-C2: means differ, by how much is not printed"),
        "protocol.kind": ({"master-worker", "gis", "sink"}, "Section VII-C2"),
    },
}
LI_SONG_NOT_PRINTED = {
    *("run.horizon", "run.replications", "run.seed", "run.slot", "run.activity", "run.skew"),
    *("topology.family", "topology.p", "topology.degree", "topology.mean_degree", "topology.disconnected"),
    *("topology.components", "topology.inside", "topology.changes", "topology.neighbours", "topology.seed"),
    *("bandit.averaged", "bandit.seed", "bandit.arms_per_agent", "bandit.arm_sets"),
    *("bandit.changes", "bandit.breakpoints", "bandit.drift"),
    *("learner.gap", "learner.epsilon_total", "learner.aggregate", "learner.difference"),
    *("learner.robust", "learner.tolerate", "learner.groups", "learner.widths"),
    *("protocol.timing", "protocol.deadline", "protocol.carry", "protocol.collect"),
}

# What the text of Dubey and Pentland prints; it has lost every number but one, "averaged on 100 trials" (Section 4.4).
DUBEY = {
    "bandit.kind": ({"linear"}, "Section 3"),
    "learner.kind": ({"feducb"}, "Algorithms 1 to 3"),
    "learner.schedule": ({"logdet", "fixed"}, "Section 4.1: a test of log-determinants; Remark 4: fixed in advance"),
    "protocol.kind": ({"master-worker", "local", "silent"}, "Sections 4.1 and 4.2; alone: ours"),
}
NOT_PRINTED_OF_DUBEY = {
    *("actions", "arms", "deviation", "dimension", "draw", "gap_means", "rewards", "seed", "theta"),
    *("alpha", "beta", "beta_scale", "calibration", "delta", "epsilon", "every", "members", "regularizer", "robust"),
    *("threshold", "tolerate", "absorb", "carry", "deadline", "route", "stop", "stride", "timing", "ttl"),
    *("activity", "horizon", "replications", "skew", "slot"),
    *("agents", "changes", "disconnected", "family", "mean_degree", "neighbours", "p"),
}


def settings(figure: str, name: str = "pfcb") -> Iterator[dict[str, object]]:
    paper = load_paper(name).only(figure)
    for _, point, _ in points_of(paper, paper.figures[0], None):
        yield {f"{table}.{key}": value for table in TABLES for key, value in point.resolved[table].items()}


def costs(figure: str) -> Iterator[dict[str, object]]:
    paper = load_paper("dpmab").only(figure)
    for _, point, _ in points_of(paper, paper.figures[0], None):
        yield {f"links.{kind}.cost": point.resolved["links"][kind]["cost"] for kind in ("peer", "uplink")}


def as_set(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


@pytest.mark.parametrize("figure", ["fig2", "exp1", "exp2", "exp3"])
def test_each_setting_of_solanki_is_what_its_passage_prints_or_is_printed_nowhere(figure):
    printed = {**SOLANKI, **OF_FIGURES.get(figure, {})}
    points = list(settings(figure))
    for keys, (values, passage) in printed.items():
        names = keys.split(", ")
        found = {tuple(as_set(point[name]) for name in names) for point in points}
        assert found <= {value if len(names) > 1 else (value,) for value in values}, f"{keys}: {passage}"
    known = {name for keys in printed for name in keys.split(", ")}
    assert not known & NOT_PRINTED
    assert set(points[0]) == known | NOT_PRINTED


@pytest.mark.parametrize("figure", OF_LI_SONG)
def test_each_setting_of_li_and_song_is_what_its_passage_prints_or_is_printed_nowhere(figure):
    printed = {**LI_SONG, **OF_LI_SONG[figure]}
    points = [{**one, **cost} for one, cost in zip(settings(figure, "dpmab"), costs(figure), strict=True)]
    for key, (values, passage) in printed.items():
        assert {as_set(point[key]) for point in points if key in point} == values, f"{key}: {passage}"
    assert {key for point in points for key in point} <= printed.keys() | LI_SONG_NOT_PRINTED


@pytest.mark.parametrize("figure", ["fig3", "fig11", "fig12", "budget"])
def test_components_of_li_and_song_are_averaged_as_their_algorithm_prints(figure):
    hybrid = [one for one in settings(figure, "dpmab") if one["protocol.kind"] == "sink"]
    uneven = [one for one in hybrid if one["learner.aggregate"] != "paper"]
    assert len(hybrid) > len(uneven) == (2 if figure == "fig11" else 0)


def test_other_readings_of_solanki_differ_from_the_figure_in_one_thing_each():
    own = {key: as_set(value) for key, value in next(settings("exp1")).items()}
    varied = {"bandit.sampling", "bandit.seed", "learner.share", "run.replications"}
    together = {"learner.band": "learner.weight", "learner.zeta": "learner.explore"}
    for point in settings("readings"):
        off = {key for key, value in point.items() if as_set(value) != own[key]} - varied
        if point["learner.communicate"] == "every":  # FCB, as it is in EXP1
            off.remove("learner.communicate")
        assert len({together.get(key, key) for key in off}) <= 1, off
    spreads = {point["bandit.spread"] for point in settings("readings")}
    assert spreads == {0.1, 0.2, round(math.sqrt(0.2), 3)}


def test_no_claim_of_solanki_is_measured_where_its_setting_was_chosen():
    """The readings are the search, on markets with a seed of their own; a claim has a market of its own in each run."""
    paper = load_paper("pfcb")
    seeds = {figure.id: {point["bandit.seed"] for point in settings(figure.id)} for figure in paper.figures}
    assert None not in seeds.pop("readings")
    assert all(each == {None} for each in seeds.values())
    assert {claim.figure for claim in paper.claims} == set(seeds)
    assert {claim.id for claim in paper.claims if claim.fitted} == {
        claim.id for claim in paper.claims if "% more" in claim.says
    }


def test_each_percentage_of_solanki_has_one_verdict():
    said = [claim.says for claim in load_paper("pfcb").claims if "% more" in claim.says]
    assert len(said) == len(set(said)) == 4


def test_each_setting_of_dubey_is_what_a_passage_prints_or_is_printed_nowhere():
    points = [point for figure in load_paper("feducb").figures for point in settings(figure.id, "feducb")]
    for name, (values, passage) in DUBEY.items():
        assert {point[name] for point in points} <= values, f"{name}: {passage}"
    assert {name for point in points for name in point} - DUBEY.keys() == {
        name for point in points for name in point if name.partition(".")[2] in NOT_PRINTED_OF_DUBEY
    }
    assert all("lost" in claim.not_tested for claim in load_paper("feducb").claims if claim.not_tested)


def test_both_horizons_of_dubeys_second_figure_are_ours_and_no_claim_of_the_paper_is_judged_by_one():
    horizons = {point["run.horizon"] for point in settings("fig2", "feducb")}
    claims = [claim for claim in load_paper("feducb").claims if claim.figure == "fig2"]
    assert horizons == {20_000, 200_000}
    assert [claim.id for claim in claims if not claim.ours] == ["fig2-gap", "fig2-sensitivity"]
    for claim in claims:
        both = {selector["scenario"] for selector, _ in claim.comparisons()} == {"fig2", "fig2-long"}
        assert both == bool(claim.not_tested) == (not claim.ours), claim.id


def test_dubeys_peers_are_private():
    local = [point for point in settings("private", "feducb") if point["protocol.kind"] == "local"]
    assert {point["topology.family"] for point in local} == {"complete", "random", "path", "ring"}
    assert all(point["learner.epsilon"] < math.inf for point in local)
