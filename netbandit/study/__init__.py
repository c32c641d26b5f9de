"""What the user gets: results, sweeps, pictures."""
