"""A condition of another package: its table is checked, run, counted, said and drawn, and nothing here knows it."""

import json
import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import netbandit as nb
from netbandit.checks.check import check
from netbandit.cli import main
from netbandit.parts import registry
from netbandit.parts.plugins import look_again
from netbandit.results.metrics import axis_label
from netbandit.results.run_keys import run_key
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load
from netbandit.simulation.execution import executed

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "own_condition.md"
TARIFF, _, NIGHTS = (block.split("```")[0] for block in GUIDE.read_text(encoding="utf-8").split("```text\n")[1:])

RUMOURS = """
from netbandit.conditions.adversary import Adversary
from netbandit.conditions.condition import Condition, Model
from netbandit.conditions.feedback_plan import FeedbackPlan
from netbandit.conditions.lies_plan import LiesPlan
from netbandit.network.jitter import UniformJitter


class Rumours(Condition):
    liars: int = 0
    slots: int = 0
    counted: bool = False

    def known(self, facts):
        return {"late": True} if self.slots else {}

    def problems(self, facts):
        if self.liars:
            for path, text in Adversary(agents=[0], attack="flip").problems(facts):
                yield ("rumours", *path[1:]), text

    def prepare(self, plan):
        if self.liars:
            plan.lies = LiesPlan(frozenset(range(self.liars)), "flip")
        if self.slots:
            late = self.slots * plan.clock.slot
            plan.feedback = FeedbackPlan((UniformJitter(late, late),))

    def start(self, network):
        return Heard() if self.counted else None


class Heard(Model):
    watches = False

    def metrics(self, found):
        return {"heard": found["delivered"]}
"""


def forget():
    """Forget which packages are installed."""
    look_again()
    registry._condition_classes.cache_clear()


PRICES = [1.0] * 6 + [2.0] * 18


@pytest.fixture
def tariff(tmp_path, monkeypatch):
    """Install a distribution that offers the conditions."""
    folder = tmp_path / "site"
    info = folder / "tariffs-1.2.dist-info"
    info.mkdir(parents=True)
    for module, text in (("tariffs", TARIFF), ("nights", NIGHTS), ("rumours", RUMOURS)):
        (folder / f"{module}.py").write_text(text)
        monkeypatch.delitem(sys.modules, module, raising=False)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tariffs\nVersion: 1.2\n")
    offers = "tariff = tariffs:Tariff\nnights = nights:Nights\nrumours = rumours:Rumours\n"
    (info / "entry_points.txt").write_text(f"[netbandit.conditions]\n{offers}")
    monkeypatch.setattr("sys.path", [*sys.path, str(folder)])
    forget()
    yield
    forget()


def scenario(**tables):
    plain = {
        "run": {"horizon": 30, "slot": "1 h"},
        "topology": {"family": "ring", "agents": 4},
        "bandit": {"kind": "bernoulli", "means": [0.9, 0.1]},
        "learner": {"kind": "ucb"},
        "protocol": {"kind": "local"},
    }
    return nb.Scenario(**plain | tables)


def point_of(**tables):
    return check(scenario(**tables).document()).points[0]


@pytest.mark.parametrize("latency", ["0 ms", "1 h"])
def test_it_is_counted_event_by_event_and_changes_no_number(tariff, latency):
    links = {"peer": {"latency": latency}}
    priced, free = (point_of(links=links, **table) for table in ({"tariff": {"prices": PRICES}}, {}))
    reason = next(choice.reason for choice in priced.simulation(0).choices() if choice.part == "messages")
    assert reason == "only event by event is it known what conditions (Bill) does"
    with_it, without = priced.simulation(0).run(), free.simulation(0).run()
    assert with_it.fingerprint == without.fingerprint
    # Eight messages a slot of an hour, and twelve of the thirty slots are between midnight and six.
    assert with_it.metrics["messages"] == without.metrics["messages"] == 8 * 30
    assert with_it.metrics["paid"] == 8 * (12 * 1.0 + 18 * 2.0)
    assert "paid" not in without.metrics
    assert run_key(priced, 0) != run_key(free, 0)
    assert free.resolved.keys() | {"tariff"} == priced.resolved.keys()
    assert priced.identities["tariff"]
    assert with_it.versions["tariffs"] == "1.2"
    assert "tariffs" not in without.versions


ALL_NIGHT = {"nodes": [0, 1, 2, 3], "from": "0 h", "for": "6 h", "every": "24 h"}


IN_SLOTS = {"learner": {"kind": "ucb", "share": "totals"}}
IN_PHASES = {"learner": {"kind": "elimination"}, "protocol": {"kind": "gossip"}}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("agents", [IN_SLOTS, IN_PHASES])
@pytest.mark.parametrize(
    ("own", "ours"),
    [
        ({"nights": {"hours": 6}}, {"faults": {"outages": [ALL_NIGHT]}}),
        ({"rumours": {"liars": 1}}, {"adversary": {"agents": [0], "attack": "flip"}}),
        ({"rumours": {"slots": 3}}, {"feedback": {"delay": "3 slots"}}),
    ],
)
def test_it_does_in_every_execution_what_ours_do(tariff, own, ours, agents):
    run = {"horizon": 200, "slot": "1 h"}
    for execution in ("plain", "compiled"):
        with executed(execution):
            found, wanted, without = (
                point_of(run=run, **agents, **tables).simulation(0).run() for tables in (own, ours, {})
            )
        assert found.fingerprint == wanted.fingerprint
        known, mine, others = (result.metrics | {"wall_s": 0} for result in (wanted, found, without))
        assert mine == known != others


@pytest.mark.parametrize("table", [{"nights": {"hours": 6}}, {"faults": {"outages": [ALL_NIGHT]}}])
def test_others_know_of_it(tariff, table):
    with pytest.raises(ScenarioError, match=r"learner\.robust: must be mean, .* each agent concludes for itself here"):
        point_of(**IN_PHASES | {"learner": {"kind": "elimination", "robust": "krum"}}, **table)


def test_it_may_have_ours_check_what_it_does(tariff):
    with pytest.raises(
        ScenarioError, match=r"rumours\.attack: cannot be with .* no lie is defined for single observat"
    ):
        point_of(rumours={"liars": 1})


def test_conditions_are_asked_in_the_order_of_the_registry(tariff):
    ordered = ["faults", "adversary", "energy", "feedback", "compute", "nights", "tariff"]  # outages before batteries
    written = {"tariff": {"prices": PRICES}, "nights": {"hours": 6}, "compute": {}, "energy": {}, "faults": {}}
    assert list(point_of(**written).scenario.conditions) == ordered


def test_one_that_only_counts_leaves_messages_in_bulk(tariff):
    counted = point_of(rumours={"counted": True})
    assert any(choice.reason is None for choice in counted.simulation(0).choices() if choice.part == "messages")
    found = counted.simulation(0).run().metrics
    assert found["heard"] == found["delivered"] > 0


def test_its_remarks_are_those_of_the_run(tariff):
    remark = "nothing was sent at night"
    at_any_time, by_day = (
        point_of(tariff={"prices": PRICES}, **more) for more in ({}, {"faults": {"outages": [ALL_NIGHT]}})
    )
    assert remark not in at_any_time.simulation(0).run().remarks
    assert remark in by_day.simulation(0).run().remarks


def test_it_is_checked_with_the_place_of_each_mistake(tariff):
    with pytest.raises(ScenarioError, match=r"tariff\.prices: must have 24 prices, one for each hour, not 2"):
        point_of(tariff={"prices": [1.0, 2.0]})
    with pytest.raises(ScenarioError, match=r'tariff\.price: unknown key, must be "prices"'):
        point_of(tariff={"price": PRICES})
    alone = nb.Scenario(**{**scenario(tariff={"prices": PRICES}).tables, "protocol": {"kind": "silent"}})
    assert any("tariff: has no effect: nothing is sent" in note for note in check(alone.document()).notes)


@pytest.mark.ci
def test_the_command_line_knows_it(tariff, tmp_path):
    file = tmp_path / "priced.toml"
    scenario(tariff={"prices": PRICES}).to_toml(file)
    ran = CliRunner().invoke(main, ["run", str(file), "--out", str(tmp_path / "r"), "--all"])
    assert ran.exit_code == 0, ran.output
    assert re.search(r"paid.*384", ran.output), ran.output
    assert CliRunner().invoke(main, ["report", str(tmp_path / "r")]).exit_code == 0
    assert ",paid,384.0," in (tmp_path / "r" / "table.csv").read_text()
    assert "<td>paid</td>" in (tmp_path / "r" / "report.html").read_text()
    assert "paid (EUR): What all messages cost." in CliRunner().invoke(main, ["parts", "metrics"]).output
    assert CliRunner().invoke(main, ["parts", "paid"]).output.startswith("paid (EUR): What all messages cost.")
    assert "tariff" in json.loads(CliRunner().invoke(main, ["schema"]).output)["properties"]
    assert axis_label("paid") == "paid (EUR)"


def test_it_is_not_imported_where_own_code_is_not(tariff, tmp_path):
    file = tmp_path / "priced.toml"
    scenario(tariff={"prices": PRICES}).to_toml(file)
    document = load(file)
    forget()
    sys.modules.pop("tariffs", None)
    found = CliRunner().invoke(main, ["check", str(file), "--no-own-code", "--set", "tariff.prices=[1.0]"])
    assert found.exit_code == 0, found.output
    assert "tariff: the condition was not imported: its keys, and what depends on it, were not checked" in found.output
    assert "tariffs" not in sys.modules
    check(document, own_code=False)
    assert "tariffs" not in sys.modules
    check(document)
    assert "tariffs" in sys.modules


def test_a_scenario_without_its_package_says_so(tmp_path):
    with pytest.raises(ScenarioError, match="tariff: unknown"):
        nb.run({**scenario().tables, "tariff": {"prices": PRICES}}, out=tmp_path / "r")
