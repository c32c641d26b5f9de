"""Broadcasts of everybody, in every slot, over every link: not message by message, but all at once.

Where nothing is irregular single messages would be the whole cost of a run, and say nothing: item after item takes one
hop, and each link as long as it always does. What agents hear, what is counted and the fingerprint are those of single
messages; `fits` says when, and nobody is asked.
"""

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.slots import Learner
from netbandit.network.message import HEADER_BYTES, LABEL_BYTES, Kind
from netbandit.network.network import Network
from netbandit.protocols.local import Local
from netbandit.protocols.local_flood import ITEMS
from netbandit.protocols.pooled import Pooled
from netbandit.protocols.relay import RELAY
from netbandit.simulation.communication import Communication, Learners
from netbandit.simulation.driver import ReplicationContext
from netbandit.simulation.result import Metric


def fits(stage: ReplicationContext, learner: Learner) -> bool:
    """Return whether all items take one hop, in slots that are known ahead, over links that never fail nor queue."""
    protocol, network = stage.point.protocol, stage.network
    if learner.has("next_share") or network.trace is not None or stage.point.scenario.run.activity != "every":
        return False
    if type(protocol) is Pooled:
        return True
    one_hop = type(protocol) is Local and protocol.ttl == 1 and protocol.slotted and not protocol.absorb
    return one_hop and type(network) is Network and not network.transmission(10**6)


class BulkBroadcasts(Communication):
    """As `Broadcasts`, for a learner that shares in every slot.

    A row a directed link, sorted by receiver, then sender: that of link e brings at boundary t what its sender told in
    slot ``t - d_e``, ``d_e = max(1, ceil(latency / slot))``. Rows are gathered from the latest max d_e tellings.

    Args:
        stage: All that the driver works with.
        learner: The learner, not yet started.
    """

    def __init__(self, stage: ReplicationContext, learner: Learner) -> None:
        super().__init__(stage, learner)
        agents, slot = len(self.everybody), self.clock.slot
        protocol = stage.point.protocol
        self._pooled = isinstance(protocol, Pooled)
        self._kind: Kind = ITEMS if isinstance(protocol, Local) and protocol.route == "flood" else RELAY
        self._floods = self._kind is ITEMS
        if self._pooled:
            links = [(receiver, sender, slot) for receiver in range(agents) for sender in range(agents)]
            links = [link for link in links if link[0] != link[1]]
        else:
            out = stage.network.channels
            links = sorted((one.receiver, one.sender, one.latency) for channels in out for one in channels)
        table = np.array(links, dtype=np.int64).reshape(-1, 3)
        self._receivers, self._senders, self._latencies = np.ascontiguousarray(table.T)
        self._delays = np.maximum(1, -(-self._latencies // slot))
        self.members = np.bincount(self._receivers, minlength=agents) + 1
        self.isolated = not len(links)
        self._depth = int(self._delays.max(initial=1)) + 1
        self._told: NDArray[np.float64] | None = None
        self._spoken: NDArray[np.bool_] = np.zeros(self._depth, dtype=np.bool_)
        self._times = 0  # slots in which agents have told
        self._size = 0
        self._waited = 0
        self._heard = 0
        self._order_arrivals()

    def _order_arrivals(self) -> None:
        """Sort links as they deliver within a slot: by time, what was sent earlier first, then by receiver, sender."""
        slot = self.clock.slot
        within, whole = self._latencies % slot, self._latencies // slot
        at_once = (within == 0) & (whole == 0)  # sent at the boundary at which others arrive, so after them
        order = np.lexsort((self._senders, self._receivers, at_once, within))
        self._arrivals = within[order], whole[order], self._receivers[order]
        self._windows = 0

    def open(self, learners: Learners) -> None:
        """Take the learner."""
        super().open(learners)
        (self._learner,) = learners

    def last(self, first: int, last: int) -> int:
        """Stop after each slot, unless nobody can hear."""
        return last if self.isolated else first + 1

    def speaks(self, slot: int, calls: NDArray[np.bool_]) -> bool:
        """Return whether anybody can hear."""
        return not self.isolated

    def talk(self, slot: int, calls: NDArray[np.bool_]) -> None:
        """Keep what all agents tell."""
        told = self._learner.share(slot, self.everybody)
        self._spoken[slot % self._depth] = told is not None
        if told is not None:
            self._times += 1
            if self._told is None:
                self._told = np.zeros((self._depth, *told.shape))
                self._size = HEADER_BYTES + LABEL_BYTES + self._learner.item_bytes(told.shape[1])
            self._told[slot % self._depth] = told
        if not self._pooled:
            self._record(slot)

    def hand_on(self, slot: int) -> None:
        """Let the learner hear what takes effect at the boundary that begins *slot*."""
        if self._told is None:
            return
        said = slot - self._delays
        receivers, senders = self._receivers, self._senders
        rows = self._told_in(said, slot - 1)
        if not rows.all():
            if not rows.any():
                return
            receivers, senders, said = receivers[rows], senders[rows], said[rows]
        self._waited += int((slot - said).sum())
        self._heard += len(said)
        self._learner.hear(slot, receivers, senders, self._told[said % self._depth, senders], said)

    def _told_in(self, slots: NDArray[np.int64], latest: int) -> NDArray[np.bool_]:
        """Return in which of *slots*, no more than max d_e before *latest*, the latest one so far, agents told."""
        found: NDArray[np.bool_] = self._spoken[slots % self._depth] & (slots >= 0) & (slots <= latest)
        return found

    def _record(self, window: int) -> None:
        """Note all deliveries within a slot, of what has been told in it and before."""
        within, whole, receivers = self._arrivals
        some = self._told_in(window - whole, self.clock.horizon - 1)
        events = np.empty((int(some.sum()), 4), dtype=np.int64)
        events[:, 0] = window * self.clock.slot + within[some]
        events[:, 1] = receivers[some]
        events[:, 2] = self._kind.code
        events[:, 3] = self._size
        self.stage.fingerprint.record_all(events)
        self._windows = window + 1

    def finish(self) -> None:
        """Note what arrives after the horizon, and count all messages."""
        if self._pooled or self._told is None:
            return
        for window in range(self._windows, self._windows + int(self._latencies.max(initial=0)) // self.clock.slot + 1):
            self._record(window)
        self.stage.network.count_everywhere(self._kind, self._size, self._times)

    @property
    def releases(self) -> int:
        """How often agents told others."""
        return self._times

    def metrics(self) -> dict[str, Metric]:
        """Return the same figures as `Broadcasts`."""
        copies = {"items": self.releases * len(self._receivers)} if self._floods else {}
        delay = self._waited / self._heard if self._heard else None
        return {"rounds": self.releases, "round_slots": 0.0, "delay_slots": delay, **copies}
