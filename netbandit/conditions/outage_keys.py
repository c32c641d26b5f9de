"""The values of ``[faults]``: failures at random, and scheduled outages."""

from collections.abc import Callable
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from netbandit.conditions.nodes import NodeName
from netbandit.parts.settings import DurationText, PositiveDuration, Settings, ShareOfPeriods
from netbandit.util.wording import Allowed, show


class FailingSettings(Settings):
    """Something fails and is repaired after exponential times, and begins in its stationary distribution."""

    up_for: PositiveDuration = Field(description="Mean time that it is up.")
    down_for: PositiveDuration = Field(description="Mean time that it is down.")


class RedrawnSettings(Settings):
    """Something is up in each period with a given probability, independently."""

    up: ShareOfPeriods = Field(description="The probability that it is up in a period.")
    every: PositiveDuration = Field(default="1 slot", description="The length of a period.")


class FailingNodes(FailingSettings):
    """``faults.nodes``: agents fail and come back."""

    memory: Literal["kept", "lost"] = Field(
        default="kept",
        description="Whether an agent that comes back up has kept or lost what it knew; also after scheduled outages "
        "of nodes.",
    )


LINKS = '{ up_for = "60 s", down_for = "2 s" } or { up = 0.7, every = "1 slot" }'


def read_links(value: Any) -> Any:
    """Return how links fail, as it was written as *value*."""
    if isinstance(value, dict):
        failing, redrawn = ({"up_for", "down_for"} & value.keys(), {"up", "every"} & value.keys())
        if failing and redrawn:
            raise ValueError(f"has the keys of two forms: must be either {LINKS}")
        return (RedrawnSettings if redrawn else FailingSettings).model_validate(value)
    if value is None or isinstance(value, FailingSettings | RedrawnSettings):
        return value
    raise ValueError(f"must be {LINKS}, not {show(value)}")


def _all_or(what: str, fits: Callable[[Any], bool]) -> BeforeValidator:
    """Return the reader of "all", or a list of *what*, of which none is a value that does not fit."""

    def read(value: Any) -> Any:
        wrong = [one for one in value if not fits(one)] if isinstance(value, list) else []
        if value is None or value == "all" or (isinstance(value, list) and value and not wrong):
            return value
        given = f"a list with {show(wrong[0])}" if wrong else show(value)
        others = "an outage takes links, nodes, server = true or partition, and every where it comes again"
        raise ValueError(f'must be "all" or a list of {what}, not {given}; {others}')

    return BeforeValidator(read)


def _is_name(value: Any) -> bool:
    return isinstance(value, int | str) and not isinstance(value, bool)


def _is_pair(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and all(map(_is_name, value))


class OutageSettings(Settings):
    """``[[faults.outages]]``: scheduled outages of agents and links, once or in every period.

    Attributes:
        links: Peer links, by their two ends, or all of them.
        nodes: Agents, or all of them.
        server: Whether the server is down.
        partition: Groups of agents with no link between them; agents that are not named form one more.
        from_: When it begins.
        until: When it ends; None: never.
        for_: In place of *until*, how long it lasts.
        every: The length of a period, in each of which it comes again; None: it comes once.
    """

    model_config = ConfigDict(serialize_by_alias=True, validate_by_name=True, validate_by_alias=True)

    links: Annotated[
        list[list[NodeName]] | Literal["all"] | None,
        _all_or("links, each of two nodes such as [0, 1]", _is_pair),
        Allowed('"all", or a list of links, each a list of two nodes'),
    ] = Field(default=None, description='Peer links that are down, each by its two ends, or "all".')
    nodes: Annotated[
        list[NodeName] | Literal["all"] | None,
        _all_or("agents, by number or name", _is_name),
        Allowed('"all", or a list of agents'),
    ] = Field(default=None, description='Agents that are down, or "all"; the server has a key of its own.')
    server: Literal[True] | None = Field(default=None, description="true: the server is down.")
    partition: list[list[NodeName]] | None = Field(
        default=None,
        min_length=1,
        description="Groups of agents; links between groups are down. Agents that are not named form one more group.",
    )
    from_: DurationText = Field(alias="from", description="When it begins.")
    until: DurationText | None = Field(default=None, description="When it ends; absent: never.")
    for_: PositiveDuration | None = Field(
        default=None, alias="for", description="In place of until: how long it lasts; periodic ones need it."
    )
    every: PositiveDuration | None = Field(
        default=None, description="It comes again after each period of this length; absent: it comes once."
    )

    @property
    def named_links(self) -> list[list[NodeName]]:
        """The links that *links* lists: none where it says all."""
        return [] if self.links is None or self.links == "all" else self.links

    @property
    def named_nodes(self) -> list[NodeName]:
        """The agents that *nodes* lists: none where it says all."""
        return [] if self.nodes is None or self.nodes == "all" else self.nodes

    @model_serializer(mode="wrap")
    def _as_before(self, keys: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out keys that came later where they are absent: results that do not know them stay valid."""
        written: dict[str, Any] = keys(self)
        return {
            key: value for key, value in written.items() if value is not None or key not in ("every", "for", "for_")
        }

    @model_validator(mode="after")
    def _one_end(self) -> Self:
        if self.for_ is not None and self.until is not None:
            raise ValueError("has for and until: give one of the two")
        if self.every is not None and self.for_ is None:
            raise ValueError("has every, and so needs for: how long it lasts in each period")
        return self

    @model_validator(mode="after")
    def _something(self) -> Self:
        if self.links is None and self.nodes is None and self.server is None and self.partition is None:
            raise ValueError("names nothing that is down: give it links, nodes, server = true or partition")
        return self
