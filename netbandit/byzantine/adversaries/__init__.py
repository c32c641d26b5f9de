"""Who lies, and what is said instead of the truth: numpy in, numpy out."""
