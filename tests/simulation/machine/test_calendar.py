"""The compiled calendar: whatever is sent when, and however late, comes out by time, channel and order of sending."""

from unittest.mock import patch

import networkx as nx
import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from netbandit.network.clock import Clock, Environment
from netbandit.network.faults import ChannelFaults, Faults
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.jitter import UniformJitter
from netbandit.network.link import LinkClass
from netbandit.network.message import Kind
from netbandit.network.network import Network
from netbandit.simulation.compiled_rounds import links
from netbandit.simulation.compiled_rounds.faults import FaultArrays
from netbandit.simulation.compiled_rounds.links import machine_of, more_blocks
from netbandit.simulation.machine.calendar import begin_pass, due_channel, due_row, end_entry, expect, first_arrival
from netbandit.simulation.machine.compiled import machine_code
from netbandit.simulation.machine.execution import Loop
from netbandit.simulation.machine.rows import BLOCK_BITS, BLOCKS_LEFT, DUE_AT, DUE_END, KEY_BITS, NEVER, NOW, WIDTH_BITS
from netbandit.texts import text

MESSAGES = 40
FEW_BITS = 12
"""Of an entry of the window: buckets have to become shorter as rows become more."""


@text
def drive(network, sent, came):
    """Send the rows of *sent* (when, channel, delay), and write what comes out into *came*; return whether all did."""
    state = network.state
    while True:
        arrival = first_arrival(network)
        place = came[0, 2]
        if place < len(sent) and sent[place, 0] <= arrival:
            if state[BLOCKS_LEFT] == 0:
                return False
            expect(network, sent[place, 1], place, sent[place, 0] + sent[place, 2])
            came[0, 2] = place + 1
        elif arrival == NEVER:
            return True
        else:
            state[NOW] = arrival
            begin_pass(network)
            while state[DUE_AT] < state[DUE_END]:
                row = due_row(network, state[DUE_AT])
                came[0, 0] += 1
                came[came[0, 0], 0] = arrival
                came[came[0, 0], 1] = due_channel(network, state[DUE_AT])
                came[came[0, 0], 2] = network.entries[row].message
                end_entry(network, row)
                state[DUE_AT] += 1


def _in_order_of_sending(sent):
    """Have messages arrive no earlier than those sent before them on their channels."""
    for channel in range(6):
        on_channel = sent[:, 1] == channel
        arrivals = np.maximum.accumulate(sent[on_channel, 0] + sent[on_channel, 2])
        sent[on_channel, 2] = arrivals - sent[on_channel, 0]


LOOP = Loop(drive)
BLOCK = 1 << BLOCK_BITS
GRAPH = nx.cycle_graph(3)
DELAYS = st.one_of(st.integers(0, 3), st.integers(0, 5_000), st.integers(0, 10**12))


def network(overtakes):
    links = {(min(link), max(link)): 1_000 for link in GRAPH.edges}
    clock = Clock(Environment(), 1_000, 10**9)
    neighbours = [sorted(GRAPH[node]) for node in GRAPH]
    faults = Faults(peer=ChannelFaults(jitter=UniformJitter(1_000), overtaking=True)) if overtakes else Faults()
    return Network(clock, neighbours, LinkClass(), links, LinkClass(), [0] * 3, Fingerprint(), faults=faults)


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.tuples(DELAYS, st.integers(0, 5), DELAYS), min_size=1, max_size=MESSAGES),
    st.integers(1, 3),
    st.sampled_from([63, FEW_BITS]),
    st.booleans(),
)
@example([(0, 0, 10**12), (0, 0, 1), (5, 1, 10**6), (0, 0, 10**12)], 1, 63, True)
@example([(0, 1, 3), (1, 0, 11), (0, 0, 19), (3, 0, 8)], 3, 63, True)  # the last overtakes the one before it
@example([(0, 0, 20), (0, 0, 10), (0, 0, 20), (0, 0, 10)], 1, 63, True)  # two and two arrive at the same time
@example([(0, channel, 10**12) for channel in range(6)] + [(1, 0, 1)] * 30, 1, FEW_BITS, True)
@example([(0, channel, 10**12) for channel in range(6)] + [(1, 0, 1)] * 30, 1, FEW_BITS, False)
def test_all_comes_out_in_order(rows, room, bits, overtakes):
    here = network(overtakes)
    machine = machine_of(here, (Kind("X"),))
    machine.state[BLOCKS_LEFT] = 0
    none = {name: getattr(machine, name)[:0] for name in ("entries", "blocks", "behind", "due")}
    machine = machine._replace(**none)
    if overtakes:
        machine = machine._replace(faults=FaultArrays(here, machine, 1).faults)
    sent = np.array(rows, dtype=np.int64)
    sent[:, 0] = np.cumsum(sent[:, 0])
    if not overtakes:
        _in_order_of_sending(sent)
    came = np.zeros((len(sent) + 1, 3), dtype=np.int64)
    with patch.object(links, "_BITS", bits):
        machine = more_blocks(machine, room)
        call = machine_code(LOOP.over(here), machine, sent, came)
        while not call(machine, sent, came):
            machine = more_blocks(machine, room)
    order = sorted((when + late, channel, place) for place, (when, channel, late) in enumerate(sent.tolist()))
    assert came[1:].tolist() == [list(one) for one in order]
    partly_used = np.count_nonzero(machine.channels["unused"] % BLOCK)
    assert machine.state[BLOCKS_LEFT] == len(machine.blocks) - partly_used
    assert 0 <= machine.state[WIDTH_BITS] <= bits - machine.state[KEY_BITS]
