"""The pages of the reference that are made from the code: keys of a scenario, metrics, commands' exit codes."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annotated_types import Ge, Gt, Le, Lt, MinLen
from click.testing import CliRunner

from netbandit.cli import main
from netbandit.results.metrics import METRICS
from netbandit.util.wording import WORDS, allowed

if TYPE_CHECKING:
    from sphinx.application import Sphinx

Schema = dict[str, Any]

_PARTS = ("bandit", "learner", "protocol")
_NOTE = "% This page is made from the code at each build; change the docstrings there.\n\n"


def schema() -> Schema:
    """Return the JSON Schema of scenario files, as ``netbandit schema`` prints it."""
    result = CliRunner().invoke(main, ["schema"])
    if result.exit_code:
        raise RuntimeError(result.output)
    found: Schema = json.loads(result.output)
    return found


def keys_page(whole: Schema) -> str:
    """Return the page of all keys of a scenario file: a table for each table of the file, and for each kind."""
    definitions = whole["$defs"]
    lines = [_NOTE, "# Keys of a scenario\n", "Tables and keys of a scenario file, with type, default and meaning.\n"]
    top = {name: value for name, value in whole["properties"].items() if "$ref" not in value and name != "sweep"}
    lines += ["## At the top\n", *_table(top, definitions, whole.get("required", []))]
    lines.append("`sweep.KEY` is a list of values for any key below; `[[sweep.cases]]` sets several keys at once.\n")
    for name, value in whole["properties"].items():
        if "$ref" not in value or name == "sweep":
            continue
        found = _resolved(value, definitions)
        lines += [f"## `[{name}]`\n", _meaning(found), ""]
        if name in _PARTS or "allOf" in found:
            for branch in found.get("allOf", []):
                kind = _kind(branch)
                then = _resolved(branch["then"], definitions)
                lines += [f'### `{name}.kind = "{kind}"`\n', _meaning(then), ""]
                own = {key: one for key, one in then.get("properties", {}).items() if key != "kind"}
                lines += _table(own, definitions, then.get("required", [])) if own else ["It has no keys of its own.\n"]
        else:
            lines += _table(found.get("properties", {}), definitions, found.get("required", []))
    return "\n".join(lines) + "\n"


def part_tables(whole: Schema, table: str) -> Iterator[tuple[str, str]]:
    """Yield each kind of a part with the table of its keys, which the algorithms' pages include."""
    definitions = whole["$defs"]
    for branch in _resolved(whole["properties"][table], definitions).get("allOf", []):
        then = _resolved(branch["then"], definitions)
        own = {key: one for key, one in then.get("properties", {}).items() if key != "kind"}
        text = "\n".join(_table(own, definitions, then.get("required", []))) if own else "It has no keys of its own.\n"
        yield _kind(branch), text


def metrics_page() -> str:
    """Return the page of all metrics."""
    lines = [_NOTE, "# Metrics\n"]
    lines.append(
        "What `--json`, `table.csv` and the tables of Python hold for each replication. What does not exist or"
    )
    lines.append("is infinite is null.\n")
    lines += ["| metric | unit | meaning | given by |", "|---|---|---|---|"]
    for name, entry in METRICS.items():
        lines.append(f"| `{name}` | {entry.unit} | {_cell(entry.meaning)} | {_cell(entry.given_by)} |")
    return "\n".join(lines) + "\n"


def _kind(branch: Schema) -> str:
    kinds = branch["if"]["properties"]
    return str(next(iter(kinds.values()))["const"])


def _resolved(value: Schema, definitions: Schema) -> Schema:
    while "$ref" in value:
        target = definitions[value["$ref"].rpartition("/")[2]]
        value = {**target, **{key: one for key, one in value.items() if key != "$ref"}}
    return value


def _meaning(value: Schema) -> str:
    return str(value.get("description", "")).replace("\n", " ")


def _table(properties: Schema, definitions: Schema, required: list[str]) -> list[str]:
    lines = ["| key | type | default | meaning |", "|---|---|---|---|"]
    for name, type_, default, meaning in _rows(properties, definitions, required, ""):
        lines.append(f"| `{name}` | {_cell(type_)} | {_cell(default)} | {_cell(meaning)} |")
    return [*lines, ""]


def _rows(
    properties: Schema, definitions: Schema, required: list[str], before: str
) -> Iterator[tuple[str, str, str, str]]:
    for name, value in properties.items():
        found = _resolved(value, definitions)
        if "properties" in found and "anyOf" not in found:
            yield from _rows(found["properties"], definitions, found.get("required", []), f"{before}{name}.")
            continue
        default = f"`{json.dumps(found['default'], ensure_ascii=False)}`" if "default" in found else ""
        if name in required:
            default = "must be given"
        yield f"{before}{name}", _type(found, definitions), default, _meaning(found)


def _type(value: Schema, definitions: Schema) -> str:
    value = _resolved(value, definitions)
    if WORDS in value:
        return str(value[WORDS]).partition(":")[0]
    if "const" in value:
        return f"`{json.dumps(value['const'])}`"
    if "enum" in value:
        return ", ".join(f"`{json.dumps(one)}`" for one in value["enum"])
    if "anyOf" in value:
        return " or ".join(dict.fromkeys(_type(one, definitions) for one in value["anyOf"]))
    kind = value.get("type", "value")
    if kind == "array":
        each = _type(value["items"], definitions) if "items" in value else ""
        return f"a list, each {each}" if each and each != "a value" else "a list"
    if kind == "object":
        inside = value.get("properties")
        return "{ " + ", ".join(inside) + " }" if inside else "a table"
    if kind not in _TYPES:
        return "a value"
    return allowed(_TYPES[kind], [limit(value[key]) for key, limit in _LIMITS.items() if key in value])


_TYPES = {"integer": int, "number": float, "string": str, "boolean": bool}
_LIMITS = {"minimum": Ge, "exclusiveMinimum": Gt, "maximum": Le, "exclusiveMaximum": Lt, "minLength": MinLen}


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def write(app: "Sphinx") -> None:
    """Write the generated pages into the source folder, where git does not look."""
    folder = Path(app.srcdir) / "reference"
    whole = schema()
    pages = {"keys.md": keys_page(whole), "metrics.md": metrics_page()}
    for table in _PARTS:
        for kind, text in part_tables(whole, table):
            pages[f"parts/{table}-{kind}.md"] = text
    (folder / "parts").mkdir(exist_ok=True)
    for name, text in pages.items():
        place = folder / name
        if not place.exists() or place.read_text(encoding="utf-8") != text:
            place.write_text(text, encoding="utf-8")


def setup(app: "Sphinx") -> dict[str, bool]:
    """Have the pages written before Sphinx reads its sources."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
