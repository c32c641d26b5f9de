"""Components of a scenario: their keys, checks and kinds, and the validation messages."""
