"""The public bandits for type checkers and editors; at run time each is imported on first use."""

from netbandit.bandits.bernoulli import Bernoulli as Bernoulli
from netbandit.bandits.contexts import Contexts as Contexts
from netbandit.bandits.gaussian import Gaussian as Gaussian
from netbandit.bandits.linear import Linear as Linear
from netbandit.bandits.mixed import Mixed as Mixed
from netbandit.bandits.procurement import Procurement as Procurement
from netbandit.bandits.replay import Replay as Replay
from netbandit.bandits.table import Table as Table
from netbandit.bandits.vertical import Vertical as Vertical
