"""Byzantine agents: their selection, and the attacks that forge their messages (numpy arrays in and out)."""
