"""Message transport between nodes: timing, loss and cost.

`wire` and `delivery` define a hop once: when a message arrives, whether it is lost, and who retransmits it.
They act on the channels and links of a `network`.
"""
