"""What a component of a scenario is: its keys, checks and kind, and validation messages."""
