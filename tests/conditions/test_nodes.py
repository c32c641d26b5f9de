"""A number of an agent is not the name of another without a word."""

import pytest
from helpers.scenes import study

from netbandit.scenario.errors import ScenarioError

TEXT = """\
run = { horizon = 50 }
topology = { family = "file", file = "net.csv", columns = ["one", "other"] }
bandit = { kind = "bernoulli", arms = 3 }
learner = { kind = "ucb", share = "totals" }
protocol.kind = "local"
"""


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("faults.outages", 'faults.outages = [{ nodes = [NODE], from = "1 ms" }]'),
        ("faults.outages", 'faults.outages = [{ links = [[NODE, 1]], from = "1 ms" }]'),
        ("faults.outages", 'faults.outages = [{ partition = [[NODE]], from = "1 ms" }]'),
        ("energy.mains", 'energy = { capacity = "1 J", mains = [NODE] }'),
        ("adversary.agents", 'adversary = { agents = [NODE], attack = "flip" }'),
    ],
)
def test_a_number_by_which_another_node_is_called_is_said(tmp_path, key, value):
    (tmp_path / "net.csv").write_text("1,2\n2,3\n")
    value = value.replace("[[NODE, 1]]", "[[NODE, '1']]")

    def said(node):
        notes = study(tmp_path, text=TEXT + value.replace("NODE", node) + "\n").notes
        return [note.replace("[0]", "") for note in notes if "is the agent of this number" in note]

    (note,) = said("1")
    assert f'{key}: 1 is the agent of this number, from 0, which is called "2"; in quotes, "1", it is a name' in note
    assert said('"2"') == []
    (tmp_path / "net.csv").write_text("1,0\n2,1\n")
    assert said("1" if "links" not in value else "2") == []
    (tmp_path / "net.csv").write_text("7,1\n1,3\n")
    with pytest.raises(ScenarioError, match="the graph has no agent 7"):
        said("7")
