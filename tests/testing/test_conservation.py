"""What became of each message is counted from its lines in a trace."""

from netbandit.testing.conservation import counted

SENT = {"kind": "ADV", "from": 1, "to": "server", "bytes": 20}


def test_what_arrives_at_the_end_or_later_is_under_way():
    lines = [SENT | {"arrival": time} for time in (99, 100, 101)]
    (found,) = counted(lines, end=100, server=5).items()
    assert found[0] == (1, 5)
    messages = {"handed": 3, "put": 3, "delivered": 1, "in_flight": 2}
    assert found[1] == messages | {f"{name}_bytes": 20 * number for name, number in messages.items()}


def test_a_message_that_has_been_delivered_and_is_refused_is_lost():
    refused = {"fate": "refused", "from": "server", "to": 1, "bytes": 20}
    for at, lost in ((99, 1), (100, 0)):
        (found,) = counted([SENT | {"arrival": 90}, refused | {"at": at}], end=100, server=5).values()
        assert (found["lost"], found["delivered"]) == (lost, 1 - lost)
