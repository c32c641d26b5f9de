import json

import networkx
import numpy as np
import pytest
from helpers.made_up_runs import made_up, study_of, trace, write

from netbandit.report.hot_spots import hot_spots
from netbandit.report.page import page
from netbandit.results.link_use import link_figures, mean_link_figures, node_figures
from netbandit.results.results_folder import ResultsFolder
from netbandit.simulation.result import Nodes

PATH = networkx.path_graph(4)


def run(replication=0, **keys):
    """A path whose middle link carries most; a message costs a joule, a byte a hundredth of one."""
    made = made_up(PATH, family="path", replication=replication, **keys)
    made.links.messages[:] = [10, 60, 30]
    made.links.bytes[:] = [1_000, 6_000, 3_000]
    made.links.activations[:] = [5, 20, 10]
    made.resolved["links"]["peer"] = {"cost": 3, "energy": {"per_message": 1.0, "per_byte": 0.01}}
    return made


def texts(table):
    return [[cell.text for cell in row] for row in table.rows]


def test_figures_of_links_follow_from_what_they_carried_and_their_prices():
    found = link_figures(run())
    assert found["cost"].tolist() == [15, 60, 30]
    assert found["energy"].tolist() == [20, 120, 60]
    ends = np.array([[0, 1], [1, 2], [2, 3]])
    nodes = node_figures(found, ends, 4)
    assert nodes["messages"].tolist() == [10, 70, 90, 30]
    assert nodes["energy"].tolist() == [20, 140, 180, 60]
    other = run(1)
    other.links.messages[:] = [30, 60, 10]
    assert mean_link_figures([run(), other])["messages"].tolist() == [20, 60, 20]


def test_the_links_and_nodes_that_carried_most_come_first(tmp_path):
    named = run(nodes=Nodes(("Delft", "Munich", "Bern", "Paris")))
    (spots,) = hot_spots(tmp_path, study_of([named]))
    assert [heading for heading, _ in spots.links.headings] == [
        "link",
        "share",
        "messages",
        "bytes",
        "slots in use",
        "cost",
        "energy (J)",
    ]
    assert texts(spots.links) == [
        ["Munich – Bern", "60 %", "60", "6,000", "20", "60", "120"],
        ["Bern – Paris", "30 %", "30", "3,000", "10", "30", "60"],
        ["Delft – Munich", "10 %", "10", "1,000", "5", "15", "20"],
    ]
    assert texts(spots.nodes)[0] == ["Bern", "90 %", "90", "9,000", "30", "90", "180"]
    assert spots.picture.svg.startswith("<svg ")


def test_what_nodes_waited_is_told_where_there_is_a_trace(tmp_path):
    write(tmp_path, [run(), run(1)])
    study = ResultsFolder(tmp_path).study()
    assert "waited (slots)" not in [heading for heading, _ in hot_spots(tmp_path, study)[0].nodes.headings]
    lines = [
        {"phase": name, "agent": agent, "round": number, "begin": 0, "end": end}
        for name, agent, number, end in (
            ("explore", 0, 1, 9_000_000),
            ("exploit", 2, 1, 5_000_000),
            ("exploit", 2, 2, 2_000_000),
            ("exploit", 2, 0, 70_000_000),
        )
    ]
    trace(
        ResultsFolder(tmp_path).run_folder(study.points[0].keys[0]), "".join(json.dumps(line) + "\n" for line in lines)
    )
    (spots,) = hot_spots(tmp_path, study)
    assert spots.nodes.headings[-1][0] == "waited (slots)"
    assert {row[0].text: row[-1].text for row in spots.nodes.rows} == {"0": "0", "1": "0", "2": "7", "3": "0"}


def test_links_that_are_all_alike_are_one_line(tmp_path):
    alike = run()
    alike.links.messages[:], alike.links.bytes[:], alike.links.activations[:] = 8, 80, 4
    (spots,) = hot_spots(tmp_path, study_of([alike]))
    assert texts(spots.links) == [["each of 3", "33.3 %", "8", "80", "4", "12", "8.8"]]
    assert [row[0].text for row in spots.nodes.rows] == ["1", "2", "0", "3"]


@pytest.mark.ci
def test_four_networks_at_most_and_none_of_who_is_silent(tmp_path):
    sizes = [made_up(networkx.complete_graph(n), parameters={"topology.agents": n}) for n in range(3, 12)]
    assert [spots.title for spots in hot_spots(tmp_path, study_of(sizes))] == [f"agents: {n}" for n in (3, 6, 8, 11)]
    assert hot_spots(tmp_path, study_of([made_up(rounds=0)])) == []


def test_they_are_in_the_report(tmp_path):
    study = study_of([run(), run(1)])
    html = page(tmp_path, study)
    assert "Links that carried most (mean of 2 runs)" in html
    assert "Nodes whose links carried most" in html
