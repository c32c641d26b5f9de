"""What a protocol of handlers is refused for, and what is said of one that no loop can execute."""

import pytest
from helpers.own_handlers import PassOn, Prints, Watched, act, on_message

from netbandit.part import Note
from netbandit.protocols.flooding import Flooding
from netbandit.protocols.gis import Gis
from netbandit.protocols.gossip import Gossip
from netbandit.protocols.handlers import Handlers
from netbandit.texts import not_compiled, text


@pytest.mark.parametrize("kind", [Flooding, Gis, Gossip, PassOn])
def test_handlers_alone_can_be_compiled(kind):
    assert kind.can_be_compiled()
    assert [what for what in kind().check() if isinstance(what, Note)] == []


def test_what_cannot_be_compiled_is_said_with_its_line():
    assert not Prints.can_be_compiled()
    (note,) = Prints().check()
    line = Prints.handlers.act.__code__.co_firstlineno + 3
    assert note.text == (
        "its messages go one by one, not in a compiled loop: "
        f"line {line} of own_handlers.py: print('told') calls what is neither a primitive nor a text"
    )


def test_a_class_that_does_more_than_its_handlers_goes_message_by_message():
    assert not Watched.can_be_compiled()


def test_handlers_are_texts():
    with pytest.raises(TypeError, match=r"receive is no text: decorate it with netbandit\.text"):
        Handlers(Watched.receive, act)
    assert Handlers(on_message, act).merges


@text
def lists(network, own):
    network = [1, 2]
    own(network)


@text
def raises(network, own):
    raise ValueError


@text
def names(network, own):
    return "a"


@text
def reads(network, own):
    return own.rounds


@pytest.mark.parametrize(
    ("function", "line", "why"),
    [
        (lists, 2, "is more than numbers and calls of primitives and texts"),
        (raises, 2, "is no assignment, if, for, while or call"),
        (names, 2, "is no whole number"),
        (reads, 2, "is more than numbers and calls of primitives and texts"),
    ],
)
def test_a_loop_knows_numbers_and_primitives_alone(function, line, why):
    said = not_compiled(function)
    assert said.startswith(f"line {function.__code__.co_firstlineno + line} of test_handlers.py: ")
    assert said.endswith(why)
