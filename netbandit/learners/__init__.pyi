"""The public learners for type checkers and editors; at run time each is imported on first use."""

from netbandit.learners.coop_ucb2 import CoopUcb2 as CoopUcb2
from netbandit.learners.dducb import Dducb as Dducb
from netbandit.learners.dec_ucb import DecUcb as DecUcb
from netbandit.learners.elimination import Elimination as Elimination
from netbandit.learners.fedelim import FedElim as FedElim
from netbandit.learners.feducb import FedUcb as FedUcb
from netbandit.learners.gosine import Gosine as Gosine
from netbandit.learners.halving import Halving as Halving
from netbandit.learners.klucb import KlUcb as KlUcb
from netbandit.learners.linear import LinTs as LinTs
from netbandit.learners.linear import LinUcb as LinUcb
from netbandit.learners.oful import Oful as Oful
from netbandit.learners.otflinucb import OtfLinUcb as OtfLinUcb
from netbandit.learners.pfcb import Pfcb as Pfcb
from netbandit.learners.queued import Queued as Queued
from netbandit.learners.race import Race as Race
from netbandit.learners.thompson import Thompson as Thompson
from netbandit.learners.ucb import Ucb as Ucb
