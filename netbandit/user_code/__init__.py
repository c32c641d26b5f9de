"""The user's own classes: how they are found and imported, what they are known by, and what is said of their errors."""
