"""What each way of executing a run makes of each feature: the same numbers as event by event, or it is refused.

    cd tests
    python -m helpers.features_by_execution --pin    # write the table anew

Nothing is compiled: loops run as the Python that they are written in.
"""

import csv
import os
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

if __name__ == "__main__":
    os.environ["NUMBA_DISABLE_JIT"] = "1"

from netbandit.checks.check import check
from netbandit.checks.execution_plan import execution_plan
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load
from netbandit.simulation.execution import executed
from netbandit.testing.properties import differences

TABLE = Path(__file__).parents[1] / "data" / "features_by_execution.csv"
MEETINGS = Path(__file__).parents[1] / "grid" / "meetings.csv"

BASE = """\
run = { horizon = 16, slot = "1 ms" }
topology = { family = "ring", agents = 4 }
links.peer = { latency = "0.4 ms" }
bandit = { kind = "bernoulli", means = [0.2, 0.5, 0.9] }
"""
_ARMS = ("learner={kind='ucb', share='totals'}",)
_MARKET = (
    "bandit={kind='procurement', producers=6}",
    "learner={kind='pfcb', share='exact', communicate='every', explore=4}",
)
_LINEAR = ("bandit={kind='linear', dimension=2, arms=3}", "learner={kind='oful', threshold=1.0}")
EXECUTIONS = {
    "decisions alone": ("learner.kind=klucb", "protocol.kind=silent"),
    "told to neighbours": (*_ARMS, "protocol={kind='local'}"),
    "floods": (*_ARMS, "protocol={kind='local', ttl=2, route='flood'}"),
    "pooled": (*_ARMS, "protocol.kind=pooled"),
    "told along trees": (*_ARMS, "protocol.kind=relay"),
    "told in rounds of gis": (*_ARMS, "protocol.kind=gis"),
    "exchanges": ("learner.kind=coop-ucb2", "protocol.kind=consensus"),
    "calls over flooding": (*_LINEAR, "protocol.kind=flooding"),
    "market": (*_MARKET, "protocol.kind=relay"),
    "own steps": ("learner.kind=helpers.own_steps:Counting", "protocol.kind=silent"),
}
"""What agents do, in small scenarios; each goes another way than event by event as long as nothing is added."""

ATTACK = """\
class Turned:
    def means(self, truth, view, rng):
        return 1 - truth

    def totals(self, truth, view, rng):
        return truth[0], truth[0] - truth[1]

    def sums(self, truth, view, rng):
        return truth[0], -truth[1], truth[2]
"""
_FLIP = "adversary={agents=[1], attack='flip'}"
_MADE = "bandit={kind='contexts', made={queries=40, features=2, arms=3, spread=0.5}, noise=0.1}"
_LOG = (
    f"bandit={{kind='contexts', path='{MEETINGS.with_name('shown.csv')}', features='x*', "
    "logged={arm='item', reward='click', propensity='p'}}"
)
_COUNTED = ("learner.kind=helpers.own_learners:Counted", "learner.enough=9")
FEATURES = {
    "nothing": (),
    "loss": ("links.peer.loss=0.3",),
    "loss of bits": ("links.peer.loss={per_bit=1e-3}",),
    "bursts": ("links.peer.loss={good=0.0, bad=0.9, good_for='5 ms', bad_for='3 ms'}",),
    "jitter": ("links.peer.jitter=3 ms",),
    "jitter without bound": ("links.peer.jitter={lognormal=['1 ms', 0.5]}",),
    "overtaking": ("links.peer.jitter=3 ms", "links.peer.overtaking=true"),
    "duplicates": ("links.peer.duplicate=0.4",),
    "latencies": ("links.peer.latency={uniform=['0 ms', '3 ms']}",),
    "long latency": ("links.peer.latency=3 ms",),
    "bandwidth": ("links.peer.bandwidth=1 Mbit/s",),
    "no header": ("run.header=0",),
    "queue": ("links.peer.bandwidth=500 kbit/s", "links.peer.queue=1"),
    "queue of bytes, retry": ("links.peer={bandwidth='500 kbit/s', queue='90 B', retry={timeout='2 ms'}}",),
    "retry": ("links.peer.loss=0.3", "links.peer.retry={timeout='2 ms'}"),
    "deadline": ("links.peer.loss=0.3", "protocol.deadline=3 ms"),
    "links fail": ("faults.links={up_for='5 ms', down_for='2 ms'}",),
    "links are drawn": ("faults.links={up=0.7}",),
    "outage": ("faults.outages=[{nodes=[2], from='4 ms', until='9 ms'}]",),
    "energy of messages": ("links.peer.energy={per_message='1 mJ', per_byte='10 uJ', sender_share=0.3}",),
    "outage of all agents": ("faults.outages=[{nodes='all', from='4 ms', until='9 ms'}]",),
    "outage of all links": ("faults.outages=[{links='all', from='4 ms', until='9 ms'}]",),
    "outages in periods": ("faults.outages=[{nodes=[2], from='2 ms', for='2 ms', every='6 ms'}]",),
    "partition": ("faults.outages=[{partition=[[0, 1]], from='4 ms', until='9 ms'}]",),
    "agents fail": ("faults.nodes={up_for='6 ms', down_for='2 ms'}",),
    "agents forget": ("faults.nodes={up_for='6 ms', down_for='2 ms', memory='lost'}",),
    "server fails": ("faults.server={up_for='6 ms', down_for='2 ms'}", "links.uplink.loss=0.3"),
    "uplinks": ("links.uplink={loss=0.3, jitter='2 ms', bandwidth='1 Mbit/s', retry={timeout='2 ms'}}",),
    "uplinks, queue": ("links.uplink={bandwidth='1 Mbit/s', queue=1}",),
    "one decides": ("run.activity=one",),
    "until all have answered": (*_COUNTED, "run.until=answered"),
    "who has answered is idle": (*_COUNTED, "run.idle=true"),
    "some decide": ("run.activity={share=0.5}",),
    "liars": (_FLIP,),
    "liars, loss": (_FLIP, "links.peer.loss=0.3"),
    "liars, latencies": (_FLIP, "links.peer.latency={uniform=['0 ms', '3 ms']}"),
    "noise": ("adversary={agents=[1], attack='noise'}", "links.peer.jitter=3 ms"),
    "mute": ("adversary={agents=[1], attack='mute', from='5 ms'}",),
    "own attack": ("adversary={agents=[1], attack='turned:Turned'}", "links.peer.jitter=3 ms"),
    "robust": (_FLIP, "learner.robust=median"),
    "energy": ("energy={idle='1 mW', pull='1 uJ'}",),
    "batteries": ("energy={capacity='9 uJ', idle='1 mW', harvest='500 uW', recover=0.4}",),
    "mains": ("energy={capacity='9 uJ', idle='1 mW', mains=[0, 2]}",),
    "changes": ("topology.changes={up=0.6}",),
    "changes unseen": ("topology.changes={up=0.6}", "topology.neighbours=unknown"),
    "carry": ("topology.changes={born=0.3, dies=0.4}", "protocol.carry=4 ms"),
    "contacts": (f"topology={{family='contacts', format='intervals', file='{MEETINGS}'}}",),
    "mobile": (
        "topology={family='mobile', agents=4, area=['60 m', '60 m'], range='40 m', speed=['2000 m/s', '9000 m/s']}",
        "topology.neighbours=unknown",
    ),
    "radio": ("links.peer={bandwidth='1 Mbit/s', radio={access={aloha='2 ms'}}}",),
    "asynchronous": ("protocol.timing=asynchronous",),
    "asynchronous, loss": ("protocol.timing=asynchronous", "links.peer.loss=0.3"),
    "pace": ("protocol.pace=slot", "links.peer.latency=3 ms"),
    "late rewards": ("feedback={delay='3 slots'}",),
    "late rewards, each told": ("feedback={delay='3 slots'}", "learner.share=observations"),
    "rewards late by arm": ("feedback={by_arm=['0 ms', {geometric=2.0}, {pareto=['1 ms', 1.2]}], never=0.1}",),
    "rewards late by agent": (
        "feedback={by_agent=['0 ms', '2 ms', {exponential='3 ms'}, '4 ms'], window='4 slots', missing='zero', "
        "reports='nonzero'}",
    ),
    "late rewards, trace": ("feedback={delay='3 slots'}",),
    "deadline of late rewards": ("feedback={delay='3 slots'}", "protocol.feedback_deadline='1 slot'"),
    "computing": ("compute={agents={message='0.2 ms', item='0.1 ms', aggregate='0.1 ms'}, server={message='0.2 ms'}}",),
    "decisions computed": ("compute={agents={decision='0.3 ms', byte='1 us'}, speed={lognormal=0.5}, power='1 W'}",),
    "inboxes, retry": ("compute.agents={message={exponential='0.5 ms'}, inbox=1}", "links.peer.retry={timeout='2 ms'}"),
    "trace": (),
    "contexts": (_MADE,),
    "contexts, agents fail": (_MADE, "links.peer.loss=0.3", "faults.nodes={up_for='6 ms', down_for='2 ms'}"),
    "a log": (_LOG,),
    "a log, late rewards": (_LOG, "feedback={delay='3 slots', window='4 slots', missing='zero'}"),
}
"""What may be added, as for ``--set``."""


def cell(feature, execution, folder):
    """Return whether the numbers of a feature are the same, by which way, and why by no other; or why it cannot be."""
    try:
        point = check(load(folder / "scene.toml", [*EXECUTIONS[execution], *FEATURES[feature]], text=BASE)).points[0]
    except ScenarioError as error:
        return "no such scenario: " + error.lines[0].split(": ")[1]
    traced = "trace" in feature
    with executed("plain"):
        plain = point.simulation(0).run()
    with executed("compiled"):
        compiled = point.simulation(0).run(folder / "trace.jsonl" if traced else None)
        how = "a trace is written" if traced else re.sub(r", line \d+", "", "; ".join(execution_plan(point)))
    found = next(differences(plain, compiled, digits=10), None)
    return f"DIFFERENT: {found} ({how})" if found else f"same numbers: {how}"


def pinned():
    """Return the cells as they were written, by feature and execution."""
    with TABLE.open(newline="", encoding="utf-8") as file:
        return {(feature, execution): text for feature, execution, text in csv.reader(file)}


def pin():
    """Write the cells as they are now."""
    with TemporaryDirectory() as folder, TABLE.open("w", newline="", encoding="utf-8") as file:
        (Path(folder) / "turned.py").write_text(ATTACK)
        keys = ((feature, execution) for feature in FEATURES for execution in EXECUTIONS)
        csv.writer(file, lineterminator="\n").writerows([*key, cell(*key, Path(folder))] for key in keys)


if __name__ == "__main__" and "--pin" in sys.argv:
    pin()
