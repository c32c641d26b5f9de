"""The one place where network, protocols, bandits and learners meet."""
