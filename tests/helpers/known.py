"""What a part is told of the others when it is checked, made up; and what it says."""

from types import SimpleNamespace

from netbandit.parts.component import Note, Others, found_by


def others(**known):
    """Return what a part sees of the others; a server chooses, and all of them hear it, unless *known* says else."""
    protocol = SimpleNamespace(chooses=True, isolated=False)
    return Others(**{"protocol": protocol, "kinds": {"bandit": "any", "protocol": "any"}} | known)


def mistakes(checks):
    """Return the keys of the mistakes of a check."""
    return [path[1] for path in (path for path, _ in found_by(checks, "part")[0])]


def notes(checks):
    """Return the keys that a check notes."""
    return [found.key for found in checks if isinstance(found, Note)]
