"""Emulation: a scenario in real processes over real sockets, compared with its simulation.

| module | does |
|---|---|
| `limits` | what can be emulated, and the reason why not |
| `wire` | the ledger's messages, written out |
| `forks` | processes that end with this one, and what is to leave nothing in its memory |
| `sockets` | sockets over loopback, where no stranger gets in, in a network namespace of their own |
| `notes` | what a driver's agents do: the simulation, and its replay with measured delays |
| `node` | one process: the unchanged driver, protocol and learner, some of whose agents act |
| `processes` | starts the processes, ends rounds as the free clock does, and stops them |
| `clocks` | how long a round takes on this host, and which dilation hides that |
| `comparison` | what is equal, and by how much times differ |
| `picture` | rounds and hops, simulated and measured |
| `emulation` | all of that together, and its result |
"""

from netbandit.emulation.emulation import Emulation, RefusedError, emulate, load
from netbandit.emulation.processes import DiedError, DifferentChoiceError, NoEndError
from netbandit.emulation.sockets import StrangerError

__all__ = [
    "DiedError",
    "DifferentChoiceError",
    "Emulation",
    "NoEndError",
    "RefusedError",
    "StrangerError",
    "emulate",
    "load",
]
