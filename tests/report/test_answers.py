"""When agents have answered, in the report."""

from dataclasses import replace

import networkx
import numpy as np
from helpers.made_up_runs import made_up, study_of

from netbandit.report.answers import answers
from netbandit.report.page import page
from netbandit.simulation.result import Nodes

NAN = np.nan


def run(after, wrong, replication=0, **parameters):
    keys = {"run.until": "answered", **parameters}
    made = made_up(
        networkx.path_graph(3), family="path", parameters=keys, replication=replication, metrics={"regret": 1.0}
    )
    return replace(made, nodes=Nodes(answered=np.array(after), wrong=None if wrong is None else np.array(wrong)))


def test_the_report_lists_who_answers_last_and_how_often_wrongly(tmp_path):
    study = study_of([run([5.0, 9.0, NAN], [0.0, 0.0, NAN]), run([7.0, 30.0, NAN], [0.0, 1.0, NAN], replication=1)])
    (table,) = answers(study)
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["2", "–", "0 %", "–"],
        ["1", "19.5", "100 %", "50 %"],
        ["0", "6", "100 %", "0 %"],
    ]
    assert 'id="answers"' in page(tmp_path, study)


def test_where_runs_do_not_end_with_answers_there_is_no_such_table(tmp_path):
    study = study_of([replace(run([1.0, 2.0, 3.0], None), nodes=None)])
    assert answers(study) == []
    assert 'id="answers"' not in page(tmp_path, study)


def test_where_means_are_unknown_no_answer_is_judged():
    ((_, *rest), *_) = answers(study_of([run([1.0, 2.0, 3.0], None)]))[0].rows
    assert [cell.text for cell in rest] == ["3", "100 %", "–"]


def test_a_caption_names_all_that_varies():
    runs = [run([1.0, 2.0, 3.0], None, **{"links.peer.latency": latency}) for latency in ("0 ms", "9 ms")]
    titles = [table.caption.partition(": ")[2] for table in answers(study_of(runs))]
    assert titles == ["latency of a peer link: 0 ms", "latency of a peer link: 9 ms"]


def test_the_horizon_of_runs_that_end_with_answers_is_the_most_that_agents_play(tmp_path):
    ended, not_ended = run([1.0, 2.0, 3.0], None), run([1.0, 2.0, 3.0], None, **{"run.until": "horizon"})
    texts = ["slots each agent plays, at most" in page(tmp_path, study_of([one])) for one in (ended, not_ended)]
    assert texts == [True, False]
