"""What decides that a part of a run is compiled, or goes in bulk, and not event by event; nobody has to ask for it.

For each part of a run there may be faster ways than event by event, with the same numbers; `way` asks each of them two
questions: whether it *can* run, and if not, why; and whether it *should*, which is to say that it is worth it.
``NETBANDIT_EXECUTION`` (`netbandit.simulation.execution`) is heeded there, and nowhere else. The answers are given

* in `bulk` for messages that go all at once (`netbandit.simulation.bulk`),
* in `slot_loop` for decisions that a compiled loop plays (`netbandit.simulation.play`).

``netbandit check --execution`` tells them to users.
"""
