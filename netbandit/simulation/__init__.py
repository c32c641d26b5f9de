"""The one place where network, protocols, bandits and learners meet: one replication, from its parts to its result.

* From tables of the scenario to a graph and a network: `build`, which also chooses among the networks.
* Who makes agents act: `epochs` (phases known ahead; `epochs_apart` where agents may know different things), `slots`
  (a decision in every slot), `gathers` (one node decides when it has heard all); `drivers` says which.
* What happens to what agents tell: a communication strategy for each pattern, message by message (`communication`,
  `requests`, `uploads`), all at once with the same numbers (`bulk_*`), or without a message (`pooled`); `patterns` says
  which.
* What decides that a part of a run is compiled, or goes in bulk: `dispatch`.
* Compiled functions over arrays for what is regular: `kernels`.
* Where regret is added up, and its curves are thinned: `regret`; where agents decide in slots, `slot_account`.

Drivers call strategies, strategies call protocols or kernels, never back.
"""
