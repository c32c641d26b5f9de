"""A kernel refuses whatever it does not name: a class of parameters that is new, and a parameter that is."""

import inspect
from dataclasses import field, fields, make_dataclass, replace

import pytest

from netbandit.checks.check import check
from netbandit.network.features import Feature
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.models.loss import ConstantLoss
from netbandit.network.network import Network
from netbandit.scenario.load import load
from netbandit.simulation.dispatch import messages
from netbandit.simulation.dispatch.messages import BroadcastChoice, ExchangeChoice, TreeChoice
from netbandit.simulation.kernels import bulk_links

SCENARIO = """\
run = { horizon = 60, slot = "1 ms" }
topology = { family = "ring", agents = 6 }
links = { peer = { latency = "0.3 ms", overtaking = true }, uplink = { overtaking = true } }
energy = { idle = "1 mW" }
bandit = { kind = "bernoulli", means = [0.2, 0.5, 0.9] }
learner = { kind = "ucb" }
protocol = { kind = "local" }
"""
MIXES = ("learner.kind=coop-ucb2", "protocol.kind=consensus")
LOSS = "links.peer.loss=0.1"
KERNELS = {
    "neighbours": (BroadcastChoice, ()),
    "neighbours, lost": (BroadcastChoice, (LOSS,)),
    "floods": (BroadcastChoice, ("protocol.ttl=2", "protocol.route=flood")),
    "pooled": (BroadcastChoice, ("protocol.kind=pooled",)),
    "trees": (TreeChoice, ("protocol.kind=relay",)),
    "together": (ExchangeChoice, MIXES),
    "mixing": (ExchangeChoice, (*MIXES, LOSS)),
}


def of_faults(name):
    return lambda network, change: setattr(
        network, "faults", replace(network.faults, **{name: change(getattr(network.faults, name))})
    )


def of_network(name):
    return lambda network, change: setattr(network, name, change(getattr(network, name)))


PLACES = {
    "links.peer": [of_network("peer_class"), of_faults("peer")],
    "faults": [of_network("faults"), of_faults("plan")],
    "energy": [of_network("energy")],
}
"""For each table, how its parameters in a network are changed."""


@pytest.fixture(params=KERNELS)
def kernel(request):
    return request.param


@pytest.fixture
def refusal(kernel, tmp_path):
    """Return why the kernel does not take its scenario, given how to change the network."""
    choice, changes = KERNELS[kernel]
    point = check(load(tmp_path / "scene.toml", changes, text=SCENARIO)).points[0]

    def why(change=lambda network: None):
        context = point.simulation(0).context(point.topology(0), Fingerprint(), None)
        change(context.network)
        return choice(*((context,) if choice is ExchangeChoice else (context, context.learner))).reason_against()

    assert why() is None
    return why


def made(model, **given):
    """Return parameters of a class of their own that has a key more, 0 by default."""
    added = [("made_up", int, field(default=0))]
    kind = make_dataclass("Made", added, bases=(type(model),), frozen=True)
    return kind(**{one.name: getattr(model, one.name) for one in fields(model)}, **given)


@pytest.mark.parametrize(("key", "place"), [(key, place) for key, places in PLACES.items() for place in places])
def test_a_new_class_of_parameters_is_refused_and_if_it_is_known_its_new_parameter(
    refusal, kernel, monkeypatch, key, place
):
    said = "only event by event is it known what {} does"
    if (kernel, key) == ("pooled", "links.peer"):  # nothing is sent
        assert refusal(lambda network: place(network, lambda model: made(model, made_up=7))) is None
        return
    assert refusal(lambda network: place(network, made)) == said.format(f"{key} (Made)")

    def known(model, value):
        found = made(model, made_up=value)
        for owner, name in ((bulk_links, "COUNTED"), (bulk_links, "KNOWN"), (messages, "_KNOWN_OF_POOLED")):
            monkeypatch.setattr(owner, name, getattr(owner, name) | {Feature(key, type(found))})
        return found

    assert refusal(lambda network: place(network, lambda model: known(model, 0))) is None
    assert refusal(lambda network: place(network, lambda model: known(model, 7))) == said.format(f"{key}.made_up")


@pytest.mark.parametrize("name", ["loss", "jitter", "retry"])
@pytest.mark.parametrize("model", [made(ConstantLoss(0.5)), object()], ids=["one that is derived", "another"])
def test_a_new_model_of_a_link_is_refused(refusal, kernel, name, model):
    why = refusal(lambda network: of_faults("peer")(network, lambda peer: replace(peer, **{name: model})))
    assert why is None if kernel == "pooled" else f"links.peer.{name}" in why


def test_all_that_a_network_is_made_with_is_a_feature_but_its_graph_and_tools():
    """Whoever adds an argument to a network adds it to `netbandit.network.features.features`, or here."""
    tools = {"self", "clock", "fingerprint", "streams"}
    graph = {"neighbours", "topology", "peer_latency", "uplink_latency"}
    told = {"peer", "uplink", "faults", "energy", "compute", "trace"}
    assert set(inspect.signature(Network.__init__).parameters) == tools | graph | told
