"""Emulation: a scenario in real processes over real sockets, compared with its simulation.

| module | does |
|---|---|
| `limits` | what can be emulated, and the reason why not |
| `wire` | the binary format of messages, matching the ledger's sizes |
| `forks` | child processes that end with this one, and memory that must be cleared before a fork |
| `sockets` | authenticated loopback sockets in their own network namespace |
| `notes` | records the actions of a driver's agents: in the simulation, and in its replay with measured delays |
| `node` | one process: the unchanged driver, protocol and learner for some of the agents |
| `processes` | starts the processes, ends rounds as the simulator's clock does, and stops them |
| `clocks` | the overhead of a round on this host, and the dilation that hides it |
| `comparison` | which values are equal, and by how much times differ |
| `picture` | rounds and hops, simulated and measured |
| `emulation` | the whole pipeline and its result |
"""

from netbandit.studies.emulation.emulation import Emulation, RefusedError, emulate
from netbandit.studies.emulation.processes import DiedError, DifferentChoiceError, NoEndError
from netbandit.studies.emulation.sockets import StrangerError

__all__ = [
    "DiedError",
    "DifferentChoiceError",
    "Emulation",
    "NoEndError",
    "RefusedError",
    "StrangerError",
    "emulate",
]
