"""Units, random streams, text, memory and files: modules that know nothing of simulations."""
