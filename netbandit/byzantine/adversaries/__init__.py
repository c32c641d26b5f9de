"""Byzantine agents: which agents lie, and what they send instead of the truth (numpy arrays in and out)."""
