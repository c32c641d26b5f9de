"""Results that say what no run has said, under checksums that are right: as if somebody had written them anew."""

import copy
import json
import random
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

import netbandit
from netbandit.cli import main
from netbandit.results.results_folder import STUDY
from netbandit.results.run_folder import CURVES, LINKS, NODES, RESULT, TRACE
from netbandit.results.safe_files import digest

PICTURES = "pictures.json"

HUGE = "9" * 400
DEEP = "[" * 100_000 + "]" * 100_000

VALUES = [
    None, True, False, 0, 1, -1, 2, 7, 10**6, 10**9, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), 10**30, 0.0, -0.0, 0.5,
    -3.7, 1e-300, 1e18, 1e300, 1e308, -1e308, "", " ", "inf", "-inf", "nan", "1e999", "0 ms", "1 ms", "-1 ms",
    "1e300 h", "gis", "server", "elimination", "x" * 300, "é\u202e\u0007\x1b[31m", "a\nb", "\ud800",
    "../../etc/passwd", "</script>", "$x^$", "{x", "\u0000", [], [1], [0, 0], [1e308, -1e308], [None], [[]], ["a", 1],
    [1] * 3_000, {}, {"x": 1}, {"": {}}, {"mean": 1},
]  # fmt: skip
WORDS = ["NaN", "Infinity", "-Infinity", "1e400", "-1e400", HUGE, f"-{HUGE}", f"0.{HUGE}", f"{HUGE}.5", DEEP]
"""What is no JSON, or what not every reader of it can take."""

_MARK = "what stands here is written as it is: "


def place_in(chance, value):
    """The path to something inside a value of JSON; what is deep inside long lists is found as often as all else."""
    path = []
    while isinstance(value, dict | list) and value and (len(path) < 2 or chance.random() < 0.75):
        path.append(chance.choice(list(value)) if isinstance(value, dict) else chance.randrange(len(value)))
        value = value[path[-1]]
    return path


def inside(value, path):
    """What stands at a path."""
    for step in path:
        value = value[step]
    return value


def changed(chance, value):
    """A value of JSON with something in it replaced, removed, renamed, doubled, or said elsewhere too."""
    whole = {"": copy.deepcopy(value)}
    *outer, last = place_in(chance, whole)
    at = inside(whole, outer)
    new = chance.choice(VALUES) if chance.random() < 0.8 else _MARK + chance.choice(WORDS)
    match chance.randrange(8):
        case 0 if outer:
            del at[last]
        case 1 if outer and isinstance(at, dict):
            at[chance.choice([f"{last}s", "", "x.y", "é", "regret", "__class__"])] = at.pop(last)
        case 2 if isinstance(at, list):
            at.insert(last, copy.deepcopy(at[last]))
        case 3:
            at[last] = copy.deepcopy(inside(whole, place_in(chance, whole)))
        case 4 if type(at[last]) in (int, float) and abs(at[last]) < 1e300:
            at[last] = chance.choice([-at[last], at[last] * 10**6, at[last] + 1, float(at[last])])
        case _:
            at[last] = new
    return whole[""]


def text_of(value):
    """The JSON of a value, with the words that are none."""
    text = json.dumps(value, ensure_ascii=True)
    for word in WORDS:
        text = text.replace(json.dumps(_MARK + word), word)
    return text


def resealed(text):
    """A text of a JSON object, with its checksum as the last entry."""
    body = text.removesuffix("}")
    return f'{body}, "checksum": "{digest(body.encode())}"}}\n' if text.endswith("}") and body != "{" else text


def change(chance, folder, runs):
    """Change some of what a results *folder* says, one of its *runs* above all, or all in one way; seal it anew.

    Returns what was changed, for the reader.
    """
    seed = chance.random()
    chosen = runs if chance.random() < 0.5 else [chance.choice(runs)]
    said = [_change(random.Random(seed), folder, run, run == chosen[0]) for run in chosen]
    return said[0]


def _change(chance, folder, run, first):
    of_run = [run / name for name in (RESULT, CURVES, LINKS, NODES, TRACE)]
    of_folder = [folder / name for name in (STUDY, PICTURES)]
    files = [file for file in (*of_run, *of_folder) if file.is_file()]
    chosen = chance.choices([*files, *of_run[:2], of_run[0]], k=chance.choice([1, 1, 1, 2, 3]))
    contents = {file: _content(file) for file in dict.fromkeys([*chosen, run / RESULT]) if first or file in of_run}
    for file in chosen:
        if file.name == TRACE:
            for place in chance.choices(range(len(contents[file])), k=chance.choice([1, 1, 20])):
                contents[file][place] = changed(chance, contents[file][place])
        elif file in contents:
            contents[file] = changed(chance, contents[file])
    for file, content in contents.items():
        if file.name == TRACE:
            file.write_text("".join(text_of(line) + "\n" for line in content))
        elif file.name not in (RESULT, STUDY):
            file.write_text(text_of(content) + "\n")
    result = contents[run / RESULT]
    known = result.get("checksums") if isinstance(result, dict) else None
    for file in of_run if isinstance(known, dict) else ():
        if file.name in known and file.is_file():
            known[file.name] = digest(file.read_bytes())
    for file in contents:
        if file.name in (RESULT, STUDY):
            file.write_text(resealed(text_of(contents[file])))
    return [file.name for file in chosen]


def _content(file):
    """What a file says, without its checksum."""
    if file.name == TRACE:
        return [json.loads(line) for line in file.read_text().splitlines()]
    content = json.loads(file.read_text())
    content.pop("checksum", None)
    return content


SCENES = {
    "messages": """
run = { horizon = 60, replications = 2 }
topology = { family = "ring" }
links.peer = { latency = "0.3 ms", loss = 0.2, retry = {} }
bandit = { kind = "bernoulli", arms = 3 }
learner = { kind = "elimination" }
protocol = { kind = "gis" }
[[sweep.cases]]
label = "few"
topology.agents = 4
[[sweep.cases]]
label = "more"
topology.agents = 6
""",
    "map": """
run = { horizon = 80, replications = 3 }
topology = { family = "file", file = "map.json" }
links.peer.latency = "geographic"
links.uplink.latency = "2 ms"
faults.nodes = { up_for = "30 ms", down_for = "5 ms" }
bandit = { kind = "linear", arms = 4, dimension = 3 }
learner = { kind = "feducb", threshold = 1.0 }
protocol = { kind = "sink" }
sweep."learner.epsilon" = [1.0, 10.0]
""",
}
MAP = {
    "directed": False, "multigraph": False, "graph": {},
    "nodes": [
        {"id": place, "name": name, "latitude": latitude, "longitude": longitude}
        for place, (name, latitude, longitude) in enumerate(
            [("Bern", 46.9, 7.4), ("Wien", 48.2, 16.4), ("Praha", 50.1, 14.4), ("Zürich", 47.4, 8.5)]
        )
    ],
    "edges": [{"source": one, "target": other} for one, other in [(0, 3), (3, 1), (1, 2), (2, 0)]],
}  # fmt: skip


@dataclass(frozen=True)
class Study:
    """A folder of results, as it was written, with its scenario."""

    folder: Path
    scenario: Path
    files: dict

    @property
    def runs(self):
        return sorted({path.parent for path in self.files if path.name == RESULT})

    def restore(self):
        """Make all as it was."""
        for path in [path for path in self.folder.rglob("*") if path.is_file() and path not in self.files]:
            path.unlink()
        for path, content in self.files.items():
            if not path.is_file() or path.read_bytes() != content:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)


class Studies:
    """Studies of some scenes, run once."""

    def __init__(self, place, scenes=SCENES):
        (place / "map.json").write_text(json.dumps(MAP))
        self.all = []
        for name in scenes:
            scenario, folder = place / f"{name}.toml", place / name
            scenario.write_text(SCENES[name])
            netbandit.run(scenario, out=folder, trace=True)
            call("plot", folder, "--x", "rounds")
            files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
            self.all.append(Study(folder, scenario, files))


def call(*arguments):
    """Run a command; return its exit code, what it printed, and what has happened."""
    done = CliRunner().invoke(main, [*map(str, arguments)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert "Traceback" not in done.output
    assert "\x1b" not in done.output, "it speaks to the terminal"
    return done


def _command(name, *more):
    def read(study):
        done = call(name, study.folder, *more)
        assert done.exit_code in (0, 1, 2), done.output
        assert done.exit_code == 0 or done.output, "it says nothing"
        return "shown" if done.exit_code == 0 else "refused"

    return read


def _json(study):
    done = call("compare", study.folder, "--json")
    if done.exit_code:
        return "refused"
    json.loads(done.stdout, parse_constant=_refuse)
    return "shown"


def _refuse(word):
    raise AssertionError(f"{word} is no JSON")


def _run_again(study):
    done = call("run", study.scenario, "--trace", "--out", study.folder, "--json")
    if done.exit_code:
        return "refused"
    json.loads(done.stdout, parse_constant=_refuse)
    return "shown"


def _python(study):
    try:
        results = netbandit.load_results(study.folder)
        results.curves("regret")
        results.links()
        results._repr_html_()
        netbandit.compare(results, "regret")
    except (ValueError, FileNotFoundError):
        return "refused"
    return "shown"


READERS = {
    _command("compare"): 8,
    _command("compare", "--metric", "cost"): 4,
    _json: 6,
    _python: 12,
    _command("trace", "--format", "perfetto"): 8,
    _command("trace", "--format", "html"): 12,
    _command("plot", "--x", "rounds"): 2,
    _run_again: 2,
    _command("plot"): 1,
    _command("plot", "--all"): 1,
    _command("report"): 3,
}
"""All who read results, with how often each is asked."""


def outcome(read, study, said):
    """``shown``, ``refused``, or what else has happened."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return read(study)
    except Exception as error:
        return f"{said}\n{''.join(traceback.format_exception(error)[-4:])}"
