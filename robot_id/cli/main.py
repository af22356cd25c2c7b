"""Entry point of `robot-id`: finds the verb, prints a user's mistake as one line, exits with 2."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
import traceback
from typing import Any, NoReturn

_STARTED = __name__ == '__main__' or os.path.basename(sys.argv[0]) == 'robot-id'
if _STARTED and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # While libraries load, Ctrl-C ends the process even if they catch it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

import click  # noqa: E402
from click.shell_completion import CompletionItem  # noqa: E402

from robot_id import __version__, interrupts, renamed  # noqa: E402
from robot_id.cli import budgets, numbers, verbosity  # noqa: E402
from robot_id.exceptions import RobotIdError, did_you_mean  # noqa: E402
from robot_id.extras import missing_extra  # noqa: E402

# One line per verb: its name and its help; the module robot_id.cli.<name> holds `command` (a
# hyphen in the name is an underscore in the module).
VERBS: dict[str, str] = {
    'init': 'Guess the columns of a recording; write its mapping and a robot file.',
    'robots': 'List the robots, or describe one: kinematics, limits, base parameters.',
    'simulate': 'Simulate a robot in closed loop and record it.',
    'methods': 'List the identification methods and their options.',
    'check': 'Find what is wrong with a recording, before any fit.',
    'identify': 'Identify the base parameters of a robot from measurements.',
    'excite': 'Find a motion that excites all parameters within the limits of a robot.',
    'play': 'Play a motion on a position-controlled robot, slow first, and record it.',
    'validate': 'Predict the torques of other data with identified parameters.',
    'payload': 'Identify the load of a robot from recordings with and without it.',
    'drive-gains': 'Find the gains of all drives with a load of known mass.',
    'compare': 'Compare results of several methods or recordings.',
    'export': 'Write the parameters of a result for other programs.',
    'studio': 'Open a local page: look at recordings, fit, compare, export.',
    'campaign': 'Run every method under many conditions and report which does well where.',
    'reproduce': "Compute the papers' tables and print them beside the printed ones.",
    'bench': 'Measure the speed, as ratios within one run.',
}


class _Interrupted(BaseException):
    """Ctrl-C under another name, because click would print `Aborted!`."""


class _Verbs(click.Group):
    """A group whose verbs are imported on demand, so that `robot-id --help` starts at once."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        verbosity.reset()
        budgets.reset()
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise _Interrupted from None
        except click.NoSuchOption as error:
            verb = error.ctx.command if error.ctx is not None else self
            known = [name for param in verb.params for name in param.opts]
            if not (hint := renamed.hint(error.option_name, known)):
                raise
            raise click.UsageError(f"no option '{error.option_name}': {hint}", error.ctx) from None
        except click.UsageError as error:
            several = '--data' in {
                name for param in (error.ctx or ctx).command.params for name in param.opts
            }
            # What a shell makes of --data runs/*.csv.
            if not several or 'unexpected extra argument' not in error.message:
                raise
            hint = 'several recordings are --data FIRST --data SECOND'
            raise click.UsageError(f'{error.message}: {hint}', error.ctx) from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in VERBS:
            return None
        verb = importlib.import_module(f'robot_id.cli.{name.replace("-", "_")}').command
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return numbers.bound(budgets.add_to(verbosity.add_to(verb)))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the names from the list: importing the modules would take seconds."""
        if incomplete.startswith('-'):
            return super().shell_complete(ctx, incomplete)
        return [
            CompletionItem(name, help=text)
            for name, text in VERBS.items()
            if name.startswith(incomplete)
        ]

    def resolve_command(self, ctx, args):  # type: ignore[no-untyped-def]
        if args and args[0] not in VERBS:
            raise click.UsageError(f"no command '{args[0]}': {did_you_mean(args[0], VERBS)}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section('Verbs'):
            formatter.write_dl(list(VERBS.items()))


@verbosity.add_to
@click.group(cls=_Verbs, context_settings={'help_option_names': ['-h', '--help']})
@click.version_option(__version__, prog_name='robot-id')
def cli() -> None:
    """Identify the dynamic model of a robot, validate it, and use it for control."""


def main() -> None:
    """
    Run the command line; a RobotIdError is one line on stderr and exit code 2.

    With --verbose the place in the code is printed before it.
    """
    # Matrices here are small or cut into chunks: more BLAS threads would only slow them down.
    for name in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS'):
        os.environ.setdefault(name, '1')
    _fill_closed_streams()
    interrupts.keep()
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character shows another one.
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors='replace')  # type: ignore[union-attr]
    try:
        try:
            cli(standalone_mode=True)
        except ModuleNotFoundError as error:
            if (missing := missing_extra(error)) is None:
                raise
            raise missing from error
        finally:
            sys.stdout.flush()
    except RobotIdError as error:
        _fail(str(error), 2)
    except (KeyboardInterrupt, _Interrupted):
        _fail('interrupted', 130)
    except OSError as error:
        # Errors of a file were reported before: this is the output itself.
        _fail(f'the output cannot be written ({error.strerror or error})', 2)
    except MemoryError:
        _fail('not enough memory', 2)


def _fill_closed_streams() -> None:
    """Open /dev/null for a closed stdin, stdout or stderr, so that no file takes its number."""
    for number, name in enumerate(('stdin', 'stdout', 'stderr')):
        try:
            os.fstat(number)
        except OSError:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
        if getattr(sys, name) is None:
            stream = os.fdopen(os.dup(number), 'w' if number else 'r')
            setattr(sys, name, stream)


def _fail(line: str, code: int) -> NoReturn:
    """Print what went wrong, if that is still possible, and end."""
    with contextlib.suppress(OSError):
        if verbosity.verbose():
            traceback.print_exc()
        click.echo(f'robot-id: {line}', err=True)
    # Nothing more to flush: a full device would report an error again at exit.
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.exit(code)


if __name__ == '__main__':
    main()
