"""OFUL: optimism in an ellipsoid, alone or together: DisLinUCB, FedLinUCB and Async-LinUCB are made of it.

Sources: Abbasi-Yadkori, Pal & Szepesvari 2011 (OFUL); Wang et al. 2020 (DisLinUCB); Li & Wang 2022 (Async-LinUCB);
He et al. 2022 (FedLinUCB). With L = S = 1: no action and no parameter is longer than 1.
"""

from math import inf, log, sqrt
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from netbandit.learners.defence import defence_checks
from netbandit.learners.ellipsoid_learner import EllipsoidLearner, Floats, Start, Sums
from netbandit.learners.feducb_radius import dislinucb_threshold
from netbandit.learners.uploads import Own, SumServer, Total, Upload, UploadLearner
from netbandit.parts.component import Checks, Mistake, Note, Others
from netbandit.parts.settings import AtLeastOneOrInfinite
from netbandit.privacy.accountant import PrivacySpent
from netbandit.privacy.tree_calibration import account_tree


def _one_mistake(kind: str, text: str) -> WrapValidator:
    def read(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        try:  # one mistake, not one for each alternative
            return handler(value)
        except ValidationError:
            raise PydanticCustomError(kind, text) from None

    return WrapValidator(read)


class Oful(EllipsoidLearner, UploadLearner):
    """Optimism in the face of uncertainty, for agents alone or together.

    Of agent i: L, the sums it adopted last; F, own sums that were sent and are not in L; U, own sums that were not
    sent; ``B = lambda I + L + F``. It decides by ``V = B + U``, or with ``decide = "received"`` by lambda I + L.

    Over protocols of calls all agents release, and adopt the sum of all releases. Over a protocol of deposits an agent
    sends all that it has observed to a server, which sends back the sum of what it has of all; there B is the matrix
    that `netbandit.learners.ellipsoid` calls S. Either way an own observation is in ``V = B + U`` exactly once.
    """

    regularizer: float = Field(default=1.0, ge=1e-9, le=1e9)
    """lambda."""
    delta: float = Field(default=0.1, ge=1e-300, lt=1)
    """delta of the radii ``logdet`` and ``trace``, which hold with probability 1 - delta."""
    radius: Annotated[
        Literal["logdet", "trace"] | Annotated[float, Field(ge=0)],
        _one_mistake("radius", 'must be "logdet", "trace" or a number >= 0'),
    ] = "logdet"
    """The factor of an arm's width: ``logdet``, ``sigma sqrt(ln det V - d ln lambda + 2 ln(1/delta)) + sqrt(lambda)``;
    ``trace``, which is larger: the same with ``d ln(1 + n_V / (d lambda))`` in place of ``ln det V - d ln lambda``, n_V
    being the number of observations in V; or a number."""
    radius_scale: float = Field(default=1.0, ge=0)
    """The factor of the radius."""
    schedule: Literal["logdet", "fixed"] = "logdet"
    """Over protocols of calls: ``logdet``: agents ask for a synchronisation when they have enough new observations;
    ``fixed``: at fixed times."""
    threshold: Annotated[
        Literal["dislinucb"] | Annotated[float, Field(ge=0)],
        _one_mistake("threshold", 'must be "dislinucb" or a number >= 0'),
    ] = "dislinucb"
    """Over protocols of calls: D of the test ``(ln det(B + U) - ln det B) n_U >= D``; ``dislinucb``:
    ``T ln(M T) / (d M)``, T being the number of decisions of an agent. 0: a synchronisation in every slot."""
    every: int | None = Field(default=None, ge=1, le=10**12)
    """With ``fixed``: slots from one synchronisation of a parameter set to the next, rounded up to a multiple of the
    number of sets."""
    upload: AtLeastOneOrInfinite = 2.0
    """Over ``parameter-server``: an agent uploads when det(B + U) exceeds this multiple of det B; ``inf``: never."""
    push: AtLeastOneOrInfinite | None = None
    """Over ``parameter-server`` with ``answer = "lagging"``: the server sends its total to an agent when the total's
    determinant exceeds this multiple of that of the data the agent has; ``inf``: never; by default as *upload*."""
    decide: Literal["all", "received"] = "all"
    """The observations an agent decides with: ``all`` it has (V), or only those it has ``received`` (lambda I + L)."""

    def check(self) -> Checks:
        """Yield a fixed schedule without its interval, and keys without effect."""
        if self.schedule == "fixed" and self.every is None:
            yield Mistake("every", 'is missing: schedule = "fixed" needs it, a number of slots >= 1')
        unused: dict[str, str] = {}
        if self.schedule == "fixed":
            unused["threshold"] = 'is not used with schedule = "fixed"'
        else:
            unused["every"] = 'is used only with schedule = "fixed"'
        if not isinstance(self.radius, str):
            unused["delta"] = "is not used where radius is a number"
        for key, text in unused.items():
            if key in self.model_fields_set and getattr(self, key) is not None:
                yield Note(key, text)

    def check_with(self, others: Others) -> Checks:
        """Yield keys without effect over the protocol, and agents that never receive anything."""
        yield from unused_keys(self, others)
        yield from defence_checks(self, others)

    def _start(self, agents: int) -> Start:
        world = self.world
        fixed = self.schedule == "fixed"
        tested = not (fixed or world.isolated or world.deposits)
        self._sent: dict[int, Upload] = {}
        self._sent_before: dict[int, dict[int, Floats]] = {}
        self._total_of: dict[int, int] = {}
        self._waiting: dict[int, tuple[Total, Upload | None]] = {}  # a total, and what was sent that is not in it
        self._lives = [0] * agents
        return Start(
            diagonal=np.full(agents, self.regularizer),
            inflation=np.zeros(agents),
            bonus_terms=np.tile(self._bonus_terms(), (agents, 1)),
            thresholds=np.full(agents, self._test_at() if tested else inf),
            interval=(self.every or 0) if fixed and not (world.isolated or world.deposits) else 0,
            growth=log(self.upload) if world.deposits and self.upload < inf else inf if world.deposits else -1.0,
            received=self.decide == "received",
        )

    def _test_at(self) -> float:
        if self.threshold != "dislinucb":
            return self.threshold
        world = self.world
        return dislinucb_threshold(world.dimension, world.agents, world.expected_decisions or world.horizon)

    def _bonus_terms(self) -> tuple[float, float, float, float, float, float]:
        """Return the terms of the bonus, see `netbandit.learners.ellipsoid.bonus_at`."""
        scale, dimension = self.radius_scale, self.world.dimension
        if not isinstance(self.radius, str):
            return 0.0, 0.0, 1.0, 1.0, scale * self.radius, 0.0  # it does not grow
        return (
            scale * self.world.sub_gaussian,
            2 * log(1 / self.delta),
            dimension * log(self.regularizer),
            dimension * self.regularizer,
            scale * sqrt(self.regularizer),
            1.0 if self.radius == "logdet" else 2.0,
        )

    @property
    def names_counts(self) -> bool:
        """Whether a release includes its number of observations, which the radius may need."""
        return self.radius == "trace" or super().names_counts

    def deposit_numbers(self, dimension: int) -> int:
        """Return ``d (d + 1) / 2 + d + 1``."""
        return self.share_numbers(dimension) + (not self.names_counts)

    def _release(self, agent: int) -> Floats:
        uses = int(self.beliefs.uses[self.world.param_set, agent])
        gram, response = self._lend(agent)
        sent = self._send(agent, gram, response, uses)
        return np.append(sent.sums, sent.observations) if self.names_counts else sent.sums.copy()

    def _send(self, agent: int, gram: Floats, response: Floats, observations: int) -> Upload:
        """Add U, u to what *agent* has sent, and return all of it."""
        new = np.concatenate([gram[self._upper], response])
        before = self._sent.get(agent)
        if before is None:
            found = Upload(new, observations, self._lives[agent])
        else:
            found = Upload(before.sums + new, before.observations + observations, before.life)
        self._sent[agent] = found
        return found

    def forget(self, slot: int, agents: NDArray[np.int64]) -> None:
        """Reset to the initial state, of what was sent too."""
        for agent in agents.tolist():
            self._sent.pop(agent, None)
            self._sent_before.pop(agent, None)
            self._total_of.pop(agent, None)
            self._lives[agent] += 1
            self._waiting.pop(agent, None)
            self.beliefs.waiting[agent] = False
        super().forget(slot, agents)

    def _sums(self, agent: int, combined: Floats) -> Sums:
        gram, response, _ = self._unpacked(combined)
        gram[np.diag_indices(self.world.dimension)] += self.regularizer
        return Sums(gram, response, round(float(combined[-1])) if self.names_counts else 0)

    def sum_server(self) -> SumServer:
        """See `UploadLearner.sum_server`."""
        push = self.upload if self.push is None else self.push
        defence = None if self.robust == "mean" else self._defence()
        return SumServer(self.world.agents, self.world.dimension, self.regularizer, push, defence)

    def deposit(self, agent: int) -> Upload:
        """See `UploadLearner.deposit`: moves U to F."""
        beliefs = self.beliefs
        gram, response = beliefs.own_gram[0, agent], beliefs.own_response[0, agent]
        sent = self._send(agent, gram, response, int(beliefs.uses[0, agent]))
        beliefs.shared_gram[0, agent] += gram
        beliefs.shared_response[0, agent] += response
        gram[:] = 0.0
        response[:] = 0.0
        beliefs.uses[0, agent] = 0
        beliefs.log_ratio[0, agent] = 0.0
        beliefs.quiet[0, agent] = True
        self._sent_before.setdefault(agent, {})[sent.observations] = sent.sums
        return sent

    def resume(self, agent: int) -> None:
        """See `UploadLearner.resume`."""
        self.beliefs.quiet[0, agent] = False

    def take(self, agent: int, total: Total, own: Own) -> bool:
        """See `UploadLearner.take`: L becomes the total, and F own sums after those that are in it."""
        if total.observations < self._total_of.get(agent, 0):
            return False
        self._total_of[agent] = total.observations
        sent, rest = self._sent.get(agent), None
        if sent is not None:
            before = self._sent_before[agent]
            inside = own.observations if own.life == sent.life else 0
            if sent.observations > inside:
                rest = Upload(sent.sums - before[inside] if inside else sent.sums, sent.observations - inside)
            while before and (oldest := next(iter(before))) < inside:
                del before[oldest]  # no total will have less of the agent's own
        self._waiting[agent] = total, rest
        self.beliefs.waiting[agent] = True
        return True

    def settle(self, slot: int, agents: NDArray[np.int64]) -> None:
        """Let *agents* adopt the totals that wait for them, too: only agents of one set deposit."""
        for agent in agents[self.beliefs.waiting[agents]].tolist():
            self._take_in(agent, *self._waiting.pop(agent))
        super().settle(slot, agents)

    def _take_in(self, agent: int, total: Total, rest: Upload | None) -> None:
        """Let *agent* adopt a *total*, and the *rest* of what it has sent."""
        beliefs = self.beliefs
        gram, response = beliefs.shared_gram[0, agent], beliefs.shared_response[0, agent]
        gram[:], response[:], _ = self._unpacked(total.sums)
        gram[np.diag_indices(len(gram))] += self.regularizer
        apart = 0 if rest is None or beliefs.received else rest.observations
        self._hold(agent, total.observations + apart)
        if beliefs.received:
            self._steps.solve(beliefs, 0, agent, gram, response, self.columns)
        if rest is not None:
            sums = self._unpacked(rest.sums)
            gram += sums.gram
            response += sums.response
        self._steps.refresh(beliefs, 0, agent, self.columns)
        beliefs.waiting[agent] = False

    @property
    def unseen(self) -> float | None:
        """See `UploadLearner.unseen`."""
        made, lacked = self.beliefs.tally.tolist()
        return lacked / made if made else None

    def account(self, releases: int) -> PrivacySpent:
        """Return the privacy spent: none is left once anything was released."""
        isolated = self.world.isolated
        return account_tree(
            0.0,
            self.delta,
            releases=releases,
            claimed=0.0 if isolated else inf,
            trigger_is_private=not self.called or isolated,
        )


def unused_keys(learner: Any, others: Others) -> Checks:
    """Yield keys of *learner*, as `Oful` has them, that have no effect over the protocol.

    Args:
        learner: `Oful`, or a learner that it stands for.
        others: The other parts.
    """
    written = learner.model_fields_set
    deposits = others.talk == "deposit"
    kind = others.kinds["protocol"]
    unused = ["schedule", "threshold", "every"] if deposits else ["upload", "push"]
    if others.protocol.out_of_band:  # without calls
        unused.append("threshold")
    for key in unused:
        if key in written:
            yield Note(key, f'is not used with protocol.kind = "{kind}"')
    if deposits and "push" in written and others.protocol.answer == "uploader":
        yield Note("push", 'is not used with protocol.answer = "uploader", which pushes nothing')
    if kind == "silent" and learner.decide == "received":
        yield Note(
            "decide", 'is "received", but with protocol.kind = "silent" nothing is received: agents learn nothing'
        )
