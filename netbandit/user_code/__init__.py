"""The user's own classes: importing them, their fingerprints, and messages about their errors."""
