import re
import tomllib
from typing import Any

import pytest
from helpers.examples import examples
from hypothesis import given
from hypothesis import strategies as st

from netbandit.parts.settings import KeyPath
from netbandit.scenario.positions import locate

KEY_AT = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")


def paths(value: Any, prefix: KeyPath = ()) -> list[KeyPath]:
    """Return the path of every key, table and array element of a parsed document."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = [prefix] if prefix else []
    for key, child in children:
        found += paths(child, (*prefix, key))
    return found


def text_at(source: str, position: tuple[int, int]) -> str:
    line, column = position
    return "\n".join(source.split("\n")[line - 1 :])[column - 1 :]


def value_at(document: Any, path: KeyPath) -> Any:
    for key in path:
        document = document[key]
    return document


def values_at(text: str) -> list[Any]:
    """Return what the beginning of *text* can be read as, up to a comma, a bracket, a blank or a comment."""
    readings = []
    for end in (match.start() for match in re.finditer(r"[,\]}\s#]|$", text)):
        try:
            readings.append(tomllib.loads(f"x = {text[:end]}")["x"])
        except tomllib.TOMLDecodeError:
            continue
    return readings


def assert_all_located(source: str) -> None:
    """Check that each path that tomllib yields is located, and that its text stands there."""
    document = tomllib.loads(source)
    source = source.replace("\r\n", "\n")
    places = locate(source)
    assert set(places) == set(paths(document))
    for path, position in places.items():
        text = text_at(source, position)
        value = value_at(document, path)
        if text.startswith("[") and (isinstance(path[-1], str) or isinstance(value, dict)):  # keys never begin so
            header = tomllib.loads(text.split("\n")[0])
            for key in (key for key in path if isinstance(key, str)):
                header = (header[0] if isinstance(header, list) else header)[key]
        elif isinstance(path[-1], str):
            key = KEY_AT.match(text)
            assert key is not None
            assert tomllib.loads(f"{key[0]} = 0") == {path[-1]: 0}
        elif isinstance(value, dict | list):
            assert text.startswith("{" if isinstance(value, dict) else "[")
        else:
            assert repr(value) in map(repr, values_at(text))


def test_every_kind_of_key_by_hand() -> None:
    source = (
        '# a comment with [brackets] = and "quotes\n'
        "schema = 1\n"
        'name = "x # no comment" # a comment\n'
        "[run]\n"
        "  horizon = 10 # [no.header]\n"
        "[links.peer]\n"
        'latency = { uniform = ["1 ms",\t"2 ms"] }\n'
        "energy.per_byte = 1e-6\n"
        "[ links . uplink ]\n"
        "cost = 2\n"
        "[bandit]\n"
        "means = [\n"
        "  0.1, # first\n"
        "  0.5,\n"
        "]\n"
        "[sweep]\n"
        '"topology.agents" = [2, 3]\n'
        "'learner.epsilon' = [inf, nan]\n"
    )
    assert locate(source) == {
        ("schema",): (2, 1),
        ("name",): (3, 1),
        ("run",): (4, 1),
        ("run", "horizon"): (5, 3),
        ("links",): (6, 1),
        ("links", "peer"): (6, 1),
        ("links", "peer", "latency"): (7, 1),
        ("links", "peer", "latency", "uniform"): (7, 13),
        ("links", "peer", "latency", "uniform", 0): (7, 24),
        ("links", "peer", "latency", "uniform", 1): (7, 32),
        ("links", "peer", "energy"): (8, 1),
        ("links", "peer", "energy", "per_byte"): (8, 8),
        ("links", "uplink"): (9, 1),
        ("links", "uplink", "cost"): (10, 1),
        ("bandit",): (11, 1),
        ("bandit", "means"): (12, 1),
        ("bandit", "means", 0): (13, 3),
        ("bandit", "means", 1): (14, 3),
        ("sweep",): (16, 1),
        ("sweep", "topology.agents"): (17, 1),
        ("sweep", "topology.agents", 0): (17, 22),
        ("sweep", "topology.agents", 1): (17, 25),
        ("sweep", "learner.epsilon"): (18, 1),
        ("sweep", "learner.epsilon", 0): (18, 22),
        ("sweep", "learner.epsilon", 1): (18, 27),
    }


def test_a_header_outranks_an_earlier_mention() -> None:
    assert locate("[a.b]\nx = 1\n[a]\ny = 2\n")[("a",)] == (3, 1)
    assert locate("[a]\ny = 2\n[a.b]\nx = 1\n")[("a",)] == (1, 1)


def test_columns_count_characters_and_lines_end_with_their_newline() -> None:
    source = '"µé漢🙂" = { "ü" = [1, 2] }\r\nb = """\r\nc = 3\r\n"""\r\nd = 4'
    assert locate(source) == {
        ("µé漢🙂",): (1, 1),
        ("µé漢🙂", "ü"): (1, 12),
        ("µé漢🙂", "ü", 0): (1, 19),
        ("µé漢🙂", "ü", 1): (1, 22),
        ("b",): (2, 1),
        ("d",): (5, 1),
    }


@pytest.mark.parametrize(
    "value",
    [
        '""', "''", '""""""', "''''''", '"""a"b""c"""', '"""a"""""', '"""\n# = [\\"" """',
        "'''it''s'''''", r'"\" \\"', r"'C:\'",
        "1979-05-27 07:32:00", "1979-05-27T07:32:00Z", "07:32:00", "0xff", "+inf", "true", "[]", "{}", "[[], [[]]]",
        "[ # comment ]\n 1 # , ]\n , # x\n 2, ]", '[{a = "]"}, {a = \'}\'}]', "{ a.b.c = [1], d = {e = {}} }",
    ],
)  # fmt: skip
def test_values_that_could_mislead(value: str) -> None:
    assert_all_located(f"before = 1\nx = {value} # comment\nafter = [ 7 ,8 ]\n[table]\ny = [{value}, 9]\n")


@pytest.mark.parametrize(
    "source",
    [
        "",
        "\n# only a comment",
        "[[a]]\nx = 1\n[a.b]\ny = 2\n[[a]]\n[a.b]\ny = 3\n[[a.c]]\n[[a.c]]\nz = 1",
        '["quoted.key".\'another one\' . bare]\n"" = 1\n',
        "a.b.c = 1\na.b.d = 2\na.e = [1]\n",
        '"\\u00e9\\t\\"" = [1]\n',
        "[a] # comment\n[b]# comment\n",
        "1 = 2\n3.14 = 15\n[true]\ninf = nan\n",
    ],
)
def test_documents_that_could_mislead(source: str) -> None:
    assert_all_located(source)


names = st.one_of(
    st.from_regex(r"[A-Za-z0-9_-]{1,6}", fullmatch=True),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=5),
)
blank = st.sampled_from(["", " ", "\t", "  "])
space = st.sampled_from(["", " ", "\n", " # a, ] } = [b]\n", "\n\n\t"])


@st.composite
def keys(draw: st.DrawFn, name: str) -> str:
    styles = ["basic"]
    if re.fullmatch(r"[A-Za-z0-9_-]+", name):
        styles.append("bare")
    if "'" not in name:
        styles.append("literal")
    style = draw(st.sampled_from(styles))
    if style == "bare":
        return name
    if style == "literal":
        return f"'{name}'"
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    if draw(st.booleans()):
        escaped = "".join(f"\\U{ord(sign):08x}" for sign in name)
    return f'"{escaped}"'


@st.composite
def scalars(draw: st.DrawFn) -> str:
    text = draw(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8))
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    literal = text.replace("'", "")
    choices = [
        str(draw(st.integers(-999, 999))),
        "1.5",
        "-inf",
        "1e3",
        "true",
        "1979-05-27",
        "1979-05-27 07:32:00",
        f'"{escaped}"',
        f"'{literal}'",
        f'"""\n{escaped}\n"""',
        f'"""{escaped}\\\n  x"""',
        f"'''\n{literal}'''",
        f'"""a""{escaped}"""',
    ]
    return draw(st.sampled_from(choices))


@st.composite
def values(draw: st.DrawFn, depth: int = 3) -> str:
    kind = draw(st.sampled_from(["scalar", "scalar", "array", "table"] if depth else ["scalar"]))
    if kind == "scalar":
        return draw(scalars())
    if kind == "array":
        elements = [draw(space) + draw(values(depth - 1)) + draw(space) for _ in range(draw(st.integers(0, 3)))]
        comma = "," if elements and draw(st.booleans()) else ""
        return "[" + ",".join(elements) + comma + draw(space) + "]"
    inner = draw(st.lists(names, max_size=3, unique=True))
    pairs = [f"{draw(blank)}{draw(keys(name))}{draw(blank)}={draw(blank)}{draw(values(depth - 1))}" for name in inner]
    return "{" + ",".join(pairs) + draw(blank) + "}"


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Draw a document; a few repeat a key by chance and are no TOML, which the test leaves out."""
    lines: list[str] = []
    for _ in range(draw(st.integers(0, 8))):
        pieces = [draw(keys(name)) for name in draw(st.lists(names, min_size=1, max_size=3))]
        dotted = f"{draw(blank)}.{draw(blank)}".join(pieces)
        kind = draw(st.sampled_from(["pair", "pair", "pair", "table", "element", "blank"]))
        comment = draw(st.sampled_from(["", " # comment = [1]", "\t#"]))
        if kind == "pair":
            lines.append(f"{draw(blank)}{dotted}{draw(blank)}={draw(blank)}{draw(values())}{comment}")
        elif kind == "table":
            lines.append(f"{draw(blank)}[{draw(blank)}{dotted}{draw(blank)}]{comment}")
        elif kind == "element":
            lines.append(f"[[{dotted}]]{comment}")
        else:
            lines.append(comment)
    return "\n".join(lines).replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


@pytest.mark.ci
@examples(150)
@given(documents())
def test_every_path_that_tomllib_reads_is_located(source: str) -> None:
    try:
        tomllib.loads(source)
    except tomllib.TOMLDecodeError:
        return
    assert_all_located(source)
