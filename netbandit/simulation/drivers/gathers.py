"""The gather driver: one node decides for a user once all parts of the user's contexts have arrived.

It calls a gather protocol, which reports when they have.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import inf

import numpy as np
from numpy.typing import NDArray

from netbandit.bandits.vertical_context import Users, VerticalContextBandit
from netbandit.learners.gathering import GatherLearner
from netbandit.learners.linear_costs import masks_setup, masks_slot
from netbandit.network.message import NUMBER_BYTES, Kind
from netbandit.privacy.masks import masked_part, orthogonal_matrix, padded_parts, secure_sum
from netbandit.protocols.adapters import gather_protocol
from netbandit.protocols.gather import GatherProtocol
from netbandit.protocols.vertical import CONTEXT, MASK
from netbandit.simulation.driver import Driver, DriverResult, ReplicationContext
from netbandit.simulation.regret import curve_of_decisions, level_to_the_end, regret_of_decisions
from netbandit.simulation.result import Metric
from netbandit.simulation.return_validation import checked, figures_of

DECIDE = Kind("decide")

_NUMBERS_AT_ONCE = 1 << 14
"""How many numbers are masked together: an eighth of a megabyte, which stays near the processor for all parts."""

_MOST_ERRORS = 200
"""How often a run looks how far the estimate is from theta: each time is a system of equations."""


class Gathers(Driver):
    """Agent 0 decides for the users whose contexts it has gathered, one by one in the order of their slots.

    The time of a decision depends on messages, not on earlier decisions. Decisions of a block of users are therefore
    recorded as they become possible, and the learner makes them together, strictly in order. Masks are applied to the
    contexts of a whole block.

    No user arrives in a slot at whose beginning agent 0 is down. If agent 0 loses its memory, it learns from scratch,
    and users whose contexts were in flight leave unserved.

    Regret covers decisions before the horizon. Users who left unserved are counted separately, as ``unserved``; the key
    of that name sets their cost: nothing, or the regret of their worst or of a random arm.

    Args:
        context: The replication context, with a contextual bandit and a gather learner.
    """

    def __init__(self, context: ReplicationContext) -> None:
        super().__init__(context)
        bandit = context.bandit
        settings = context.protocol
        assert isinstance(bandit, VerticalContextBandit)
        assert isinstance(settings, GatherProtocol)
        assert isinstance(context.learner, GatherLearner)
        self._bandit = bandit
        self._theta = bandit.parameter()
        self._settings = settings
        self._learner = checked(context.learner.fresh())
        self._users: list[NDArray[np.int64]] = []
        self._due: list[int] = []
        self._times: list[int] = []
        self._block = 0
        self._slots: list[NDArray[np.int64]] = []
        self._regrets: list[NDArray[np.float64]] = []
        self._rewards: list[NDArray[np.float64]] = []
        self._errors: list[tuple[int, float]] = []
        self.arms: list[NDArray[np.int64]] = []

    @cached_property
    def learner(self) -> GatherLearner:
        """Agent 0's learner; there is none before the first decision."""
        learner = checked(self._learner.fresh())
        learner.start(self._bandit.seen)
        return learner

    @cached_property
    def mask(self) -> NDArray[np.float64] | None:
        """The mask, shape (m, m), which no agent knows but the one that drew it; None where contexts are not masked."""
        if not self._settings.masks:
            return None
        return orthogonal_matrix(self.context.streams.generator("masks"), self._bandit.seen)

    def start(self) -> None:
        """Schedule the first user."""
        bandit = self._bandit
        widths = [len(columns) for columns in bandit.columns]
        whole = bandit.seen
        # A masked part is as long as the whole context: a rotation spreads it over all coordinates.
        numbers = [whole if width and self._settings.masks else width for width in widths]
        parts = [NUMBER_BYTES * bandit.arm_count * number for number in numbers]
        masks = [NUMBER_BYTES * whole * width for width in widths]
        network = self.context.network
        self._protocol = gather_protocol(self._settings, network, parts, masks, self._decided)
        self._protocol.serve()
        if network.forgets:
            network.watch_agents(self._changed)

    def _changed(self, agent: int, up: bool) -> None:
        """Let agent 0 forget its estimate and the waiting users when it goes down."""
        if not agent and not up:
            self._protocol.abandon()
            self._flush()
            if self.arms:
                self.learner.start(self._bandit.seen)

    @property
    def waits(self) -> bool:
        """See `Driver.waits`: agent 0 does for parts of a context."""
        return True

    def waiting(self) -> list[int]:
        """See `Driver.waiting`: agent 0 does for the oldest user, where parts may be lost."""
        users = self._protocol.under_way
        return [self.context.clock.horizon - min(users)] if users and self.context.network.may_lose else []

    def stalled(self) -> list[int]:
        """See `Driver.stalled`: at a deadline users go away, if agent 0 was down then as soon as it is back."""
        return self.waiting() if self._protocol.deadline_ns(self.context.clock.slot) is None else []

    def finish(self) -> DriverResult:
        """Make the last decisions, and add up."""
        self._flush()
        protocol = self._protocol
        decisions = protocol.decisions
        clock = self.context.clock
        none = np.empty(0, dtype=np.int64)
        users, arms = np.concatenate([none, *self._users]), np.concatenate([none, *self.arms])
        bandit = self._bandit
        findings = bandit.findings(users, arms, self.context.streams.generator)
        slots = np.concatenate([none, *self._slots])
        curves = {name: curve_of_decisions(slots, values, clock.horizon) for name, values in findings.tracks.items()}
        total, decided, gone = None, None, None
        if bandit.knows_best:
            regrets = np.concatenate([none, *self._regrets])
            decided, curve = regret_of_decisions(slots, regrets, clock.horizon)
            total, gone = decided, self._regret_of_unserved()
            if gone is not None:
                unserved = np.array(protocol.gone, dtype=np.int64) + 1, gone
                total, curve = regret_of_decisions(slots, regrets, clock.horizon, unserved)
            curves = {"regret": curve, **curves}
        error = self._note_error() if decisions else None
        if error is not None and self._theta is not None:
            noted, errors = zip((0, float(np.linalg.norm(self._theta))), *self._errors, strict=True)
            curves["parameter_error"] = level_to_the_end(np.array(noted), np.array(errors), clock.horizon)
        seconds = clock.end / 1e9
        given: dict[str, Metric] = {
            "unserved": protocol.turned_away,
            "decisions_per_s": decisions / seconds,
            "regret_per_s": None if total is None else total / seconds,
            "regret_per_decision": None if decided is None or not decisions else decided / decisions,
            **({} if gone is None else {"regret_unserved": float(gone.sum())}),
            "masks_s": protocol.setup / 1e9,
            "parameter_error": error,
            **self._counted(),
        }
        found = figures_of(bandit, findings.metrics, taken=given, method="findings")
        metrics: dict[str, Metric] = {
            "reward": float(np.nansum(np.concatenate([np.zeros(1), *self._rewards]))),
            "rounds": decisions,
            "round_slots": protocol.waited / decisions / clock.slot if decisions else None,
            # Contexts leave their owners without noise: a mask is no differential privacy.
            "epsilon": inf if self.context.network.ledger.kinds else 0.0,
            "delta": 0.0,
            "epsilon_claimed": None,
            **found,
            **given,
            **figures_of(protocol, protocol.figures(), taken={**given, **found}),
        }
        remarks = (*findings.remarks, *self._turned_away(decisions), *self._privacy())
        return DriverResult(total, curves, metrics, remarks=remarks)

    def _regret_of_unserved(self) -> NDArray[np.float64] | None:
        """Return the regret of each user that left unserved, shape (unserved,); None if it does not count."""
        if self._settings.unserved == "free":
            return None
        gone = np.array(self._protocol.gone, dtype=np.int64)
        regrets = np.zeros(len(gone))
        blocks = gone // self._bandit.block
        for block in np.unique(blocks).tolist():  # drawn again, from the same streams
            mine = blocks == block
            found = self._bandit.users(block, self.context.streams.generator).regrets[gone[mine] % self._bandit.block]
            regrets[mine] = found.max(axis=1) if self._settings.unserved == "worst" else found.mean(axis=1)
        return np.nan_to_num(regrets)

    def _turned_away(self, decisions: int) -> Iterator[str]:
        """Yield a remark if regret leaves out users."""
        unserved = self._protocol.turned_away
        if unserved and self._settings.unserved == "free" and self._bandit.knows_best:
            yield (
                f"{unserved:,} of {unserved + decisions:,} users went away unserved, and regret counts none for them: "
                'compare regret per decision, or count them with protocol.unserved = "worst" or "random"'
            )

    def _note_error(self) -> float | None:
        """Note the norm of the estimation error of theta; None if theta is unknown.

        An estimate from masked contexts is rotated back, which no agent could do; for unseen columns it is zero.
        """
        if self._theta is None:
            return None
        theta = self._theta
        estimate = self.learner.parameter
        if self.mask is not None:
            estimate = self.mask.T @ estimate
        missing = theta[len(estimate) :]
        error = float(np.sqrt(np.sum((estimate - theta[: len(estimate)]) ** 2) + np.sum(missing**2)))
        self._errors.append((int(self._slots[-1][-1]), error))
        return error

    def _privacy(self) -> Iterator[str]:
        """Yield remarks on what masks reveal to agent 0, and on assumptions."""
        others = sum(1 for own in self._bandit.columns[1:] if len(own))
        if not self._settings.masks or not others:
            return
        if self._settings.secure_sum and others > 1:
            yield (
                "masks are rotations: agent 0 sees inner products of the others' joint contexts exactly, and as many "
                "known joint contexts as the others have columns give their mask away"
            )
        else:
            yield (
                "masks are rotations: agent 0 sees norms and inner products of each participant's contexts exactly, "
                "and as many known contexts as a participant has columns give its mask away"
            )
        if self._settings.secure_sum and others == 1:
            yield "only one participant but agent 0 has columns that are seen: a secure sum of one hides nothing"
        if self._protocol.relayed:
            yield "masks pass through other agents, which are assumed to relay them encrypted end to end"

    def _counted(self) -> dict[str, Metric]:
        """Return unit operations as the paper counts them, and bytes from the ledger."""
        arms, dimension, masked = self._bandit.arm_count, self._bandit.seen, self._settings.masks
        kinds = self.context.network.ledger.kinds
        return {
            "slot_operations": self._learner.operations(arms, dimension),
            "mask_slot_operations": masks_slot(arms, dimension) if masked else 0,
            "mask_setup_operations": masks_setup(dimension) if masked else 0,
            "context_bytes": kinds.get(CONTEXT.name, (0, 0))[1],
            "mask_bytes": kinds.get(MASK.name, (0, 0))[1],
        }

    def _decided(self, user: int, time: int) -> None:
        """Note that the contexts of the user of a slot were complete at a *time* (ns)."""
        block = user // self._bandit.block
        if block != self._block:
            self._flush()
            self._block = block
        trace = self.context.network.trace
        if trace is not None and self._settings.pipeline == 1:  # else users overlap in one track
            trace.phase("gather", 0, user, user * self.context.clock.slot, time)
        self._due.append(user)
        self._times.append(time)

    def _flush(self) -> None:
        """Let the learner decide for all users of the block whose contexts are complete."""
        if not self._due:
            return
        bandit = self._bandit
        users = bandit.users(self._block, self.context.streams.generator)
        rows = np.array(self._due, dtype=np.int64) - self._block * bandit.block
        if len(rows) < len(users.contexts):
            users = Users(users.contexts[rows], users.rewards[rows], users.regrets[rows])
        normals = np.empty((0, bandit.seen))
        if self.learner.draws_normals:
            normals = self.context.streams.generator("exploration", self._block).standard_normal(
                (bandit.block, bandit.seen)
            )[rows]
        contexts = users.contexts
        if self.mask is not None:
            contexts = self._gathered(contexts)
            normals = normals @ self.mask.T
        arms = self.learner.play(np.ascontiguousarray(contexts), users.rewards, normals)
        picked = np.arange(len(arms)), arms
        self.arms.append(arms)
        self._users.append(np.array(self._due, dtype=np.int64))
        self._slots.append(np.array(self._times, dtype=np.int64) // self.context.clock.slot + 1)
        self._regrets.append(users.regrets[picked])
        self._rewards.append(users.rewards[picked])
        record = self.context.fingerprint.record
        for time, arm in zip(self._times, arms.tolist(), strict=True):
            record(time, 0, DECIDE.code, arm)
        self._due.clear()
        self._times.clear()
        if len(self._errors) < _MOST_ERRORS * self._slots[-1][-1] / self.context.clock.horizon:
            self._note_error()

    def _gathered(self, contexts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of the participants' masked parts of *contexts*, as agent 0 receives it."""
        senders = len(self._shares) - 1
        pads = []
        if self._settings.secure_sum:
            pads = [
                [self.context.streams.words(f"pads.{first}.{second}", self._block) for second in range(first)]
                for first in range(senders)
            ]
        total = np.empty_like(contexts)
        step = max(1, _NUMBERS_AT_ONCE // contexts[0].size)
        for first in range(0, len(contexts), step):
            some = slice(first, first + step)
            total[some] = self._sum(contexts[some], pads)
        return total

    @cached_property
    def _shares(self) -> list[tuple[slice | NDArray[np.int64], NDArray[np.float64]]]:
        """The columns of agent 0, and of each other participant that has any, and their part of the mask."""
        assert self.mask is not None
        first, *others = self._bandit.columns
        return [(_slice(own), self.mask[:, own]) for own in (first, *(own for own in others if len(own)))]

    def _sum(
        self, contexts: NDArray[np.float64], pads: Sequence[Sequence[np.random.BitGenerator]]
    ) -> NDArray[np.float64]:
        """Return the sum of the masked parts of some users' contexts, under *pads* if there are any."""
        total, *sent = [masked_part(mask, contexts[:, :, own]) for own, mask in self._shares]
        if pads:
            return total + secure_sum(padded_parts(sent, pads))
        for part in sent:
            total += part
        return total


def _slice(columns: NDArray[np.int64]) -> slice | NDArray[np.int64]:
    """Return *columns*, ascending, as a slice if they lie side by side: much the faster way to pick them."""
    if len(columns) and columns[-1] - columns[0] != len(columns) - 1:
        return columns
    return slice(int(columns[0]), int(columns[-1]) + 1) if len(columns) else slice(0)
