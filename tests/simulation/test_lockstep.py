"""The simulator against a plain reference that shares nothing with it but the random draws."""

from math import inf
from pathlib import Path
from statistics import median

import numpy as np
import pytest
from helpers.examples import examples
from helpers.lockstep import LockStep, World
from helpers.scenes import run_logged, study
from hypothesis import given
from hypothesis import strategies as st

from netbandit.util.streams import Streams

UNITS = {"1 ms": 10**6, "3 ns": 3}


def world_of(point, slot, wanted, replication=0):
    """The reference's world, from the numbers the scenario was made of and the streams it names."""
    run = point.scenario.run
    streams = Streams(run.seed, replication)
    edges = [(int(a), int(b)) for a, b in point.topology(replication).edges]
    agents = point.topology(replication).agents

    def latencies(purpose, bounds, count):
        low, high = bounds
        if low == high:
            return [low] * count
        return streams.generator(purpose).integers(low, high, size=count, endpoint=True).tolist()

    common = streams.generator("bandit.means").random(wanted["arms"])
    spread = wanted["heterogeneity"]
    shifts = np.zeros((agents, len(common)))
    if spread:
        shifts = streams.generator("bandit.heterogeneity").uniform(-spread, spread, size=(agents, len(common)))
    peers = latencies("links.peer", wanted["peer"], len(edges))
    return World(
        agents=agents,
        horizon=run.horizon,
        slot=slot,
        edges=edges,
        means=np.clip(common + shifts, 0, 1),
        protocol=wanted["protocol"],
        slotted=wanted["timing"] == "slotted",
        peer_latency=dict(zip(edges, peers, strict=True)),
        up_latency=latencies("links.uplink", wanted["uplink"], agents),
        peer_bits=wanted["peer_bits"],
        up_bits=wanted["up_bits"],
        streams=streams,
        epsilon=wanted["epsilon"],
        rounds=wanted["rounds"],
        gap=wanted["gap"],
        participants=wanted["participants"],
        peer_cost=1.0,
        up_cost=25.0,
    )


def uniform(bounds):
    low, high = bounds
    return f'"{low} ns"' if low == high else f'{{ uniform = ["{low} ns", "{high} ns"] }}'


@st.composite
def scenes(draw, protocol):
    agents = draw(st.integers(1, 6))
    family = draw(st.sampled_from(["star", "complete", "path", "ring", "random"]))
    if family == "ring":
        agents = max(agents, 3)
    slot = 10**6
    # Whole slots, fractions of slots and odd nanoseconds: ties and no ties.
    lengths = st.sampled_from([0, 1, slot // 3, slot // 2, slot, slot * 5 // 2, 3 * slot, 17 * slot + 1])

    def bounds():
        one = draw(lengths)
        return tuple(sorted((one, draw(lengths)))) if draw(st.booleans()) else (one, one)

    budget = draw(st.sampled_from([None, 1, 3, 8, 8]))
    tenths = draw(st.integers(1, 10)) if protocol == "master-worker" else 10
    rate = st.sampled_from([None, None, 8_000, 100_000, 3_000_000])
    wanted = {
        "protocol": protocol,
        "timing": draw(st.sampled_from(["slotted", "asynchronous"])),
        "arms": draw(st.integers(1, 4)),
        "heterogeneity": draw(st.sampled_from([0.0, 0.3])),
        "epsilon": draw(st.sampled_from([inf, inf, 1.0, 0.2])),
        "rounds": budget,
        "gap": None if budget is None else draw(st.sampled_from([0.3, 0.9])),
        "participants": 1 if protocol == "silent" else -(-tenths * agents // 10),
        "peer": bounds(),
        "uplink": bounds(),
        # Relayed, what queues for a link in one instant would queue in an order that nobody promises.
        "peer_bits": None if protocol == "relay" else draw(rate),
        "up_bits": draw(rate),
    }
    overrides = [
        f"topology.family={family}",
        f"topology.agents={agents}",
        f"run.horizon={draw(st.integers(1, 1500))}",
        f"run.seed={draw(st.integers(0, 2**32))}",
        f"protocol.kind={protocol}",
        f"protocol.timing={wanted['timing']}",
        f"bandit.arms={wanted['arms']}",
        f"bandit.heterogeneity={wanted['heterogeneity']}",
        f"learner.epsilon={wanted['epsilon']}",
        f"learner.participation={tenths / 10}",
        f"links.peer.latency={uniform(wanted['peer'])}",
        f"links.uplink.latency={uniform(wanted['uplink'])}",
    ]
    if family == "random":
        overrides.append("topology.p=0.6")
    if budget is not None:
        overrides += [f"learner.rounds={budget}", f"learner.gap={wanted['gap']}"]
    for link, key in (("peer", "peer_bits"), ("uplink", "up_bits")):
        if wanted[key] is not None:
            overrides.append(f'links.{link}.bandwidth="{wanted[key]} bit/s"')
    return slot, wanted, overrides


@pytest.mark.sampled(3)
@pytest.mark.parametrize("protocol", ["master-worker", "gis", "flooding", "relay", "silent"])
def test_everything_is_as_in_lock_step(protocol, tmp_path, monkeypatch):
    @examples(60)
    @given(scene=scenes(protocol))
    def compare(scene):
        slot, wanted, overrides = scene
        point = study(tmp_path, *overrides).points[0]
        result, phases = run_logged(point, monkeypatch)
        expected = LockStep(world_of(point, slot, wanted)).run()
        found = result.metrics
        assert phases == expected.starts
        assert {kind: list(counts) for kind, counts in result.kinds.items()} == expected.kinds
        assert found["activations"] == expected.activations
        assert found["cost"] == expected.cost
        assert found["broadcasts"] == expected.broadcasts
        assert found["rounds"] == expected.rounds
        assert found["round_slots"] == (pytest.approx(expected.round_slots) if expected.rounds else None)
        assert found["round_slots_median"] == (median(expected.waits) if expected.waits else None)
        assert found["round_slots_max"] == max(expected.waits, default=None)
        assert found["messages"] == sum(messages for messages, _ in expected.kinds.values())
        assert found["bytes"] == sum(size for _, size in expected.kinds.values())
        assert found["regret"] == pytest.approx(expected.regret[-1], abs=1e-9)
        curve = result.curves["regret"].at(np.arange(point.scenario.run.horizon + 1))
        np.testing.assert_allclose(curve, expected.regret, rtol=1e-9, atol=1e-9)

    compare()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["abilene", "geant", "internet2", "redclara"])
@pytest.mark.parametrize("timing", ["slotted", "asynchronous"])
def test_gis_on_the_bundled_networks_is_as_in_lock_step(name, timing, tmp_path, monkeypatch):
    slot, peer = 10**6, (10**5, 3 * 10**6)
    wanted = {
        "protocol": "gis", "timing": timing, "arms": 2, "heterogeneity": 0.3, "epsilon": inf, "rounds": None,
        "gap": None, "participants": 1, "peer": peer, "uplink": (0, 0), "peer_bits": None, "up_bits": None,
    }  # fmt: skip
    overrides = [
        "topology.family=file",
        f"topology.file={FOLDER / name}.graphml",
        'topology.component="largest"',
        "run.horizon=800",
        "bandit.arms=2",
        "bandit.heterogeneity=0.3",
        f"links.peer.latency={uniform(peer)}",
        f"protocol.timing={timing}",
    ]
    point = study(tmp_path, *overrides).points[0]
    wanted["participants"] = point.topology(0).agents
    result, phases = run_logged(point, monkeypatch)
    expected = LockStep(world_of(point, slot, wanted)).run()
    assert phases == expected.starts
    assert {kind: list(counts) for kind, counts in result.kinds.items()} == expected.kinds
    assert result.metrics["rounds"] == expected.rounds > 0
    assert result.metrics["activations"] == expected.activations
    assert result.metrics["regret"] == pytest.approx(expected.regret[-1], abs=1e-9)


FOLDER = Path(__file__).parents[2] / "topologies"
