from hypothesis import given
from hypothesis import strategies as st

from netbandit.protocols.latest_versions import LatestVersions, Release, Releasing, VersionedSum
from netbandit.protocols.protocol import Item

told = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(1, 9)), max_size=30)


@given(told)
def test_of_every_agent_and_life_the_newest_counts_in_whatever_order_they_come(told):
    newest = LatestVersions()
    for agent, life, number in told:
        newest.take({(agent, life): Release(number, Item(8, number))})
    marks = {(agent, life) for agent, life, _ in told}
    assert {mark: release.number for mark, release in newest.items()} == {
        mark: max(number for agent, life, number in told if (agent, life) == mark) for mark in marks
    }


def test_a_sum_names_each_release_in_it_with_four_bytes_and_is_one_for_all_who_hold_the_same():
    made = []

    def aggregate(items):
        made.append([item.value for item in items])
        return Item(100, object())

    sums = VersionedSum(aggregate)
    first = LatestVersions({(1, 0): Release(1, Item(8, "b")), (0, 0): Release(1, Item(8, "a"))})
    found = sums.of(first)
    assert made == [["a", "b"]]
    assert found.size == 100 + 2 * 4
    assert sums.of(LatestVersions(first)) is found
    first.take({(1, 1): Release(1, Item(8, "c"))})  # what 1 had released before it lost its memory stays
    assert sums.of(first).size == 100 + 3 * 4
    assert made[1:] == [["a", "b", "c"]]


def test_an_agent_finds_its_own_release_of_its_present_incarnation():
    releasing = Releasing(2, sets=2)
    first = releasing.name(0, Item(8, "a"), 1)
    second = releasing.name(0, Item(8, "b"), 1)
    assert (first.size, first.value) == (8, {(0, 0): Release(1, Item(8, "a"))})
    assert releasing.included(0, first.value) == 1
    assert releasing.included(0, second.value) == 2
    assert releasing.included(1, second.value) == 0
    releasing.begin_anew(0)
    assert releasing.included(0, second.value) == 0
    assert releasing.name(0, Item(8, "c"), 1).value == {(0, 1): Release(1, Item(8, "c"))}
