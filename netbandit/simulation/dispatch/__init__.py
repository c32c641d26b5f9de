"""Decides automatically which parts of a run are compiled or processed in bulk instead of event by event.

A kernel processes a part of a run faster than event by event, with the same numbers. `kernel` asks it two questions:
whether it *can* run, and if not, why; and whether it *should*, that is, whether it pays off.
Only `kernel` reads ``NETBANDIT_EXECUTION`` (`netbandit.simulation.execution`). The answers are given

* in `bulk` for messages processed in bulk (`netbandit.simulation.patterns`),
* in `slot_loop` for decisions made in a compiled loop (`netbandit.simulation.decision_loop`).

`netbandit.simulation.patterns` and `netbandit.simulation.decision_loop` ask once per replication; this package never calls them.
``netbandit check --execution`` shows the answers to users.
"""
