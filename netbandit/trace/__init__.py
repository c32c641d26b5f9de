"""The events of a run, message by message."""
