"""Papers reproduced: figures, formulas and claims, judged."""
