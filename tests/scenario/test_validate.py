from math import inf, nan
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, WrapValidator, field_validator
from pydantic_core import PydanticCustomError

from netbandit.parts.settings import PositiveOrInfinite, Settings
from netbandit.parts.validation import problems_of, read
from netbandit.util.wording import allowed, did_you_mean, key_text, quoted, unknown_value


def _own_words(value: Any, handler: Any) -> Any:
    try:
        return handler(value)
    except ValueError:
        raise PydanticCustomError("own", "must be half of something") from None


class Band(Settings):
    low: float = 0.0
    high: float = 1.0


class Part(Settings):
    """The keys of a part as their owners write them."""

    kind: str
    epsilon: PositiveOrInfinite = inf
    rounds: int | None = Field(default=None, ge=1)
    participation: float = Field(default=1.0, gt=0, le=1)
    gap: Literal["true"] | Annotated[float, Field(gt=0)] | None = None
    means: Literal["uniform"] | list[Annotated[float, Field(ge=0, le=1)]] = "uniform"
    timing: Literal["slotted", "asynchronous"] = "slotted"
    private: bool = False
    band: Band = Band()
    either: Band | int = 3
    pair: list[int] = Field(default=[1, 2], min_length=2, max_length=2)
    share: Annotated[float, WrapValidator(_own_words)] = 0.5
    capacity: Annotated[str | list[int], Field(min_length=1)] = "all"

    @field_validator("rounds")
    @classmethod
    def _even(cls, rounds: int | None) -> int | None:
        if rounds is not None and rounds % 2:
            raise ValueError("must be even")
        return rounds


def texts(table: Any) -> dict[str, str]:
    settings, problems = read(Part, table, ("learner",))
    assert settings is None
    assert len({path for path, _ in problems}) == len(problems)
    return {key_text(path): text for path, text in problems}


@pytest.mark.parametrize(
    ("table", "found"),
    [
        ({"epsilon": -1}, {"epsilon": "must be a number above 0 or inf, not -1"}),
        ({"epsilon": 0}, {"epsilon": "must be a number above 0 or inf, not 0"}),
        ({"epsilon": nan}, {"epsilon": "must be a number above 0 or inf, not nan"}),
        ({"epsilon": True}, {"epsilon": "must be a number above 0 or inf, not true"}),
        ({"epsilon": "1"}, {"epsilon": 'must be a number above 0 or inf, not "1"'}),
        ({"rounds": 0}, {"rounds": "must be an integer of at least 1, not 0"}),
        ({"rounds": 3}, {"rounds": "must be even"}),
        ({"participation": 1.5}, {"participation": "must be a number above 0 and of at most 1, not 1.5"}),
        ({"gap": -1}, {"gap": 'must be "true" or a number above 0, not -1'}),
        ({"gap": True}, {"gap": 'must be "true" or a number above 0, not true'}),
        ({"gap": "ture"}, {"gap": 'must be "true" or a number above 0, not "ture" (did you mean "true"?)'}),
        ({"gap": []}, {"gap": 'must be "true" or a number above 0, not an empty list'}),
        (
            {"means": [0.5, 2, "x"]},
            {
                "means[1]": "must be a number from 0 to 1, not 2",
                "means[2]": 'must be a number from 0 to 1, not "x"',
            },
        ),
        (
            {"means": "unifrom"},
            {
                "means": 'must be "uniform" or a list, each a number from 0 to 1, not "unifrom" '
                '(did you mean "uniform"?)'
            },
        ),
        (
            {"timing": "async"},
            {"timing": 'must be one of "slotted", "asynchronous", not "async"'},
        ),
        (
            {"timing": "Slotted"},
            {"timing": 'must be one of "slotted", "asynchronous", not "Slotted" (did you mean "slotted"?)'},
        ),
        ({"private": 1}, {"private": "must be true or false, not 1"}),
        ({"private": "true"}, {"private": 'must be true or false, not "true"'}),
        ({"band": 3}, {"band": 'must be a table with the keys "low", "high", not 3'}),
        ({"band": {"low": "x"}}, {"band.low": 'must be a number, not "x"'}),
        ({"band": {"hihg": 1}}, {"band.hihg": 'unknown key, must be one of "low", "high" (did you mean "high"?)'}),
        ({"either": {"low": "x"}}, {"either.low": 'must be a number, not "x"'}),
        ({"either": "x"}, {"either": 'must be a table with the keys "low", "high" or an integer, not "x"'}),
        ({"pair": [1]}, {"pair": "must be a list of 2 values, each an integer, not a list of 1"}),
        ({"pair": [1, 2, 3]}, {"pair": "must be a list of 2 values, each an integer, not a list of 3"}),
        ({"pair": [1, 2.0]}, {"pair[1]": "must be an integer, not 2.0 (did you mean 2?)"}),
        ({"share": "x"}, {"share": "must be half of something"}),
        ({"capacity": ["x"]}, {"capacity[0]": 'must be an integer, not "x"'}),
    ],
)
def test_what_is_wrong_and_what_is_allowed(table: dict[str, Any], found: dict[str, str]):
    assert texts({"kind": "x", **table}) == {f"learner.{key}": text for key, text in found.items()}


def test_an_unknown_key_names_those_that_are_known():
    (text,) = texts({"kind": "x", "epsilno": 1}).values()
    assert text.startswith('unknown key, must be one of "kind", "epsilon", "rounds", ')
    assert text.endswith('(did you mean "epsilon"?)')


def test_an_unknown_key_of_a_table_inside():
    (text,) = texts({"kind": "x", "high": 1}).values()
    assert text.endswith('(did you mean "learner.band.high"?)')


def test_a_table_without_keys():
    class Nothing(Settings):
        pass

    assert read(Nothing, {"a": 1}) == (None, [(("a",), "unknown key, must be left out: this table has no keys")])


def test_what_is_valid():
    settings, problems = read(Part, {"kind": "x", "epsilon": 1, "gap": 0.5, "means": [0, 1.0]})
    assert problems == []
    assert isinstance(settings, Part)
    assert settings.means == [0, 1.0]


def test_problems_of_an_error():
    with pytest.raises(ValueError, match="validation error") as caught:
        Part.model_validate({})
    assert problems_of(caught.value, Part, ("protocol",)) == [  # type: ignore[arg-type]
        (("protocol", "kind"), "is missing, must be a string")
    ]


def test_no_table_at_all():
    assert read(Part, None, ("learner",))[1][0][0] == ("learner",)


def test_a_value_that_is_none_of_the_known():
    kinds = ["master-worker", "gis", "sink"]
    assert (
        unknown_value("master_worker", kinds, also='or "package.module:Class"')
        == 'must be one of "master-worker", "gis", "sink" or "package.module:Class", not "master_worker" '
        '(did you mean "master-worker"?)'
    )
    assert unknown_value(3, ["gis"]) == 'must be "gis", not 3'


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("horizn", ' (did you mean "horizon"?)'),
        ("HORIZON", ' (did you mean "horizon"?)'),
        ("mean-degree", ' (did you mean "mean_degree"?)'),
        ("zzz", ""),
        (3, ""),
    ],
)
def test_what_was_probably_meant(word: Any, hint: str):
    assert did_you_mean(word, ["seed", "horizon", "mean_degree"]) == hint


@pytest.mark.parametrize(
    ("word", "candidate"),
    [
        *(("--maximise", "--minimize"), ("--maximize", "--minimize"), ("--run", "--no-run"), ("--no-jobs", "--jobs")),
        *(("synchronous", "asynchronous"), ("synchronus", "asynchronous"), ("async", "synchronous")),
        *(("up_for", "down_for"), ("on_for", "off_for"), ("regret_worst_agnt", "regret_best_agent")),
        *(("sent", "unsent"), ("served", "unserved"), ("conected", "disconnected"), ("nonstalled", "stalled")),
        *(("heterogeneous", "homogeneous"), ("highest", "lowest"), ("downlink", "uplink")),
    ],
)
def test_the_opposite_is_never_what_was_meant(word: str, candidate: str):
    assert did_you_mean(word, [candidate]) == did_you_mean(candidate, [word]) == ""
    assert did_you_mean(word, [candidate, word[:-1]]) == f' (did you mean "{word[:-1]}"?)'


@pytest.mark.parametrize(
    "word",
    [
        *("noise", "nodes", "none", "normal", "uniform", "unsent", "unserved", "disconnected", "nonzero", "distance"),
        *("up_for", "off_for", "asynchronous", "homogeneous", "regret_worst_agent", "--no-run", "--minimize"),
    ],
)
def test_a_name_in_which_a_letter_is_missing_is_recognised(word: str):
    letters = [place for place, letter in enumerate(word) if letter.isalpha()]
    for place in letters[1:]:
        assert did_you_mean(word[:place] + word[place + 1 :], [word]) == f' (did you mean "{word}"?)'


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("run", "horizon"), "run.horizon"),
        (("bandit", "means", 3), "bandit.means[3]"),
        (("sweep", "topology.agents", 0), "sweep.topology.agents[0]"),
        (("run", "a b"), 'run."a b"'),
        (("run", ""), 'run.""'),
        ((), "scenario"),
    ],
)
def test_key_paths_as_people_write_them(path: Any, text: str):
    assert key_text(path) == text


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        (list[int], "a list, each an integer"),
        (Annotated[list[str], Field(min_length=1)], "a list that is not empty, each a string"),
        (Annotated[list[int], Field(min_length=1, max_length=3)], "a list of 1 to 3 values, each an integer"),
        (tuple[int, ...], "a list, each an integer"),
        (dict[str, int], "a table"),
        (Annotated[int, Field(lt=5)], "an integer below 5"),
        (Annotated[int, Field(ge=0, le=2**63 - 1)], "an integer from 0 to 2^63 - 1"),
        (Annotated[str, Field(min_length=1)], "a string that is not empty"),
        (int | None, "an integer"),
        (Any, "a value"),
    ],
)
def test_what_a_type_allows(annotation: Any, text: str):
    assert allowed(annotation) == text


def test_quotes_keep_a_text_on_one_line():
    assert quoted('a"\n\x07\u2028é') == '"a\\"\\n\\u0007\\u2028é"'
