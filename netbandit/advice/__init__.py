"""What a network is like, and what would make it better."""
