"""Analysis of a network, and changes that would improve it."""
