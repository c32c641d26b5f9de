"""Protocols of rounds of one's own, written as coroutines."""

import netbandit as nb
from netbandit.parts.component import Mistake
from netbandit.protocols.deadline import DeadlineKey
from netbandit.protocols.neighbour_rounds import must_be_connected

UP, DOWN, NEWS, OLD = nb.Kind("UP"), nb.Kind("DOWN"), nb.Kind("NEWS"), nb.Kind("OLD")


class Hub(DeadlineKey, nb.RoundProtocol):
    """Agent 0 hears all others, its neighbours, and tells them what stands for all."""

    def check_with(self, others):
        graph = getattr(others, "graph", None)
        if graph is not None and len(graph.neighbours[0]) < graph.agents - 1:
            yield Mistake("kind", "needs an agent 0 that is everybody's neighbour")

    def round(self, me, item):
        if me.id == 0:
            items = yield me.receive(UP, from_=me.neighbours, deadline=self.deadline)
            answer = self.aggregate([item, *items])
            me.send(DOWN, answer, to=me.neighbours)
            return answer
        me.send(UP, item, to=0)
        answer = yield me.receive(DOWN, deadline=self.deadline)
        return item if answer is None else answer


class Waves(DeadlineKey, nb.RoundProtocol):
    """Everybody passes on all that is new at once, from a moment of its own on, and an odd agent under another kind."""

    def check_with(self, others):
        yield from must_be_connected(others, "a wave over ")

    def round(self, me, item):
        kind = OLD if me.id % 2 else NEWS
        if me.id % 3 == 0:
            yield me.wait("1 slots")
        held = fresh = {me.id: item}
        while True:
            if fresh:
                me.send(kind, [fresh, me.id], to=me.neighbours)
            if len(held) == me.agents:
                break
            told = yield me.receive_all((NEWS, OLD), deadline=self.deadline)
            if not told:
                break
            fresh = {label: one for news, _ in told for label, one in news.items() if label not in held}
            held = held | fresh
        return self.aggregate([held[label] for label in sorted(held)])
