"""By which values some rows of a table are told from its others."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

Value = TypeVar("Value")


def telling_values(
    rows: Sequence[Mapping[str, Value]], some: Sequence[Mapping[str, Value]]
) -> dict[str, list[Value]] | None:
    """Return the values that *some* of *rows* have and no other row has together; None if there are no such values.

    Keys without which they are told from the others as well are left out: the last first, and those before them of
    which one value is empty.

    Args:
        rows: All of them, which have the same keys.
        some: Those to tell; none of the others is equal to one of them.
    """
    values = {key: list(dict.fromkeys(row[key] for row in some)) for key in rows[0]}
    apart = [key for key in values if len(values[key]) < len({row[key] for row in rows})]

    def same(keys: Sequence[str]) -> bool:
        return sum(all(row[key] in values[key] for key in keys) for row in rows) == len(some)

    if not same(apart):
        return None
    for key in sorted(apart, key=lambda key: ("" not in values[key], -apart.index(key))):
        others = [other for other in apart if other != key]
        if same(others):
            apart = others
    return {key: values[key] for key in apart}
