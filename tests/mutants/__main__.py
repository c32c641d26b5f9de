"""Plant faults in a copy of the package, one after the other, and say which of them the tests find.

\b
    cd tests
    python -m mutants                      # every fault, by the tests that the suite runs
    python -m mutants hop_of_no_slot krum  # these
    python -m mutants --ci                 # also by the longer checks and the cases that .ci/run alone makes
    python -m mutants --list               # what there is

A fault is looked for in the tests of its room first, then in all others; the first failure ends that. It ends with 1
where more than one fault in ten is not found.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from mutants.faults import FAULTS, ROOT, Fault, planted

_LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "*.egg-info", "_build", "__pycache__", ".hypothesis", "results")
_IN_CI = "not search and (not slow or ci or sampled)"


def found_by(fault: Fault, place: Path, words: list[str]) -> str | None:
    """Return the test that fails with *fault* in the copy of the package in *place*; None if all pass."""
    folder = place / "tests" / fault.room
    first = [folder] if folder.is_dir() else []
    for where in ([*first], [place / "tests", *(f"--ignore={one}" for one in first)]):
        if not where:
            continue
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "--tb=no", *words, *map(str, where)]
        done = subprocess.run(command, cwd=place, capture_output=True, text=True)
        if done.returncode not in (0, 5):  # 5: no test
            failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
            return failed[0].split(" ")[1] if failed else done.stdout[-500:] + done.stderr[-500:]
    return None


@click.command(help=__doc__, context_settings={"max_content_width": 120})
@click.argument("names", nargs=-1)
@click.option("--ci", is_flag=True, help="Also run what only .ci/run does.")
@click.option("--processes", default=1, show_default=True, help="The number of processes of each run of tests.")
@click.option("--list", "listed", is_flag=True, help="Say which faults there are.")
def main(names: tuple[str, ...], ci: bool, processes: int, listed: bool) -> None:
    """Do what the command line asks for."""
    unknown = set(names) - {fault.name for fault in FAULTS}
    if unknown:
        raise click.UsageError(f"there is no fault {', '.join(sorted(unknown))}: --list shows all")
    chosen = [fault for fault in FAULTS if not names or fault.name in names]
    if listed:
        for fault in chosen:
            click.echo(f"{fault.name}: {fault.file}: {fault.what}")
        return
    words = [f"-n{processes}", *(["--compiled", "-m", _IN_CI] if ci else [])]
    missed = 0
    with TemporaryDirectory() as folder:
        place = Path(folder) / "copy"
        shutil.copytree(ROOT, place, ignore=_LEFT_OUT)
        for fault in chosen:
            with planted(fault, place):
                test = found_by(fault, place, words)
            missed += test is None
            click.echo(f"{fault.name}: {'NOT FOUND: ' + fault.what if test is None else test}")
    click.echo(f"{len(chosen) - missed} of {len(chosen)} found", err=True)
    sys.exit(10 * missed > len(chosen))


if __name__ == "__main__":
    main()
