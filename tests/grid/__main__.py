"""Run the grid by hand: each line of grid.csv in two ways: event by event, and compiled and in bulk where it can be.

\b
    cd tests
    python -m grid                              # every line, with a process for each core
    python -m grid gossip deadline              # the lines whose scenario has all these words
    python -m grid --one-in 10                  # a tenth of the lines of every protocol, or condition
    python -m grid --execution plain            # in one way only
    python -m grid --pin gossip                 # write what is found instead of comparing it
    python -m grid --pin --add 'KEY=VALUE; ...' # add a line: its protocol.kind, learner.kind, ... over base.toml
    python -m grid --numbers 12                 # all numbers that line 12 of the table hashes, as JSON

It says which lines differ, in which columns, what was and what is, and ends with 1 if any does. Where two versions
differ, let both print the numbers of a line, and compare them by ``diff``.
"""

import json
import multiprocessing
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed

import click
from grid.executions import EXECUTIONS, line_of, numbers, run
from grid.table import Line, one_in, protocol_of, read, write

Outcome = tuple[str, str, Line | str]
"""A scenario, how it was executed, and its line, or why it failed."""


def _all_of(task: tuple[str, list[str]]) -> list[Outcome]:
    execution, scenarios = task
    done: list[Outcome] = []
    for scenario in scenarios:
        try:
            done.append((scenario, execution, line_of(scenario, execution)))
        except Exception as error:  # whatever it is, it is of this line
            done.append((scenario, execution, f"{type(error).__name__}: {error}"))
    return done


def outcomes(scenarios: Iterable[str], executions: Sequence[str], jobs: int) -> Iterator[Outcome]:
    """Yield what the executions of *scenarios* come to, as they are done.

    One process executes all of a protocol: it compiles each loop once, and keeps it for all that come after it.
    """
    kinds: dict[str, list[str]] = {}
    for scenario in scenarios:
        kinds.setdefault(protocol_of(scenario), []).append(scenario)
    tasks = [(execution, own) for execution in reversed(executions) for own in kinds.values()]  # the slowest way first
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("fork")) as pool:
        for done in as_completed([pool.submit(_all_of, task) for task in tasks]):
            yield from done.result()


def compare(table: Sequence[Line], done: Iterable[Outcome]) -> Iterator[str]:
    """Yield which outcomes are not as the table has them, and in which columns."""
    pinned = {line.scenario: (number, line) for number, line in enumerate(table, 1)}
    for scenario, execution, now in done:
        number, line = pinned[scenario]
        differences = [now] if isinstance(now, str) else line.differences(now)
        if differences:
            yield "\n    ".join([f"line {number}, {execution}:", *differences, scenario])


def pin(table: Sequence[Line], done: Iterable[Outcome]) -> Iterator[str]:
    """Write the lines of what is done anew; yield those that stay as they are, because their executions differ."""
    lines = {line.scenario: line for line in table}
    found: dict[str, list[tuple[str, Line | str]]] = {}
    for scenario, execution, now in done:
        found.setdefault(scenario, []).append((execution, now))
    for scenario, ways in found.items():
        line = ways[0][1]
        if isinstance(line, Line) and all(now == line for _, now in ways):
            lines[scenario] = line
        else:
            yield "\n    ".join(["not pinned:", *(f"{execution}: {now}" for execution, now in ways)])
    write(list(lines.values()))


@click.command(help=__doc__, context_settings={"max_content_width": 120})
@click.argument("words", nargs=-1)
@click.option("--one-in", "part", default=1, metavar="N", help="Only one in N lines of every protocol, or condition.")
@click.option("--execution", "executions", type=click.Choice(EXECUTIONS), multiple=True, default=EXECUTIONS)
@click.option("--jobs", default=os.cpu_count() or 1, help="How many processes there are.")
@click.option("--pin", "pins", is_flag=True, help="Write what is found instead of comparing it.")
@click.option("--add", "added", multiple=True, metavar="SCENARIO", help="The scenario of a line to add.")
@click.option("--numbers", "number", type=int, metavar="LINE", help="Print all numbers of a line.")
def main(
    words: tuple[str, ...],
    part: int,
    executions: tuple[str, ...],
    jobs: int,
    pins: bool,
    added: tuple[str, ...],
    number: int | None,
) -> None:
    """Do what the command line asks for."""
    table = read()
    if number is not None:
        click.echo(json.dumps(numbers(run(table[number - 1].scenario, executions[0])), indent=1))
        return
    if added and not pins:
        raise click.UsageError("--add goes with --pin")
    chosen = [line.scenario for line in one_in(part, table) if all(word in line.scenario for word in words)]
    done = outcomes(added or chosen, EXECUTIONS if pins else executions, jobs)
    found = 0
    for text in pin(table, done) if pins else compare(table, done):
        found += 1
        click.echo(text)
    click.echo(f"{len(added or chosen)} lines: {found} {'not pinned' if pins else 'differences'}", err=True)
    sys.exit(found > 0)


if __name__ == "__main__":
    main()
