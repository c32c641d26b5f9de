"""How a message gets from node to node, when, and at what cost.

Where a message is delayed, lost or delivered: `network` where nothing goes wrong, `lossy_network` where messages
between agents are lost and nothing else, `retrying_network` where these are repeated until they are acknowledged,
`unreliable_network` for everything. `netbandit.simulation.build` chooses. What is told in every slot over links where
each message fares by itself goes in bulk, with the same numbers: `bulk_links`.
"""
