"""Decides how each part of a run is executed: event by event, or by a kernel with the same numbers.

A `kernel` gives reasons why it cannot or should not process a part: those of `bulk` broadcasts and exchanges without
single messages, those of `slot_loop` decisions in a compiled loop. Communication strategies and `decision_loop` ask
once per replication; this package never calls them. Only `kernel` reads ``NETBANDIT_EXECUTION``
(`netbandit.simulation.execution`). ``netbandit check --execution`` shows the reasons to users.
"""
