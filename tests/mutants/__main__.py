"""Plant faults in a copy of the package, one after the other, and say which of them the tests find.

\b
    cd tests
    python -m mutants                      # every fault, by the tests that the suite runs
    python -m mutants hop_of_no_slot       # this one
    python -m mutants --ci                 # also by the longer checks and the cases that .ci/run alone makes
    python -m mutants --list               # what there is

A fault is looked for in the tests of its room first, then in all others; the first failure ends that. It ends with 1
where more than one fault in ten is not found.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from mutants.faults import FAULTS, ROOT, Fault, planted

_IN_CI = "not search and (not slow or ci or sampled)"


def copy_to(place: Path) -> None:
    """Make *place* a checkout of this one, with what has not been committed."""
    subprocess.run(["git", "clone", "-q", ROOT, place], check=True)
    listed = subprocess.check_output(["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, text=True)
    for name in filter(None, listed.split("\0")):
        (place / name).unlink(missing_ok=True)
        if (ROOT / name).exists():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, place / name, follow_symlinks=False)


def failing(place: Path, words: list[str], where: list[Path]) -> str | None:
    """Return the first of the tests in the copy *place* that fails, None if none does."""
    with TemporaryDirectory() as cache:  # numba does not see that a function called in another file has changed
        environment = os.environ | {"PYTHONPATH": str(place), "NUMBA_CACHE_DIR": cache}
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", *words, *map(str, where)]
        done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True)
    if done.returncode in (0, 5):  # 5: there is none
        return None
    lines = (line.split(" ", 1)[1] for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR ")))
    return next((line.split(" - ")[0] for line in lines), f"{done.stdout[-2000:]}{done.stderr[-2000:]}")


def found_by(fault: Fault, place: Path, words: list[str]) -> str | None:
    """Return the test that fails with a fault in the copy *place*, and not without; None if there is none."""
    folder = place / "tests" / fault.room
    first = [folder] if folder.is_dir() else []
    for where in [[each] for each in first] + [[place / "tests", *(Path(f"--ignore={each}") for each in first)]]:
        with planted(fault, place):
            test = failing(place, words, where)
        if test is not None:
            if "::" in test and failing(place, words, [place / test.partition("[")[0]]) is not None:
                raise click.ClickException(f"{test} fails without any fault, too")
            return test
    return None


@click.command(help=__doc__, context_settings={"max_content_width": 120})
@click.argument("names", nargs=-1)
@click.option("--ci", is_flag=True, help="Also run what only .ci/run does.")
@click.option("--processes", default=0, show_default=True, help="The number of workers of each run of tests.")
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
        copy_to(place)
        for fault in chosen:
            test = found_by(fault, place, words)
            missed += test is None
            click.echo(f"{fault.name}: {'NOT FOUND: ' + fault.what if test is None else test}")
    click.echo(f"{len(chosen) - missed} of {len(chosen)} found", err=True)
    sys.exit(10 * missed > len(chosen))


if __name__ == "__main__":
    main()
