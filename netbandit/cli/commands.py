"""The group of commands, which reports errors of the system in one line."""

import errno
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import click

from netbandit.cli.exit_codes import FAILURE, INTERRUPTED
from netbandit.cli.startup import raise_again


class Commands(click.Group):
    """Commands in groups, whose output may be a full disk, and whose files may be anything."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """See `click.Group`."""
        super().__init__(*args, **kwargs)
        self.groups: dict[str, Sequence[click.Command]] = {}

    def add_group(self, heading: str, commands: Sequence[click.Command]) -> None:
        """Add *commands*, which the help lists below *heading*."""
        self.groups[heading] = commands
        for command in commands:
            self.add_command(command)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in their order."""
        return [*self.commands]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, group by group; see `click.Group.format_commands`."""
        width = max(map(len, self.commands))
        for heading, commands in self.groups.items():
            with formatter.section(heading):
                texts = [command.get_short_help_str(formatter.width - width - 6) for command in commands]
                names = [str(command.name).ljust(width) for command in commands]
                formatter.write_dl([*zip(names, texts, strict=True)])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; for a removed one, name its replacement."""
        if args[:1] == ["bench"]:
            ctx.fail("'netbandit bench' is now 'python -m benchmarks', beside the package, in the source folder.")
        return super().resolve_command(ctx, args)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the arguments; see `click.Command.make_context`."""
        with _interruptible():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was found; of an option that does not exist, suggest none that is the opposite."""
        with _interruptible():
            try:
                return super().invoke(ctx)
            except click.NoSuchOption as error:
                from netbandit.util.wording import opposite

                close = [name for name in error.possibilities or () if not opposite(error.option_name, name)]
                raise click.NoSuchOption(error.option_name, error.message, close, error.ctx) from None

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command that the arguments name; see `click.Command.main`."""
        try:
            with _interruptible():
                raise_again()
                _open_what_is_closed()
                try:
                    return super().main(*args, **kwargs)
                finally:
                    sys.stdout.flush()  # now, while a full disk can still be reported
        except MemoryError:
            _fail("there is not enough memory for this")
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):  # whichever file was next: often a module of ours
                _fail("too many open files; allow more (ulimit -n), or use fewer processes")
            where = f"{os.fsdecode(error.filename)}" if error.filename is not None else "standard output"
            _fail(f"{where}: {error.strerror or error}")


class ManyOptions(click.Command):
    """A command whose first five options are the common ones, and the first in its help."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in two lists; see `click.Command.format_options`."""
        options = [option for option in self.get_params(ctx) if isinstance(option, click.Option)]
        for heading, some in (("Common options", options[:5]), ("Other options", options[5:])):
            with formatter.section(heading):
                formatter.write_dl([*filter(None, (option.get_help_record(ctx) for option in some))])


@contextmanager
def _interruptible() -> Iterator[None]:
    """Have Ctrl-C end the command with a line and its exit code; click, around all that it calls, has others."""
    try:
        yield
    except (KeyboardInterrupt, click.Abort) as ended:
        interrupt = ended.__context__ if isinstance(ended, click.Abort) else ended  # where a question was asked
        if not isinstance(interrupt, KeyboardInterrupt):
            raise
        click.echo(f"\nstopped{': ' * bool(interrupt.args)}{interrupt}", err=True)
        sys.exit(INTERRUPTED)


def _open_what_is_closed() -> None:
    """Replace closed standard streams by null devices, so that no file of ours takes their descriptors."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            with suppress(OSError):
                opened = os.open(os.devnull, os.O_RDWR)  # the least number that is free
                if opened != number:
                    os.dup2(opened, number)
                    os.close(opened)
                setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def _fail(text: str) -> None:
    with suppress(OSError):
        click.echo(f"Error: {text}", err=True)
    with suppress(OSError, ValueError):  # output that could not be written is not tried again when Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(FAILURE)
