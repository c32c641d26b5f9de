"""``[energy]``: batteries of agents, and the consumption of their activities."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import BeforeValidator, ConfigDict, Field, ModelWrapValidatorHandler, WithJsonSchema, model_validator

from netbandit.parts.settings import DurationText, FileSettings, PositiveDuration, Settings, filled_in
from netbandit.scenario.links import Energy
from netbandit.util.units import ENERGY, POWER, parse_energy, parse_power
from netbandit.util.wording import Allowed, show


class Chip(NamedTuple):
    """The power and the data rate of a radio chip.

    Attributes:
        idle: While it listens.
        send: While it sends.
        receive: While it receives.
        bandwidth: Its data rate; None: a setting.
    """

    idle: str
    send: str
    receive: str
    bandwidth: str | None = None


CHIPS: Mapping[str, Chip] = {
    # TI SWRS041, CC2420, section 6: 18.8 mA receiving, 17.4 mA sending at 0 dBm, at 3 V; 250 kbit/s.
    "cc2420": Chip(idle="56.4 mW", send="52.2 mW", receive="56.4 mW", bandwidth="250 kbit/s"),
    # ns-3 lorawan, LoraRadioEnergyModel: 28 mA sending, 11.2 mA receiving, 1.4 mA in standby, at 3.3 V.
    "sx1272": Chip(idle="4.62 mW", send="92.4 mW", receive="36.96 mW"),
    # ns-3, WifiRadioEnergyModel: 380 mA sending, 313 mA receiving, 273 mA idle; at 3 V.
    "wifi": Chip(idle="819 mW", send="1140 mW", receive="939 mW"),
}
"""Presets, by their names."""


_WATT = WithJsonSchema({"anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}]})
Power = Annotated[float, BeforeValidator(parse_power), Field(ge=0), _WATT, Allowed(POWER)]


class UniformCapacity(Settings):
    """A capacity drawn for each agent, uniformly between two energies."""

    uniform: list[Energy] = Field(min_length=2, max_length=2, description="Smallest and largest capacity.")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not 0 < self.uniform[0] <= self.uniform[1]:
            raise ValueError("uniform: the smallest capacity must be above 0, and the largest not below it")
        return self


class DailyHarvest(Settings):
    """A power that is there for a part of each period."""

    model_config = ConfigDict(serialize_by_alias=True, validate_by_name=True, validate_by_alias=True)

    power: Power = Field(description="The power while it is there.")
    from_: DurationText = Field(alias="from", description="When it begins in each period.")
    until: DurationText = Field(description="When it ends in each period.")
    every: PositiveDuration = Field(default="24 h", description="The length of a period.")


class OnOffHarvest(Settings):
    """A power that is there and gone for exponential times, and begins in its stationary law."""

    power: Power = Field(description="The power while it is there.")
    on_for: PositiveDuration = Field(description="Mean time that it is there.")
    off_for: PositiveDuration = Field(description="Mean time that it is gone.")


class HarvestFile(FileSettings):
    """A power that a file lists."""

    file: str = Field(
        description="A CSV file, also gzipped, with the columns FROM (seconds) and WATT: how much from when on."
    )


_HARVEST = (
    f'{POWER}, {{ power = "2 mW", from = "6 h", until = "18 h", every = "24 h" }}, '
    '{ power = "2 mW", on_for = "10 s", off_for = "20 s" } or { file = "sun.csv" }'
)
_CAPACITY = f'{ENERGY}, above 0; or {{ uniform = ["10 J", "20 J"] }}'

_VOLT = 3.3
"""The voltage of the example for those who know the charge of a battery."""


def _harvest(value: Any) -> Any:
    if isinstance(value, Settings):
        return value
    if isinstance(value, Mapping):
        if "file" in value:
            return HarvestFile.model_validate(value)
        return (OnOffHarvest if {"on_for", "off_for"} & value.keys() else DailyHarvest).model_validate(value)
    return parse_power(value)


def _capacity(value: Any) -> Any:
    if value is None or isinstance(value, UniformCapacity):
        return value
    if isinstance(value, Mapping):
        return UniformCapacity.model_validate(value)
    if charge := re.fullmatch(r"\s*(\d{1,9}(?:\.\d{1,9})?)\s*(m?)Ah\s*", str(value), re.ASCII):
        hours = float(charge[1]) * _VOLT * (1e-3 if charge[2] else 1.0)
        raise ValueError(f"must be {_CAPACITY}: {charge[0].strip()} at {_VOLT} V are {hours:.4g} Wh")
    joule = parse_energy(value)
    if joule <= 0:
        raise ValueError(f"must be {_CAPACITY}, not {show(value)}")
    return joule


def _mains(value: Any) -> Any:
    named = isinstance(value, list) and bool(value) and all(type(one) in (int, str) for one in value)
    if value in (None, "sinks") or named:
        return value
    raise ValueError(f'must be "sinks" or a list of agents, such as [0, 5], not {show(value)}')


class EnergySettings(Settings):
    """``[energy]``: what agents live on; by default only messages are counted."""

    preset: Literal["cc2420", "sx1272", "wifi"] | None = Field(
        default=None,
        description="A radio chip: fills in idle, send and receive where they are not given, and the bandwidth of "
        "links without one, if the chip says it.",
    )
    capacity: Annotated[
        Energy | UniformCapacity | None, BeforeValidator(_capacity), Allowed(_CAPACITY, keys=(UniformCapacity,))
    ] = Field(
        default=None,
        description="Capacity of each agent's battery, which is full at the beginning, or { uniform = [...] }; "
        "absent: energy is counted, and no battery is empty.",
    )
    idle: Power = Field(default=0.0, description="Power while an agent is up: it listens.")
    send: Power | None = Field(
        default=None, description="Power in place of idle while it sends; absent: the same. Needs a bandwidth."
    )
    receive: Power | None = Field(
        default=None, description="Power in place of idle while it receives; absent: the same. Needs a bandwidth."
    )
    pull: Energy = Field(default=0.0, description="Energy per pull.")
    harvest: Annotated[
        Power | DailyHarvest | OnOffHarvest | HarvestFile,
        BeforeValidator(_harvest),
        Allowed(_HARVEST, keys=(DailyHarvest, OnOffHarvest, HarvestFile)),
    ] = Field(
        default=0.0,
        description="Power that each agent harvests: always, from and until some time of each period, on and off for "
        "exponential times, or from a file; what does not fit into the battery is gone.",
    )
    mains: Annotated[
        Literal["sinks"] | list[int | str] | None,
        BeforeValidator(_mains),
        Allowed('"sinks", or a list of agents, by their numbers or names'),
    ] = Field(
        default=None,
        description="Agents that never run empty, as gateways on the mains: a list, or those with the smallest "
        "eccentricity in each component (sinks), as the centres of stars are.",
    )
    recover: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="Who has run empty comes back at this share of its capacity; absent: never. Whether it has kept "
        "what it knew, faults.nodes.memory says.",
    )

    @model_validator(mode="wrap")
    @classmethod
    def _fill_in(cls, keys: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Fill in the values of a preset, where they are not given."""
        chip = CHIPS.get(str(keys.get("preset"))) if isinstance(keys, Mapping) else None
        if chip is None:
            return handler(keys)
        return filled_in(keys, {"idle": chip.idle, "send": chip.send, "receive": chip.receive}, handler)

    def __bool__(self) -> bool:
        return self != EnergySettings()


def with_bandwidth(data: Any) -> Any:
    """Return the tables of a scenario with the bandwidth of a preset, for links without one.

    Args:
        data: The tables, not yet validated.
    """
    energy = data.get("energy") if isinstance(data, Mapping) else None
    chip = CHIPS.get(str(energy.get("preset"))) if isinstance(energy, Mapping) else None
    links = data.get("links", {}) if isinstance(data, Mapping) else None
    if chip is None or chip.bandwidth is None or not isinstance(links, Mapping):
        return data
    filled = dict(links)
    for name in ("peer", "uplink"):
        table = links.get(name, {})
        if isinstance(table, Mapping) and table.get("bandwidth") is None and not _has_airtime(table.get("radio")):
            filled[name] = {**table, "bandwidth": chip.bandwidth}
    return {**data, "links": filled}


def _has_airtime(radio: Any) -> bool:
    return isinstance(radio, Mapping) and bool({"airtime", "preset"} & radio.keys())
