"""What can be the case in a scenario beside its parts: faults, liars, batteries, late rewards, nodes that compute."""
