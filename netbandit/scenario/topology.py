"""``[topology]``: the family that the table names, with its keys."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from netbandit.parts.component import Part, read_part
from netbandit.parts.registry import BUILT_IN, KindError, key_names, part_class
from netbandit.parts.settings import Problem
from netbandit.parts.validation import UNKNOWN_KEY, read
from netbandit.scenario.objects import plain
from netbandit.util.wording import did_you_mean, one_of, show


def read_topology(written: Any, folder: Path) -> tuple[Part | None, list[Problem], list[Problem]]:
    """Return the family, or None; all problems; and all notes: a key of another family is valid, but not used.

    Args:
        written: The table; mistakes in it as a whole are reported by `netbandit.scenario.validate.validate`.
        folder: The scenario's folder, in which the user's own modules are found first.
    """
    if not isinstance(written, Mapping) or not isinstance(written.get("family"), str | type):
        return None, [], []
    name = plain(written["family"])
    keys = {key: value for key, value in written.items() if key != "family"}
    problems: list[Problem] = []
    notes: list[Problem] = []
    found: type[Part] | None = None
    try:
        found = part_class("topology", written["family"], folder)
    except KindError as error:
        problems.append((("topology", "family"), str(error)))
    for key in [key for key in keys if found is None or key not in key_names(found)]:
        elsewhere = [family for family in _families() if key in key_names(family)]
        if elsewhere:
            value = keys.pop(key)
            tried = (read(family, {key: value}, ("topology",))[1] for family in elsewhere)
            wrong = [[mistake for mistake in mistakes if mistake[0][1] == key] for mistakes in tried]
            if all(wrong):  # one family that takes it is enough
                problems += wrong[0]
            notes.append((("topology", key), f"not used by the family {show(name)}"))
    if found is None:
        known = list(dict.fromkeys(name for family in _families() for name in ("family", *family.model_fields)))
        text = f"{UNKNOWN_KEY}, must be {one_of(known)}"
        problems += [(("topology", key), text + did_you_mean(key, known)) for key in keys]
        return None, problems, []
    family, mistakes, noted = read_part(found, keys, "topology")
    return family, problems + mistakes, notes + noted


@cache
def _families() -> list[type[Part]]:
    return [part_class("topology", name, Path()) for name in BUILT_IN["topology"]]
