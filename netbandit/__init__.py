"""netbandit: a discrete-event simulator of agents that learn together over a network.

Run a scenario
    ``Scenario(topology=, links=, bandit=, learner=, protocol=, run=)`` is one as an object, with its methods ``run``,
    ``sweep``, ``check`` and ``to_toml``; ``run("scenario.toml")`` and ``sweep("scenario.toml", topology__agents=[9,
    99])`` run one from a file or a dictionary. All give a table of results, as ``load_results("results/scenario")``
    does of a folder; ``compare(table, "regret")`` tests the differences between its points.

The parts of a scenario
    ``families`` ``bandits`` ``learners`` ``protocols`` hold them, classes whose fields are their keys; ``Run``,
    ``Links``, ``Link``, ``Faults``, ``Adversary``, ``Energy`` and ``Feedback`` are the other tables, ``Topology`` takes
    a family by its name. ``help(netbandit.bandits.Bernoulli)`` shows keys and defaults.

Parts of your own
    derive from ``Bandit`` (``ArmBandit``, ``FiniteBandit``, ``ActionSetBandit``, ``VerticalContextBandit``),
    ``Learner``, ``AgentLearner``, ``StepLearner`` or ``EpochLearner``, ``RoundProtocol``, ``NeighbourRounds``
    (handlers) or ``NetworkProtocol``, ``Family``; their checks yield a ``Mistake`` or a ``Note``, and
    ``netbandit.testing`` tests them. ``audit`` measures how private what leaves an agent is, ``optimize`` searches for
    the best values of keys, ``advise_links`` says which links to add to a network,
    and ``suite`` compares a learner and a protocol with all others on the same networks.
"""

import sys
from typing import Any

from netbandit.parts.conditions import CONDITIONS
from netbandit.util.moved import MovedModules

sys.meta_path.append(MovedModules())

VERSION = "0.2.0"
"""The release; ``__version__`` names the commit too, where netbandit is run from a git checkout."""

_LAZY = {
    "Scenario": "netbandit.api:Scenario",
    "RunsFailedError": "netbandit.api:RunsFailedError",
    "ScenarioError": "netbandit.scenario.errors:ScenarioError",
    "run": "netbandit.api:run",
    "sweep": "netbandit.api:sweep",
    "load_results": "netbandit.api:load_results",
    "compare": "netbandit.api:compare",
    "bandits": "netbandit.bandits",
    "learners": "netbandit.learners",
    "protocols": "netbandit.protocols",
    "families": "netbandit.network.families",
    "Topology": "netbandit.api.topology:Topology",
    "Run": "netbandit.scenario.model:RunSettings",
    "Links": "netbandit.scenario.links:LinksSettings",
    "Link": "netbandit.scenario.links:LinkSettings",
    "Bandit": "netbandit.bandits.bandit:Bandit",
    "ArmBandit": "netbandit.bandits.bandit:ArmBandit",
    "FiniteBandit": "netbandit.bandits.bandit:FiniteBandit",
    "ActionSetBandit": "netbandit.bandits.action_set:ActionSetBandit",
    "Outline": "netbandit.bandits.bandit:Outline",
    "VerticalContextBandit": "netbandit.bandits.vertical_context:VerticalContextBandit",
    "Learner": "netbandit.learners.slots:Learner",
    "AgentLearner": "netbandit.learners.agents:AgentLearner",
    "StepLearner": "netbandit.learners.steps:StepLearner",
    "World": "netbandit.learners.world:World",
    "EpochLearner": "netbandit.learners.learner:EpochLearner",
    "NetworkProtocol": "netbandit.protocols.protocol:NetworkProtocol",
    "RoundProtocol": "netbandit.protocols.rounds:RoundProtocol",
    "NeighbourRounds": "netbandit.protocols.neighbour_rounds:NeighbourRounds",
    "Family": "netbandit.network.families.family:Family",
    "Mistake": "netbandit.parts.component:Mistake",
    "Note": "netbandit.parts.component:Note",
    "Kind": "netbandit.network.message:Kind",
    "Mechanism": "netbandit.studies.auditing.mechanisms:Mechanism",
    "PrivacySpent": "netbandit.privacy.accountant:PrivacySpent",
    "audit": "netbandit.api.auditing:audit",
    "optimize": "netbandit.api.search:optimize",
    "advise_links": "netbandit.api.advice:advise_links",
    "suite": "netbandit.studies.suite",
    **{table.capitalize(): target for table, target in CONDITIONS.items()},
}
"""Public name -> where it is; imported when it is asked for, as most of these take time."""

__all__ = sorted(_LAZY)


def __getattr__(name: str) -> Any:
    """Import what takes time when it is asked for."""
    if name == "__version__":
        from pathlib import Path

        from netbandit.util.version import version

        return version(VERSION, Path(__file__).parents[1])
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module, _, inside = _LAZY[name].partition(":")
    found = import_module(module)
    return getattr(found, inside) if inside else found


def __dir__() -> list[str]:
    return sorted([*globals(), "__version__", *_LAZY])
