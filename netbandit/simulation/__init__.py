"""The one place where network, protocols, bandits and learners meet: one replication, from its parts to its result.

* `replication` asks each condition for its plan, and builds the network from these.
* `drivers` make agents act: `epochs` (phases known ahead; `round_aggregation` concludes rounds), `slots` (a decision in
  every slot), `gathers` (one node decides once all parts have arrived). `choice` chooses among them; `driver` is their
  interface.
* `strategies` of communication, one for each pattern (`communication`: none; `broadcasts`, `rounds`, `exchanges`,
  `requests`, `uploads`), adapt learners to what carries their items (`carriers`): protocols, message by message, or
  `kernels` with the same numbers. `patterns` is the table of them.
* `kernels` process regular work in bulk (`bulk_*`), with compiled functions over arrays; `dispatch` decides which parts
  of a run are compiled or processed in bulk.
* `regret` adds up regret and thins its curves.

Drivers call strategies, strategies call protocols or kernels, never back.
"""
