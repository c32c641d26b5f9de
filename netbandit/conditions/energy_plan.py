"""Builds the agents' energy model from the keys of ``[energy]``."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from netbandit.conditions import energy_keys as keys
from netbandit.network.batteries import JOULE, Daily, OnAndOff, Price
from netbandit.scenario.links import LinkEnergySettings
from netbandit.util.table_files import Table, finite
from netbandit.util.units import parse_duration
from netbandit.util.wording import show

_NANO = 10**9
_HEADER = ("FROM", "WATT")
_LATEST = 4e9


def harvested(law: keys.Harvest, slot: int) -> int | OnAndOff | Daily | Sequence[tuple[int, int]]:
    """Return what is harvested by the *law* of ``energy.harvest``; *slot* is the length of a slot (ns)."""
    if isinstance(law, keys.DailyHarvest):
        times = (parse_duration(each).nanoseconds(slot) for each in (law.from_, law.until, law.every))
        return Daily(nanowatt(law.power), *times)
    if isinstance(law, keys.OnOffHarvest):
        on_for, off_for = (max(1, parse_duration(each).nanoseconds(slot)) for each in (law.on_for, law.off_for))
        return OnAndOff(nanowatt(law.power), on_for, off_for)
    if isinstance(law, keys.HarvestFile):
        return read_harvest(Path(law.file))
    return nanowatt(law)


def most_harvested(law: keys.Harvest) -> float:
    """Return the largest power (W) that is harvested by the *law* of ``energy.harvest``."""
    if isinstance(law, keys.HarvestFile):
        return max((power for _, power in read_harvest(Path(law.file))), default=0) / _NANO
    return law if isinstance(law, float) else law.power


def read_harvest(path: Path) -> list[tuple[int, int]]:
    """Return the times (ns) and harvested powers (nW) listed in a file; each power applies from its time on.

    Raises:
        TableFileError: The file is malformed; the message names the line.
    """
    table = Table(path)
    if table.names != _HEADER:
        raise table.error(f"must be {','.join(_HEADER)}, not {show(','.join(table.names))}")
    found: list[tuple[int, int]] = []
    for line, cells in table:
        begin, watt = map(finite, cells)
        if begin is None or watt is None:
            raise table.error(f"must be two numbers, seconds and watt, not {show(','.join(cells))}", line)
        if not (0 <= begin <= _LATEST and 0 <= watt <= _LATEST):
            raise table.error(f"seconds and watt must be between 0 and {_LATEST:g}", line)
        moment = round(begin * _NANO)
        if found and moment <= found[-1][0]:
            raise table.error("each line must be later than the one before", line)
        found.append((moment, nanowatt(watt)))
    return found


def price(energy: LinkEnergySettings, end: int) -> Price:
    """Return the energy cost of a message at one *end* of a link: 0 for the sender's, 1 for the receiver's."""
    return Price(attojoule(energy.of_message[end]), attojoule(energy.of_byte[end]))


def attojoule(joule: float) -> int:
    """Return an energy in attojoule."""
    return round(Fraction(repr(joule)) * JOULE)


def nanowatt(watt: float) -> int:
    """Return a power in nanowatt."""
    return round(Fraction(repr(watt)) * _NANO)
