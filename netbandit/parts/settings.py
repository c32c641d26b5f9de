"""The strict base of everything a user can write."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from netbandit.parts import describing
from netbandit.parts.validation import KeysError, list_keys, natives, problems_of
from netbandit.util.key_paths import KeyPath as KeyPath
from netbandit.util.key_paths import Problem as Problem
from netbandit.util.key_paths import Raw as Raw


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


def _not_nan(value: float) -> float:
    if value != value:
        raise ValueError("must be a number, not nan")
    return value


PositiveOrInfinite = Annotated[float, Field(gt=0, allow_inf_nan=True), AfterValidator(_not_nan)]
"""A positive number or ``inf``; NaN is a mistake."""

AtLeastOneOrInfinite = Annotated[float, Field(ge=1, allow_inf_nan=True), AfterValidator(_not_nan)]
"""A number >= 1 or ``inf``; NaN is a mistake."""
