"""``[links]``: how long messages take on the two classes of links, and what they cost."""

from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from netbandit.network.models.radio_keys import RadioSettings
from netbandit.network.models.settings import ModelSettings
from netbandit.parts.settings import DurationText, KeyPath, Settings, duration_text
from netbandit.scenario.link_faults import FaultyLinkSettings
from netbandit.util.units import (
    BANDWIDTH,
    ENERGY,
    SIZE,
    Bandwidth,
    Duration,
    energy_of_ends,
    parse_bandwidth,
    parse_energy,
    parse_size,
)
from netbandit.util.wording import Allowed, did_you_mean, show

FROM_GRAPH = ("geographic", "edges")
"""Latencies from the graph: by the positions of its nodes, or by an attribute of each link."""


_UPLINK_LATENCY = 'a duration such as "10 ms" or { uniform = ["1 ms", "5 ms"] }'
_LATENCY = f'{_UPLINK_LATENCY}, "geographic" or "edges"'


def _latency(value: Any) -> Any:
    if value in FROM_GRAPH or isinstance(value, dict):
        return value
    try:
        return duration_text(value, also='; or "geographic", or "edges"; or { uniform = ["1 ms", "5 ms"] }')
    except ValueError as error:
        raise ValueError(f"{error}{did_you_mean(value, FROM_GRAPH)}") from None


def _uplink_latency(value: Any) -> Any:
    if value == "geographic":
        raise ValueError(f'must be {_UPLINK_LATENCY}, not "geographic": the server has no coordinates')
    return value if isinstance(value, dict) else duration_text(value, also='; or { uniform = ["1 ms", "5 ms"] }')


def _bandwidth(text: Any) -> Any:
    try:
        if isinstance(text, str):
            parse_bandwidth(text)
        if isinstance(text, str | None):  # None comes from a resolved scenario, TOML has none
            return text
    except ValueError:
        pass
    raise ValueError(f"must be {BANDWIDTH}, not {show(text)}")


_QUEUE = f"a number of messages from 0, or {SIZE}"


def _queue(value: Any) -> Any:
    try:
        if isinstance(value, str):
            parse_size(value)
        if isinstance(value, str | None) or (type(value) is int and value >= 0):
            return value
    except ValueError:
        pass
    raise ValueError(f"must be {_QUEUE}, not {show(value)}")


QueueLimit = Annotated[int | str | None, BeforeValidator(_queue), Allowed(_QUEUE)]
"""How much may wait for a link."""
_QUEUE_LIMIT = Field(
    default=None,
    description="How many messages may wait beside the one under way, in each direction, or how many bytes of these: "
    '"4 kB"; what comes when there are as many is dropped; absent: no limit. Not for agents that '
    "share a radio channel.",
)

NotNegative = Annotated[float, Field(ge=0)]


_JOULE = WithJsonSchema({"anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}]})
Energy = Annotated[float, BeforeValidator(parse_energy), Field(ge=0), _JOULE, Allowed(ENERGY)]


def _parsed(latency: Any) -> Any:
    """Return a `Duration`: for type checkers it is the text that it was written as."""
    return Duration(latency) if isinstance(latency, str) and latency not in FROM_GRAPH else latency


def _parsed_bandwidth(bandwidth: str | None) -> Bandwidth | None:
    return None if bandwidth is None else Bandwidth(bandwidth)


_BOTH = f"{ENERGY}; or two of them, of the sender and the receiver"


def _of_both(value: Any) -> Any:
    if isinstance(value, list | tuple):
        if len(value) != 2:
            raise ValueError(f"must be {_BOTH}, not {show(value)}")
        return list(map(parse_energy, value))
    return parse_energy(value)


EnergyOfBoth = Annotated[
    Annotated[float, Field(ge=0), _JOULE] | Annotated[list[Energy], Field(min_length=2, max_length=2)],
    BeforeValidator(_of_both),
    Allowed(_BOTH),
]


class LinkEnergySettings(Settings):
    """Energy of sender and receiver together, or of each, in joule or with a unit."""

    per_message: EnergyOfBoth = Field(default=0.0, description="Energy per message; or [sender's, receiver's].")
    per_byte: EnergyOfBoth = Field(default=0.0, description="Energy per byte; or [sender's, receiver's].")
    sender_share: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="The share of an energy of both that the sender spends; the receiver spends the rest.",
    )

    @property
    def of_message(self) -> tuple[float, float]:
        """Energy per message, of its sender and its receiver."""
        return energy_of_ends(self.per_message, self.sender_share)

    @property
    def of_byte(self) -> tuple[float, float]:
        """Energy per byte, of its sender and its receiver."""
        return energy_of_ends(self.per_byte, self.sender_share)


class UniformLatency(Settings):
    """A latency drawn once per link, uniformly between two durations."""

    uniform: list[DurationText] = Field(
        min_length=2, max_length=2, description="Shortest and longest latency, drawn once per link."
    )

    @cached_property
    def ends(self) -> tuple[Duration, Duration]:
        """The shortest and the longest latency."""
        return Duration(self.uniform[0]), Duration(self.uniform[1])


class LinkSettings(FaultyLinkSettings):
    """``[links.peer]``: the links between agents."""

    latency: Annotated[str | UniformLatency, BeforeValidator(_latency), AfterValidator(_parsed), Allowed(_LATENCY)] = (
        Field(
            default="0 ms",
            description='Propagation time: "30 ms", "0.5 slots" or { uniform = [...] }; with a network file or graph '
            'also "geographic" (from the distance between nodes) or "edges" (each link\'s attribute latency).',
        )
    )
    bandwidth: Annotated[
        str | None, BeforeValidator(_bandwidth), AfterValidator(_parsed_bandwidth), Allowed(BANDWIDTH)
    ] = Field(default=None, description='Bandwidth such as "1 Mbit/s"; absent: unlimited.')
    queue: QueueLimit = _QUEUE_LIMIT
    cost: NotNegative = Field(default=1.0, description="Cost of an activation.")
    energy: LinkEnergySettings = LinkEnergySettings()
    missing: Literal["error", "median"] = Field(
        default="error", description='With latency = "geographic": what to do where coordinates are missing.'
    )
    radio: RadioSettings | None = Field(
        default=None, description="How agents share the air; absent: each link is a wire of its own."
    )

    def unused(self) -> Iterator[tuple[str, str]]:
        """Yield ``missing`` where no coordinate is needed, and a bandwidth beside the airtime of a radio."""
        if "missing" in self.model_fields_set and self.latency != "geographic":
            yield "missing", 'is used only with latency = "geographic"'
        if self.bandwidth is not None and self.radio is not None and self.radio.airtime is not None:
            yield "bandwidth", "is not used: links.peer.radio.airtime says how long a message takes"


class UplinkSettings(FaultyLinkSettings):
    """``[links.uplink]``: the links between an agent and the server, which has no place on the map."""

    latency: Annotated[
        str | UniformLatency, BeforeValidator(_uplink_latency), AfterValidator(_parsed), Allowed(_UPLINK_LATENCY)
    ] = Field(default="0 ms", description='Propagation time: "30 ms", "0.5 slots" or { uniform = [...] }.')
    bandwidth: Annotated[
        str | None, BeforeValidator(_bandwidth), AfterValidator(_parsed_bandwidth), Allowed(BANDWIDTH)
    ] = Field(default=None, description='Bandwidth such as "1 Mbit/s"; absent: unlimited.')
    queue: QueueLimit = _QUEUE_LIMIT
    cost: NotNegative = Field(default=25.0, description="Cost of an activation.")
    energy: LinkEnergySettings = LinkEnergySettings()


def _uplink(value: Any) -> Any:
    # From Python one class serves both: keys that are not given keep the default of an uplink.
    if isinstance(value, LinkSettings):
        return value.model_dump(exclude_unset=True, exclude={"missing"} if value.missing == "error" else None)
    return value


class LinksSettings(Settings):
    """``[links]``: the two classes of links."""

    peer: LinkSettings = LinkSettings()
    uplink: Annotated[UplinkSettings, BeforeValidator(_uplink)] = UplinkSettings()

    @property
    def models(self) -> dict[KeyPath, type[ModelSettings]]:
        """The classes of the tables that say which models there are, by their keys."""
        return {
            ("links", name, key): type(value)
            for name, table in (("peer", self.peer), ("uplink", self.uplink))
            for key, value in table
            if isinstance(value, ModelSettings)
        }
