"""The catalogue of metrics: meaning, unit, and the runs that have each. The reference page is generated from it."""

from collections.abc import Mapping

from netbandit.parts.metric import MetricEntry

_ELIMINATION = "elimination"
_SYNCHRONISED = "feducb, linucb, lints and oful outside vertical federation"
_PROCUREMENT = "pfcb"
_GATHERED = "linucb and lints over the protocol vertical"
_CONTEXTS = "tables of contexts"
_CHANGES = "networks whose links come and go"
_SENSED = "networks whose agents see links come and go"
_QUEUES = "links with ``queue``"
_LATE = "runs whose rewards may be late (``[feedback]``)"
_COMPUTING = "runs whose nodes take time to compute (``[compute]``)"
_SHARED = "networks whose agents share the air"
_FAULTS = "every run; of interest with faults"
_BATTERY = "runs with ``energy.capacity``"
_ANSWERS = (
    "elimination, fedelim, gosine, halving, race, ucb, klucb, thompson, and learners of one's own with ``answers``"
)
_STOPS = "elimination, fedelim, halving, race, and learners of one's own with ``stopped``"

METRICS: dict[str, MetricEntry] = {
    "regret": MetricEntry(
        "reward",
        "Pseudo-regret of all honest agents: the mean of the best action minus that of the chosen one, "
        "summed over decisions up to the horizon. The best action is that of the global means for elimination, the "
        "agent's own best for procurement and arm sets, and the best arm of the slot where means change.",
    ),
    "regret_per_agent": MetricEntry("reward", "Regret divided by the number of honest agents."),
    "regret_worst_agent": MetricEntry(
        "reward",
        "Regret of the worst-off honest agent.",
        "learners that decide in slots, on arms; elimination and linear learners where some agents lie",
    ),
    "regret_best_agent": MetricEntry(
        "reward", "Regret of the best-off honest agent.", "learners that decide in slots, on arms"
    ),
    "regret_per_decision": MetricEntry(
        "reward",
        "Regret divided by the number of decisions; compare it where users leave unserved, agents are absent, or not "
        "every agent decides in every slot.",
    ),
    "regret_per_s": MetricEntry("reward / s", "Regret divided by the simulated seconds.", _GATHERED),
    "regret_static": MetricEntry(
        "reward",
        "Regret against the one arm with the largest sum of means over all slots.",
        "worlds whose means change",
    ),
    "reward": MetricEntry(
        "reward",
        "Sum of the rewards of all decisions of honest agents; for procurement that of expected revenues, and for "
        "elimination, whose pulls are not drawn one by one, that of the global means of the arms pulled.",
    ),
    "decisions": MetricEntry(
        "decisions", "Decisions that honest agents made.", "runs in which not every agent decides always"
    ),
    "decisions_per_s": MetricEntry("1 / s", "Decisions divided by the simulated seconds.", _GATHERED),
    "regret_unserved": MetricEntry(
        "reward", "The regret counted for users who left unserved, if the scenario counts it.", _GATHERED
    ),
    "unserved": MetricEntry("users", "Users who left because an earlier decision was pending.", _GATHERED),
    "best_share": MetricEntry("", "Share of all decisions in which the best of the arms shown was chosen.", _CONTEXTS),
    "regret_best_arm": MetricEntry(
        "reward",
        "What the one arm that is best in hindsight, the same for all agents, would have paid in all decisions, minus "
        "what the chosen arms paid; below 0 where contexts helped.",
        f"{_CONTEXTS} that show all arms",
    ),
    "arm_cost": MetricEntry("cost", "Costs of all chosen arms, not weighted.", f"{_CONTEXTS} with ``costs``"),
    "kept": MetricEntry(
        "events",
        "Events of the log at which a learner, also a liar's, chose the logged arm; where the log has propensities, "
        "those of them that were kept.",
        "logs that are replayed",
    ),
    "ctr": MetricEntry("", "Rewards divided by the events that were kept, of liars, too.", "logs that are replayed"),
    "random_ctr": MetricEntry("", "The same for random choices, mean of five seeds.", "logs that are replayed"),
    "true_ctr": MetricEntry(
        "", "Mean of the true click probabilities of the choices.", "logs that netbandit generates itself"
    ),
    "relative_ctr": MetricEntry("", "Click-through rate divided by that of random choices.", "logs that are replayed"),
    "parameter_error": MetricEntry(
        "", "Distance between the estimated and the true parameters (Euclidean norm).", _GATHERED
    ),
    "rounds": MetricEntry(
        "rounds",
        "Rounds that ended (elimination), synchronisations (feducb; over local one per clique and set), communication "
        "rounds (pfcb), decisions (vertical), uploads absorbed (parameter-server). A round cut by the horizon does not "
        "count.",
    ),
    "round_slots": MetricEntry(
        "slots",
        "Slots from an agent's contribution to the start of its next phase, mean over agents and ended rounds; null if "
        "no round ended, 0 where nobody waits, as where observations are broadcast.",
    ),
    "round_slots_median": MetricEntry("slots", "The median of these waits over agents and ended rounds.", _ELIMINATION),
    "round_slots_max": MetricEntry("slots", "The longest of them.", _ELIMINATION),
    "best_lost": MetricEntry(
        "",
        "Whether some agent has dropped the best arm by the horizon, 1 or 0: its mean is the share of such runs.",
        _ELIMINATION,
    ),
    "answered": MetricEntry("", "Share of honest agents that have answered for good.", _STOPS),
    "stop_slot": MetricEntry(
        "slots",
        "After how many slots the last honest agent had answered for good; null where one that is up at the end has "
        "not, or none has.",
        _STOPS,
    ),
    "stop_slot_mean": MetricEntry("slots", "When an agent has answered for good, mean over those that have.", _STOPS),
    "samples": MetricEntry(
        "decisions", "Decisions that honest agents made until each had answered for good, or to the end.", _STOPS
    ),
    "wrong": MetricEntry(
        "",
        "Share of honest agents whose answer is not one of the best arms, by the means over all agents: of those that "
        "have answered for good; with learners that never do, of all, by what they would answer at the horizon.",
        _ANSWERS,
    ),
    "wrong_any": MetricEntry(
        "",
        "Whether any answer that ``wrong`` counts is wrong, 1 or 0: its mean is the probability of error that a "
        "confidence bounds.",
        _ANSWERS,
    ),
    "wrong_local": MetricEntry(
        "",
        "Share of the agents of ``wrong`` whose answer, or local answer, is not one of the best arms by their own "
        "means.",
        f"{_ANSWERS}; where the means of agents differ",
    ),
    "simple_regret": MetricEntry(
        "reward",
        "The mean of the best arm minus that of the arm that an agent would answer at the end, mean over honest "
        "agents; who has no answer is as good as a random one. Also a curve, of learners that stop.",
        _ANSWERS,
    ),
    "lies": MetricEntry("", "Share of what agents contributed that was not the truth.", "runs with an adversary"),
    "rejected": MetricEntry(
        "items", "Contributions that a receiver left out because they could not be true.", "runs with an adversary"
    ),
    "outnumbered": MetricEntry(
        "",
        "How often a robust rule combined fewer contributions than twice the liars to withstand and one more, so that "
        "the liars among them could be the majority.",
        "elimination and linear learners whose ``robust`` is not mean",
    ),
    "unconverged": MetricEntry(
        "",
        "Geometric medians that were stopped after 1,000 steps before their steps were small.",
        'learners with ``robust = "geometric"``',
    ),
    "repaired": MetricEntry(
        "matrices",
        "Combined matrices that had a negative eigenvalue, which was set to 0.",
        "linear learners whose ``robust`` is median or trimmed",
    ),
    "blocked_honest": MetricEntry(
        "links",
        "Honest neighbours that honest agents do not ask at the horizon, because what they recommended was not good.",
        "gosine whose ``block`` is not none",
    ),
    "blocked_liars": MetricEntry(
        "links",
        "Liars among their neighbours that honest agents do not ask at the horizon.",
        "gosine whose ``block`` is not none",
    ),
    "recovery_slots": MetricEntry(
        "slots",
        "Slots from the end of a scripted outage until every agent that was waiting at that moment has resumed, "
        "maximum over outages; 0 if none was waiting, null if one still waits at the horizon.",
        "elimination where an outage under ``faults.outages`` ends",
    ),
    "delay_slots": MetricEntry(
        "slots",
        "Slots between a broadcast, or a question, and the decision that can first use it, or its answer; mean over "
        "items received: what is lost, or under way at the end, is not in it.",
        "learners that broadcast or ask",
    ),
    "phases": MetricEntry("phases", "Phases completed, minimum over agents.", "gosine"),
    "replaced_arms": MetricEntry("arms", "Arms replaced by one that a neighbour recommended.", "gosine"),
    "held_back": MetricEntry(
        "observations", "Observations at the horizon that are not used because an earlier one has not come.", "race"
    ),
    "selections": MetricEntry(
        "pulls", "Pulls that entered a mean: neither those of agents that wait nor later ones.", "fedelim"
    ),
    "uplinks": MetricEntry("numbers", "Uses of the uplink: means of an arm that agents have reported.", "fedelim"),
    "total_cost": MetricEntry(
        "pulls", "The sum of ``selections`` and of ``learner.uplink_cost`` times ``uplinks``.", "fedelim"
    ),
    "cost": MetricEntry("", "Sum over link classes of activations times the class's cost (Li & Song, equation 2)."),
    "activations": MetricEntry(
        "activations",
        "Distinct pairs of a peer link and a slot in which a message was put on the link, and of an uplink and a round "
        "in which it was used.",
    ),
    "messages": MetricEntry(
        "messages",
        "Messages put on links, that is, begun before the horizon, each hop counted; broadcasts of a server are not.",
    ),
    "bytes": MetricEntry("bytes", "Their sizes: 20 of header, 8 a number, 4 a label."),
    "broadcasts": MetricEntry("broadcasts", "Broadcasts of a server, free in cost."),
    "broadcast_copies": MetricEntry("copies", "Copies of them, one for each agent that was to hear one."),
    "broadcasts_missed": MetricEntry(
        "copies",
        "Of these, how many were lost, or came to an agent that was down. Where ``links.uplink.retry`` is on, they are "
        "repeated: acknowledgements and repetitions are messages like others.",
        _FAULTS,
    ),
    "broadcasts_in_flight": MetricEntry(
        "copies", "Of these, how many were under way at the horizon; the others have arrived."
    ),
    "items": MetricEntry("items", "Observations put on links, of which several can share a message.", "local floods"),
    "energy_j": MetricEntry(
        "J",
        "Energy of the messages, of senders and receivers together; with ``[energy]`` all that agents spent: idle, on "
        "pulls, and on messages. Receivers have spent nothing on what is under way at the horizon.",
    ),
    "harvested_j": MetricEntry("J", "Energy that agents harvested, as far as it fitted into the battery.", _BATTERY),
    "alive": MetricEntry("", "Share of agents at the horizon that have not run empty, or have recovered.", _BATTERY),
    "first_death": MetricEntry("slots", "When the first agent ran empty; null: none did.", _BATTERY),
    "half_dead": MetricEntry(
        "slots", "When half of the agents, rounded up, had run empty at least once; null: fewer did.", _BATTERY
    ),
    "lifetime_slots": MetricEntry(
        "slots",
        "When the first agent ran empty; if none did, when one would at the mean rate at which its level fell in the "
        "run, or, where the harvest comes and goes, in the first night or on the first day that it would not last; "
        "null: no level fell (see ``sustained``), or the harvest did not end twice.",
        _BATTERY,
    ),
    "sustained": MetricEntry(
        "",
        "Whether no battery has run empty, nor is fuller at the beginning of the run than at its end, or, where the "
        "harvest comes and goes, at the first end of a harvest than at the last, 1 or 0; null: it did not end twice.",
        _BATTERY,
    ),
    "contacts": MetricEntry("contacts", "Contacts of links that begin before the horizon.", _CHANGES),
    "degree": MetricEntry("agents", "Neighbours whose link is up, mean over agents and time.", _CHANGES),
    "connected": MetricEntry("", "Share of the time in which the links that are up connect all agents.", _CHANGES),
    "reachable": MetricEntry(
        "pairs",
        "Ordered pairs of agents with a temporal path from the one to the other before the horizon: a sequence of "
        "links that are up one after the other, or at once; latency is not counted.",
        _CHANGES,
    ),
    "age_slots": MetricEntry(
        "slots",
        "How old the newest thing is that an agent has heard of another, mean over ordered pairs and slots: 1 if in "
        "each slot all know what all told in the one before. It is as if all had told something before slot 0.",
        "learners that broadcast over networks whose links come and go, up to 1,000 agents",
    ),
    "cut_off": MetricEntry(
        "messages", "Attempts whose link went down before they were due, as their senders saw; they are lost.", _SENSED
    ),
    "waited_slots": MetricEntry(
        "slots", "Slots that a message waited for its link, mean over those that were not cut off.", _SENSED
    ),
    "delivery_ratio": MetricEntry(
        "",
        "Delivered divided by messages, duplicates and unsent ones together; what is under way at the horizon is not "
        "delivered.",
        f"{_SENSED}; {_SHARED}",
    ),
    "transmissions": MetricEntry(
        "transmissions", "How often an agent has sent; one may be for several neighbours, each a message.", _SHARED
    ),
    "airtime_s": MetricEntry("s", "How long all transmissions take together.", _SHARED),
    "collided": MetricEntry(
        "messages",
        "Messages that were destroyed because their receiver heard another transmission, or sent, at the same time; "
        "they are lost.",
        _SHARED,
    ),
    "simulated_s": MetricEntry("s", "Simulated time: horizon times slot."),
    "events": MetricEntry("events", "Deliveries and acts that enter the fingerprint."),
    "wall_s": MetricEntry("s", "Computing time of the run; no other metric depends on the machine."),
    "epsilon": MetricEntry(
        "",
        "According to the accountant, for the worst-off agent, over the releases it made, for the unit that "
        "is shown beside it (``privacy`` in ``--json``, with what is not covered); null where none was requested.",
    ),
    "delta": MetricEntry(
        "",
        "The delta for which epsilon was found: no event is more than exp(epsilon) times as probable plus delta where "
        "one unit differs. It is not the probability with which epsilon is exceeded.",
    ),
    "epsilon_claimed": MetricEntry("", "Epsilon as the learner's paper states it.", "learners of a private paper"),
    "epsilon_best_off": MetricEntry(
        "", "Privacy spent by the agent that spent least, where agents have budgets of their own.", "feducb"
    ),
    "epsilon_basic_composition": MetricEntry(
        "", "Basic composition over all releases: an upper bound, which refutes nothing.", "pfcb"
    ),
    "delta_basic_composition": MetricEntry("", "The delta that goes with it.", "pfcb"),
    "clipped": MetricEntry(
        "matrices", "Synchronised matrices that noise made indefinite, and which were repaired.", "feducb"
    ),
    "violations": MetricEntry("", "Share of slots whose average quality is below the threshold.", _PROCUREMENT),
    "binding": MetricEntry(
        "", "Share of agents for whom the threshold of quality binds the best choice.", _PROCUREMENT
    ),
    "accepted": MetricEntry("", "Share of received items close enough to be accepted.", _PROCUREMENT),
    "masks_s": MetricEntry("s", "Simulated time at which all masks had been agreed upon.", _GATHERED),
    "context_bytes": MetricEntry("bytes", "Bytes of contexts, each hop counted.", _GATHERED),
    "mask_bytes": MetricEntry("bytes", "Bytes of masks, each hop counted.", _GATHERED),
    "slot_operations": MetricEntry(
        "operations", "Multiplications and additions of a decision, counted by formula.", _GATHERED
    ),
    "mask_slot_operations": MetricEntry("operations", "Of these, those for masks in every slot.", _GATHERED),
    "mask_setup_operations": MetricEntry("operations", "Operations to set up the masks.", _GATHERED),
    "late": MetricEntry("items", "Items that arrived too late to be used.", "protocols that continue without"),
    "waiting_slots": MetricEntry(
        "slots",
        "Waiting time so far of the agents that wait at the horizon, mean over them; null if none waits.",
    ),
    "handed": MetricEntry(
        "messages",
        "Messages handed to links, each attempt counted: those put on links, dropped and unsent ones. These and "
        "duplicates together are those delivered, lost, dropped, duplicates dropped, unsent and in flight, in messages "
        "and in bytes, on each link and in all.",
    ),
    "delivered": MetricEntry(
        "messages",
        "Messages, copies included, that reached the protocol at their receiver before the horizon.",
        _FAULTS,
    ),
    "lost": MetricEntry(
        "messages",
        "Messages and copies that were lost on their link, at random or because it went down before the horizon, or "
        "at a node that was down, or had a full inbox.",
        _FAULTS,
    ),
    "unsent": MetricEntry(
        "messages",
        "Messages that were handed to a link and never put on it: their turn would come at the horizon or later, their "
        "link or the air was not free in time, or their sender was down, or went down before. They cost nothing.",
    ),
    "duplicates": MetricEntry("messages", "Copies that the network made.", _FAULTS),
    "duplicates_dropped": MetricEntry(
        "messages", "Copies that a receiver dropped because it had taken the message already.", _FAULTS
    ),
    "in_flight": MetricEntry(
        "messages",
        "Messages and copies under way at the horizon: they would arrive then or later. What would happen to them "
        "after it does not count.",
    ),
    **{
        f"{name}_bytes": MetricEntry("bytes", f"The bytes of ``{name}``.", runs)
        for name, runs in (
            ("handed", "every run"),
            ("delivered", _FAULTS),
            ("lost", _FAULTS),
            ("dropped", _QUEUES),
            ("unsent", "every run"),
            ("duplicates", _FAULTS),
            ("duplicates_dropped", _FAULTS),
            ("in_flight", "every run"),
        )
    },
    "retransmissions": MetricEntry("messages", "Messages sent again because no acknowledgement came in time.", _FAULTS),
    "given_up": MetricEntry(
        "messages", "Messages whose sender stopped trying; a broadcast counts for each agent to which it did.", _FAULTS
    ),
    "absent_slots": MetricEntry(
        "slots",
        "Slots of agents that were down at their beginning; where not every agent decides in every slot, decisions "
        "that were not made because the agent was down.",
        _FAULTS,
    ),
    "availability": MetricEntry("", "Share of all slots, or decisions, of all agents that were played.", _FAULTS),
    "stalled": MetricEntry(
        "agents", "Agents waiting at the horizon with no message or timer of their round pending.", _FAULTS
    ),
    "unanswered": MetricEntry(
        "rounds",
        "Rounds without an answer to any agent: of those that ``rounds`` counts, but for the last, whose answer may be "
        "under way at the horizon.",
        "learners that broadcast over rounds of a server, where messages may be lost",
    ),
    "may_stall": MetricEntry(
        "",
        "Whether agents wait, without a deadline, for messages that may be lost, or may wait for their links, 1 or 0: "
        "then runs can stall, whether or not this one did.",
    ),
    "dropped": MetricEntry(
        "messages",
        "Messages that were not put on their link because as many waited for it as may, those included whose turn "
        "would come after the horizon: not counted there.",
        _QUEUES,
    ),
    "dropped_share": MetricEntry("", "Dropped divided by dropped and messages together.", _QUEUES),
    "waiting_most": MetricEntry("messages", "The most messages that waited for a link, in one direction.", _QUEUES),
    "links_busy": MetricEntry(
        "",
        "Share of the run's time that a link with ``queue`` is occupied, mean over its directions in use: what is "
        "dropped while this is small comes in bursts.",
        _QUEUES,
    ),
    "busy": MetricEntry("", "Share of the run's time that an agent computes, mean over agents.", _COMPUTING),
    "server_busy": MetricEntry("", "Share of the run's time that the server computes.", _COMPUTING),
    "round_computing_slots": MetricEntry(
        "slots",
        "Of ``round_slots``, those in which any node computed; in the rest only messages are waited for.",
        "elimination whose nodes compute",
    ),
    "inbox_wait_ms": MetricEntry(
        "ms", "From the arrival of a message until it begins to be handled, mean; null if none was.", _COMPUTING
    ),
    "inbox_most": MetricEntry("messages", "The most messages that waited in an inbox.", _COMPUTING),
    "refused": MetricEntry("messages", "Messages that found an inbox full, among those lost.", _COMPUTING),
    "unhandled": MetricEntry(
        "messages",
        "Messages, among those delivered, that were never handled: the receiver went down before, or the run ended.",
        _COMPUTING,
    ),
    "compute_j": MetricEntry("J", "Energy that agents took to compute, by ``compute.power``.", _COMPUTING),
    "feedback_slots": MetricEntry(
        "slots",
        "Slots from a pull to the first decision that can use its reward, mean over the rewards learned; null if none "
        "was.",
        _LATE,
    ),
    "feedback_wait_slots": MetricEntry(
        "slots",
        "Slots from the end of a phase until an agent goes on, with its rewards or without some, mean over agents and "
        "phases; null if none went on.",
        "elimination whose rewards may be late",
    ),
    "outstanding": MetricEntry("pulls", "Pulls of an agent whose reward is due at the horizon or later.", _LATE),
    "outstanding_most": MetricEntry(
        "pulls", "The most pulls whose reward an agent had yet to learn as it decided.", _LATE
    ),
    "censored": MetricEntry("", "Share of pulls whose reward is never learned.", _LATE),
    "feedback_late": MetricEntry(
        "pulls",
        "Pulls whose reward came after its window or ``protocol.feedback_deadline``, or was of a life that the agent "
        "had forgotten.",
        _LATE,
    ),
    "uploads": MetricEntry("messages", "Deposits sent to the server.", "parameter-server"),
    "downloads": MetricEntry("messages", "Answers and pushes sent by the server.", "parameter-server"),
    "unseen": MetricEntry(
        "observations",
        "Observations that existed before a decision and were not in its sums, mean over decisions.",
        "parameter-server",
    ),
    "mass": MetricEntry(
        "",
        "Sum over agents of their estimated pulls of an arm, divided by its true pulls, for the arm for which it is "
        "furthest from 1; 1 if sums were preserved.",
        "coop-ucb2, dducb",
    ),
}
"""Metric -> its entry, in the order of the reference."""


def catalogue() -> Mapping[str, MetricEntry]:
    """Return `METRICS`, and those of conditions and models of links that other packages offer."""
    from netbandit.parts.registry import offered_classes

    offered = [*offered_classes("condition").values(), *offered_classes("link").values()]
    return METRICS | {name: entry for each in offered for name, entry in each.METRICS.items()}


HEADINGS: dict[str, tuple[str, str]] = {
    "alive": ("agents alive", "%"),
    "availability": ("slots played", "%"),
    "delivery_ratio": ("delivered", "%"),
    "dropped_share": ("dropped", "%"),
    "links_busy": ("links busy", "%"),
    "connected": ("time connected", "%"),
    "best_lost": ("runs that lost the best arm", "%"),
    "answered": ("agents that answered", "%"),
    "wrong": ("wrong answers", "%"),
    "wrong_any": ("runs with a wrong answer", "%"),
    "wrong_local": ("wrong local answers", "%"),
    "simple_regret": ("simple regret", ""),
    "stop_slot": ("last answer", "slots"),
    "stop_slot_mean": ("answer, mean", "slots"),
    "may_stall": ("runs that may stall", "%"),
    "violations": ("slots below threshold", "%"),
    "accepted": ("items accepted", "%"),
    "binding": ("agents bound by threshold", "%"),
    "lies": ("lies", "%"),
    "first_death": ("first battery empty", "slot"),
    "half_dead": ("half of batteries empty", "slot"),
    "lifetime_slots": ("lifetime", "slots"),
    "sustained": ("runs sustained", "%"),
    "unsent": ("never sent", ""),
    "in_flight": ("under way at the end", ""),
    "airtime_s": ("airtime", "s"),
    "absent_slots": ("absent", "slots"),
    "waiting_slots": ("waiting at the end", "slots"),
    "waited_slots": ("waited for link", "slots"),
    "delay_slots": ("delay", "slots"),
    "age_slots": ("age", "slots"),
    "delivered": ("messages delivered", ""),
    "round_slots": ("round", "slots"),
    "round_slots_median": ("round, median", "slots"),
    "round_slots_max": ("round, longest", "slots"),
    "recovery_slots": ("recovery", "slots"),
    "regret_per_agent": ("regret per agent", ""),
    "energy_j": ("energy", "J"),
    "harvested_j": ("harvested", "J"),
    "simulated_s": ("simulated", "s"),
    "wall_s": ("computed in", "s"),
    "bytes": ("bytes", ""),
    "epsilon_claimed": ("epsilon, claimed", ""),
    "epsilon_best_off": ("epsilon, best-off agent", ""),
    "epsilon_basic_composition": ("epsilon, basic composition", ""),
    "delta_basic_composition": ("delta, basic composition", ""),
}
"""The label and unit of each metric; others are labelled by their name and have no unit. Shares are in %."""


RATES = frozenset({"wrong_any"})
"""Metrics that are 1 or 0 by chance, so that their mean estimates a probability: its interval is that of a share."""


AXIS_LABELS = {
    "stop_slot": "last answer (slot)",
    "regret": "regret of all agents (reward)",
    "regret_static": "regret against the best fixed arm (reward)",
    "regret_per_agent": "regret per agent (reward)",
    "regret_per_decision": "regret per decision (reward)",
    "regret_per_s": "regret per simulated second (reward / s)",
    "decisions_per_s": "decisions per second (1 / s)",
    "unserved": "users not served",
    "relative_ctr": "click-through rate relative to chance",
    "cost": "cost (weighted link activations)",
    "activations": "activations (links in slots)",
    "round_slots": "waiting per round (slots)",
    "delay_slots": "delay of received items (slots)",
    "lateness": "delay of received items (slots)",
    "violations": "share of slots that violate the threshold",
    "accepted": "share of received items accepted",
    "rounds": "rounds",
    "messages": "messages",
    "bytes": "data sent (bytes)",
    "energy_j": "energy (J)",
    "lifetime_slots": "slots until the first battery is empty",
    "epsilon": "privacy spent ε, worst-off agent",
    "epsilon_claimed": "privacy ε, claimed",
    "delta": "privacy δ",
    "simulated_s": "simulated time (s)",
    "wall_s": "computing time (s)",
    "diameter": "diameter (hops)",
    "radius": "radius (hops)",
    "agents": "agents",
    "links": "links",
}
"""Axis labels of metrics and topology figures whose name and unit alone are not enough."""


def axis_label(metric: str) -> str:
    """Return the axis label of *metric*: its name and unit, if the catalogue has them."""
    if metric in AXIS_LABELS:
        return AXIS_LABELS[metric]
    entry = METRICS.get(metric) or catalogue().get(metric)
    name, unit = metric.replace("_", " "), "" if entry is None else entry.unit
    return f"{name} ({unit})" if unit and unit != name else name


_TITLE_NAMES = {
    "stop_slot": "time to the last answer",
    "ctr": "click-through rate",
    "relative_ctr": "relative click-through rate",
    "energy_j": "energy",
    "bytes": "data sent",
    "round_slots": "waiting per round",
    "delay_slots": "delay of received items",
    "lifetime_slots": "time until the first battery is empty",
    "epsilon": "ε spent",
}


def title_name(metric: str) -> str:
    """Return the name of a metric in a title."""
    return _TITLE_NAMES.get(metric, metric.replace("_", " "))


_HIGHEST = frozenset(
    {
        *("reward", "ctr", "true_ctr", "relative_ctr", "kept", "decisions", "decisions_per_s"),
        *("availability", "alive", "lifetime_slots", "sustained", "delivery_ratio", "answered"),
    }
)
_LOWEST = frozenset(
    {
        *("cost", "activations", "messages", "bytes", "items", "energy_j", "wall_s", "context_bytes", "mask_bytes"),
        *("round_slots", "round_slots_median", "round_slots_max", "recovery_slots", "delay_slots", "waiting_slots"),
        *("unserved", "violations", "parameter_error", "best_lost", "blocked_honest", "outnumbered", "stalled"),
        *("wrong", "wrong_any", "wrong_local", "simple_regret", "stop_slot", "stop_slot_mean", "samples"),
        *("lost", "late", "given_up", "collided", "dropped", "unsent", "unseen"),
        *("epsilon", "epsilon_claimed", "slot_operations", "retransmissions", "absent_slots", "uploads", "downloads"),
    }
)


def best_is(metric: str) -> str:
    """Return which value of *metric* is best, ``lowest`` or ``highest``; empty if neither."""
    if metric.startswith("regret") or metric in _LOWEST:
        return "lowest"
    return "highest" if metric in _HIGHEST else ""
