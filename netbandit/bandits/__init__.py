"""What the world pays for an action."""
