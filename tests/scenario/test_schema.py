import json
from math import inf
from typing import Annotated, Any, Literal

from pydantic import Field

from netbandit.network.families import Ring, Tree
from netbandit.parts.settings import PositiveOrInfinite, Settings
from netbandit.scenario.model import RunSettings
from netbandit.scenario.schema import json_schema


class Learner(Settings):
    """The keys of the learner."""

    kind: str
    epsilon: PositiveOrInfinite = inf
    """The budget."""
    gap: Literal["true"] | Annotated[float, Field(gt=0)] | None = None
    start: int


class Other(Settings):
    kind: str
    arms: int


def schema() -> dict[str, Any]:
    return json_schema(
        {
            "topology": {"ring": Ring, "tree": Tree},
            "bandit": {"b": Other},
            "learner": {"one": Learner, "two": Other},
            "protocol": {},
        }
    )


def test_it_is_json_and_knows_every_table():
    text = json.dumps(schema(), allow_nan=False)
    read = json.loads(text)
    assert read["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert list(read["properties"]) == [
        "schema", "name", "description", "extends", "run", "topology", "links", "faults", "adversary", "energy",
        "feedback", "compute", "bandit", "learner", "protocol", "sweep",
    ]  # fmt: skip
    assert read["additionalProperties"] is False
    assert "null" not in text
    assert set(read["$defs"]["RunSettings"]["properties"]) == set(RunSettings.model_fields)
    assert set(read["$defs"]["topology"]["properties"]) == {
        "family",
        "changes",
        "neighbours",
        "seed",
        "agents",
        "branching",
    }


def test_every_reference_leads_somewhere():
    whole = schema()

    def references(part: Any) -> list[str]:
        if isinstance(part, list):
            return [found for item in part for found in references(item)]
        if isinstance(part, dict):
            return [part["$ref"] for _ in range("$ref" in part)] + [
                found for item in part.values() for found in references(item)
            ]
        return []

    found = references(whole)
    assert found
    for reference in found:
        assert reference.removeprefix("#/$defs/") in whole["$defs"]


def test_the_keys_of_a_part_depend_on_its_kind():
    learner = schema()["$defs"]["learner"]
    assert learner["properties"]["kind"]["anyOf"][0] == {"enum": ["one", "two"]}
    one, two = learner["allOf"]
    assert one["if"] == {"properties": {"kind": {"const": "one"}}, "required": ["kind"]}
    assert one["then"]["additionalProperties"] is False
    assert one["then"]["description"] == "The keys of the learner."
    assert one["then"]["properties"]["epsilon"] == {
        "description": "The budget.",
        "exclusiveMinimum": 0,
        "type": "number",
    }
    assert one["then"]["properties"]["gap"] == {
        "anyOf": [{"const": "true", "type": "string"}, {"exclusiveMinimum": 0, "type": "number"}]
    }
    assert "required" not in one["then"]
    assert set(two["then"]["properties"]) == {"kind", "arms"}


def test_keys_are_required_where_nothing_else_can_give_them():
    whole = schema()
    assert whole["if"] == {"not": {"anyOf": [{"required": ["extends"]}, {"required": ["sweep"]}]}}
    assert whole["then"]["required"] == ["run", "topology", "bandit", "learner", "protocol"]
    assert whole["then"]["properties"]["run"] == {"required": ["horizon"]}
    assert whole["then"]["properties"]["learner"] == {"required": ["kind"]}
    assert "required" not in whole
    assert "required" not in whole["$defs"]["RunSettings"]
    assert whole["$defs"]["UniformLatency"]["required"] == ["uniform"]


def test_the_sweep_knows_the_dotted_keys():
    sweep = schema()["properties"]["sweep"]["properties"]
    assert sweep["topology.agents"]["items"]["maximum"] == 10**7
    number, text, _ = sweep["links.peer.energy.per_byte"]["items"]["anyOf"]
    assert (number["minimum"], text) == (0, {"type": "string"})
    assert "learner.epsilon" in sweep
    assert "run.seed" not in sweep
