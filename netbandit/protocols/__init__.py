"""Who tells whom, when, and when everybody is informed."""
