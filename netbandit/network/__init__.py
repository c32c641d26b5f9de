"""How a message gets from node to node, when, and at what cost."""
