"""The JSON Schema of scenario files, for editors."""

import copy
from collections.abc import Iterator, Mapping
from math import inf
from typing import Any

from pydantic import BaseModel

from netbandit.parts.registry import condition_classes, offered_classes
from netbandit.scenario.model import PARTS, scenario_model

Schema = dict[str, Any]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_OWN_PART = {"type": "string", "pattern": "^[^:]+:[^:]+$", "description": 'A part of your own, "package.module:Class".'}


def json_schema(parts: Mapping[str, Mapping[str, type[BaseModel]]]) -> Schema:
    """Return the JSON Schema of a scenario file.

    Which keys a part's table takes depends on its ``kind``. Keys that must be there may come from elsewhere in a file
    with ``extends`` or ``sweep``, so the schema asks for them only in files with neither.

    Args:
        parts: For each of ``topology``, ``bandit``, ``learner`` and ``protocol``, its kinds with their keys.
    """
    definitions: Schema = {}
    schema = table_schema(
        scenario_model(tuple({**condition_classes(), **offered_classes("condition")}.items())), definitions
    )
    definitions["topology"] = _topology(parts.get("topology", {}), definitions)
    schema["properties"]["topology"] = {
        "$ref": "#/$defs/topology",
        "description": "The graph; its family decides which keys it uses.",
    }
    for table in PARTS:
        definitions[table] = _part(table, parts.get(table, {}), definitions)
        described = {"description": f"The {table}; its kind decides which keys it has."}
        schema["properties"][table] = {"$ref": f"#/$defs/{table}", **described}
    schema["properties"]["sweep"] = _sweep(schema, definitions, parts)
    complete: Schema = {"required": schema.pop("required", []), "properties": {}}
    for name, definition in definitions.items():
        table = name.removesuffix("Settings").lower()
        if table in ("run", "topology", *PARTS):
            complete["properties"][table] = {"required": definition.pop("required", [])}
    builds_on = {"anyOf": [{"required": ["extends"]}, {"required": ["sweep"]}]}
    return {
        "$schema": _DIALECT,
        "title": "netbandit scenario",
        **schema,
        "description": "A netbandit scenario: bandit, learner, protocol and network.",
        "if": {"not": builds_on},
        "then": complete,
        "$defs": definitions,
    }


def table_schema(model: type[BaseModel], definitions: Schema) -> Schema:
    """Return the schema of one table; the tables inside it go to *definitions*."""
    schema: Schema = _plain(copy.deepcopy(model.model_json_schema(by_alias=True)))
    definitions.update(schema.pop("$defs", {}))
    return schema


def _part(table: str, kinds: Mapping[str, type[BaseModel]], definitions: Schema) -> Schema:
    """Return the schema of a part's table: the keys of its kind, and of no other."""
    choice: Schema = {"anyOf": [{"enum": list(kinds)}, _OWN_PART], "description": f"Which {table}."}
    branches = []
    for kind, settings in kinds.items():
        keys = table_schema(settings, definitions)
        # Its required keys may come from a base or a sweep; netbandit check knows better.
        keys.pop("required", None)
        keys["properties"] = {**keys.get("properties", {}), "kind": {"const": kind}}
        branches.append({"if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]}, "then": keys})
    return {"type": "object", "properties": {"kind": choice}, "required": ["kind"], "allOf": branches}


def _topology(families: Mapping[str, type[BaseModel]], definitions: Schema) -> Schema:
    """Return the schema of the topology's table: the keys of all families, as one may be left over from another."""
    own = {**_OWN_PART, "description": 'A family of your own, "package.module:Class".'}
    keys: Schema = {"family": {"anyOf": [{"enum": list(families)}, own], "description": "The family of graphs."}}
    descriptions: dict[str, dict[str, list[str]]] = {}
    for family, model in families.items():
        for key, value in table_schema(model, definitions).get("properties", {}).items():
            descriptions.setdefault(key, {}).setdefault(value.pop("description", ""), []).append(family)
            value.pop("default", None)
            keys.setdefault(key, value)
    for key, texts in descriptions.items():
        lines = [text if len(texts) == 1 else f"{', '.join(names)}: {text}" for text, names in texts.items()]
        keys[key] = {"description": " ".join(lines), **keys[key]}
    known = {"if": {"properties": {"family": {"enum": list(families)}}, "required": ["family"]}}
    only = {"then": {"properties": dict.fromkeys(keys, True), "additionalProperties": False}}
    return {"type": "object", "properties": keys, "required": ["family"], **known, **only}


def _sweep(schema: Schema, definitions: Schema, parts: Mapping[str, Mapping[str, type[BaseModel]]]) -> Schema:
    """Return the schema of the sweep: a list of values for each dotted key; tables are keys without quotes."""
    lists = {
        key: {"type": "array", "minItems": 1, "items": value}
        for table in ("run", "topology", "links")
        for key, value in _keys(schema["properties"][table], table, definitions)
        if key not in ("run.seed", "run.replications")
    }
    for table in PARTS:
        kinds = parts.get(table, {})
        lists[f"{table}.kind"] = {"type": "array", "minItems": 1, "items": {"type": "string"}}
        for settings in kinds.values():
            for key in {field.alias or name for name, field in settings.model_fields.items()} - {"kind"}:
                lists.setdefault(f"{table}.{key}", {"type": "array", "minItems": 1})
    lists["cases"] = {
        "type": "array",
        "minItems": 1,
        "items": {
            "type": "object",
            "properties": {"label": {"type": "string", "description": "Name of the case."}},
        },
        "description": "Tables of keys that are set together, each overriding the scenario.",
    }
    lists["cases_append"] = {**lists["cases"], "description": "Cases that are added to those of the extended file."}
    lists["inherit"] = {"type": "boolean", "description": "false drops the sweep of the extended file."}
    return {
        "type": "object",
        "description": "Dotted key -> list of values; the grid of all combinations is run.",
        "properties": dict(sorted(lists.items())),
        "additionalProperties": {"anyOf": [{"type": "array", "minItems": 1}, {"type": "object"}]},
    }


def _keys(value: Schema, path: str, definitions: Schema) -> Iterator[tuple[str, Schema]]:
    inside = definitions[value["$ref"].rpartition("/")[2]] if "$ref" in value else value
    if "properties" not in inside:
        yield path, value
    for key, inner in inside.get("properties", {}).items():
        yield from _keys(inner, f"{path}.{key}", definitions)


def _plain(schema: Any) -> Any:
    """Return a schema without entries that are meaningless in TOML: null and generated titles."""
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    plain: Schema = {}
    for key, value in schema.items():
        if key in ("title", "anyOf", "properties"):
            continue
        if key == "default" and (value is None or isinstance(value, dict) or value in (inf, -inf)):
            continue
        # The first paragraph of a docstring is for users, the rest is for readers of the code.
        plain[key] = value.partition("\n\n")[0].strip() if key == "description" else _plain(value)
    if "properties" in schema:
        plain["properties"] = {key: _plain(value) for key, value in schema["properties"].items()}
    choices = [_plain(choice) for choice in schema.get("anyOf", []) if choice.get("type") != "null"]
    if len(choices) == 1:
        return {**choices[0], **plain}
    return {**plain, "anyOf": choices} if choices else plain
