"""Scenarios that were made to fail: shipped ones with hostile values, keys, bytes and overrides."""

import copy
import random
import tomllib
from pathlib import Path

from netbandit.scenario.toml_text import toml_text

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "scenarios").glob("*.toml"))

VALUES = [
    0, 1, -1, 2, 3, 7, 10**3, 10**6, 10**7, 10**12, 2**63 - 1, -(2**63), 10**30, 0.0, -0.0, 0.5, 1.0, 1.5, -3.7, 1e-300,
    1e300, float("inf"), float("-inf"), float("nan"), True, False, "", " ", "inf", "nan", "0 ms", "1 ms", "-1 ms",
    "1e9 h", "99999999999999 h", "0.5 slots", "geographic", "paper", "true", "star", "ring", "hybrid", "file", "gis",
    "sink", "vertical", "bernoulli", "pfcb", "x" * 300, "é\u202e\u0007", "a\nb", "../../etc/passwd", "/dev/null",
    "os:path", "json:JSONDecoder", "no_such:X", ":", "a:b:c", "netbandit:run", "\u0000", [],
    [1], [0.1, 0.2, 0.3], [[]], ["a", 1],
    [1] * 50, {}, {"x": 1}, {"uniform": ["1 ms", "5 ms"]}, {"uniform": ["5 ms", "1 ms"]}, {"kind": "gis"}, {"kind": 3},
]  # fmt: skip
NAMES = [
    "run", "topology", "links", "peer", "bandit", "learner", "protocol", "sweep", "cases", "kind", "seed", "agents",
    "p", "horizon", "latency", "faults", "", "é", "a.b", "extends", "name", "schema", "__class__", "epsilon",
]  # fmt: skip


def tables_of(value, path=()):
    """Every table of a scenario, with the path to it."""
    found = [(path, value)]
    for key, inner in value.items():
        if isinstance(inner, dict):
            found += tables_of(inner, (*path, key))
    return found


def changed(chance, data):
    """A scenario with one to four of its keys replaced, removed, renamed, added or swept."""
    data = copy.deepcopy(data)
    for _ in range(chance.randint(1, 4)):
        path, table = chance.choice(tables_of(data))
        keys = list(table)
        match chance.randrange(6):
            case 0 | 1 if keys:
                table[chance.choice(keys)] = copy.deepcopy(chance.choice(VALUES))
            case 2 if keys:
                del table[chance.choice(keys)]
            case 3:
                table[chance.choice(NAMES)] = copy.deepcopy(chance.choice(VALUES))
            case 4 if keys and path:
                values = [copy.deepcopy(chance.choice(VALUES)) for _ in range(chance.randint(0, 3))]
                sweep = data.setdefault("sweep", {})
                if isinstance(sweep, dict):
                    sweep[".".join((*path, chance.choice(keys)))] = values
            case _ if keys:
                key = chance.choice(keys)
                table[key + chance.choice(["s", " ", "é", "_"])] = table.pop(key)
    return data


def broken(chance, text):
    """A text with some bytes replaced, removed, doubled or cut off."""
    content = bytearray(text.encode())
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(content) + 1)
        match chance.randrange(5):
            case 0:
                content[at : at + chance.randint(1, 9)] = b""
            case 1:
                content[at:at] = bytes(chance.choices(b"[]{}=.\"'\\#\n\t,:x1\x00\x7f\xff\xc3", k=chance.randint(1, 4)))
            case 2:
                content[at:at] = content[at : at + chance.randint(1, 60)]
            case 3:
                content = content[: max(at, 1)]
            case _:
                content[at : at + 1] = bytes([chance.randrange(256)])
    return bytes(content)


def cases(seed, count):
    """*count* contents of a scenario file, each with overrides."""
    chance = random.Random(seed)
    written = [(tomllib.loads(file.read_text()), file.read_text()) for file in FILES]
    for _ in range(count):
        data, text = chance.choice(written)
        overrides = []
        content = text.encode()
        match chance.randrange(4):
            case 0:
                content = broken(chance, text)
            case 1:
                for _ in range(chance.randint(1, 3)):
                    path, table = chance.choice(tables_of(data))
                    key = ".".join((*path, chance.choice([*table, *NAMES])))
                    value = chance.choice(VALUES)
                    overrides.append(f"{key}={value if isinstance(value, str) else str(value).lower()}")
            case _:
                try:
                    content = toml_text(changed(chance, data)).encode(errors="surrogatepass")
                except (TypeError, ValueError):  # a value that TOML cannot say
                    continue
        yield content, overrides
