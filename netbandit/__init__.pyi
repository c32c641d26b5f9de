"""The public names for type checkers and editors; at run time each is imported on first use."""

from netbandit import bandits as bandits
from netbandit import learners as learners
from netbandit import protocols as protocols
from netbandit.api import RunsFailedError as RunsFailedError
from netbandit.api import Scenario as Scenario
from netbandit.api import compare as compare
from netbandit.api import load_results as load_results
from netbandit.api import run as run
from netbandit.api import sweep as sweep
from netbandit.api.advice import advise_links as advise_links
from netbandit.api.auditing import audit as audit
from netbandit.api.search import optimize as optimize
from netbandit.api.topology import Topology as Topology
from netbandit.bandits.action_set import ActionSetBandit as ActionSetBandit
from netbandit.bandits.bandit import ArmBandit as ArmBandit
from netbandit.bandits.bandit import Bandit as Bandit
from netbandit.bandits.bandit import FiniteBandit as FiniteBandit
from netbandit.bandits.bandit import Outline as Outline
from netbandit.bandits.vertical_context import VerticalContextBandit as VerticalContextBandit
from netbandit.conditions.adversary import Adversary as Adversary
from netbandit.conditions.compute import Compute as Compute
from netbandit.conditions.energy import Energy as Energy
from netbandit.conditions.faults import Faults as Faults
from netbandit.conditions.feedback import Feedback as Feedback
from netbandit.learners.agents import AgentLearner as AgentLearner
from netbandit.learners.learner import EpochLearner as EpochLearner
from netbandit.learners.slots import Learner as Learner
from netbandit.learners.steps import StepLearner as StepLearner
from netbandit.learners.world import World as World
from netbandit.network import families as families
from netbandit.network.families.family import Family as Family
from netbandit.network.message import Kind as Kind
from netbandit.parts.component import Mistake as Mistake
from netbandit.parts.component import Note as Note
from netbandit.privacy.accountant import PrivacySpent as PrivacySpent
from netbandit.protocols.neighbour_rounds import NeighbourRounds as NeighbourRounds
from netbandit.protocols.protocol import NetworkProtocol as NetworkProtocol
from netbandit.protocols.rounds import RoundProtocol as RoundProtocol
from netbandit.scenario.errors import ScenarioError as ScenarioError
from netbandit.scenario.links import LinkSettings, LinksSettings
from netbandit.scenario.model import RunSettings
from netbandit.studies import suite as suite
from netbandit.studies.auditing.mechanisms import Mechanism as Mechanism

Link = LinkSettings
Links = LinksSettings
Run = RunSettings

VERSION: str
__version__: str
