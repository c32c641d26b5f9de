from dataclasses import replace

import networkx
import numpy as np
from helpers.made_up_runs import made_up, study_of

from netbandit.report.losses import losses
from netbandit.report.page import page

PATH = networkx.path_graph(4)


def run(loss, lost, kind="gis", replication=0, regret=100.0, **metrics):
    """A path of four whose links carried 10, 60 and 30 messages, and lost so many."""
    parameters = {"links.peer.loss": loss, "protocol.kind": kind}
    figures = {
        "regret": regret,
        "lost": sum(lost),
        "delivered": 100 - sum(lost),
        "messages": 100,
        "availability": 1.0,
        **metrics,
    }
    made = made_up(PATH, family="path", replication=replication, parameters=parameters, metrics=figures)
    made.links.messages[:] = [10, 60, 30]
    links = replace(made.links, lost=np.array(lost))
    kinds = {"DATA": (60, 6_000), "DATA-RETRY": (10, 1_000), "ACK": (30, 1_000)}
    return replace(made, links=links, kinds=kinds)


def texts(table):
    return [[cell.text for cell in row] for row in table.rows]


def test_the_page_has_a_section_where_something_goes_wrong(tmp_path):
    for lost in (0, 6):
        study = study_of([run(0.0, [0, 0, 0]), run(0.1, [0, lost, 0])])
        assert (losses(study) is None) == (not lost)
        assert ('id="losses"' in page(tmp_path, study)) == bool(lost)


def test_it_tells_how_much_was_lost_where_and_what_it_cost():
    runs = [run(0.0, [0, 0, 0], replication=number, regret=100.0 + number) for number in range(4)]
    runs += [
        run(0.1, [1, 6, 0], replication=number, regret=150.0 + number, retransmissions=10 + number, stalled=0)
        for number in range(4)
    ]
    found = losses(study_of(runs))
    headings = [heading for heading, _ in found.points.headings]
    assert headings == ["point", "loss", "do not arrive", "lost", "sent again", "data for it", "regret"]
    first, second = texts(found.points)
    assert first == ["1", "0.0", "0 %", "0 %", "–", "25 %", "–"]
    assert second[:6] == ["2", "0.1", "7 %", "7 %", "11.5", "25 %"]
    assert second[6].startswith("× 1.49 [")
    assert texts(found.links) == [
        ["2", "0.1", "1 – 2", "6", "10 %", "85.7 %"],
        ["2", "0.1", "0 – 1", "1", "10 %", "14.3 %"],
    ]


def test_regret_is_set_beside_the_point_that_differs_in_what_fails_alone():
    runs = [
        run(loss, [0, lost, 0], kind, number, regret=(100 if kind == "gis" else 200) * (1 + lost / 10))
        for kind in ("gis", "gossip")
        for loss, lost in ((0.0, 0), (0.1, 5))
        for number in range(3)
    ]
    rows = texts(losses(study_of(runs)).points)
    assert [row[-1] for row in rows] == ["–", "× 1.5", "–", "× 1.5"]
    only = losses(study_of([run(0.1, [0, 5, 0])]))
    assert "regret" not in [heading for heading, _ in only.points.headings]
