"""The sentences about its methods that a paper with the results needs."""

from hashlib import sha256

from netbandit.report.recipe import recipe
from netbandit.results.failures import ENOUGH
from netbandit.results.numbers import cell, with_its_number
from netbandit.results.study_result import StudyResult
from netbandit.results.varied_keys import varied
from netbandit.util.key_paths import CASE
from netbandit.util.text import in_words, pluralize

_STATISTICS = (
    "Means over replications have 95 % confidence intervals: Student's t for continuous metrics; where values repeat, "
    "the wider of Student's and that of Gaffke (Clopper and Pearson for two distinct values), between limits that are "
    "estimated from the values; shares of runs have that of Clopper and Pearson; medians and quantiles have intervals "
    "between order statistics. Points are compared by paired differences of replications with the same seed, which "
    "share their random inputs; a p-value is the smallest level at which the interval of a difference excludes zero, "
    "with Holm's correction for all comparisons made together. Where runs can fail, because agents drop the best arm "
    f"or wait forever, means of fewer than {ENOUGH} replications are not compared"
)

_WORLD = (
    "run.horizon",
    "run.slot",
    "topology.family",
    "bandit.kind",
    "bandit.arms",
    "learner.kind",
    "protocol.kind",
    "protocol.timing",
    "run.until",
)
"""The keys that a sentence of its own tells."""

_FEW = 8
"""Of how many values of another key each is named."""


def methods(study: StudyResult) -> str:
    """Return how the results of *study* were made, in sentences: versions, machines, world, seeds, statistics, digests.

    Of several versions, machines or numbers of replications all are named; the papers to cite are in `citation`.
    """
    runs = [run for point in study.points for run in point.finished]
    made = recipe(study)
    netbandit, *libraries = made.versions.items()
    libraries_used = in_words([f"{name} {version}" for name, version in libraries], "and")
    machines = in_words([*dict.fromkeys(run.machine for run in runs if run.machine)], "and")
    numbers = sorted({len(point.finished) for point in study.points if point.finished})
    replications = pluralize(in_words([*map(str, numbers)], "or"), "replication")
    seeds = in_words([*map(str, sorted({run.seed for run in runs}))], "and")
    wanted = sum(len(point.runs) for point in study.points)
    keys = [key for key in varied(study) if key != CASE]
    differences = [
        key if key in _WORLD or len(values := _values(study, key)) > _FEW else f"{key} ({', '.join(values)})"
        for key in keys
    ]
    several = f", which differ in {in_words(differences, 'and')}," if keys else ""
    each = " each" if len(study.points) > 1 else ""
    sentences = [
        f"The simulations were run with netbandit {netbandit[1]} ({libraries_used})",
        *([f"They ran on {machines}"] if machines else []),
        f"The study {study.name} has {pluralize(len(study.points), 'point')}{several} with {replications}{each}, from "
        f"the root seed {seeds}",
        *([_simulated(study, [str(run.topology["agents"]) for run in runs])] if runs else []),
        *([f"{wanted - len(runs)} of its {wanted} runs are missing"] if len(runs) < wanted else []),
        _STATISTICS,
    ]
    if made.scenario:
        sentences.append(f"The SHA-256 digest of {made.file}, as the report has it, is {_digest(made.scenario)}")
    if made.needs:
        sentences.append(
            f"The scenario needs {in_words(made.needs, 'and')}, whose contents are part of the hash of each run"
        )
    lines = "".join(f"{run.fingerprint}\n" for run in runs)
    sentences.append(
        f"The SHA-256 digest of all fingerprints, one per line in the order of the report, is {_digest(lines)}"
    )
    return ". ".join(sentences) + "."


def _simulated(study: StudyResult, agents: list[str]) -> str:
    """Return a sentence about the world of the runs: what is not the same at all points is told with "or"."""
    horizon, slot, family, bandit, arms, learner, protocol, timing, until = (
        in_words(_values(study, key), "or") for key in _WORLD
    )
    at_most = "at most " if until and until != "horizon" else ""
    return (
        f"A run has {at_most}{horizon} slots of {slot} and {in_words([*dict.fromkeys(agents)], 'or')} agents; its "
        f"topology is {family}, its bandit {bandit}{f' with {arms} arms' if arms else ''}, its learner {learner}, and "
        f"its protocol {protocol}{f' ({timing})' if timing else ''}"
    )


def _values(study: StudyResult, key: str) -> list[str]:
    """Return the values of *key* at the points that have it, each once."""
    found = (point.value(key) for point in study.points)
    return [*dict.fromkeys(with_its_number(cell(value)) for value in found if value is not None)]


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
