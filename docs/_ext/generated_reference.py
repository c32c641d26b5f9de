"""The pages of the reference that are made from the code: keys of a scenario, metrics, commands' exit codes."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annotated_types import Ge, Gt, Le, Lt, MinLen
from click.testing import CliRunner

from netbandit.cli import GROUPS, main
from netbandit.results.metrics import METRICS
from netbandit.util.wording import WORDS, allowed

if TYPE_CHECKING:
    from sphinx.addnodes import desc_signature
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

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


_COMMON = (
    *("run.horizon", "run.slot", "run.replications", "topology.family", "topology.agents", "links.peer.latency"),
    *("bandit.kind", "bandit.arms", "learner.kind", "protocol.kind"),
)
"""The keys that nearly every scenario has."""


def key_pages(whole: Schema) -> dict[str, str]:
    """Return the pages of all keys of a scenario file by their name: the common ones, and a page for each table."""
    definitions = whole["$defs"]
    tables = {
        name: _resolved(value, definitions)
        for name, value in whole["properties"].items()
        if "$ref" in value and name != "sweep"
    }
    top = {name: value for name, value in whole["properties"].items() if name not in (*tables, "sweep")}
    arms = _resolved(tables["bandit"]["allOf"][0]["then"], definitions)
    known = dict(_entries(arms, definitions, "bandit."))
    for name, table in tables.items():
        known |= dict(_entries(table, definitions, f"{name}."))
    lines = [
        _NOTE,
        "# Keys of a scenario\n",
        "Nearly every scenario has these ten; `netbandit check` names what else one needs.\n",
    ]
    lines += [_again(known[name]) for name in _COMMON]
    lines.append("## Every key\n")
    lines.append("A page for each table. The search finds a key by its whole name, such as `links.peer.loss`.\n")
    lines += ["| table | what it says |", "|---|---|"]
    for name, table in tables.items():
        said = _meaning(table).removeprefix(f"``[{name}]``: ").partition(". ")[0].rstrip(".")
        lines.append(f"| [`[{name}]`](keys/{name}.md) | {_cell(said)} |")
    lines += ["", "## At the top\n", *(text for _, text in _entries({"properties": top}, definitions, ""))]
    lines.append("`sweep.KEY` is a list of values for any key; `[[sweep.cases]]` sets several keys at once.\n")
    lines += ["```{toctree}", ":hidden:", "", *(f"keys/{name}" for name in tables), "```\n"]
    pages = {"keys.md": "\n".join(lines)}
    for name, table in tables.items():
        lines = [
            _NOTE,
            f"# `[{name}]`\n",
            f"{_meaning(table)}\n",
            *(text for _, text in _entries(table, definitions, f"{name}.")),
        ]
        for branch in table.get("allOf", []):
            meaning = _meaning(_resolved(branch["then"], definitions))
            lines += [
                f'## `{name}.kind = "{_kind(branch)}"`\n',
                f"{meaning}\n",
                _part_entries(name, branch, definitions),
            ]
        pages[f"keys/{name}.md"] = "\n".join(lines)
    return pages


def _part_entries(table: str, branch: Schema, definitions: Schema) -> str:
    """Return the keys of a kind of part; no other kind has a key of the same name in the index."""
    then = _resolved(branch["then"], definitions)
    own = {**then, "properties": {key: one for key, one in then.get("properties", {}).items() if key != "kind"}}
    found = [text for _, text in _entries(own, definitions, f"{table}.", f" of {_kind(branch)}")]
    return "\n".join(found) or "It has no keys of its own.\n"


def _entries(table: Schema, definitions: Schema, before: str, of: str = "") -> Iterator[tuple[str, str]]:
    """Yield each key of a table with its type, default and meaning, as the directive ``key``."""
    for name, type_, default, meaning in _rows(
        table.get("properties", {}), definitions, table.get("required", []), before
    ):
        facts = f"*{_cell(type_)}*" + (f"; {default}" if default else "")
        yield name, f"```{{key}} {name}{of}\n{_cell(meaning)}\n\n{facts}\n```\n"


def _again(entry: str) -> str:
    """Return an entry that is also elsewhere, to which the search leads."""
    first, _, rest = entry.partition("\n")
    return f"{first}\n:no-index:\n\n{rest}"


def part_keys(whole: Schema, table: str) -> Iterator[tuple[str, str]]:
    """Yield each kind of a part with its keys, which the algorithms' pages include."""
    definitions = whole["$defs"]
    for branch in _resolved(whole["properties"][table], definitions).get("allOf", []):
        entries = _part_entries(table, branch, definitions).replace("```{key}", "\0```{key}").split("\0")
        yield _kind(branch), "".join(_again(one) if one.startswith("```") else one for one in entries)


def commands() -> str:
    """Return all commands, in the groups of their help."""
    lines = []
    for heading, found in GROUPS.items():
        lines.append(f"## {heading}\n")
        for name in (command.name for command in found):
            lines += [
                "```{eval-rst}",
                f".. click:: netbandit.cli:{name}",
                f"   :prog: netbandit {name}",
                "   :nested: full",
                "```\n",
            ]
    return "\n".join(lines)


def metrics_page() -> str:
    """Return the page of all metrics."""
    lines = [
        _NOTE,
        "# Metrics\n",
        "What `--json`, `table.csv` and the tables of Python hold for each replication. A value that does not exist",
        "or is infinite is null.\n",
    ]
    for name, entry in METRICS.items():
        facts = f"*{entry.unit}*; " * bool(entry.unit) + f"given by {_cell(entry.given_by)}"
        lines.append(f"```{{metric}} {name}\n{_cell(entry.meaning)}\n\n{facts}\n```\n")
    return "\n".join(lines)


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


def _rows(
    properties: Schema, definitions: Schema, required: list[str], before: str
) -> Iterator[tuple[str, str, str, str]]:
    for name, value in properties.items():
        found = _resolved(value, definitions)
        if "properties" in found and "anyOf" not in found:
            yield from _rows(found["properties"], definitions, found.get("required", []), f"{before}{name}.")
            continue
        default = f"default `{json.dumps(found['default'], ensure_ascii=False)}`" if "default" in found else ""
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
    pages = {**key_pages(whole), "metrics.md": metrics_page(), "parts/commands.md": commands()}
    for table in _PARTS:
        for kind, text in part_keys(whole, table):
            pages[f"parts/{table}-{kind}.md"] = text
    for name, text in pages.items():
        place = folder / name
        place.parent.mkdir(exist_ok=True)
        if not place.exists() or place.read_text(encoding="utf-8") != text:
            place.write_text(text, encoding="utf-8")


def _signature(_env: "BuildEnvironment", text: str, node: "desc_signature") -> str:
    """Fill the signature of a key with its name; return the name by which the search finds it."""
    from sphinx.addnodes import desc_name

    key = text.partition(" of ")[0]
    node += desc_name(key, key)
    return text


def setup(app: "Sphinx") -> dict[str, bool]:
    """Have the pages written before Sphinx reads its sources, and its search find each key and metric."""
    app.add_object_type("key", "key", objname="key of a scenario", parse_node=_signature)
    app.add_object_type("metric", "metric", objname="metric")
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
