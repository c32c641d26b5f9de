"""The names of attacks and of their targets."""

from typing import Literal

Attack = Literal["none", "flip", "inflate", "collude", "swap", "topple", "hidden", "noise", "constant", "stale"]
"""How a liar lies; what each says is in `netbandit.adversaries.false_means`."""

Target = Literal["worst", "second"] | int
"""The arm that a liar praises: of those that are left the worst or the second, or an arm's number."""
