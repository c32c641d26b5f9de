"""Whose rows are: by names, by numbers, by position; and what names others."""

import pytest

from netbandit.util.agent_rows import agent_numbers, whose

NUMBERS = ["0", "1", "2"]
WORDS = ["a", "b", "c"]


@pytest.mark.parametrize(
    ("labels", "names", "expected"),
    [
        (["c", "a", "b"], WORDS, [2, 0, 1]),
        (["2", "0", "1"], WORDS, [2, 0, 1]),
        (["2", "0", "1"], NUMBERS, [2, 0, 1]),
        (["3", "1", "2"], ["1", "2", "3"], [2, 0, 1]),
    ],
)
def test_agents_are_known_by_their_names_or_else_by_their_numbers(labels, names, expected):
    assert list(agent_numbers(labels, names, "speeds").values()) == expected


@pytest.mark.parametrize(
    ("labels", "names", "text"),
    [
        (["a", "b"], WORDS, "has speeds of 2 agents, but there are 3: not c"),
        (["a", "b", "c", "x"], WORDS, "has speeds of 4 agents, but there are 3: x among them"),
        (["a", "b", "d"], WORDS, "names agents, but not those of the network: d; its agents are a, b, c"),
        (["a", "b", "2"], WORDS, "names agents, but not those of the network: 2; its agents are a, b, c"),
        (["0", "1", "2"], ["1", "2", "3"], "names agents, but not those of the network: 0; its agents are 1, 2, 3"),
        (["00", "1", "2"], NUMBERS, "names agents, but not those of the network: 00; its agents are 0, 1, 2"),
    ],
)
def test_others_are_refused(labels, names, text):
    with pytest.raises(ValueError, match=f"^{text}$"):
        agent_numbers(labels, names, "speeds")


OTHER_ORDER = [1, 2, 0]


@pytest.mark.parametrize(
    ("columns", "names", "by"),
    [
        ({"agent": ["c", "a", "b"]}, WORDS, "agent"),
        ({"Agent_ID": ["2", "0", "1"]}, WORDS, "Agent_ID"),
        ({"brand": ["x", "y", "z"], "device": ["c", "a", "b"]}, WORDS, "device"),
        ({"where": ["c", "a", "b"]}, WORDS, "where"),
        ({"": ["0", "1", "2"], "device": ["c", "a", "b"]}, WORDS, "device"),
        ({"client_id": ["2", "0", "1"]}, NUMBERS, "client_id"),
        ({"": ["2", "0", "1"]}, NUMBERS, ""),
        ({"id": ["3", "1", "2"]}, ["1", "2", "3"], "id"),
        ({"device": ["c", "a", "b"], "agent": ["2", "0", "1"], "site": ["a", "b", "c"]}, WORDS, "agent"),
    ],
)
def test_a_column_that_names_all_agents_says_whose_rows_are(columns, names, by):
    found = whose(columns, 3, names, "speeds")
    assert (found.rows, found.column) == (OTHER_ORDER, by)


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        ({}, WORDS),
        ({"device": ["phone", "phone", "desktop"]}, WORDS),
        ({"class": ["a", "a", "b"]}, WORDS),
        ({"cores": ["2", "0", "1"]}, NUMBERS),  # as many, by accident
        ({"id": ["11", "12", "13"]}, NUMBERS),
        ({"": ["0", "1", "2"]}, ["1", "2", "3"]),  # pandas' index
    ],
)
def test_else_rows_are_taken_by_position(columns, names):
    assert whose(columns, 3, names, "speeds") == ([0, 1, 2], None)
    assert whose(columns, 2, names, "speeds").rows == [0, 1, 0]


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ({"agent": ["a", "b", "a"]}, "names the agent a twice"),
        ({"agent": ["x", "y", "z"]}, "names agents, but not those of the network: x, y, z; its agents are a, b, c"),
        ({"device": ["a", "b", "d"]}, "names agents, but not those of the network: d; its agents are a, b, c"),
        ({"device": ["a", "c", "b", "d"]}, "has speeds of 4 agents, but there are 3"),
        ({"one": ["a", "c", "b"], "two": ["b", "a", "c"]}, "two names agents in another order than one"),
    ],
)
def test_what_names_some_agents_must_name_all(columns, text):
    with pytest.raises(ValueError, match=text):
        whose(columns, 3, WORDS, "speeds")
