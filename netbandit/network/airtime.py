"""Airtime of LoRa frames, where the transmission time is not bits divided by bandwidth."""

from dataclasses import dataclass

MOST_BYTES = 255
"""The most bytes of a LoRa frame."""

_LONG_SYMBOL = 16_000_000
"""Symbols longer than this (ns) are sent with low data rate optimization."""


@dataclass(frozen=True)
class LoRa:
    """LoRa modulation with an explicit header and a checksum (Semtech AN1200.13, LoRa Modem Designer's Guide).

    Attributes:
        spreading_factor: Bits a symbol, from 7 to 12.
        bandwidth: Hz.
        coding: 1 to 4: four bits are sent as 4 + *coding*.
        preamble: The length of the preamble in symbols, of which the modem adds 4.25.
    """

    spreading_factor: int
    bandwidth: int
    coding: int = 1
    preamble: int = 8

    def airtime(self, size: int) -> int:
        """Return the airtime (ns, rounded up) of *size* bytes; more than 255 are split into back-to-back frames."""
        full, rest = divmod(size, MOST_BYTES)
        quarters = full * self._quarter_symbols(MOST_BYTES)
        if rest or not full:
            quarters += self._quarter_symbols(rest)
        return -(-(quarters << self.spreading_factor) * 1_000_000_000 // (4 * self.bandwidth))

    @property
    def is_optimized(self) -> bool:
        """Whether symbols are so long that each carries two bits fewer (low data rate optimization)."""
        return (1 << self.spreading_factor) * 1_000_000_000 > _LONG_SYMBOL * self.bandwidth

    def _quarter_symbols(self, size: int) -> int:
        """Return the length of a frame of *size* bytes in quarters of a symbol: preamble + 4.25 + n of these."""
        bits = 8 * size - 4 * self.spreading_factor + 28 + 16  # 16: the checksum
        a_block = 4 * (self.spreading_factor - 2 * self.is_optimized)
        payload = 8 + max(-(-bits // a_block), 0) * (self.coding + 4)
        return 4 * self.preamble + 17 + 4 * payload
