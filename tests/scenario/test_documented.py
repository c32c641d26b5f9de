from netbandit.scenario.documented import documented
from netbandit.settings import Settings
from netbandit.simulation.check import schema


class Base(Settings):
    """A base.

    Attributes:
        first: Of the base,
            in two lines.
        second: Of ``both``.
    """


class Derived(Base):
    """Derived.

    Attributes:
        second, third: Its own.

    Args:
        fourth: No key.
    """


def test_keys_are_described_by_the_nearest_docstring():
    assert documented(Derived) == {"first": "Of the base, in two lines.", "second": "Its own.", "third": "Its own."}
    assert documented(Base)["second"] == "Of both."


def test_every_key_of_every_part_is_described_in_the_schema():
    for table in ("bandit", "learner", "protocol"):
        for branch in schema()["$defs"][table]["allOf"]:
            keys = branch["then"]["properties"]
            kind = keys.pop("kind")["const"]
            assert [key for key, value in keys.items() if not value.get("description")] == [], (table, kind)
