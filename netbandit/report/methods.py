"""The sentences about its methods that a paper with the results needs."""

from hashlib import sha256

from netbandit.report.recipe import recipe
from netbandit.results.study_result import StudyResult
from netbandit.util.text import in_words, pluralize

_STATISTICS = (
    "Means over replications have 95 % intervals: Student's for continuous metrics, and where values repeat that of "
    "Clopper and Pearson for two distinct values and of Gaffke for more; medians and quantiles have intervals between "
    "order statistics. Points are compared by paired differences of replications with the same seed, which share their "
    "random inputs; a p-value is the smallest level at which the interval of a difference excludes zero, with Holm's "
    "correction for all comparisons made together"
)


def methods(study: StudyResult) -> str:
    """Return how the results of *study* were made, in sentences: versions, machines, runs, seeds, statistics, digests.

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
    each = " each" if len(study.points) > 1 else ""
    sentences = [
        f"The simulations were made with netbandit {netbandit[1]} ({libraries_used})",
        *([f"They ran on {machines}"] if machines else []),
        f"The study {study.name} has {pluralize(len(study.points), 'point')} with {replications}{each}, from the root "
        f"seed {seeds}",
        *([f"{wanted - len(runs)} of its {wanted} runs are missing"] if len(runs) < wanted else []),
        _STATISTICS,
    ]
    if made.scenario:
        sentences.append(f"The SHA-256 digest of {made.file}, as the report has it, is {_digest(made.scenario)}")
    if made.needs:
        sentences.append(f"It needs {in_words(made.needs, 'and')}, whose contents the names of the runs depend on")
    lines = "".join(f"{run.fingerprint}\n" for run in runs)
    sentences.append(
        f"That of the fingerprints of all runs, a line each in the order of the report, is {_digest(lines)}"
    )
    return ". ".join(sentences) + "."


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
