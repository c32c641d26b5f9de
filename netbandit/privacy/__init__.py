"""Privacy mechanisms (noise and masks) and accounting of the privacy spent."""
