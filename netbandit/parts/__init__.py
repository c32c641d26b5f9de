"""What a component of a scenario is: its keys, its checks, its kind, and the messages about what is wrong."""
