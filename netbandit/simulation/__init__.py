"""The one place where network, protocols, bandits and learners meet: one replication, from its parts to its result.

* `build` turns the tables of a scenario into a graph and a network.
* Drivers make agents act: `epochs` (phases known ahead; `round_aggregation` concludes rounds), `slots` (a decision in
  every slot), `gathers` (one node decides once all parts have arrived). `drivers` chooses among them.
* Communication strategies, one for each pattern (`communication`: none; `broadcasts`, `rounds`, `exchanges`,
  `requests`, `uploads`), adapt learners to what carries their items (`carriers`): protocols, message by message, or
  kernels with the same numbers (`bulk_*`). `patterns` is the table of them.
* `dispatch` decides which parts of a run are compiled or processed in bulk.
* `kernels` holds compiled functions over arrays for regular work.
* `regret` adds up regret and thins its curves.

Drivers call strategies, strategies call protocols or kernels, never back.
"""
