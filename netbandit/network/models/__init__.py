"""What may happen to messages on links: a model in each file, with its draws, its part of a hop and what it counts."""
