"""What happened in a run, message by message."""
