"""netbandit: a discrete-event simulator of agents that learn together over a network."""

__version__ = "0.1.0"
