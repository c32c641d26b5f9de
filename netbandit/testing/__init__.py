"""Checks for authors of parts: determinism, conservation, order, plain as compiled, shapes, faults.

::

    from netbandit.testing import check_protocol

    check_protocol(MyProtocol, deadline="5 ms")

Each of `check_protocol`, `check_learner` and `check_world` runs the part in small scenarios, with others that it goes
with, and raises a `CheckError` that names the check, the class, the method, where in the run, and what mends it. For a
test of each check on its own there is `parametrize_with_checks`. The checks, by name, are in `CHECKS`:

============== ======================================================================================================
``returns``    methods return what they must: the right shapes, no NaN, nothing out of range
``runs``       nothing is raised over links where nothing goes wrong
``repeats``    the same seed gives the same run, whatever ran before, and whatever else has drawn random numbers
``elsewhere``  so it does in another process, in which texts have other hashes
``numbering``  so a protocol does whatever the order in which the nodes and links of the graph were put together
``traced``     so it does when a trace is written
``compiled``   so it does where decisions are compiled, and messages go in bulk
``finite``     no figure is NaN or infinite
``conserved``  messages are delivered, lost or under way, and the ledger, the links and the trace count the same
``waits``      every agent is informed, or waits for what a network has lost, and the run says so
``heard``      nobody goes on with what has not reached it
``items``      items are put together in the order of agents' numbers, and none is changed
``arguments``  methods change none of the arrays that they are given
``private``    without messages an agent chooses the same, whatever others are paid
``luck``       a world draws the same numbers in blocks of any length
``faults``     all of this holds where messages are lost, late or doubled, and links, nodes and the server go down
``deadline``   and where agents wait for a time only
``memory``     and where they lose their memory
============== ======================================================================================================

The part may be a class, then keywords are its keys, or an object with keys of its own. *scene* holds tables that are
put over those of each scenario, for a part that needs a graph or a counterpart of its own: ``scene={"topology":
{"family": "star", "agents": 5}, "bandit": {"kind": MyWorld}}``.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from netbandit.testing.checks import CHECKS, Check, CheckError, chosen, run_checks, subject, table_of

if TYPE_CHECKING:
    import pytest

    from netbandit.bandits.bandit import Bandit
    from netbandit.learners.learner import AnyLearner
    from netbandit.parts.component import Part
    from netbandit.protocols.protocol import NetworkProtocol

__all__ = [
    "CHECKS", "Check", "CheckError", "check_learner", "check_protocol", "check_world", "parametrize_with_checks",
]  # fmt: skip


def check_protocol(
    protocol: "NetworkProtocol | type[NetworkProtocol]",
    /,
    *,
    checks: Iterable[str] | None = None,
    exclude: Iterable[str] = (),
    scene: dict[str, Any] | None = None,
    **keys: Any,
) -> None:
    """Check a protocol.

    Args:
        protocol: Its class, or an object.
        checks: The names of the checks to make; all if not given.
        exclude: The names of those to leave out.
        scene: Tables to be put over those of each scenario.
        keys: Keys of the class.

    Raises:
        CheckError: It fails one.
        TypeError: It is no protocol.
        ValueError: There is no check of such a name.
    """
    run_checks("protocol", checks, exclude, subject(protocol, keys, scene))


def check_learner(
    learner: "AnyLearner | type[AnyLearner]",
    /,
    *,
    checks: Iterable[str] | None = None,
    exclude: Iterable[str] = (),
    scene: dict[str, Any] | None = None,
    **keys: Any,
) -> None:
    """Check a learner, in the worlds that it plays; see `check_protocol`."""
    run_checks("learner", checks, exclude, subject(learner, keys, scene))


def check_world(
    world: "Bandit | type[Bandit]",
    /,
    *,
    checks: Iterable[str] | None = None,
    exclude: Iterable[str] = (),
    scene: dict[str, Any] | None = None,
    **keys: Any,
) -> None:
    """Check a world, with learners that play it; see `check_protocol`."""
    run_checks("bandit", checks, exclude, subject(world, keys, scene))


def parametrize_with_checks(
    parts: "Iterable[Part | type[Part]]", *, checks: Iterable[str] | None = None, exclude: Iterable[str] = ()
) -> "pytest.MarkDecorator":
    """Return a mark for pytest under which a test is made for each part and each of its checks.

    ::

        @parametrize_with_checks([MyProtocol(deadline="5 ms"), MyLearner])
        def test_my_parts(part, check):
            check(part)

    Args:
        parts: Classes or objects of protocols, learners and worlds.
        checks: The names of the checks to make, of which each part has those that are for it; all if not given.
        exclude: The names of those to leave out.
    """
    import pytest

    checks, exclude = None if checks is None else list(checks), list(exclude)
    pairs = []
    for part in parts:
        kind = part if isinstance(part, type) else type(part)
        table = table_of(kind)
        some = (
            None if checks is None else [name for name in checks if name not in CHECKS or table in CHECKS[name].tables]
        )
        mine = chosen(table, some, exclude)
        pairs += [pytest.param(part, check, id=f"{kind.__qualname__}-{check.name}") for check in mine]
    return pytest.mark.parametrize(("part", "check"), pairs)
