"""What a protocol of handlers is refused for, and what is said of one that no loop can execute."""

import linecache
import re
from zlib import crc32

import pytest
from helpers.own_handlers import WORD, Chatters, Loops, PassOn, Prints, Watched, act, on_message

from netbandit.network.message import Kind
from netbandit.parts.component import Mistake, Note
from netbandit.protocols import primitives
from netbandit.protocols.flooding import Flooding
from netbandit.protocols.gis import Gis
from netbandit.protocols.gossip import Gossip
from netbandit.protocols.handler_texts import Said, read_handler
from netbandit.protocols.handlers import Handlers
from netbandit.protocols.primitives import at_once, nothing, tell_all
from netbandit.texts import text


@pytest.mark.parametrize("kind", [Flooding, Gis, Gossip, PassOn, Chatters])
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


def test_a_loop_in_a_handler_is_executed_message_by_message():
    assert not Loops.can_be_compiled()
    (note,) = Loops().check()
    assert note.text.endswith("for _ in range(3): may be executed any number of times")


def test_a_class_that_does_more_than_its_handlers_goes_message_by_message():
    assert not Watched.can_be_compiled()


def test_handlers_are_texts():
    with pytest.raises(TypeError, match=r"receive is no text: decorate it with netbandit\.text"):
        Handlers(Watched.receive, act)
    assert Handlers(on_message, act).merges


def handler(body, **names):
    """Return a text that stands for `on_message`, in a module of its own, whose first line is its third."""
    head = "@text\ndef handler(network, own, round, node, neighbour, message):\n    "
    source = head + "\n    ".join(body.splitlines()) + "\n"
    name = f"<{crc32(source.encode())}>/handlers.py"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    module = vars(primitives) | {"text": text, "TOLD": Kind("TOLD"), **names}
    exec(compile(source, name, "exec"), module)
    return module["handler"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("network = [1, 2]", "[1, 2] is more than numbers and calls of primitives and texts"),
        ("raise ValueError", "raise ValueError is no assignment, if or call"),
        ("return 'a'", "'a' is no whole number"),
        ("return own.rounds", "own.rounds is more than numbers and calls of primitives and texts"),
        ("while node > 3:\n    node -= 1", "while node > 3: may be executed any number of times"),
        ("if labels_of(network, message):\n    pass", "labels_of(network, message) is no number"),
        ("held(own, round, node + 1)", "held(own, round, node + 1) gives as node what is none that it has been given"),
        (
            "node = 1\nheld(own, round, node)",
            "held(own, round, node) gives as node what is none that it has been given",
        ),
        ("ask(own, round, node, 5)", "ask(own, round, node, 5) gives as labels what is none that it has been given"),
        ("labels = nothing(own)\nif node:\n    labels = 5\nask(own, round, node, labels)", "that it has been given"),
        (
            "tell_all(network, own, round, node, 0, 20, nothing(own))",
            "gives as kind what is none that it has been given",
        ),
        ("learn(network, own, round, node, nothing(own))", "calls learn, which is not for handlers"),
        ("handler(network, own, round, node, neighbour, message)", "handler calls itself"),
        ("held(own, round)", "held takes own, round, node"),
        ("both(is_empty(unasked(own, round, node, nothing(own))))", "what is found out here: give it a name first"),
        ("size = node / 2", "node / 2 is computed otherwise in a loop: its numbers are whole, of 64 bits"),
        ("size = 2\nsize **= 70", "size ** 70 is computed otherwise in a loop: its numbers are whole, of 64 bits"),
    ],
)
def test_a_loop_knows_numbers_and_what_primitives_give(body, why):
    said = read_handler(handler(body, both=both), primitives.on_message).not_compiled
    assert said.endswith(why)
    if "itself" not in why and "takes" not in why:
        assert re.match(r"line \d+ of handlers\.py: ", said)


TOLD = "tell_all(network, own, round, node, TOLD, 20, nothing(own))"
ANSWERED = "answer(network, own, round, node, neighbour, TOLD, 20, nothing(own), 0)"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (f"{TOLD}\n{TOLD}", {"tells": 2}),
        (f"if node:\n    {TOLD}\n    {TOLD}\nelse:\n    {TOLD}\n{ANSWERED}", {"tells": 2, "answers": 1}),
        (f"if is_empty(held(own, round, node)):\n    {TOLD}", {"tells": 1, "lists": 1, "holds": True}),
        ("labels = unasked(own, round, node, nothing(own)) if node else nothing(own)", {"lists": 1}),
        ("empty = is_empty(unasked(own, round, node, nothing(own)))\nboth(empty)", {"lists": 1}),
        ("twice(network, own, round, node)\ntwice(network, own, round, node)", {"tells": 4}),
    ],
)
def test_what_handlers_say_at_most_is_known(body, said):
    """A text that is written out may name what it is given more than once."""
    read = read_handler(handler(body, both=both, twice=twice), primitives.on_message)
    assert read == Said(None, **said)


@text
def both(empty):
    return empty and empty


@text
def twice(network, own, round, node):
    tell_all(network, own, round, node, WORD, 20, nothing(own))
    tell_all(network, own, round, node, WORD, 20, nothing(own))


def test_acting_again_at_once_is_refused():
    class AtOnce(PassOn):
        handlers = Handlers(on_message, act_at_once)

    (mistake,) = (one for one in AtOnce().check() if isinstance(one, Mistake))
    assert mistake.text == "its nodes act on what they have taken in at once: act may call later, not at_once"


@text
def act_at_once(network, own, round, node, labels):
    at_once(network, own, round, node, labels)
