"""Late feedback written apart, agent by agent and slot by slot: which arm is to be pulled, given what was paid."""

from math import ceil, exp, floor, inf, log, sqrt
from statistics import NormalDist

import numpy as np

from netbandit.network.draws import Draws
from netbandit.util.streams import Streams


def delay_of(law, uniform, slot):
    """Return the delay (ns) that a law of a scenario makes of a uniform number; durations are in whole ms or slots."""
    if isinstance(law, str):
        return _ns(law, slot)
    ((kind, given),) = law.items()
    if kind == "uniform":
        shortest, longest = (_ns(end, slot) for end in given)
        return shortest + floor(uniform * (longest - shortest + 1))
    if kind == "geometric":
        return floor(log(1 - uniform) / log(given / (1 + given))) * slot
    if kind == "exponential":
        return round(-_ns(given, slot) * log(1 - uniform))
    if kind == "lognormal":
        return round(_ns(given[0], slot) * exp(given[1] * NormalDist().inv_cdf(uniform)))
    return round(_ns(given[0], slot) * (1 - uniform) ** (-1 / given[1]))


def _ns(text, slot):
    number, unit = text.split()
    return round(float(number) * (slot if unit.startswith("slot") else 1_000_000))


class Counts:
    """What an agent of a learner that counts has learned: a list of (arm, reward, slot)."""

    def __init__(self, arms, keys, rng):
        self.arms, self.keys, self.rng = arms, keys, rng
        self.learned, self.pulled = [], []

    def choose(self, slot, shown):
        first = len(self.pulled)
        arm = first if first < self.arms else self.best(slot)
        self.pulled.append((arm, slot))
        return arm

    def best(self, slot):
        fade = self.keys.get("discount", 1.0)
        pulls, sums = np.zeros((2, self.arms))
        for arm, reward, pulled in self.learned:
            decisions = sum(then > pulled for _, then in self.pulled)
            pulls[arm] += fade**decisions
            sums[arm] += reward * fade**decisions
        made = np.bincount([arm for arm, _ in self.pulled], minlength=self.arms)
        unknown = np.flatnonzero(pulls == 0)
        if len(unknown):
            return int(unknown[made[unknown].argmin()])
        width = made if self.keys.get("counts") == "pulled" else pulls
        time = log(max(slot if fade == 1 else pulls.sum(), 1.0))
        if self.keys["kind"] == "ucb":
            return int(np.argmax(sums / pulls + 0.5 * sqrt(8 * time) / np.sqrt(width)))
        if self.keys["kind"] == "klucb":
            return int(np.argmax([_upper(sums[arm] / pulls[arm], time / width[arm]) for arm in range(self.arms)]))
        drawn = [self.rng.beta(1 + sums[arm], 1 + max(pulls[arm] - sums[arm], 0.0)) for arm in range(self.arms)]
        return int(np.argmax(drawn))

    def learn(self, slot, arm, reward, vector):
        self.learned.append((arm, reward, slot))


def _upper(mean, level):
    low, high = mean, 1.0
    if mean >= 1:
        return 1.0
    for _ in range(40):
        middle = (low + high) / 2
        distance = sum(p * log(p / q) for p, q in ((mean, middle), (1 - mean, 1 - middle)) if p > 0)
        low, high = (middle, high) if distance <= level else (low, middle)
    return low


class Queued:
    """QPM-D: what the base was fed, in order, is in ``base.learned``."""

    def __init__(self, arms, keys, rng):
        self.base = Counts(arms, keys["base"], rng)
        self.queues = [[] for _ in range(arms)]
        self.wanted = self.base.choose(0, None)

    def choose(self, slot, shown):
        while self.queues[self.wanted]:
            clock = len(self.base.learned)
            self.base.learn(clock, self.wanted, self.queues[self.wanted].pop(0), None)
            self.wanted = self.base.choose(clock + 1, None)
        return self.wanted

    def learn(self, slot, arm, reward, vector):
        self.queues[arm].append(reward)


class Otf:
    """OTFLinUCB, with V and u added up anew in each slot."""

    def __init__(self, arms, keys, rng):
        self.keys, self.pulls, self.responses = keys, [], []

    def choose(self, slot, shown):
        dimension = shown.shape[1]
        gram = self.keys["regularizer"] * np.eye(dimension) + sum((np.outer(x, x) for _, x in self.pulls), 0.0)
        estimate = np.linalg.solve(gram, np.sum([np.zeros(dimension), *self.responses], axis=0))
        tight = self.keys["bonus"] == "tight"
        confidence, window = 2 * log(1 / self.keys["delta"]), self.keys["window"]
        if tight:
            grown = log(np.linalg.det(gram) / self.keys["regularizer"] ** dimension)
            width = sqrt(self.keys["regularizer"]) + sqrt(confidence + grown)
        else:
            width = 2 * sqrt(confidence + dimension * log(1 + len(self.pulls) / (dimension * self.keys["regularizer"])))
        for pulled, x in self.pulls:
            if pulled > slot - window or (pulled == slot - window and not tight):
                width += sqrt(x @ np.linalg.solve(gram, x))
        bounds = [x @ estimate + self.keys["scale"] * width * sqrt(x @ np.linalg.solve(gram, x)) for x in shown]
        best = int(np.argmax(bounds))
        self.pulls.append((slot, shown[best].copy()))
        return best

    def learn(self, slot, arm, reward, vector):
        self.responses.append(reward * vector)


_KINDS = {"queued": Queued, "otflinucb": Otf}


def follow(tables, decisions, seed=0):
    """Assert that each of the *decisions* is the one that the rules give; return how many rewards were learned late.

    Args:
        tables: The scenario's tables ``learner`` and ``feedback``, its slot (ns), agents, arms and slots.
        decisions: In order, (slot, agent, arm, reward, shown): shown are the vectors, or None.
        seed: Of the run.
    """
    slot, agents, arms, feedback = (tables[key] for key in ("slot", "agents", "arms", "feedback"))
    streams = Streams(seed, 0)
    delays, silence = (Draws(streams, purpose, agents) for purpose in ("feedback", "feedback.never"))
    window = _ns(feedback["window"], slot) if "window" in feedback else inf
    keys = {"regularizer": 1.0, "delta": 0.05, "scale": 1.0, "bonus": "paper", **tables["learner"]}
    keys["window"] = 0 if window == inf else ceil(window / slot)
    learners = [
        _KINDS.get(keys["kind"], Counts)(arms, keys, streams.generator("thompson", agent)) for agent in range(agents)
    ]
    waiting = [[] for _ in range(agents)]
    numbers = [0] * agents
    late = 0
    for now, agent, pulled, reward, shown in decisions:
        for due, number, *what in sorted(waiting[agent], key=lambda one: one[:2]):
            if due <= now * slot:
                learners[agent].learn(*what)
                late += what[0] < now - 1
                waiting[agent] = [one for one in waiting[agent] if one[1] != number]
        assert learners[agent].choose(now, shown) == pulled, f"slot {now}, agent {agent}"
        number = numbers[agent]
        numbers[agent] += 1
        law = feedback.get("delay", "0 ms")
        law = feedback["by_arm"][pulled] if "by_arm" in feedback else law
        law = feedback["by_agent"][agent] if "by_agent" in feedback else law
        never = feedback.get("never", 0.0)
        never = never[pulled] if isinstance(never, list) else never
        delay = delay_of(law, delays.number(agent, number), slot)
        silent = silence.number(agent, number) < never or (feedback.get("reports") == "nonzero" and reward == 0)
        if silent or delay > window:
            if feedback.get("missing") != "zero":
                continue
            delay, reward = window, 0.0
        what = (now, pulled, reward, None if shown is None else shown[pulled])
        if delay == 0:
            learners[agent].learn(*what)
        else:
            waiting[agent].append((now * slot + delay, number, *what))
    return late
