"""How a message gets from node to node, when, and at what cost.

What happens to a message is written once, in `hop`: when it arrives, whether it is lost, who repeats it. `plain`
executes that on the objects of a `network`.
"""
