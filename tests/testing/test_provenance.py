from netbandit.protocols.protocol import Item
from netbandit.testing.provenance import Provenance, Use
from netbandit.testing.swarm import _point
from netbandit.testing.trial import Trial


def message(sender, receiver, sent, arrival, kind="FLOOD", **more):
    return {"kind": kind, "from": sender, "to": receiver, "sent": sent, "arrival": arrival, **more}


def unheard(messages, *uses):
    seen = Provenance(contributed={(1, 0): 10, (1, 1): 20}, uses=list(uses))
    return list(seen.unheard(messages, lambda agent, begin, end: False))


def test_what_was_sent_before_it_was_contributed_carries_nothing():
    both = frozenset({(1, 0), (1, 1)})
    path = [message(0, 1, 10, 15), message(1, 2, 20, 30)]
    assert not unheard(path, Use(2, 30, both))
    assert "[(1, 0), (1, 1)]" in unheard(path, Use(2, 29, both))[0]
    early = [message(0, 1, 9, 15), message(1, 2, 20, 30)]
    assert "[(1, 0)]" in unheard(early, Use(2, 30, both))[0]
    late = [message(0, 1, 10, 21), message(1, 2, 20, 30)]
    assert "[(1, 0)]" in unheard(late, Use(2, 30, both))[0]


def test_what_is_lost_or_announced_brings_no_item():
    use = Use(1, 30, frozenset({(1, 0)}))
    assert unheard([message(0, 1, 10, 15, lost=True)], use)
    assert unheard([message(0, 1, 10, 15, "ADV-RETRY")], use)
    assert not unheard([message(0, 1, 10, 15, "DATA-RETRY")], use)


def test_what_takes_no_time_is_there_at_once():
    path = [message(0, "server", 10, 10), message("server", 1, 10, 10)]
    assert not unheard(path, Use(1, 10, frozenset({(1, 0)})))


def test_an_item_is_not_to_be_used_twice():
    seen = Provenance()
    one, other = Item(8, 1), Item(8, 2)
    seen.made(one, frozenset({(1, 0)}))
    seen.made(other, frozenset({(1, 0), (1, 1)}))
    seen.put_together([one])
    assert not seen.breaches
    seen.put_together([one, other])
    assert "[(1, 0)]" in seen.breaches[0]


def test_a_run_of_rounds_is_followed():
    """Five agents on a path: each goes on with what all contributed, four hops later and no sooner."""
    tables = {
        "run": {"horizon": 1000, "slot": "1 ms"},
        "topology": {"family": "path", "agents": 5},
        "bandit": {"kind": "bernoulli", "means": [0.1, 0.9]},
        "learner": {"kind": "elimination"},
        "protocol": {"kind": "gis"},
    }
    _, messages, _, seen, _ = Trial(_point(tables)).traced
    assert not seen.breaches
    assert len(seen.uses) % 5 == 0
    assert len(seen.uses) >= 5
    first = max(time for (round, _), time in seen.contributed.items() if round == 1)
    assert {use.origins for use in seen.uses[:5]} == {frozenset((1, agent) for agent in range(5))}
    assert not list(seen.unheard(messages, lambda agent, begin, end: False))
    seen.uses = [Use(use.agent, first + 2_000_000, use.origins) for use in seen.uses[:5]]
    assert list(seen.unheard(messages, lambda agent, begin, end: False))
