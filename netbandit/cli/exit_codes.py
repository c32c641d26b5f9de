"""What a command's exit code means."""

MISTAKE = 2
"""The exit code of a mistake of the user: in a scenario or on the command line."""


FAILURE = 1
"""The exit code where something could not be done: a run failed, or results could not be written."""


INTERRUPTED = 130
"""The exit code of a shell's command that Ctrl-C has ended."""
