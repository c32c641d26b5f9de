"""The public protocols for type checkers and editors; at run time each is imported on first use."""

from netbandit.protocols.consensus import Consensus as Consensus
from netbandit.protocols.earliest import Earliest as Earliest
from netbandit.protocols.flooding import Flooding as Flooding
from netbandit.protocols.gis import Gis as Gis
from netbandit.protocols.gossip import Gossip as Gossip
from netbandit.protocols.local import Local as Local
from netbandit.protocols.master_worker import MasterWorker as MasterWorker
from netbandit.protocols.parameter_server import ParameterServer as ParameterServer
from netbandit.protocols.pooled import Pooled as Pooled
from netbandit.protocols.relay import Relay as Relay
from netbandit.protocols.silent import Silent as Silent
from netbandit.protocols.sink import Sink as Sink
from netbandit.protocols.vertical import Vertical as Vertical
