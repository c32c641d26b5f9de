import numpy as np
import pytest
from helpers.examples import examples
from helpers.gathering import SCENARIO, played, point
from helpers.made_up_runs import study_of
from helpers.paper_costs import numbers_sent
from hypothesis import given
from hypothesis import strategies as st

from netbandit.checks.check import check
from netbandit.learners.linear import LinTs
from netbandit.learners.linear_costs import lints_slot, linucb_slot, masks_setup, masks_slot
from netbandit.plots import pictures
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load

CASES = [
    ("linucb", 3_000, 2, [1, 1]),
    ("linucb", 3_000, 30, [1, 20, 9]),
    ("linucb", 200, 200, [40] * 5),
    ("lints", 3_000, 2, [1, 1]),
    ("lints", 3_000, 30, [1, 20, 9]),
    ("lints", 200, 200, [40] * 5),
]


def assert_lossless(tmp_path, learner, horizon, parts, secure, *overrides):
    """Masked and central runs choose the same arm in every slot, and estimate the same once it is turned back."""
    common = [
        f"learner.kind={learner}",
        f"run.horizon={horizon}",
        f"bandit.dimension={sum(parts)}",
        f"bandit.participants={parts}",
        f"topology.agents={len(parts)}",
        *overrides,
    ]
    if learner == "lints":
        common.append("learner.v=0.1")
    masked, outcome = played(point(tmp_path, *common, f"protocol.secure_sum={str(secure).lower()}"))
    central, same = played(point(tmp_path, *common, "protocol.masks=false"))
    assert outcome.metrics["rounds"] == same.metrics["rounds"] == horizon
    np.testing.assert_array_equal(np.concatenate(masked.arms), np.concatenate(central.arms))
    np.testing.assert_allclose(masked.mask.T @ masked.learner.parameter, central.learner.parameter, atol=1e-9, rtol=0)
    np.testing.assert_allclose(outcome.metrics["parameter_error"], same.metrics["parameter_error"], atol=1e-9, rtol=0)
    assert outcome.regret == same.regret


@pytest.mark.sampled(11)
@pytest.mark.parametrize(
    ("learner", "horizon", "dimension", "parts", "secure"),
    # A sum of one hides nothing, and is refused.
    [(*case, secure) for case in CASES for secure in (False, True) if not secure or len(case[3]) > 2],
)
def test_masked_and_central_runs_choose_the_same_arms(tmp_path, learner, horizon, dimension, parts, secure):
    assert sum(parts) == dimension
    assert_lossless(tmp_path, learner, horizon, parts, secure)


@pytest.mark.ci
@given(
    learner=st.sampled_from(["linucb", "lints"]),
    parts=st.lists(st.integers(0, 12), min_size=3, max_size=6).filter(lambda parts: sum(parts) > 1),
    secure=st.booleans(),
    arms=st.integers(1, 8),
    partial=st.sampled_from([0.2, 0.7, 1.0]),
)
@examples(25)
def test_any_split_of_the_columns_is_lossless(tmp_path, learner, parts, secure, arms, partial):
    assert_lossless(tmp_path, learner, 300, parts, secure, f"bandit.arms={arms}", f"bandit.partial={partial}")


@pytest.mark.slow
@pytest.mark.parametrize("dimension", [2, 5, 20, 60, 100, 200])
@pytest.mark.parametrize("learner", ["linucb", "lints"])
@pytest.mark.parametrize("secure", [False, True])
def test_ten_thousand_slots_are_lossless(tmp_path, learner, dimension, secure):
    """Random partitions, empty parts among them, of up to 200 columns."""
    rng = np.random.default_rng(dimension)
    for _ in range(3):
        agents = int(rng.integers(3, 8))
        cuts = np.sort(rng.integers(0, dimension + 1, agents - 1))
        parts = np.diff([0, *cuts, dimension]).tolist()
        assert_lossless(tmp_path, learner, 10_000, parts, secure, f"run.seed={rng.integers(1000)}", "bandit.arms=10")


@given(parts=st.lists(st.integers(0, 9), min_size=3, max_size=6).filter(lambda parts: sum(parts) > 1))
@examples(20)
def test_bytes_on_a_star(tmp_path, parts):
    horizon, arms, dimension, agents = 50, 5, sum(parts), len(parts)
    overrides = [f"bandit.dimension={dimension}", f"bandit.participants={parts}", f"topology.agents={agents}"]
    result = point(tmp_path, *overrides, f"run.horizon={horizon}").simulation(0).run()
    senders = sum(1 for part in parts[1:] if part)
    sent = senders * horizon
    assert result.kinds.get("CONTEXT", (0, 0)) == (sent, sent * (8 * arms * dimension + 20))
    # Agent 1 makes the masks: that of agent 0 goes one hop, those of the others two, through the centre.
    hops = [(8 * dimension * part + 20, 2 if agent else 1) for agent, part in enumerate(parts) if part and agent != 1]
    masks = sum(count for _, count in hops), sum(size * count for size, count in hops)
    assert result.kinds.get("MASK", (0, 0)) == masks
    metrics = result.metrics
    assert (metrics["context_bytes"], metrics["mask_bytes"]) == (sent * (8 * arms * dimension + 20), masks[1])
    assert metrics["bytes"] == metrics["context_bytes"] + metrics["mask_bytes"]
    assert metrics["messages"] == sent + masks[0]


def test_bytes_are_those_of_the_count(tmp_path):
    """Equal parts on a star: 8 (N - 1) K d a slot, and 8 (d^2 - d d_g) for masks end to end, and headers."""
    links = ["topology.family=complete"]  # so that masks go one hop, which is end to end
    metrics = point(tmp_path, *links).simulation(0).run().metrics
    masks, contexts = numbers_sent(5, 12, 4, 3)
    assert metrics["context_bytes"] == 400 * (8 * contexts + 3 * 20)
    assert metrics["mask_bytes"] == 8 * masks + 3 * 20
    metrics = point(tmp_path, 'protocol.generator="third-party"').simulation(0).run().metrics
    assert metrics["context_bytes"] == 400 * (8 * contexts + 3 * 20)
    assert metrics["mask_bytes"] == 0 == numbers_sent(5, 12, 4, None)[0]


@pytest.mark.ci
def test_operations_are_counted(tmp_path):
    counted = ("slot_operations", "mask_slot_operations", "mask_setup_operations")
    for learner, slot in (("linucb", linucb_slot), ("lints", lints_slot)):
        masked = point(tmp_path, f"learner.kind={learner}").simulation(0).run().metrics
        assert [masked[name] for name in counted] == [slot(5, 12), masks_slot(5, 12), masks_setup(12)]
        central = point(tmp_path, f"learner.kind={learner}", "protocol.masks=false").simulation(0).run().metrics
        assert [central[name] for name in counted] == [slot(5, 12), 0, 0]


@pytest.mark.parametrize("pipeline", [1, 2, 100])
def test_decisions_follow_from_latency_and_bandwidth(tmp_path, pipeline):
    # 8 * 5 * 12 + 20 = 500 bytes at 1 Mbit/s take 4 ms, and 6 ms more to get there: 10 slots.
    links = ['links.peer.bandwidth="1 Mbit/s"', 'links.peer.latency="6 ms"']
    result = point(tmp_path, *links, f"protocol.pipeline={pipeline}").simulation(0).run()
    decisions, horizon = result.metrics["rounds"], 400
    if pipeline == 1:
        assert result.metrics["round_slots"] == 10
        assert decisions == (horizon - 1) // 10
    elif pipeline == 2:
        assert decisions == pytest.approx(horizon / 5, abs=4)
    else:
        assert decisions == pytest.approx(horizon / 4, abs=4)


@pytest.mark.ci
@given(
    bandwidth=st.integers(1, 40),
    latency=st.integers(0, 20_000),
    slot=st.integers(1, 30),
    pipeline=st.integers(1, 20),
)
@examples(60)
def test_decisions_a_second_are_those_of_the_bottleneck(tmp_path, bandwidth, latency, slot, pipeline):
    """500 bytes: transmission x, latency l; at most ``min(1/slot, 1/x, pipeline/(x + l))`` decisions a second."""
    slots = 300
    overrides = [
        f"run.horizon={slots}",
        f'run.slot="{slot} ms"',
        f'links.peer.bandwidth="{bandwidth * 100} kbit/s"',
        f'links.peer.latency="{latency} us"',
        f"protocol.pipeline={pipeline}",
        'protocol.generator="third-party"',
        "topology.agents=2",
        "bandit.participants=[6, 6]",
    ]
    metrics = point(tmp_path, *overrides).simulation(0).run().metrics
    sending = -(-500 * 8 * 10**9 // (bandwidth * 100_000))
    slot, latency = slot * 10**6, latency * 1000
    free, ends = 0, []
    for user in range(slots):
        now = user * slot
        # A decision at the boundary itself comes before the user.
        if sum(1 for end in ends if end > now) < pipeline:
            free = max(free, now) + sending
            ends.append(free + latency)
    served = sum(1 for end in ends if end < slots * slot)
    assert (metrics["rounds"], metrics["unserved"]) == (served, slots - len(ends))
    seconds = slots * slot / 1e9
    bound = min(1e9 / slot, 1e9 / sending, pipeline * 1e9 / (sending + latency))
    assert metrics["decisions_per_s"] <= bound + pipeline / seconds + 1e-9


def test_a_full_pipeline_is_as_fast_as_the_slowest_link(tmp_path):
    """Through the middle of a path two parts pass the last link, one behind the other."""
    overrides = [
        "topology.family=path",
        "topology.agents=3",
        'links.peer.bandwidth="1 Mbit/s"',  # 500 bytes: 4 ms
        'links.peer.latency="50 ms"',
        "protocol.pipeline=40",
        "run.horizon=4000",
    ]
    metrics = point(tmp_path, *overrides).simulation(0).run().metrics
    assert metrics["decisions_per_s"] == pytest.approx(125, rel=0.03)


@pytest.mark.parametrize(
    ("family", "latency", "waited"),
    [
        ("star", "0 ms", 1),
        ("star", "1 ms", 1),
        ("star", "1500 us", 2),
        ("path", "0 ms", 2),
        ("path", "1500 us", 4),
        ("path", "2 ms", 4),
    ],
)
def test_a_slotted_hop_takes_effect_at_a_boundary(tmp_path, family, latency, waited):
    """Of three agents on a path one is two hops away: each takes whole slots, at least one."""
    overrides = [f"topology.family={family}", "topology.agents=3", f'links.peer.latency="{latency}"']
    common = ["protocol.timing=slotted", "protocol.pipeline=100", "run.horizon=50"]
    metrics = point(tmp_path, *overrides, *common).simulation(0).run().metrics
    assert (metrics["round_slots"], metrics["rounds"], metrics["unserved"]) == (waited, 50 - waited, 0)


def test_parts_are_passed_on_as_they_come(tmp_path):
    """Asynchronously, without waiting for boundaries: over two hops twice 4 ms to send and 6 ms to get there."""
    links = ['links.peer.bandwidth="1 Mbit/s"', 'links.peer.latency="6 ms"', "topology.family=path"]
    metrics = point(tmp_path, *links, "topology.agents=3").simulation(0).run().metrics
    assert metrics["round_slots"] == 20
    assert metrics["rounds"] == 399 // 20


def test_masks_take_the_time_of_their_way(tmp_path):
    """Agent 1 of a star sends three masks of 8 * 12 * 3 + 20 bytes, 2.464 ms each at 1 Mbit/s, one behind the other.

    The last one then takes as long again from the centre to its receiver, and 6 ms on each of the two links.
    """
    links = ['links.peer.bandwidth="1 Mbit/s"', 'links.peer.latency="6 ms"']
    metrics = point(tmp_path, *links).simulation(0).run().metrics
    assert metrics["masks_s"] == pytest.approx((3 * 2.464 + 6 + 2.464 + 6) / 1000, rel=1e-12)
    assert point(tmp_path, *links, "protocol.masks=false").simulation(0).run().metrics["masks_s"] == 0
    central = [*links, 'protocol.generator="third-party"']
    assert point(tmp_path, *central).simulation(0).run().metrics["masks_s"] == 0


def test_users_are_the_same_whoever_is_served(tmp_path, monkeypatch):
    """Contexts, rewards and draws belong to a user: who waits for messages meets fewer of the same users."""
    met = []
    plain = LinTs.play

    def play(self, contexts, rewards, normals):
        met.append((contexts, rewards, normals))
        return plain(self, contexts, rewards, normals)

    monkeypatch.setattr(LinTs, "play", play)
    common = ["learner.kind=lints", "protocol.masks=false", "run.horizon=60"]
    point(tmp_path, *common).simulation(0).run()
    point(tmp_path, *common, 'links.peer.latency="6500 us"').simulation(0).run()
    (all_of_them, few) = met
    for everybody, served in zip(all_of_them, few, strict=True):
        assert len(everybody) == 60
        np.testing.assert_array_equal(everybody[0:56:7], served)


def test_a_participant_with_nothing_to_show_sends_nothing(tmp_path):
    result = point(tmp_path, "bandit.partial=0.25", "protocol.masks=false").simulation(0).run()
    assert "CONTEXT" not in result.kinds
    assert result.metrics["rounds"] == 400


@pytest.mark.parametrize(
    ("overrides", "text"),
    [
        (["topology.agents=2", "protocol.secure_sum=true"], "at least 3 participants"),
        (["protocol.generator=4"], "the agents are 0 to 3"),
        (["protocol.generator=0"], "third-party"),
        (["topology.agents=1"], "is agent 1, but agent 0 is alone and sends nothing: set masks = false"),
        (["bandit.noise=1e101"], "bandit.noise: must be"),
        (["bandit.participants=[1, 2]"], "lists 3 columns"),
        (["bandit.participants=3"], "makes 3 participants"),
        (["protocol.kind=gis", "protocol.timing=slotted"], '"gis" offers no gathers, in which an agent collects'),
    ],
)
def test_mistakes(tmp_path, overrides, text):
    with pytest.raises(ScenarioError) as error:
        point(tmp_path, *overrides)
    assert text in "\n".join(error.value.lines)


def drawn(tmp_path, *overrides):
    """Return the axes of each picture of a sweep of the latency, by its name."""
    file = tmp_path / "scenario.toml"
    file.write_text(SCENARIO)
    latencies = [] if any("latency" in each for each in overrides) else ["0 ms", "1500 us", "3500 us"]
    swept = [f"sweep.links.peer.latency={latencies}"] if latencies else []
    points = check(load(file, [*swept, "run.horizon=100", "run.replications=2", *overrides])).points
    runs = [each.simulation(number).run() for each in points for number in range(2)]
    for run in runs:
        decisions = run.metrics["rounds"]
        assert run.metrics["regret_per_decision"] == (run.metrics["regret"] / decisions if decisions else None)
    return {picture.name: picture for picture in pictures(study_of(runs), every=True)}


def test_pictures_compare_decision_by_decision_where_users_went_away(tmp_path):
    """Who is not served adds no regret: the slowest would look best, and would not look slow."""
    found = drawn(tmp_path)
    labels = {name: [axes.get_ylabel() for axes in picture.figure.axes] for name, picture in found.items()}
    assert labels["parameter"] == ["regret per decision (reward)", "decisions per second (1 / s)"]
    assert labels["tradeoff"] == labels["delay"] == ["regret per decision (reward)"]
    assert labels["regret"] == ["regret of the users served (reward)"]
    assert "unserved users add no regret" in found["regret"].subtitle
    assert found["parameter"].title.startswith("scenario: regret per decision is between ")
    assert found["delay"].title.startswith("scenario: the least regret per decision is 0.0226 and the least waiting ")


def test_pictures_compare_regret_where_all_were_served(tmp_path):
    found = drawn(tmp_path, "protocol.pipeline=4")
    labels = {name: [axes.get_ylabel() for axes in picture.figure.axes] for name, picture in found.items()}
    assert labels["parameter"] == ["regret of all agents (reward)", "waiting per round (slots)"]
    assert labels["delay"] == ["regret of all agents (reward)"]
    assert "served" not in found["regret"].subtitle
    assert found["delay"].title == "scenario: regret is 2.26 at all points"


def test_pictures_of_no_decision_at_all_are_not_empty(tmp_path):
    found = drawn(tmp_path, "sweep.links.peer.latency=['1 s', '2 s', '3 s']")
    assert found["parameter"].figure.axes[0].get_ylabel() == "regret of all agents (reward)"
    assert len(found["parameter"].figure.axes[0].lines) > 0


def test_nothing_decided_has_no_regret_of_a_decision(tmp_path):
    metrics = point(tmp_path, 'links.peer.latency="1000 s"').simulation(0).run().metrics
    assert (metrics["rounds"], metrics["unserved"], metrics["regret"], metrics["regret_per_decision"]) == (
        0,
        399,
        0,
        None,
    )


@pytest.mark.parametrize("unserved", ["free", "worst", "random"])
def test_users_who_went_away_cost_what_was_asked_for(tmp_path, unserved):
    driver, outcome = played(point(tmp_path, 'links.peer.latency="3.5 ms"', f'protocol.unserved="{unserved}"'))
    metrics, slots = outcome.metrics, outcome.curves["regret"].slots
    came = {slot for users in driver._users for slot in users.tolist()}
    # One user at a time is under way for 3.5 slots: of four who come one is served.
    assert came == set(range(0, 397, 4))
    away = [slot for slot in range(400) if slot % 4]
    assert metrics["unserved"] == len(away)
    bandit = driver._bandit
    blocks = {
        block: bandit.users(block, driver.context.streams.generator).regrets for block in range(400 // bandit.block + 1)
    }
    regrets = np.array([blocks[slot // bandit.block][slot % bandit.block] for slot in away])
    added = {"free": 0.0, "worst": regrets.max(axis=1).sum(), "random": regrets.mean(axis=1).sum()}[unserved]
    assert metrics.get("regret_unserved", 0.0) == pytest.approx(added)
    decided = metrics["regret_per_decision"] * metrics["rounds"]
    assert outcome.regret == pytest.approx(decided + added)
    assert outcome.curves["regret"].values[-1] == pytest.approx(outcome.regret)
    assert np.all(np.diff(slots) > 0)
    assert np.all(np.diff(outcome.curves["regret"].values) >= 0)
    assert any("unserved" in remark for remark in outcome.remarks) == (unserved == "free")


def test_the_table_compares_decisions_where_users_went_away(tmp_path):
    from netbandit.results.columns import metrics_with_columns
    from netbandit.results.summary import Estimate

    def table(unserved):
        found = []
        for latency in ("0 ms", "3.5 ms"):
            metrics = (
                point(tmp_path, f'links.peer.latency="{latency}"', f'protocol.unserved="{unserved}"')
                .simulation(0)
                .run()
                .metrics
            )
            found.append({name: Estimate(value, None, [value]) for name, value in metrics.items()})
        return found

    near, far = table("free")
    assert far["regret"].value < near["regret"].value  # as if distance were a gain
    assert far["regret_per_decision"].value > near["regret_per_decision"].value
    assert metrics_with_columns([near, far])[0] == "regret_per_decision"
    near, far = table("random")
    assert far["regret"].value > near["regret"].value
    assert metrics_with_columns([near, far])[0] == "regret"


def test_at_the_deadline_a_user_goes_away_and_makes_room_for_the_next(tmp_path):
    """A decision takes 3.5 ms: at 2 ms every second user goes away, the others find one under way."""
    result = point(tmp_path, 'links.peer.latency="3.5 ms"', 'protocol.deadline="2 ms"').simulation(0).run()
    metrics = result.metrics
    assert (metrics["rounds"], metrics["unserved"]) == (0, 399)  # the last one's deadline is the horizon
    assert metrics["late"] == 3 * 199
    assert result.kinds["CONTEXT"][0] == 3 * 200


@pytest.mark.parametrize("timing", ["slotted", "asynchronous"])
def test_a_deadline_that_all_parts_keep_changes_nothing(tmp_path, timing):
    keys = ['links.peer.latency="3.5 ms"', f"protocol.timing={timing}"]
    deadline = {"slotted": "4 slots", "asynchronous": "3.5 ms"}[timing]
    free = point(tmp_path, *keys).simulation(0).run()
    kept = point(tmp_path, *keys, f'protocol.deadline="{deadline}"').simulation(0).run()
    assert kept.fingerprint == free.fingerprint
    assert kept.metrics["late"] == 0
    assert "late" not in free.metrics
    soon = point(tmp_path, *keys, 'protocol.deadline="3.4 ms"').simulation(0).run().metrics
    assert soon["rounds"] == 0


@pytest.mark.parametrize("deadline", ['"0 ms"', '"-1 ms"', "5", '"soon"'])
def test_a_deadline_is_a_duration_above_zero(tmp_path, deadline):
    with pytest.raises(ScenarioError, match=r"protocol\.deadline: must be above 0, a duration such as"):
        point(tmp_path, f"protocol.deadline={deadline}")


def test_nobody_waits_for_ever_where_a_deadline_ends_it_once_agent_0_is_back(tmp_path):
    """Parts of the users of slots 5 to 9 never come, and agent 0 is down from before their deadlines to the end."""
    from_5 = '[{ nodes = [1], from = "4.5 ms" }, { nodes = [0], from = "10.5 ms" }]'
    keys = ["run.horizon=40", "topology.agents=3", "bandit.dimension=6", f"faults.outages={from_5}"]
    waits = point(tmp_path, *keys).simulation(0).run()
    ends = point(tmp_path, *keys, 'protocol.deadline="6 ms"').simulation(0).run()
    assert (waits.metrics["stalled"], ends.metrics["stalled"]) == (1, 0)
    assert any("waited at the horizon for messages" in remark for remark in waits.remarks)
    assert not any("waited at the horizon for messages" in remark for remark in ends.remarks)
