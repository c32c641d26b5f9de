"""The values of ``[energy]``: chips, batteries and harvests."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple, Self

from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from netbandit.parts.settings import DurationText, FileSettings, PositiveDuration, Settings
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
    """A power that is there and gone for exponential times, and begins in its stationary distribution."""

    power: Power = Field(description="The power while it is there.")
    on_for: PositiveDuration = Field(description="Mean time that it is there.")
    off_for: PositiveDuration = Field(description="Mean time that it is gone.")


class HarvestFile(FileSettings):
    """A power that a file lists."""

    file: str = Field(
        description="A CSV file, also gzipped, with the columns FROM (seconds) and WATT: how much from when on."
    )


Harvest = Power | DailyHarvest | OnOffHarvest | HarvestFile
"""``energy.harvest``."""

HARVEST = (
    f'{POWER}, {{ power = "2 mW", from = "6 h", until = "18 h", every = "24 h" }}, '
    '{ power = "2 mW", on_for = "10 s", off_for = "20 s" } or { file = "sun.csv" }'
)
CAPACITY = f'{ENERGY}, above 0; or {{ uniform = ["10 J", "20 J"] }}'

_VOLT = 3.3
"""The voltage of the example for those who know the charge of a battery."""


def read_harvest_law(value: Any) -> Any:
    """Return the power, or the law of it, that was written as *value*."""
    if isinstance(value, Settings):
        return value
    if isinstance(value, Mapping):
        if "file" in value:
            return HarvestFile.model_validate(value)
        return (OnOffHarvest if {"on_for", "off_for"} & value.keys() else DailyHarvest).model_validate(value)
    return parse_power(value)


def read_capacity(value: Any) -> Any:
    """Return the capacity that was written as *value*."""
    if value is None or isinstance(value, UniformCapacity):
        return value
    if isinstance(value, Mapping):
        return UniformCapacity.model_validate(value)
    if charge := re.fullmatch(r"\s*(\d{1,9}(?:\.\d{1,9})?)\s*(m?)Ah\s*", str(value), re.ASCII):
        hours = float(charge[1]) * _VOLT * (1e-3 if charge[2] else 1.0)
        raise ValueError(f"must be {CAPACITY}: {charge[0].strip()} at {_VOLT} V are {hours:.4g} Wh")
    joule = parse_energy(value)
    if joule <= 0:
        raise ValueError(f"must be {CAPACITY}, not {show(value)}")
    return joule


def read_mains(value: Any) -> Any:
    """Return the agents on the mains that were written as *value*."""
    named = isinstance(value, list) and bool(value) and all(type(one) in (int, str) for one in value)
    if value in (None, "sinks") or named:
        return value
    raise ValueError(f'must be "sinks" or a list of agents, such as [0, 5], not {show(value)}')
