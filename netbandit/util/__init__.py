"""What knows nothing of simulations: files as people have them."""
