"""What a learner of one's own tells must be a row of numbers for each agent, whatever carries it."""

import numpy as np
import pytest
from helpers.own_learners import Forgetless

import netbandit as nb


class Base(Forgetless):
    """Pulls arm 0; `wrong` says what is wrong with what it tells from slot 2 on."""

    wrong: str = "nothing"

    def rows(self, slot, agents):
        rows = np.ones((len(agents), 3))
        if slot < 2:
            return rows
        if self.wrong == "NaN":
            rows[-1, 1] = np.nan
        return {
            "a list": rows.tolist(),
            "flat": rows[:, 0],
            "a row for all": np.ones((7, 3)),
            "another width": rows[:, :2],
            "words": rows.astype(str),
            "nothing at all": None,
        }.get(self.wrong, rows)


class Told(Base):
    def share(self, slot, agents):
        return self.rows(slot, agents)

    def receive(self, slot, agents, sources, told, said):
        assert told.shape[1] == 3


class Adopted(Base):
    def share(self, slot, agents):
        return self.rows(slot, agents)

    def adopt(self, slot, agents, combined):
        assert combined.shape == (3,)


class Mixed(Base):
    def share(self, slot, agents):
        return self.rows(slot, agents)

    def mix(self, slot, agents, mixed, largest):
        assert mixed.shape[1] == 3


class Asked(Base):
    def ask(self, slot, agents):
        return np.ones(len(agents), dtype=bool)

    def answer(self, slot, agents):
        return self.rows(slot, agents)

    def receive(self, slot, agents, sources, told, said):
        assert told.shape[1] == 3


class Combined(Adopted):
    def combine(self, shared, weights=None):
        mean = super().combine(shared, weights)
        return mean * np.nan if self.wrong == "NaN" else mean.tolist() if self.wrong == "a list" else mean

    def rows(self, slot, agents):
        return np.ones((len(agents), 3))


def run(folder, learner, protocol, **links):
    return nb.Scenario(
        topology=nb.families.Ring(agents=4),
        bandit=nb.bandits.Bernoulli(means=[0.2, 0.8, 0.5]),
        learner=learner,
        protocol=protocol,
        links={"peer": links} if links else None,
        run=nb.Run(horizon=12),
    ).run(out=folder)


CARRIERS = [
    (Told, nb.protocols.Flooding(), {}),
    (Told, nb.protocols.Relay(), {}),
    (Told, nb.protocols.Local(ttl=1), {}),
    (Told, nb.protocols.Pooled(when="pull"), {}),
    (Adopted, nb.protocols.Gis(), {}),
    (Mixed, nb.protocols.Consensus(), {}),
    (Mixed, nb.protocols.Consensus(), {"loss": 0.1}),
    (Asked, nb.protocols.Gossip(), {}),
]


@pytest.mark.parametrize(("kind", "protocol", "links"), CARRIERS)
def test_rows_of_numbers_are_told_and_what_is_none_is_refused_with_learner_and_slot(tmp_path, kind, protocol, links):
    run(tmp_path / "good", kind(), protocol, **links)
    method = "answer" if kind is Asked else "share"
    with pytest.raises(nb.RunsFailedError) as failed:
        run(tmp_path / "flat", kind(wrong="flat"), protocol, **links)
    assert f"{kind.__name__}.{method} must return a row of numbers for each of its " in str(failed.value)
    assert "agents, shape (" in str(failed.value)
    assert "not float64 of shape (" in str(failed.value)
    assert "(slot " in str(failed.value)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("a list", "not list (slot 2)"),
        ("a row for all", "not float64 of shape (7, 3) (slot 2)"),
        ("another width", "shape (4, 3), or None, not float64 of shape (4, 2) (slot 2)"),
        ("words", "not <U32 of shape (4, 3) (slot 2)"),
        ("NaN", "not NaN for agent 3 (slot 2)"),
    ],
)
def test_each_kind_of_mistake_is_named(tmp_path, wrong, said):
    with pytest.raises(nb.RunsFailedError) as failed:
        run(tmp_path, Told(wrong=wrong), nb.protocols.Local(ttl=1))
    assert said in str(failed.value)


def test_in_a_round_everybody_tells_something(tmp_path):
    with pytest.raises(nb.RunsFailedError, match=r"Adopted\.share must .* shape \(1, 3\), not NoneType \(slot"):
        run(tmp_path, Adopted(wrong="nothing at all"), nb.protocols.Gis())


@pytest.mark.parametrize(("wrong", "said"), [("NaN", "not NaN"), ("a list", "not list")])
def test_what_a_round_makes_of_the_rows_is_looked_at_before_it_is_adopted(tmp_path, wrong, said):
    with pytest.raises(nb.RunsFailedError, match=rf"Combined\.combine must return a row of numbers, {said} \(slot"):
        run(tmp_path, Combined(wrong=wrong), nb.protocols.Gis())
