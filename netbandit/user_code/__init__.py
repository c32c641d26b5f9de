"""User-defined classes: importing them, their fingerprints, and messages about their errors."""
