"""The page "Inside netbandit": its ring of three does what the page says, and the functions that it shows are there."""

import ast
import json
import re
from collections import Counter
from pathlib import Path

import netbandit as nb

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "inside.md").read_text(encoding="utf-8")


def test_the_ring_of_three_does_what_the_page_says(tmp_path):
    text = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)[1]
    (tmp_path / "ring_of_three.toml").write_text(text, encoding="utf-8")
    nb.run(tmp_path / "ring_of_three.toml", out=tmp_path / "out", trace=True)
    (trace,) = (tmp_path / "out").glob("runs/*/trace.jsonl")
    metrics = json.loads((trace.parent / "result.json").read_text(encoding="utf-8"))["metrics"]
    lines = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    sent = Counter((line["sent"] // 10**6, line["arrival"] // 10**6, line["kind"]) for line in lines if "sent" in line)
    assert sent == {(188, 193, "ADV"): 6, (193, 198, "REQ"): 6, (198, 203, "DATA"): 6}
    for at, _, kind in sent:
        assert re.search(rf"^\| {at} \| .*: 6 {kind} \|$", PAGE, re.MULTILINE)
    explored = [line for line in lines if line.get("phase") == "explore"]
    assert [(line["agent"], line["end"]) for line in explored] == [(agent, 188 * 10**6) for agent in range(3)]
    assert metrics["round_slots"] == 15
    assert "ends after 15 slots" in PAGE
    assert metrics["regret"] == 3 * 94 * (0.9 - 0.1)
    assert "3 · 94 · 0.8 = 225.6" in PAGE


def test_the_functions_and_files_that_it_names_are_there():
    shown = re.findall(r"literalinclude\} \.\./(\S+)\n:pyobject: (\S+)", PAGE)
    assert len(shown) == 8
    for path, name in shown:
        names = name.split(".")
        body = ast.parse((ROOT / path).read_text(encoding="utf-8")).body
        for part in names:
            (found,) = [node for node in body if getattr(node, "name", "") == part]
            body = getattr(found, "body", [])
    for path in re.findall(r"`([a-z_]+/[a-z_/]*(?:\.py)?)`", PAGE):
        assert path == "tests/" or (ROOT / "netbandit" / path).exists(), path
