"""The lines a user sees: FILE:LINE:COLUMN: key.path: what is wrong, what is allowed (did you mean ...)."""

import os
import re
from pathlib import Path

import pytest

FAMILIES = (
    'one of "star", "ring", "complete", "path", "grid", "tree", "random", "regular", "small-world", "scale-free", '
    '"geometric", "multi-star", "random-tree", "blocks", "hybrid", "file", "contacts", "mobile" '
    'or "package.module:Class"'
)
DURATION = 'a duration such as "10 ms": a number and one of ns, us, ms, s, min, h, slots'


def test_a_valid_file_has_no_mistakes(write, check, valid):
    write(small=valid)
    assert check("small.toml") == []


def test_all_mistakes_at_once_in_the_order_of_the_file(write, check):
    write(
        bad="""\
schema = 1
[run]
horizn = 3
slot = 10
replications = 5.0
seed = true

[topology]
family = "stra"
components = [ 1,
  0, "a" ]
p = nan

[links.peer]
latency = {uniform = ["1 ms", "2"]}
[bandit]
arms = 3
[learner]
kind = "elimination"
"""
    )
    assert check("bad.toml") == [
        'bad.toml:1:1: protocol: is missing, must be a table with the key "kind" and those of its kind',
        "bad.toml:2:1: run.horizon: is missing, must be an integer from 1 to 10^12",
        'bad.toml:3:1: run.horizn: unknown key, must be one of "horizon", "slot", "replications", "seed", '
        '"activity", "skew", "header", "until", "idle" '
        '(did you mean "horizon"?)',
        f"bad.toml:4:1: run.slot: must be {DURATION}, not 10",
        "bad.toml:5:1: run.replications: must be an integer from 1 to 10^6, not 5.0 (did you mean 5?)",
        "bad.toml:6:1: run.seed: must be an integer from 0 to 2^63 - 1, not true",
        f'bad.toml:9:1: topology.family: must be {FAMILIES}, not "stra" (did you mean "star"?)',
        "bad.toml:11:3: topology.components[1]: must be an integer of at least 1, not 0",
        'bad.toml:11:6: topology.components[2]: must be an integer of at least 1, not "a"',
        "bad.toml:12:1: topology.p: must be a number from 0 to 1, not nan",
        f'bad.toml:15:31: links.peer.latency.uniform[1]: must be {DURATION}, not "2"',
        'bad.toml:16:1: bandit.kind: is missing, must be a string: a known kind, or "package.module:Class"',
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("horizon = 0", "must be an integer from 1 to 10^12, not 0"),
        ("horizon = 1_000_000_000_001", "must be an integer from 1 to 10^12, not 1000000000001"),
        ("horizon = true", "must be an integer from 1 to 10^12, not true"),
        ("horizon = 5.0", "must be an integer from 1 to 10^12, not 5.0 (did you mean 5?)"),
        ("horizon = 1e4", "must be an integer from 1 to 10^12, not 10000.0 (did you mean 10_000?)"),
        ("horizon = 1e13", "must be an integer from 1 to 10^12, not 10000000000000.0"),
        ("horizon = 0.5", "must be an integer from 1 to 10^12, not 0.5"),
        ("horizon = inf", "must be an integer from 1 to 10^12, not inf"),
        ('horizon = "5"', 'must be an integer from 1 to 10^12, not "5"'),
        ("horizon = 2024-01-31", "must be an integer from 1 to 10^12, not the date 2024-01-31"),
        ("horizon = 07:30:00", "must be an integer from 1 to 10^12, not the time 07:30:00"),
        ("horizon = []", "must be an integer from 1 to 10^12, not an empty list"),
        ("horizon = {}", "must be an integer from 1 to 10^12, not a table"),
        (f"horizon = 1{'0' * 100}", "must be an integer from 1 to 10^12, not an integer of many digits"),
    ],
)
def test_numbers_are_strict(write, check, valid, line, message):
    write(bad=valid.replace("horizon = 100", line))
    assert check("bad.toml") == [f"bad.toml:5:1: run.horizon: {message}"]


@pytest.mark.parametrize("agents", ["0", "-1", "10_000_001", "5.0", "true", '"5"'])
def test_the_number_of_agents_has_bounds(write, check, valid, agents):
    write(bad=valid.replace("agents = 5", f"agents = {agents}"))
    (line,) = check("bad.toml")
    assert line.startswith("bad.toml:9:1: topology.agents: must be an integer from 1 to 10^7, not ")


def test_the_largest_numbers_that_are_allowed(write, check, valid, monkeypatch):
    monkeypatch.setattr("netbandit.util.memory.affordable", lambda: 10**12)  # on a machine that is large enough
    largest = valid.replace("agents = 5", "agents = 10_000_000").replace("horizon = 100", "horizon = 1_000_000_000_000")
    write(large=largest)
    assert check("large.toml") == []


@pytest.mark.parametrize(
    ("extra", "lines"),
    [
        ("links.peer.cost = -1", ["links.peer.cost: must be a number of at least 0, not -1"]),
        ("links.peer.cost = inf", ["links.peer.cost: must be a number of at least 0, not inf"]),
        ("links.peer.cost = 3", []),
        (
            "links.uplink.energy.per_mesage = 1",
            [
                'links.uplink.energy.per_mesage: unknown key, must be one of "per_message", "per_byte", "sender_share" '
                '(did you mean "per_message"?)'
            ],
        ),
        (
            'links.peer.bandwidth = "0.4 bit/s"',
            [
                'links.peer.bandwidth: must be a bandwidth of at least 1 bit/s, such as "1 Mbit/s": a number and one '
                'of bit/s, B/s, or these with k, M, G, T, not "0.4 bit/s"'
            ],
        ),
        (
            'links.uplink.latency = "geographic"',
            [
                'links.uplink.latency: must be a duration such as "10 ms" or { uniform = ["1 ms", "5 ms"] }, '
                'not "geographic": the server has no coordinates'
            ],
        ),
        (
            'links.peer.latency = "geographic"',
            [
                'links.peer.latency: "geographic" needs the coordinates of a topology file: must be a duration such as '
                '"10 ms" with topology.family = "star"'
            ],
        ),
        (
            'links.peer.latency = "geografic"',
            [
                f'links.peer.latency: must be {DURATION}; or "geographic", or "edges"; '
                'or { uniform = ["1 ms", "5 ms"] }, '
                'not "geografic" (did you mean "geographic"?)'
            ],
        ),
        (
            'links.peer.latency.uniform = ["5 ms", "1 ms"]',
            ['links.peer.latency.uniform: must go from the shortest to the longest latency, not from "5 ms" to "1 ms"'],
        ),
        (
            'links.peer.latency.uniform = ["3 slots", "2 ms"]',
            [
                "links.peer.latency.uniform: must go from the shortest to the longest latency, "
                'not from "3 slots" to "2 ms"'
            ],
        ),
        ('links.peer.latency.uniform = ["2 slots", "2 ms"]', []),
        (
            'links.peer.latency = { unifrom = ["1 ms", "5 ms"] }',
            [
                f"links.peer.latency.uniform: is missing, must be a list of 2 values, each {DURATION}",
                'links.peer.latency.unifrom: unknown key, must be "uniform" (did you mean "uniform"?)',
            ],
        ),
        (
            "name = ''",
            ['name: must be a name for a folder, without / and \\, not ""'],
        ),
        (
            'name = "a/b"',
            ['name: must be a name for a folder, without / and \\, not "a/b"'],
        ),
        (
            'run.slot = "2 slots"',
            ['run.slot: must be a real time such as "10 ms", not "2 slots": it sets the length of a slot'],
        ),
        ('run.slot = "0 ms"', ['run.slot: must be at least "1 ns", not "0 ms"']),
        ("description = 3", ["description: must be a string, not 3"]),
    ],
)
def test_what_is_wrong_and_what_is_allowed(write, check, extra, lines):
    write(
        bad=f"{extra}\n"
        + 'run.horizon = 1\ntopology = { family = "star", agents = 3 }\n'
        + 'bandit.kind = "b"\nlearner.kind = "l"\nprotocol.kind = "p"\n'
    )
    found = check("bad.toml")
    assert [re.sub(r"^bad\.toml:1:\d+: ", "", line) for line in found] == lines


def test_a_key_in_the_wrong_table(write, check, valid):
    write(bad=valid.replace('name = "small"', "horizon = 5"))
    (line,) = check("bad.toml")
    assert line.startswith("bad.toml:2:1: horizon: unknown key, must be one of ")
    assert line.endswith('(did you mean "run.horizon"?)')


def test_a_misspelt_table_stands_at_its_header(write, check, valid):
    write(bad=valid.replace("[topology]", "[topolgy]"))
    lines = check("bad.toml")
    assert lines[0].startswith('bad.toml:1:1: topology: is missing, must be a table with the key "family"')
    assert lines[1].startswith("bad.toml:7:1: topolgy: unknown key, ")
    assert lines[1].endswith('(did you mean "topology"?)')


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[run]\nslot = '1 ms'\n", "2:1"),
        ("  [run]\n", "2:3"),
        ("[ run ]\nslot = '1 ms'\n", "2:1"),
        ("run = { slot = '1 ms' }\n", "2:1"),
        ("run.slot = '1 ms'\n", "2:1"),
        ('"run" . slot = "1 ms"\n', "2:1"),
    ],
)
def test_a_missing_key_stands_at_its_table(write, check, valid, text, place):
    tables = valid.replace("[run]\nhorizon = 100\n", "").replace("schema = 1\n", "")
    name, rest = tables.split("\n", 1)
    write(bad=f"{name}\n{text}{rest}")
    assert check("bad.toml") == [f"bad.toml:{place}: run.horizon: is missing, must be an integer from 1 to 10^12"]


def test_columns_count_characters_not_bytes(write, check, valid):
    write(bad=valid.replace('name = "small"', 'links = { peer = { "µé漢" = 1, "cöst" = 2 } }'))
    assert [line.split(": ")[:2] for line in check("bad.toml")] == [
        ["bad.toml:2:20", 'links.peer."µé漢"'],
        ["bad.toml:2:31", 'links.peer."cöst"'],
    ]


def test_windows_line_ends_and_byte_order_mark(write, check, valid):
    text = valid.replace("agents = 5", "agents = 0").replace("\n", "\r\n")
    write(bad=b"\xef\xbb\xbf" + text.encode())
    assert check("bad.toml") == ["bad.toml:9:1: topology.agents: must be an integer from 1 to 10^7, not 0"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[run\n", "1:5: syntax: expected ']' at the end of a table declaration"),
        (
            "[run]\nhorizon = ten\n",
            "2:11: syntax: not a value: must be a string in quotes, a number, true, false, a date, a list or a table",
        ),
        ("[run]\nhorizon 10\n", "2:9: syntax: expected '=' after a key in a key/value pair"),
        ('[run]\r\nslot = "10 ms\r\n', "2:14: syntax: not the end of a string: must be a quote, on the same line"),
        (
            "[run]\nhorizon = 10\nhorizon = 20\n",
            "3:1: run.horizon: is given twice, first in line 2; must be given once",
        ),
        (
            "[run]\nhorizon = 10\n[topology]\n[run]\nslot = '1 ms'\n",
            "4:1: run: is given twice, first in line 1; must be given once",
        ),
        (
            "run = { horizon = 10 }\n[run.more]\n",
            "2:1: run.more: must not be added here, it is a value, a list or a complete table already",
        ),
        ("[bandit]\nmeans = [0.1,\n0.2\n", "4:1: syntax: unclosed array, begun in line 2"),
        (
            'a = "C:\\quick"\n',
            "1:10: syntax: not an escape: must be \\\\ for a backslash, or the string in single quotes",
        ),
        (f"a = 1\nb = 1{'0' * 5000}\n", "2:5: syntax: an integer has too many digits"),
        ("a = " + "[" * 5000, "1:1: syntax: lists or tables are nested too deeply"),
        (
            "[sweep]\ntopology.agents = [1]\n'topology.agents' = [2]\n",
            "3:1: sweep.topology.agents: is given twice, first in line 2; must be given once",
        ),
    ],
)
def test_a_syntax_error_is_one_line(write, check, text, line):
    write(bad=text)
    assert check("bad.toml") == [f"bad.toml:{line}"]


@pytest.mark.parametrize(
    ("content", "place", "byte"),
    [
        (b'schema = 1\nname = "caf\xe9"\n', "2:12", "e9"),
        ("name = 'µµ".encode() + b"\xff'", "1:11", "ff"),
        (b"\xef\xbb\xbfname = '\xc3'\n", "1:9", "c3"),
        ("schema = 1".encode("utf-16"), "1:1", "ff"),
    ],
)
def test_a_byte_that_is_not_utf8(write, check, content, place, byte):
    write(bad=content)
    text = f"encoding: the byte 0x{byte} is not UTF-8, the file must be saved as UTF-8"
    assert check("bad.toml") == [f"bad.toml:{place}: {text}"]


def test_a_file_that_cannot_be_read(write, check, tmp_path: Path):
    write()
    (tmp_path / "folder.toml").mkdir()
    assert check("none.toml") == ["none.toml:1:1: file: no such file"]
    assert check("folder.toml") == ["folder.toml:1:1: file: is a folder, must be a scenario file"]
    assert check("a\0b") == ["a\\x00b:1:1: file: cannot be read: embedded null byte"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_permission(write, check, valid, tmp_path: Path):
    write(secret=valid)
    (tmp_path / "secret.toml").chmod(0)
    assert check("secret.toml") == ["secret.toml:1:1: file: no permission to read this file"]


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing yet\n"])
def test_an_empty_file(write, check, text):
    write(bad=text)
    assert check("bad.toml") == [
        "bad.toml:1:1: file: is empty, must have the tables run, topology, bandit, learner and protocol"
    ]


@pytest.mark.parametrize(("schema", "shown"), [("2", "2"), ("true", "true"), ("1.0", "1.0"), ('"1"', '"1"')])
def test_another_schema_is_the_only_mistake(write, check, schema, shown):
    write(bad=f"# a file of the future\nschema = {schema}\n[future]\n")
    assert check("bad.toml") == [f"bad.toml:2:1: schema: must be 1, the only format this version reads, not {shown}"]


def test_the_file_is_named_as_it_was_given(write, check, tmp_path: Path):
    write(bad="x")
    for name in ("./bad.toml", "bad.toml", str(tmp_path / "bad.toml")):
        (line,) = check(name)
        assert line.startswith(f"{name}:1:2: ")


def test_a_message_is_one_line_whatever_is_in_it(write, check, valid):
    write(bad=valid.replace('"star"', '"""s\nt\\u0007\\u2028a"""').replace("agents = 5", '"new\\nline" = 5'))
    family, key = check("bad.toml")
    assert ', not "s\\nt\\u0007\\u2028a"' in family
    assert key.startswith('bad.toml:10:1: topology."new\\nline": unknown key')


def test_a_long_value_is_shortened(write, check, valid):
    write(bad=valid.replace('"star"', f'"{"s" * 5000}"'))
    (line,) = check("bad.toml")
    assert line.endswith(f'not "{"s" * 57}..."')


def test_two_tables_can_clash_while_a_third_is_wrong(write, check, valid):
    write(bad=valid.replace("horizon = 100", "horizon = 0") + '[links.peer]\nlatency = "geographic"\n')
    assert [line.split(": ")[1] for line in check("bad.toml")] == ["run.horizon", "links.peer.latency"]


def test_keys_of_two_files_that_cannot_be_together_are_both_named(write, check, valid):
    base = valid.replace('family = "star"\nagents = 5', 'family = "file"\nfile = "x.txt"')
    base += '[links.peer]\nlatency = "geographic"\n'
    write(base=base, child='extends = "base.toml"\n[topology]\nfamily = "ring"\n')

    def line(*overrides):
        (found,) = [line for line in check("child.toml", overrides) if '"geographic" needs' in line]
        return found

    start = f"base.toml:{base.count(chr(10))}:1: links.peer.latency: "
    assert line().startswith(start)
    assert line().endswith('with topology.family = "ring"; topology.family stands at child.toml:3:1')
    set_ = line("topology.family=star")
    assert set_.startswith(start)
    assert set_.endswith('"star"; topology.family stands at --set topology.family')
    assert line('sweep.topology.family=["path"]').endswith("stands at --set sweep.topology.family")
    write(child=base.replace('"file"\n', '"ring"\n'))
    assert line().endswith('with topology.family = "ring"')
