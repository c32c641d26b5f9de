"""What the handlers of a protocol take for granted: rounds, sets of labels, and ways to talk.

A protocol that passes items on is two or three texts (see `netbandit.texts`) over these functions, which each execution
puts others in the place of: `netbandit.protocols.handlers`, message by message on Python's objects, and
`netbandit.simulation.machine.handlers`, in a compiled loop. ``network`` and ``own`` are whatever it keeps; a round, a
message, a set of labels and a neighbour (where a message came from) are what these functions give and take.
"""

from typing import Any

from netbandit.network.clock import effective_time as effective_time
from netbandit.texts import primitive, text

Network = Any
Own = Any
Round = Any
Message = Any
Labels = Any
Neighbour = Any
Kind = Any

FORGETS = False
"""Whether nodes may lose their memory."""
APART = False
"""Whether agents conclude apart, so that some go on before others."""


# What a protocol does.


@primitive
def on_message(network: Network, own: Own, round: Round, node: int, neighbour: Neighbour, message: Message) -> None:
    """Let *node* do what it does with a message of an open round that has just reached it."""
    raise NotImplementedError


@primitive
def act(network: Network, own: Own, round: Round, node: int, labels: Labels) -> None:
    """Let *node* do what it does when it has taken *labels* in, once all nodes of this instant have."""
    raise NotImplementedError


# Messages.


@primitive
def kind_of(network: Network, message: Message) -> Kind:
    """Return the kind of a message; compare it by ``==``."""
    raise NotImplementedError


@primitive
def labels_of(network: Network, message: Message) -> Labels:
    """Return the labels that a message tells."""
    raise NotImplementedError


@primitive
def begun_of(network: Network, message: Message) -> int:
    """Return when (ns) the hop of a message began, or the handshake that it belongs to."""
    raise NotImplementedError


@primitive
def answer(
    network: Network,
    own: Own,
    round: Round,
    node: int,
    neighbour: Neighbour,
    kind: Kind,
    size: int,
    labels: Labels,
    begun: int,
) -> None:
    """Let *node* send a message of *size* bytes to the neighbour from which one came, in the handshake *begun* then."""
    raise NotImplementedError


@primitive
def tell_all(network: Network, own: Own, round: Round, node: int, kind: Kind, size: int, labels: Labels) -> None:
    """Let *node* send a message of *size* bytes to all its neighbours; a hop begins now."""
    raise NotImplementedError


@primitive
def tell_others(network: Network, own: Own, round: Round, node: int, kind: Kind, size: int, labels: Labels) -> None:
    """As `tell_all`, but not to the neighbours that have told *node* these *labels*, as `note_teller` has it."""
    raise NotImplementedError


@primitive
def note_teller(own: Own, round: Round, node: int, labels: Labels, neighbour: Neighbour) -> None:
    """Note that *neighbour* has told *node* these *labels*, of one item, which it has not passed on yet.

    Of several items, or none, nothing is noted.
    """
    raise NotImplementedError


@primitive
def tell_one(network: Network, own: Own, round: Round, node: int, kind: Kind, size: int, labels: Labels) -> None:
    """Let *node* send a message of *size* bytes to a neighbour, drawn uniformly; a hop begins now."""
    raise NotImplementedError


@primitive
def busy_until(network: Network, own: Own, node: int) -> int:
    """Return when (ns) the last message has left *node* that `tell_one` put on a link; 0: it has sent none."""
    raise NotImplementedError


# Time.


@primitive
def now_of(network: Network) -> int:
    """Return the present time (ns)."""
    raise NotImplementedError


@primitive
def slot_length(network: Network) -> int:
    """Return the length of a slot (ns)."""
    raise NotImplementedError


@primitive
def horizon_of(own: Own) -> int:
    """Return the number of slots."""
    raise NotImplementedError


@primitive
def is_slotted(own: Own) -> bool:
    """Return whether hops take effect at slot boundaries."""
    raise NotImplementedError


@primitive
def later(network: Network, own: Own, round: Round, node: int, due: int, labels: Labels) -> None:
    """Let *node* take *labels* in at a time (ns), now or later, in its turn: after all that arrives then."""
    raise NotImplementedError


@primitive
def at_once(network: Network, own: Own, round: Round, node: int, labels: Labels) -> None:
    """Let *node* take *labels* in now, together with all else that has just reached it."""
    raise NotImplementedError


# Sets of labels.


@primitive
def number_of(own: Own, labels: Labels) -> int:
    """Return how many labels there are."""
    raise NotImplementedError


@primitive
def is_empty(labels: Labels) -> bool:
    """Return whether there is no label."""
    raise NotImplementedError


@primitive
def nothing(own: Own) -> Labels:
    """Return no labels."""
    raise NotImplementedError


@primitive
def bytes_of(own: Own, round: Round, labels: Labels) -> int:
    """Return the bytes of the items that *labels* name, each with its label."""
    raise NotImplementedError


# What a node holds in a round.


@primitive
def held(own: Own, round: Round, node: int) -> Labels:
    """Return the labels of all items that *node* holds."""
    raise NotImplementedError


@primitive
def holds_nothing(own: Own, round: Round, node: int) -> bool:
    """Return whether *node* holds no item at all."""
    raise NotImplementedError


@primitive
def held_of(own: Own, round: Round, node: int, labels: Labels) -> Labels:
    """Return those of *labels* whose items *node* holds."""
    raise NotImplementedError


@primitive
def learn(network: Network, own: Own, round: Round, node: int, labels: Labels) -> None:
    """Let *node* hold the items that *labels* name; when all who count hold all they need the round ends."""
    raise NotImplementedError


@text
def note_news(own: Own, round: Round, node: int, items: int, needed: int) -> None:
    """Note that *node* has come to hold so many items more, of which the round has waited for so many."""
    if APART and has_gone_on(own, round, node):
        count_late(own, items)
    if needed > 0:
        missing = need_less(own, round, needed)
        if missing == 0:
            complete(own, round)


@primitive
def has_gone_on(own: Own, round: Round, node: int) -> bool:
    """Return whether *node* has gone on without the others, and cannot use what comes."""
    raise NotImplementedError


@primitive
def count_late(own: Own, items: int) -> None:
    """Count items that have come too late to be used."""
    raise NotImplementedError


@primitive
def need_less(own: Own, round: Round, items: int) -> int:
    """Note that a round waits for so many items less, of which each agent needs its own; return how many there are."""
    raise NotImplementedError


@primitive
def complete(own: Own, round: Round) -> None:
    """Note that all who count in a round hold all they need: it ends in this instant."""
    raise NotImplementedError


@primitive
def unasked(own: Own, round: Round, node: int, labels: Labels) -> Labels:
    """Return those of *labels* for which *node* has not asked."""
    raise NotImplementedError


@primitive
def ask(own: Own, round: Round, node: int, labels: Labels) -> None:
    """Note that *node* has asked for the items that *labels* name, or needs not to."""
    raise NotImplementedError


@primitive
def next_slot(own: Own, round: Round, node: int) -> int:
    """Return the slot in which *node* acts next, as `set_next_slot` has it; -1: in none."""
    raise NotImplementedError


@primitive
def set_next_slot(own: Own, round: Round, node: int, slot: int) -> None:
    """Note in which slot *node* acts next; -1: in none."""
    raise NotImplementedError


@primitive
def is_deserted(own: Own, round: Round) -> bool:
    """Return whether all who count have gone on, where agents do so before the end: nobody is left to talk for."""
    raise NotImplementedError
