"""The strict base class of tables in a scenario, and types of their keys: numbers and durations."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeGuard, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from netbandit.parts import describing
from netbandit.parts.metric import MetricEntry
from netbandit.parts.validation import KeysError, list_keys, natives, problems_of
from netbandit.util.key_paths import KeyPath as KeyPath
from netbandit.util.key_paths import Problem as Problem
from netbandit.util.key_paths import Raw as Raw
from netbandit.util.units import DURATION, parse_duration
from netbandit.util.wording import Allowed, show


class Settings(BaseModel):
    """A frozen, strict table of keys: unknown keys, wrong types, NaN and infinities are mistakes.

    A docstring under a key describes it.
    """

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="forbid",
        allow_inf_nan=False,
        validate_default=True,
        use_attribute_docstrings=describing.described,
    )

    if not TYPE_CHECKING:  # type checkers and help() know the keys by the fields

        def __init__(self, /, **keys: Any) -> None:
            name = type(self).__name__.removesuffix("Settings")
            try:
                super().__init__(**natives(name, keys))
            except ValidationError as error:
                raise KeysError(name, problems_of(error, type(self))) from None

        __init__.__pydantic_base_init__ = True  # reading a table reports all mistakes itself

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        super().__pydantic_init_subclass__(**options)
        if describing.described:
            list_keys(cls)

    def unused(self) -> Iterator[tuple[str, str]]:
        """Yield (key, reason) for each key that was written but that the chosen mode does not use."""
        yield from ()


class ConditionSettings(Settings):
    """The table of a condition: what of it is needed to read a scenario and results; see `conditions.condition`.

    Attributes:
        METRICS: The metrics that its model counts in a run; those of netbandit's own stand in `results.metrics`.
    """

    METRICS: ClassVar[Mapping[str, MetricEntry]] = {}

    def __bool__(self) -> bool:
        """Whether it has any effect: by default unless all keys have their defaults."""
        return self != type(self)()

    @classmethod
    def fill_in_others(cls, data: Raw) -> Raw:
        """Return *data*, the tables of a scenario as written, with what this one sets in others, as presets do."""
        return data


class FileSettings(Settings):
    """The value of a key whose numbers are in a file; a relative path starts in the folder of the scenario."""

    file: str


_Settings = TypeVar("_Settings", bound=Settings)


def filled_in(keys: Any, preset: Raw, handler: Callable[[Any], _Settings]) -> _Settings:
    """Return the settings of *keys*, with those of a *preset* where there are none; the latter do not count as written.

    Args:
        keys: The table as it was written.
        preset: The keys of a preset, tables inside tables.
        handler: What validates a table: the argument of a validator that wraps it.
    """
    found = handler(_under(keys, preset))
    found.model_fields_set.difference_update({key for key in preset if keys.get(key) is None})
    return found


def _under(keys: Any, defaults: Any) -> Any:
    """Return *keys* with *defaults* where there are none, table by table."""
    if not (isinstance(keys, Mapping) and isinstance(defaults, Mapping)):
        return defaults if keys is None else keys
    return {**keys, **{key: _under(keys.get(key), value) for key, value in defaults.items()}}


def _not_nan(value: float) -> float:
    if value != value:
        raise ValueError("must be a number, not nan")
    return value


Probability = Annotated[float, Field(ge=0, le=1)]


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether *value* is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


PositiveOrInfinite = Annotated[float, Field(gt=0, allow_inf_nan=True), AfterValidator(_not_nan)]
"""A positive number or ``inf``; NaN is a mistake."""

AtLeastOneOrInfinite = Annotated[float, Field(ge=1, allow_inf_nan=True), AfterValidator(_not_nan)]
"""A number >= 1 or ``inf``; NaN is a mistake."""


def duration_text(text: Any, *, also: str = "") -> Any:
    """Return *text* if it is a duration; else raise ValueError, naming what *also* may stand there."""
    try:
        if isinstance(text, str):
            parse_duration(text)
            return text
    except ValueError:
        pass
    raise ValueError(f"must be {DURATION}{also}, not {show(text)}")


def _positive_duration(text: Any) -> Any:
    if parse_duration(duration_text(text)).amount <= 0:
        raise ValueError(f"must be above 0: {DURATION}, not {show(text)}")
    return text


DurationText = Annotated[str, BeforeValidator(duration_text), Allowed(DURATION)]
"""A duration, as written."""
PositiveDuration = Annotated[str, BeforeValidator(_positive_duration), Allowed(DURATION)]
"""A duration above 0, as written."""

_RAREST = 1e-6


def _often(share: float) -> float:
    if 0 < min(share, 1 - share) < _RAREST:
        why = "it would be looked for period by period"
        raise ValueError(f"must be 0, 1, or at least {_RAREST} from both, not {show(share)}: {why}")
    return share


ShareOfPeriods = Annotated[float, Field(ge=0, le=1), AfterValidator(_often)]
"""The probability of what is drawn anew in each period: certain, or not so rare that it is hardly ever found."""
