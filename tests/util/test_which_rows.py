from itertools import combinations, product

from netbandit.util.which_rows import telling_values

ROWS = [{"a": a, "b": b} for a, b in product("123", "xy")]


def test_the_values_tell_some_rows_from_all_others_or_there_are_none():
    for number in range(1, len(ROWS)):
        for some in combinations(ROWS, number):
            found = telling_values(ROWS, some)
            named = {key: {row[key] for row in some} for key in "ab"}
            product_of = [row for row in ROWS if all(row[key] in named[key] for key in "ab")]
            assert (found is None) == (len(product_of) > number)
            if found is not None:
                assert [row for row in ROWS if all(row[key] in found[key] for key in found)] == product_of


def test_a_key_that_follows_from_others_is_left_out():
    rows = [{"a": "1", "b": "x"}, {"a": "2", "b": "y"}, {"a": "3", "b": "y"}]
    assert telling_values(rows, rows[1:]) == {"a": ["2", "3"]}
    assert telling_values(rows, rows[2:]) == {"a": ["3"]}
    assert telling_values(
        [{**row, "a": "" if row["a"] == "2" else row["a"]} for row in rows], [{"a": "", "b": "y"}]
    ) == {"a": [""]}
