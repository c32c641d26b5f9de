"""What decides that a part of a run is compiled, or goes in bulk, and not event by event; nobody has to ask for it.

A kernel processes a part of a run faster than event by event, with the same numbers. `kernel` asks it two questions:
whether it *can* run, and if not, why; and whether it *should*, which is to say that it is worth it.
``NETBANDIT_EXECUTION`` (`netbandit.simulation.execution`) is heeded there, and nowhere else. The answers are given

* in `bulk` for messages that go all at once (`netbandit.simulation.patterns`),
* in `slot_loop` for decisions that a compiled loop plays (`netbandit.simulation.play`).

It is asked by `netbandit.simulation.patterns` and `netbandit.simulation.play`, once in a replication, and calls none of
them. ``netbandit check --execution`` tells the answers to users.
"""
