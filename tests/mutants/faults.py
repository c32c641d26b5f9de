"""Mistakes that somebody could make, one or more in each room of the package."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Fault:
    """A text that stands in a file once, and what is put in its place.

    Attributes:
        name: What it is called on the command line.
        what: What is wrong then.
        file: The file, from the root of the repository.
        old: The text.
        new: The other one.
    """

    name: str
    what: str
    file: str
    old: str
    new: str

    @property
    def room(self) -> str:
        """The folder of the package that it is in."""
        return Path(self.file).parts[1]


@contextmanager
def planted(fault: Fault, place: Path) -> Iterator[None]:
    """Have a fault in the copy of the repository in *place*.

    Raises:
        ValueError: What it replaces does not stand there once.
    """
    path = place / fault.file
    before = path.read_text(encoding="utf-8")
    if before.count(fault.old) != 1:
        raise ValueError(f"{fault.file}: not once there: {fault.old}")
    path.write_text(before.replace(fault.old, fault.new), encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(before, encoding="utf-8")


FAULTS = (
    Fault(
        "maximum_is_minimum",
        "what is to be as high as possible is made as low as possible",
        "netbandit/api/search.py",
        "*_goals(maximize, -1)",
        "*_goals(maximize, 1)",
    ),
    Fault(
        "beta_of_one_parameter",
        "the first of the two powers of a beta draw has the other parameter",
        "netbandit/bandits/draws.py",
        "first ** (1.0 / mean)",
        "first ** (1.0 / (1.0 - mean))",
    ),
    Fault(
        "krum_of_one_more",
        "Krum adds up one distance too many",
        "netbandit/byzantine/aggregation/rules.py",
        "nearest = len(rows) - tolerate - 2",
        "nearest = len(rows) - tolerate - 1",
    ),
    Fault(
        "round_of_one_send_more",
        "the last of an agent's messages waits for a next one",
        "netbandit/checks/air_plan.py",
        "(sends - 1) * period",
        "sends * period",
    ),
    Fault(
        "mistake_instead_of_failure",
        "results that cannot be written are a mistake of the user",
        "netbandit/cli/common.py",
        "fail(error, FAILURE)",
        "fail(error)",
    ),
    Fault(
        "none_is_any_object",
        "a loop compiled for something is used where that is None",
        "netbandit/compilation/array_functions.py",
        "(_value(objects, path) is None) is not none for path",
        "(_value(objects, path) is None) > none for path",
    ),
    Fault(
        "idle_a_pull",
        "pulls and the time that agents are up change places in the energy spent",
        "netbandit/conditions/energy.py",
        "* plan.pull + self._up_time() * plan.idle",
        "* plan.idle + self._up_time() * plan.pull",
    ),
    Fault(
        "draw_too_many",
        "Thompson sampling draws one more number than it uses",
        "netbandit/learners/thompson.py",
        "            if drawn > highest:",
        "            self.rngs[agent].random()\n            if drawn > highest:",
    ),
    Fault(
        "hop_of_no_slot",
        "a hop can take effect in the slot in which it began",
        "netbandit/network/clock.py",
        "begun // slot + 1, ",
        "begun // slot, ",
    ),
    Fault(
        "energy_not_received",
        "what is under way at the end costs its receiver twice, and not nothing",
        "netbandit/network/ledger.py",
        "- (coming * link_class.received_per_message",
        "+ (coming * link_class.received_per_message",
    ),
    Fault(
        "bit_instead_of_byte",
        "a message has as many bits as it has bytes",
        "netbandit/network/models/loss.py",
        "float(8 * size)",
        "float(size)",
    ),
    Fault(
        "ranges_stay_ranges",
        "a range is no list of numbers",
        "netbandit/parts/validation.py",
        "isinstance(value, list | tuple | range)",
        "isinstance(value, list | tuple)",
    ),
    Fault(
        "zero_at_the_right",
        "zero is placed at the right of the least value on a logarithmic axis",
        "netbandit/plots/axis.py",
        "on_axis[0] - step",
        "on_axis[0] + step",
    ),
    Fault(
        "noise_without_participants",
        "noise does not depend on how many agents share in a round",
        "netbandit/privacy/mechanisms.py",
        "1.0 / (participants * pulls * epsilon)",
        "1.0 / (pulls * epsilon)",
    ),
    Fault(
        "one_hop_further",
        "a copy that can go one hop further than the one before it is not passed on",
        "netbandit/protocols/ttl_flood.py",
        "before > packet.left",
        "before >= packet.left",
    ),
    Fault(
        "present_instead_of_absent",
        "the share of slots in which agents were up is shown as that in which they were down",
        "netbandit/report/losses.py",
        "else 1 - availability",
        "else availability",
    ),
    Fault(
        "narrow_interval",
        "the interval of a mean has another number of replications",
        "netbandit/results/intervals.py",
        "confidence) * math.sqrt(variance / count)",
        "confidence) * math.sqrt(variance / (count + 1))",
    ),
    Fault(
        "seeds_not_fresh",
        "the winner of a search is measured again with the seeds by which it won",
        "netbandit/running/candidates.py",
        "self.seed + FRESH if fresh else self.seed",
        "self.seed",
    ),
    Fault(
        "slots_are_nanoseconds",
        "the time between users that is written in slots is taken for nanoseconds",
        "netbandit/scenario/activity.py",
        "(slot if duration.in_slots else 1)",
        "(1 if duration.in_slots else slot)",
    ),
    Fault(
        "knot_too_early",
        "a curve of regret in compiled loops is one slot late",
        "netbandit/simulation/regret.py",
        "if ends and self.knots[knot] == slot + 1:",
        "if ends and self.knots[knot] == slot:",
    ),
    Fault(
        "flood_forgets",
        "a compiled flood does not know of a copy with as many hops left",
        "netbandit/simulation/kernels/floods.py",
        "for less in range(left + 1):",
        "for less in range(left):",
    ),
    Fault(
        "late_at_the_window",
        "what comes at the end of the window comes too late",
        "netbandit/conditions/feedback_queue.py",
        "delay > self._window",
        "delay >= self._window",
    ),
    Fault(
        "more_and_less_known",
        "in a score the references change places",
        "netbandit/studies/suite/scores.py",
        "in zip(most, least, strict=True)]",
        "in zip(least, most, strict=True)]",
    ),
    Fault(
        "lost_is_late",
        "what arrives at the horizon counts as delivered in the check of what became of messages",
        "netbandit/testing/conservation.py",
        'line["arrival"] >= end',
        'line["arrival"] > end',
    ),
    Fault(
        "rounds_overlap",
        "rounds that only touch are drawn in two lanes",
        "netbandit/trace/perfetto.py",
        "if since <= begin)",
        "if since < begin)",
    ),
    Fault(
        "constants_do_not_count",
        "who changes a constant in a class of one's own is shown the results of before",
        "netbandit/user_code/fingerprint.py",
        "obj.co_exceptiontable, obj.co_consts)",
        "obj.co_exceptiontable)",
    ),
    Fault(
        "replication_is_index",
        "the number of the replication and the index of a stream change places",
        "netbandit/util/streams.py",
        "(self.replication, crc32(purpose.encode()), index)",
        "(index, crc32(purpose.encode()), self.replication)",
    ),
)
