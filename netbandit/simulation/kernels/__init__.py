"""The compiled loops in which agents play from one network event to the next."""
