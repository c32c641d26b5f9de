"""Writes a trace: one JSON line per message, as it is sent, one per phase of an agent, and one per late reward."""

import json
from pathlib import Path
from types import TracebackType

from netbandit.network.link import Channel
from netbandit.network.message import Message
from netbandit.network.observer import Observer


class Trace(Observer):
    """Writes messages, phases and late rewards to a file of JSON lines; leaving its context closes the file.

    The line of a message has ``kind``, ``round``, ``from``, ``to`` (a node, or ``"server"``), ``bytes``, and in
    nanoseconds ``sent`` (handed to the link), ``start`` (put on the link, after queueing) and ``arrival``. A
    broadcast of the server, which uses no link, says ``"broadcast": true``; what never arrives says ``"lost": true``,
    and its arrival is when it would have arrived. What arrives at the horizon or later was under way at the end.

    The line of a copy that the network makes of a message has ``copy`` in place of ``kind``, and is the same else.

    What becomes of a message otherwise has a line with ``fate``, ``message`` (its kind), ``round``, ``from``, ``to``,
    ``bytes`` and, in nanoseconds, ``at``. ``"dropped"``: it found the queue of the link full; ``"unsent"``: it never
    began, see the metric of this name. These have no other line, and say when they were handed to the link.
    ``"refused"``: it found the inbox of its receiver full, and is lost; ``"duplicates_dropped"``: its receiver had it
    already. These say when they arrived.

    The line of a phase has ``phase`` (``"explore"``, ``"feedback"``: rewards of it are awaited, ``"exploit"``,
    ``"gather"``), ``agent``, ``round`` (the one it leads to or waits for, 0 for none), in nanoseconds ``begin`` and
    ``end``, and what else is worth knowing of it.

    The line of a reward that is learned late, of agents that decide in slots, has ``reward`` (its arm), ``agent``, and
    in nanoseconds ``pulled`` and ``due``.

    The line of a job has ``job`` (``"message"``, ``"item"``, ``"decision"``, ``"aggregate"``), ``node``, and in
    nanoseconds ``begin`` and ``end``; that of a message ``handles`` its kind.

    Args:
        path: The file, made anew.
        server: The server's number.
    """

    def __init__(self, path: Path, server: int) -> None:
        self._file = path.open("w", encoding="utf-8", newline="\n")
        self._server = server

    def __enter__(self) -> "Trace":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()

    def hop(
        self, channel: Channel, message: Message, put_at: int, start: int, arrival: int, lost: bool, copy: bool
    ) -> None:
        """Write one message, or a *copy* of one; see `Observer.hop`."""
        name = {"copy" if copy else "kind": message.kind.name}
        self._write(channel, message, name, {"sent": put_at, "start": start, "arrival": arrival}, lost)

    def fate(self, channel: Channel, message: Message, fate: str, time: int) -> None:
        """Write what became of a message; see `Observer.fate`."""
        self._write(channel, message, {"fate": fate, "message": message.kind.name}, {"at": time})

    def _write(
        self, channel: Channel, message: Message, what: dict[str, str], when: dict[str, int], lost: bool = False
    ) -> None:
        line: dict[str, object] = {
            **what,
            "round": message.round,
            "from": self._name(channel.sender),
            "to": self._name(channel.receiver),
            "bytes": message.size,
            **when,
        }
        if channel.is_broadcast:
            line["broadcast"] = True
        if lost:
            line["lost"] = True
        self._file.write(json.dumps(line) + "\n")

    def phase(self, name: str, agent: int, round: int, begin: int, end: int, **details: int) -> None:
        """Write what *agent* did from *begin* to *end*, in nanoseconds; what took no time is not written."""
        if begin < end:
            line = {"phase": name, "agent": agent, "round": round, "begin": begin, "end": end, **details}
            self._file.write(json.dumps(line) + "\n")

    def job(self, work: str, node: int, begin: int, end: int, kind: str | None) -> None:
        """Write what *node* computed from *begin* to *end*, in nanoseconds; of a message its *kind*."""
        line: dict[str, object] = {"job": work, "node": self._name(node), "begin": begin, "end": end}
        if kind is not None:
            line["handles"] = kind
        self._file.write(json.dumps(line) + "\n")

    def reward(self, arm: int, agent: int, pulled: int, due: int) -> None:
        """Write that *agent* has pulled *arm* at a time, and when its reward is due, in nanoseconds."""
        self._file.write(json.dumps({"reward": arm, "agent": agent, "pulled": pulled, "due": due}) + "\n")

    def _name(self, node: int) -> int | str:
        return "server" if node == self._server else node
