"""Parameter server: agents upload asynchronously, and download the sums over all agents."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError
from simpy import Event

from netbandit.network.clock import AGENTS, SENDS, InstantQueue, ScheduledEvent
from netbandit.network.link import Arrival, Channel
from netbandit.network.message import Kind, Message
from netbandit.network.network import Network
from netbandit.parts.component import Checks, Mistake, Note, Others
from netbandit.protocols.deadline import DeadlineKey
from netbandit.protocols.protocol import Item, Links
from netbandit.protocols.server import ANSWER, UPLOAD
from netbandit.protocols.store_carry_forward import CarryKey
from netbandit.protocols.uploads import UploadHandler, UploadProtocol

PUSH = Kind("PUSH")


def _server(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    try:  # one mistake, not one for each alternative
        return handler(value)
    except ValidationError:
        raise PydanticCustomError("server", 'must be "uplink", "centre" or the number of an agent') from None


class _Parcel(NamedTuple):
    """An item in transit: the agent that uploaded it, or that is to get it; and when its present hop began (ns)."""

    agent: int
    item: Item
    begun: int


class ParameterServer(CarryKey, DeadlineKey, UploadProtocol):
    """A server to which each agent uploads at will, and which answers without waiting for others.

    The structure of FedLinUCB and of Async-LinUCB: a server, and agents that do not wait for each other.

    All uploads of an instant are absorbed, by agent number, before the server acts. It answers each uploader
    (FedLinUCB, He et al. 2022), or sends what it has to all agents that lag (Async-LinUCB, Li & Wang 2022). Uploads of
    several agents overlap freely: each answer has what had arrived.

    The server is reached over uplinks, which are never slotted; or an agent hosts it. Then messages go along the host's
    breadth-first tree, the lowest-numbered parent among equals, hop by hop, unmerged, each hop counted: slotted one hop
    a slot, asynchronous the moment they arrive. The host's own uploads take no message and no time.
    """

    answer: Literal["uploader", "lagging"] = "uploader"
    """To whom the server sends its total after an upload: the ``uploader``, which suspends its test until then; or all
    agents that are ``lagging``, while uploaders continue to test."""
    server: Annotated[Literal["uplink", "centre"] | Annotated[int, Field(ge=0)], WrapValidator(_server)] = "uplink"
    """Where the server is: at the end of each agent's ``uplink``; at the ``centre``, the agent with the smallest
    eccentricity, lowest number; or at the agent of this number."""

    @property
    def used_links(self) -> frozenset[Links]:
        """The uplinks, or where an agent hosts the server the links between agents."""
        return frozenset({"uplink" if self.server == "uplink" else "peer"})

    @property
    def slotted(self) -> bool:
        """Whether hops take effect at slot boundaries; uplinks never do."""
        return self.server != "uplink" and super().slotted

    def check(self) -> Checks:
        """Yield a deadline that has no effect."""
        if self.answer == "lagging" and self.deadline is not None:
            yield Note("deadline", 'is used only with answer = "uploader": no agent waits for an answer')

    def check_with(self, others: Others) -> Checks:
        """Yield agents that would not receive their own data, and a host that does not exist or is out of reach."""
        if self.answer == "lagging" and getattr(others.learner, "decide", None) == "received":
            yield Mistake(
                "answer",
                'must be "uploader" with learner.decide = "received": an uploader that does not lag is sent nothing, '
                "and would not decide by its own observations",
            )
        if self.server == "uplink":
            return
        if isinstance(self.server, int) and self.server >= others.agents:
            yield Mistake("server", f"must be an agent, from 0 to {others.agents - 1}, not {self.server}")
        elif others.components > 1:
            yield Mistake(
                "server",
                f"is out of reach of some agents: the graph has {others.components} components; must be "
                '"uplink", or the graph connected',
            )

    def start(self, network: Network, upload_handler: UploadHandler) -> None:
        """See `UploadProtocol.start`."""
        super().start(network, upload_handler)
        self._host = network.server
        if self.server != "uplink":
            self._host = self.server if isinstance(self.server, int) else network.topology.sinks[0]
            self._parents = network.topology.bfs_tree(self._host).tolist()
            self._channels_down: dict[int, dict[int, Channel]] = {}
        self._number = 0
        self._latest: dict[int, int] = {}
        self._deadline = self.deadline_ns(network.clock.slot) if self.answer == "uploader" else None
        self._absorbing: list[tuple[int, int, Item]] = []
        self._uploaded: InstantQueue[tuple[int, int, Item]] = InstantQueue(self.clock, self._act, SENDS)
        self._hops: InstantQueue[Message] = InstantQueue(self.clock, self._finish_hops, AGENTS)

    def deposit(self, agent: int) -> None:
        """See `UploadProtocol.deposit`."""
        item = self.upload_handler.deposit(agent)
        self.uploads += 1
        self._number += 1
        number = self._latest[agent] = self._number
        if self.answer == "lagging":
            self.upload_handler.resume(agent)
        elif self._deadline is not None:
            callbacks: list[Callable[[Event], None]] = [lambda _: self._pass_deadline(agent, number)]
            self.clock.environment.schedule(ScheduledEvent(callbacks), AGENTS, self._deadline)
        self.network.when_computed(agent, "item", partial(self._upload, agent, number, item))

    def _upload(self, agent: int, number: int, item: Item, _: object) -> None:
        now = self.clock.now
        if agent == self._host:
            self._uploaded.at(now, self._host, (agent, number, item))
        else:
            self._send(agent, Message(UPLOAD, self.network.header + item.size, _Parcel(agent, item, now), number))

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Finish the hops of arrivals, now or at the slot boundary."""
        now, slotted = self.clock.now, self.slotted
        for _, _, message in arrivals:
            if message.kind is PUSH and self._host == self.network.server:
                self.upload_handler.take(node, message.value[node])
                continue
            if slotted:
                self._hops.at(self.clock.effective_time(message.value.begun, now), node, message)
            else:
                self._finish_hop(node, message)

    def _finish_hops(self, due: list[tuple[int, list[Message]]]) -> None:
        for node, messages in due:
            for message in messages:
                self._finish_hop(node, message)

    def _finish_hop(self, node: int, message: Message) -> None:
        """Let *node* process messages addressed to it, and forward others."""
        parcel: _Parcel = message.value
        if node == self._host and message.kind is UPLOAD:
            self._uploaded.at(self.clock.now, node, (parcel.agent, message.round, parcel.item))
        elif node == parcel.agent and message.kind is not UPLOAD:
            self.upload_handler.take(node, parcel.item)
        else:
            onward = parcel._replace(begun=self.clock.now)
            self._send(node, Message(message.kind, message.size, onward, message.round))

    def _send(self, node: int, message: Message) -> None:
        """Put *message* on its next link, away from *node*."""
        network, agent = self.network, message.value.agent
        if self._host == network.server:
            if message.kind is UPLOAD:
                network.send_up(message, agent)
            else:
                network.send_down(message, (agent,))
        elif message.kind is UPLOAD:
            network.send(message, (network.channel(node, self._parents[node]),))
        else:
            network.send(message, (self._way_down(agent)[node],))

    def _way_down(self, agent: int) -> dict[int, Channel]:
        """Return the channel on which each node on the way from the host to *agent* passes on what is for it."""
        found = self._channels_down.get(agent)
        if found is None:
            found = self._channels_down[agent] = {}
            node = agent
            while node != self._host:
                parent = self._parents[node]
                found[parent] = self.network.channel(parent, node)
                node = parent
        return found

    def _act(self, due: list[tuple[int, list[tuple[int, int, Item]]]]) -> None:
        """Let the server absorb all uploads of this instant, and those that come before it begins."""
        ((_, uploads),) = due
        begins = not self._absorbing
        self._absorbing += uploads
        if begins:
            self.network.when_computed(self._host, "aggregate", self._answer, self._take_uploads, self._absorbing.clear)

    def _take_uploads(self) -> list[tuple[int, int, Item]]:
        uploads, self._absorbing = self._absorbing, []
        return uploads

    def _answer(self, uploads: list[tuple[int, int, Item]]) -> None:
        """Let the server absorb *uploads*, and say what it has."""
        now = self.clock.now
        if now >= self.clock.end:
            return
        uploads.sort(key=lambda upload: upload[:2])
        handler = self.upload_handler
        handler.absorb([(agent, item) for agent, _, item in uploads])
        if self.answer == "uploader":
            kind, numbers = ANSWER, {agent: number for agent, number, _ in uploads}
        else:
            self._number += 1  # its pushes use their links anew
            kind, numbers = PUSH, dict.fromkeys(handler.lagging(), self._number)
        agents = list(numbers)
        host = self._host
        self.downloads += len(agents)
        items = handler.give(agents)
        if items and kind is PUSH and host == self.network.server:
            # One message with the download of each agent: there may be very many.
            found = dict(zip(agents, items, strict=True))
            self.network.send_down(Message(PUSH, self.network.header + items[0].size, found, self._number), agents)
            return
        for agent, item in zip(agents, items, strict=True):
            if agent == host:
                handler.take(agent, item)
            else:
                self._send(
                    host, Message(kind, self.network.header + item.size, _Parcel(agent, item, now), numbers[agent])
                )

    def _pass_deadline(self, agent: int, number: int) -> None:
        """Let *agent* test again if it still waits for the answer to the upload of this *number*."""
        if self._latest[agent] == number:
            self.upload_handler.resume(agent)
