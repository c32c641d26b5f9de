"""The obsolete handler API, functions over primitives: rejected, with a pointer to the present one."""

from typing import Any, NoReturn

_NOW = (
    "handlers are methods now, without nb.Handlers, nb.text and netbandit.protocols.primitives: "
    "class Own(nb.NeighbourRounds) with on_message(self, node, neighbour, message), "
    "as in `news = node.claim(message.labels)` and `if news: node.take_in(message, news)`, "
    "and act(self, node, labels), as in `node.send_all(TELL, labels, items=True)`; "
    "see the guide to a protocol of your own"
)


class Handlers:
    """The pair of handlers of a protocol, as it was given once."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise TypeError(_NOW)


def text(_: Any) -> NoReturn:
    """Mark a function as one of handlers, as was done once."""
    raise TypeError(_NOW)


def __getattr__(name: str) -> NoReturn:
    if name.startswith("__"):
        raise AttributeError(name)
    raise TypeError(_NOW)
