"""CDP-MAB and DDP-MAB once more, as plainly as can be: no SimPy, no networkx, nothing of the simulator but its draws.

Time is one list of things to do, searched for the earliest; what agents pull is written down slot by slot.
"""

import math
from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from netbandit.util.streams import Streams

ARRIVE, AGENT, SEND = 0, 1, 2  # the order at an instant


@dataclass
class World:
    agents: int
    horizon: int
    slot: int
    edges: list[tuple[int, int]]
    means: np.ndarray
    protocol: str
    slotted: bool
    peer_latency: dict[tuple[int, int], int]
    up_latency: list[int]
    peer_bits: int | None
    up_bits: int | None
    streams: Streams
    epsilon: float = math.inf
    rounds: int | None = None
    gap: float | None = None
    participants: int = 0
    peer_cost: float = 1.0
    up_cost: float = 25.0

    @property
    def gaps(self):
        average = [math.fsum(column) / self.agents for column in self.means.T.tolist()]
        return [max(average) - mean for mean in average]


class Brain:
    """Elimination straight from the paper, of one cohort."""

    def __init__(self, world, members, participants, draws):
        self.world, self.members, self.n = world, members, participants
        self.draws = draws
        self.arms = list(range(world.means.shape[1]))
        self.pulled = 0
        self.shared = {}
        self.sums = defaultdict(int)
        self.committed = 0 if len(self.arms) == 1 else None
        self.epoch = 0
        self.lengths = {}

    def begin(self, epoch):
        """The pulls of each arm in this epoch, its arms, and S(r-1)."""
        assert epoch == self.epoch + 1
        self.epoch = epoch
        world, n, r, k, t = self.world, self.n, epoch, self.world.means.shape[1], self.world.horizon
        d = 2.0**-r if world.rounds is None else world.gap ** (r / world.rounds)
        log_active, log_all = math.log(8 * len(self.arms) * r * r * t), math.log(8 * k * r * r * t)
        need = 8 * log_active / (n * d * d)
        if world.epsilon < math.inf:
            need = max(need, 8 * r * math.sqrt(2 * log_all) / (n**1.5 * world.epsilon * d))
        self.before, self.pulled = self.pulled, max(math.ceil(need), self.pulled + 1)
        self.radius = math.sqrt(log_active / (2 * n * self.pulled))
        if world.epsilon < math.inf:
            self.radius += r * math.sqrt(8 * log_all) / (n**1.5 * world.epsilon * self.pulled)
        return list(self.arms), self.pulled - self.before

    def observe(self):
        """Draw; return what each member shares and what it pulls while it waits."""
        rewards, noise = self.draws(self.epoch)
        n = self.pulled - self.before
        table = rewards.binomial(n, self.world.means[np.ix_(self.members, self.arms)])
        shifts = np.zeros(table.shape)
        if self.world.epsilon < math.inf:
            shifts = noise.laplace(0, 1 / (self.n * self.world.epsilon * n), table.shape)
        best = {}
        for row, agent in enumerate(self.members):
            for column, arm in enumerate(self.arms):
                y = table[row, column] / n + shifts[row, column]
                old = self.shared.get((agent, arm), 0.0)
                self.shared[agent, arm] = self.before / self.pulled * old + n / self.pulled * y
                self.sums[agent, arm] += int(table[row, column])
            best[agent] = max(self.arms, key=lambda arm: (self.sums[agent, arm], -arm))
        return {agent: [self.shared[agent, arm] for arm in self.arms] for agent in self.members}, best

    def conclude(self, lists):
        average = [math.fsum(column) / len(lists) for column in zip(*lists, strict=True)]
        most = max(average)
        best = self.arms[average.index(most)]
        self.arms = [arm for arm, mean in zip(self.arms, average, strict=True) if most - mean < 2 * self.radius]
        if len(self.arms) == 1 or self.epoch == self.world.rounds:
            self.committed = best


@dataclass
class Seen:
    starts: list[tuple[int, int, int]] = field(default_factory=list)  # slot, agent, length
    kinds: dict[str, list[int]] = field(default_factory=dict)
    active: set = field(default_factory=set)
    broadcasts: int = 0
    rounds: int = 0
    round_slots: float = 0.0
    waits: list[int] = field(default_factory=list)
    cost: float = 0.0
    activations: int = 0
    regret: np.ndarray | None = None


class LockStep:
    def __init__(self, world):
        self.w = world
        self.end = world.horizon * world.slot
        self.todo = []
        self.seen = Seen()
        self.played = [[None] * world.horizon for _ in range(world.agents)]
        self.free = defaultdict(int)
        self.air = defaultdict(int)
        self.near = [sorted({b for a, b in world.edges if a == i} | {a for a, b in world.edges if b == i})
                     for i in range(world.agents)]  # fmt: skip
        alone = world.protocol == "silent"
        self.alone = alone

        def common(epoch):
            return world.streams.generator("rewards", epoch), world.streams.generator("noise", epoch)

        if alone:
            self.brains = []
            for agent in range(world.agents):
                own = common(agent)
                self.brains.append(Brain(world, [agent], 1, lambda epoch, own=own: own))
        else:
            self.brains = [Brain(world, list(range(world.agents)), world.participants, common)]
        self.plan = {}  # (brain, epoch) -> ("explore", arms, pulls) or ("commit", arm)
        self.data = {}  # (brain, epoch) -> shared, best
        self.round = {}  # round -> state of the protocol
        self.heard = defaultdict(dict)  # round -> agent -> time
        self.done = {}  # round -> time
        self.waits = defaultdict(list)
        self.waiting = {}  # agent -> (round, end slot, best)

    # -- time
    def at(self, time, stage, what):
        self.todo.append((time, stage, len(self.todo), what))

    def run(self):
        for agent in range(self.w.agents):
            self.phase(agent, 1, 0)
        while self.todo:
            time, stage = min(entry[:2] for entry in self.todo)
            self.now = time
            due = [entry for entry in self.todo if entry[:2] == (time, stage)]
            self.todo = [entry for entry in self.todo if entry[:2] != (time, stage)]
            if stage == ARRIVE:
                self.arrivals([entry[3] for entry in due])
            elif stage == AGENT:
                for agent, epoch in sorted(entry[3] for entry in due if len(entry[3]) == 2):
                    self.phase_over(agent, epoch)
                for node, epoch, source in [entry[3] for entry in due if len(entry[3]) == 3]:
                    self.hear_relayed(node, epoch, source)
            else:
                self.sends([entry[3] for entry in due])
        return self.result()

    # -- agents
    def brain(self, agent):
        return agent if self.alone else 0

    def phase(self, agent, epoch, start):
        if start >= self.w.horizon:
            return
        number = self.brain(agent)
        brain = self.brains[number]
        if (number, epoch) not in self.plan:
            self.plan[number, epoch] = (
                ("commit", brain.committed) if brain.committed is not None else ("explore", *brain.begin(epoch))
            )
        plan = self.plan[number, epoch]
        if plan[0] == "commit":
            for slot in range(start, self.w.horizon):
                self.pull(agent, slot, plan[1])
            return
        _, arms, pulls = plan
        length = len(arms) * pulls
        self.seen.starts.append((start, agent, length))
        for slot in range(start, min(start + length, self.w.horizon)):
            self.pull(agent, slot, arms[(slot - start) // pulls])
        if start + length >= self.w.horizon:
            return
        if (number, epoch) not in self.data:
            self.data[number, epoch] = brain.observe()
        self.at((start + length) * self.w.slot, AGENT, (agent, epoch))

    def pull(self, agent, slot, arm):
        assert self.played[agent][slot] is None
        self.played[agent][slot] = arm

    def phase_over(self, agent, epoch):
        shared, best = self.data[self.brain(agent), epoch]
        end = self.now // self.w.slot
        self.waiting[agent] = epoch, end, best[agent]
        takes_part = self.alone or agent in self.chosen(epoch)
        self.contribute(agent, epoch, shared[agent] if takes_part else None)
        if agent in self.heard[epoch]:
            self.informed(agent, epoch)

    def chosen(self, epoch):
        if self.alone or self.w.participants == self.w.agents:
            return list(range(self.w.agents))
        rng = self.w.streams.generator("participants", epoch)
        return sorted(rng.choice(self.w.agents, self.w.participants, replace=False).tolist())

    def informed(self, agent, epoch):
        self.heard[epoch].setdefault(agent, self.now)
        if self.waiting.get(agent, (None,))[0] != epoch:
            return  # still explores
        _, end, best = self.waiting.pop(agent)
        start = -(-self.now // self.w.slot)
        for slot in range(end, min(start, self.w.horizon)):
            self.pull(agent, slot, best)
        self.waits[epoch].append(start - end)
        self.phase(agent, epoch + 1, start)

    def conclude(self, number, epoch, lists):
        """Return the size of the answer."""
        brain = self.brains[number]
        brain.conclude(lists)
        if brain.committed is not None:
            self.plan[number, epoch + 1] = ("commit", brain.committed)
            return 4 * len(brain.arms)
        self.plan[number, epoch + 1] = ("explore", *brain.begin(epoch + 1))
        return 4 * len(brain.arms) + (4 * self.w.participants if self.w.participants < self.w.agents else 0)

    # -- links
    def put(self, sender, receiver, kind, size, value):
        up = self.w.agents in (sender, receiver)
        agent = min(sender, receiver)
        bits = self.w.up_bits if up else self.w.peer_bits
        latency = self.w.up_latency[agent] if up else self.w.peer_latency[min(sender, receiver), max(sender, receiver)]
        start = max(self.now, self.free[sender, receiver])
        if start >= self.end:
            return
        self.free[sender, receiver] = start + (0 if bits is None else -(-size * 8 * 10**9 // bits))
        count = self.seen.kinds.setdefault(kind, [0, 0])
        count[0] += 1
        count[1] += size
        pair = (min(sender, receiver), max(sender, receiver))
        self.seen.active.add((pair, value[0] if up else start // self.w.slot))
        self.at(self.free[sender, receiver] + latency, ARRIVE, (receiver, sender, kind, value))

    def tell(self, agents, size, value):
        if self.now >= self.end or not agents:
            return
        self.seen.broadcasts += 1
        for agent in agents:
            took = 0 if self.w.up_bits is None else -(-size * 8 * 10**9 // self.w.up_bits)
            self.air[agent] = max(self.air[agent], self.now + took + self.w.up_latency[agent])
            self.at(self.air[agent], ARRIVE, (agent, self.w.agents, "ANSWER", value))

    def adopt(self, begun):
        return max(begun // self.w.slot + 1, -(-self.now // self.w.slot)) * self.w.slot

    # -- protocols
    def contribute(self, agent, epoch, item):
        if self.alone:
            self.conclude(agent, epoch, [item])
            self.heard[epoch][agent] = self.now
        elif self.w.protocol == "master-worker":
            if item is not None:
                self.put(agent, self.w.agents, "UPLOAD", 20 + 8 * len(item), (epoch, item))
        else:
            state = self.round.setdefault(
                epoch, {"items": {}, "lists": [set() for _ in self.near], "asked": [set() for _ in self.near]}
            )
            state["items"][agent] = item
            state["asked"][agent].add(agent)
            if self.w.protocol == "relay":
                self.hear_relayed(agent, epoch, agent)
            else:
                self.at(self.now, SEND, (agent, epoch, agent, None))

    def hear_relayed(self, node, epoch, source):
        """Take in an item, pass it on along the tree of its source, and go on when it is the last one."""
        state = self.round[epoch]
        state["lists"][node].add(source)
        for child in self.children(source, node):
            size = 24 + 8 * len(state["items"][source])
            self.put(node, child, "RELAY", size, (epoch, source, self.now))
        if len(state["lists"][node]) == self.w.agents:
            if not self.heard[epoch]:
                self.conclude(0, epoch, [state["items"][agent] for agent in range(self.w.agents)])
            self.heard[epoch][node] = self.now
            if len(self.heard[epoch]) == self.w.agents:
                self.done[epoch] = self.now
            self.informed(node, epoch)

    def children(self, source, node):
        distance = {source: 0}
        for parent in (queue := [source]):
            for child in self.near[parent]:
                if child not in distance:
                    distance[child] = distance[parent] + 1
                    queue.append(child)
        return [
            child
            for child in self.near[node]
            if distance[child] == distance[node] + 1
            and node == min(other for other in self.near[child] if distance[other] == distance[node])
        ]

    def arrivals(self, due):
        order = sorted(range(len(due)), key=lambda i: (due[i][0], due[i][1], i))
        learnt = []
        for place, index in enumerate(order):
            receiver, sender, kind, value = due[index]
            epoch = value[0]
            if kind == "UPLOAD":
                state = self.round.setdefault(epoch, {})
                state[sender] = value[1]
                chosen = self.chosen(epoch)
                if len(state) == len(chosen):
                    size = 20 + self.conclude(0, epoch, [state[agent] for agent in chosen])
                    for agent in chosen:
                        self.put(self.w.agents, agent, "ANSWER", size, (epoch,))
                    self.tell([agent for agent in range(self.w.agents) if agent not in chosen], size, (epoch,))
            elif kind == "ANSWER":
                self.heard[epoch][receiver] = self.now
                if len(self.heard[epoch]) == self.w.agents:
                    self.done[epoch] = self.now
                self.informed(receiver, epoch)
            elif kind == "RELAY":
                if self.w.slotted:
                    self.at(self.adopt(value[2]), AGENT, (receiver, epoch, value[1]))
                else:
                    self.hear_relayed(receiver, epoch, value[1])
            elif epoch not in self.done:
                learnt += self.hear(receiver, sender, kind, value)
            if learnt and (place + 1 == len(order) or due[order[place + 1]][0] != receiver):
                self.sends(learnt)  # asynchronous: the node acts, then the next one hears
                learnt = []

    def hear(self, node, sender, kind, value):
        """A message between agents; return what is learnt at once, in asynchronous time."""
        epoch, labels, begun = value
        state = self.round[epoch]
        if kind == "ADV":
            wanted = sorted(set(labels) - state["asked"][node])
            state["asked"][node] |= set(wanted)
            if wanted:
                self.put(node, sender, "REQ", 20 + 4 * len(wanted), (epoch, wanted, begun))
            return []
        if kind == "REQ":
            size = 20 + sum(4 + 8 * len(state["items"][label]) for label in labels)
            self.put(node, sender, "DATA", size, (epoch, labels, begun))
            return []
        news = [(node, epoch, label, sender) for label in labels if label not in state["lists"][node]]
        if not self.w.slotted:
            return news
        for one in news:
            self.at(self.adopt(begun), SEND, one)
        return []

    def sends(self, due):
        """Nodes take in (node, round, label, sender); rounds end; nodes pass on."""
        new = {}
        for node, epoch, label, sender in due:
            if epoch not in self.done:
                new.setdefault((node, epoch), {}).setdefault(label, set()).add(sender)
                self.round[epoch]["lists"][node].add(label)
        for epoch in sorted({epoch for _, epoch in new}):
            state = self.round[epoch]
            if all(len(known) == self.w.agents for known in state["lists"]):
                self.done[epoch] = self.now
                self.conclude(0, epoch, [state["items"][agent] for agent in range(self.w.agents)])
                for agent in range(self.w.agents):
                    self.informed(agent, epoch)
        for node, epoch in sorted(new):
            if epoch in self.done:
                continue
            if self.w.protocol == "gis":
                labels = sorted(new[node, epoch])
                for other in self.near[node]:
                    self.put(node, other, "ADV", 20 + 4 * len(labels), (epoch, labels, self.now))
            else:
                for label, senders in new[node, epoch].items():
                    size = 24 + 8 * len(self.round[epoch]["items"][label])
                    for other in self.near[node]:
                        if other not in senders:
                            self.put(node, other, "FLOOD", size, (epoch, [label], self.now))

    # -- result
    def result(self):
        w, seen = self.w, self.seen
        for agent, (_, end, best) in self.waiting.items():
            for slot in range(end, w.horizon):
                self.pull(agent, slot, best)
        gaps = w.gaps
        per_slot = [sum(gaps[self.played[agent][slot]] for agent in range(w.agents)) for slot in range(w.horizon)]
        seen.regret = np.concatenate([[0.0], np.cumsum(per_slot)])
        ended = [epoch for epoch, time in self.done.items() if time <= self.end]
        seen.rounds = len(ended)
        waits = [wait for epoch in ended for wait in self.waits[epoch]]
        seen.round_slots = sum(waits) / len(waits) if waits else 0.0
        seen.waits = waits
        seen.activations = len(seen.active)
        seen.cost = sum(w.up_cost if w.agents in pair else w.peer_cost for pair, _ in seen.active)
        seen.starts.sort()
        return seen
