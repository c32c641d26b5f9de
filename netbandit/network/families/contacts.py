"""``contacts``: a graph from the contacts of a trace or a contact plan."""

from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field

from netbandit.network import contact_files
from netbandit.network.contact_files import Meetings
from netbandit.network.families.family import MOST_AGENTS
from netbandit.network.families.meeting import Meeting
from netbandit.parts.component import Checks, Note
from netbandit.parts.settings import DurationText, PositiveDuration
from netbandit.util.streams import Streams
from netbandit.util.units import parse_duration


class Contacts(Meeting):
    """The contacts in a file; links are the pairs that meet before the horizon, and are up while they meet."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    file: str = Field(min_length=1)
    """The file, relative to the scenario that names it."""
    format: Literal["one", "moments", "intervals", "ion"]
    """What its lines say, with times in seconds: ``one``: `TIME CONN A B up|down` (the ONE simulator); ``moments``:
    `TIME A B` (SocioPatterns); ``intervals``: `A B FROM UNTIL`, or CSV with these columns; ``ion``: a contact plan of
    ION, `a contact +FROM +UNTIL A B RATE` and `a range +FROM +UNTIL A B SECONDS`."""
    window: PositiveDuration = "20 s"
    """Of ``moments``: how long a contact lasts from its time on."""
    from_: Annotated[DurationText, Field(alias="from")] = "0 s"
    """The trace's time that is the run's 0."""
    agents: Annotated[int, Field(ge=1, le=MOST_AGENTS)] | None = None
    """How many agents there are, which the file calls 0, 1, ...; absent: those that it names, numbered in the order
    of their names, as numbers if all are."""

    random: ClassVar[bool] = False

    def check(self) -> Checks:
        """Yield keys that are not used."""
        yield from self.check_changes()
        if self.format != "moments" and "window" in self.model_fields_set:
            yield Note("window", 'is used only with format = "moments"')

    def files(self) -> dict[str, str]:
        """Return the file."""
        return {"file": self.file}

    def meetings(self, streams: Streams, slot: int, end: int) -> Meetings:
        """Read the file; see `netbandit.network.contact_files`."""
        readers: dict[str, contact_files.Reader] = {
            "one": contact_files.one,
            "moments": partial(contact_files.moments, window=parse_duration(self.window).nanoseconds(slot)),
            "intervals": contact_files.intervals,
            "ion": contact_files.ion,
        }
        trace = contact_files.read(Path(self.file), readers[self.format])
        return contact_files.meetings(trace, parse_duration(self.from_).nanoseconds(slot), end, self.agents)
