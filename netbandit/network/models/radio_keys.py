"""``[links.peer.radio]``: a shared medium, with its airtime, access, duty cycle and collisions."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BeforeValidator, Field, ModelWrapValidatorHandler, model_validator

from netbandit.network.airtime import LoRa
from netbandit.network.models.settings import nanoseconds
from netbandit.network.radio_plan import Aloha, Csma, RadioPlan
from netbandit.parts.settings import PositiveDuration, Settings, filled_in
from netbandit.util.units import parse_frequency
from netbandit.util.wording import Allowed, one_of, show

BANDWIDTHS = ("125 kHz", "250 kHz", "500 kHz")
"""The bandwidths of LoRa in the bands for short-range devices, as the SX1272 has them."""
SPREADING_FACTORS = range(7, 13)
"""Its spreading factors; 6 has no header with the length of a frame."""

Preset = Literal[
    "lora-eu868-sf7", "lora-eu868-sf8", "lora-eu868-sf9", "lora-eu868-sf10", "lora-eu868-sf11", "lora-eu868-sf12"
]
PRESETS: tuple[str, ...] = get_args(Preset)
_DUTY_OF_BAND_M = 0.01  # EN 300 220: 868.0 to 868.6 MHz

_ACCESS = '{ aloha = "1 slot" } or { csma = "320 us", attempts = 5 }'


def _bandwidth(text: Any) -> Any:
    try:
        if isinstance(text, str) and parse_frequency(text) in map(parse_frequency, BANDWIDTHS):
            return text
    except ValueError:
        pass
    raise ValueError(f"must be {one_of(BANDWIDTHS)}, not {show(text)}")


class LoRaSettings(Settings):
    """LoRa (Semtech AN1200.13), with an explicit header and a checksum; above 255 bytes in frames, back to back."""

    sf: int = Field(ge=SPREADING_FACTORS[0], le=SPREADING_FACTORS[-1], description="Spreading factor: bits a symbol.")
    bandwidth: Annotated[str, BeforeValidator(_bandwidth), Allowed(one_of(BANDWIDTHS))] = Field(
        default=BANDWIDTHS[0], description="Bandwidth of the signal."
    )
    coding: int = Field(default=1, ge=1, le=4, description="Coding rate: four bits are sent as 4 + this many.")
    preamble: int = Field(default=8, ge=6, le=65_535, description="Symbols of the preamble.")

    @property
    def modulation(self) -> LoRa:
        """The modulation that determines the airtime."""
        return LoRa(self.sf, parse_frequency(self.bandwidth), self.coding, self.preamble)


class AirtimeSettings(Settings):
    """The airtime of a message."""

    lora: LoRaSettings = Field(description="By the modulation of LoRa.")


class AlohaAccess(Settings):
    """Agents send after a random delay, without listening first (Abramson 1970)."""

    aloha: PositiveDuration = Field(description="The longest delay; it is uniform from 0.")


class CsmaAccess(Settings):
    """Unslotted CSMA-CA of IEEE 802.15.4: wait for a random number of units, sense the channel, send if it is idle."""

    csma: PositiveDuration = Field(description="The unit of a backoff.")
    attempts: int = Field(
        default=5, ge=1, le=1_000, description="After so many looks at a busy channel a message is never sent."
    )


def _access(value: Any) -> Any:
    if value is None or isinstance(value, AlohaAccess | CsmaAccess):
        return value
    if isinstance(value, Mapping) and ("aloha" in value) != ("csma" in value):
        return (AlohaAccess if "aloha" in value else CsmaAccess).model_validate(value)
    what = "both" if isinstance(value, Mapping) and "aloha" in value else show(value)
    raise ValueError(f"must be {_ACCESS}, not {what}")


class RadioSettings(Settings):
    """Agents share the air: each has one transmitter that all neighbours hear, and transmissions may collide."""

    airtime: AirtimeSettings | None = Field(
        default=None, description="How long a message is on the air; absent: 8 bits a byte over links.peer.bandwidth."
    )
    access: Annotated[
        AlohaAccess | CsmaAccess | None, BeforeValidator(_access), Allowed(_ACCESS, keys=(AlohaAccess, CsmaAccess))
    ] = Field(default=None, description="When an agent sends that has something to send; absent: at once.")
    duty: float = Field(
        default=1.0,
        gt=0,
        le=1,
        description="Duty cycle: after an airtime a the transmitter is silent for a (1 / duty - 1).",
    )
    preset: Preset | None = Field(
        default=None, description="Fills in the airtime and the duty cycle of LoRa in Europe; keys that are given win."
    )

    @model_validator(mode="wrap")
    @classmethod
    def _fill_in(cls, keys: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Fill in the values of the preset, where they are not given."""
        preset = keys.get("preset") if isinstance(keys, Mapping) else None
        if preset not in PRESETS:
            return handler(keys)
        lora = {"sf": int(preset.rpartition("sf")[2]), "bandwidth": BANDWIDTHS[0], "coding": 1, "preamble": 8}
        return filled_in(keys, {"airtime": {"lora": lora}, "duty": _DUTY_OF_BAND_M}, handler)

    def plan(self, slot: int) -> RadioPlan:
        """Return how agents share the air; *slot* is the length of a slot (ns)."""
        access: Aloha | Csma | None = None
        if isinstance(self.access, AlohaAccess):
            access = Aloha(nanoseconds(self.access.aloha, slot))
        elif self.access is not None:
            access = Csma(max(1, nanoseconds(self.access.csma, slot)), self.access.attempts)
        return RadioPlan(access, Fraction(repr(self.duty)))  # exactly the decimal number as written
