"""A round ends when all who count hold one another's items, whoever goes down, commits, forgets or hears what when."""

from hypothesis import given
from hypothesis import strategies as st

from netbandit.network.clock import SENDS, Clock, Environment
from netbandit.protocols.open_rounds import OpenRounds
from netbandit.protocols.protocol import Item

AGENTS = 4


class Network:
    """Says who goes down when it is told to."""

    def __init__(self, fails):
        self.agents, self.acting = AGENTS, range(AGENTS)
        self.agents_fail, self.changed = fails, lambda agent, up: None
        self.environment = Environment()
        self.clock = Clock(self.environment, 1_000, 100)
        self.channels, self.header = [()] * AGENTS, 0
        self.links = self  # of which there is none

    def out(self, sender):
        return {}

    def watch_agents(self, changed):
        self.changed = changed
        return []


class Silent:
    """Nodes that do nothing."""

    merges, stream = True, ""

    def on_message(self, node, neighbour, message):
        raise AssertionError

    def act(self, node, labels):
        pass


def rounds_of(fails=True, per_agent=False, groups=(range(AGENTS),)):
    ended = []
    network = Network(fails)
    end = lambda round, labels: ended.append((round.number, labels))  # noqa: E731
    rounds = OpenRounds(network, groups, Silent(), False, SENDS, end, per_agent)
    return rounds, network, ended


def learn(rounds, round, agent, labels):
    """Let an agent hold items, as handlers do."""
    rounds._take_in([(round.nodes[agent], labels)])


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["contribute", "learn", "down", "up", "done", "forget"]),
        st.integers(0, AGENTS - 1),
        st.integers(0, (1 << AGENTS) - 1),
    ),
    max_size=40,
)


@given(EVENTS)
def test_rounds_end_by_who_counts_and_what_they_hold(events):
    rounds, network, ended = rounds_of()
    down, missed, done, known, contributed = set(), None, set(), [0] * AGENTS, 0
    for what, agent, labels in events:
        open_now = rounds.get(1, agent)
        if what == "contribute" and not ended and agent not in down:
            if missed is None:
                missed = set(down)
            rounds.contribute(1, agent, Item(8, None))
            contributed |= 1 << agent
        elif what == "learn" and open_now is not None and agent not in down:
            known[agent] |= labels & contributed
            learn(rounds, open_now, agent, labels & contributed)
        elif what in ("down", "up") and (agent in down) == (what == "up"):
            (down.add if what == "down" else down.discard)(agent)
            if what == "down" and missed is not None:
                missed.add(agent)
            network.changed(agent, what == "up")
        elif what == "done":
            done.add(agent)
            rounds.done(agent, 1)
        elif what == "forget" and agent in down:
            done.discard(agent)
            known[agent] = 0
            rounds.forget(agent)
        if missed is None or ended:
            continue
        counting = [one for one in range(AGENTS) if one not in done and one not in missed]
        if not counting:
            missed = set(down)
            counting = [one for one in range(AGENTS) if one not in done and one not in down]
        assert rounds.get(1, 0).required == sum(1 << one for one in counting)
        assert rounds.get(1, 0).missing == sum(not known[one] >> other & 1 for one in counting for other in counting)
    if missed is not None:
        counting = [one for one in range(AGENTS) if one not in done and one not in missed]
        if ended:
            (number, common), *more = ended
            assert (number, more) == (1, [])
            assert rounds.get(1, 0) is None
            assert common & contributed == common
        else:
            assert not counting or any(not known[one] >> other & 1 for one in counting for other in counting)


def test_who_has_committed_holds_nobody_up():
    rounds, _, ended = rounds_of(fails=False, per_agent=True)
    for agent in (1, 2, 3):
        round = rounds.contribute(1, agent, Item(8, None))
    for agent in (1, 2, 3):
        learn(rounds, round, agent, 0b1110)
    assert ended == []
    rounds.done(0, 1)
    assert ended == [(1, 0b1110)]


def test_each_group_has_rounds_of_its_own():
    rounds, _, ended = rounds_of(fails=False, groups=([0, 2], [1, 3]))
    for agent in range(AGENTS):
        rounds.contribute(7, agent, Item(8, None))
    learn(rounds, rounds.get(7, 1), 1, 0b1010)
    learn(rounds, rounds.get(7, 3), 3, 0b1010)
    assert ended == [(7, 0b1010)]
    assert rounds.get(7, 1) is None
    assert rounds.get(7, 0).in_order(-1) == [0, 2]


def test_sizes_and_held_items_go_in_order_of_agents():
    rounds, _, _ = rounds_of()
    for agent, size in ((2, 8), (0, 8), (3, 16)):
        round = rounds.contribute(1, agent, Item(size, agent))
    assert [item.value for item in round.named(0b1101)] == [0, 2, 3]
    assert round.size(0b1101) == 3 * 4 + 32
    round.nodes[0].held = 0b1101
    rounds.forget(2)
    round.contribute(2, Item(8, "again"))
    assert [item.value for item in round.held(2)] == ["again"]
    assert [item.value for item in round.held(0)] == [0, 2, 3]


def test_nobody_is_left_to_talk_for_when_all_have_gone_on():
    rounds, _, _ = rounds_of(fails=False, per_agent=True)
    waiting = {0, 1, 2, 3}
    rounds.ask_who_waits(lambda number: sorted(waiting))
    for agent in range(AGENTS):
        round = rounds.contribute(1, agent, Item(8, None))
        rounds.look_who_is_left(round)
    assert not round.deserted
    waiting.clear()
    rounds.look_who_is_left(round)
    assert round.deserted
