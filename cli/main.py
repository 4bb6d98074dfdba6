"""The command ``warehouse``: parses, calls, and turns errors into messages and exit
codes."""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Sequence
from functools import partial
from io import TextIOWrapper

import click

from .failures import Failure, failure_of
from .lazy_group import LazyGroup
from .state import global_options
from .ui.table import echo, fitted, visible

shown_global_options = partial(global_options, hidden=False)

EXIT_CODES = (
    "0 fine, 1 the answer is no, 2 misuse, 3 bad input, 4 store trouble, 5 undecided."
)
EPILOG = f"""Words of the results: warehouse help TERM. Forms of answers: warehouse help output.

Exit codes: {EXIT_CODES}

The store is --db, else $WAREHOUSE_URL, else warehouse.toml, else duckdb:///warehouse.duckdb."""


#: Threads of BLAS spin for 2^26 cycles after they are started, once for numpy and once
#: for scipy: 50 ms of every other core, a twelfth of a leaderboard on two. Longer
#: products keep them busy anyhow.
IDLE_SPIN = ("OPENBLAS_THREAD_TIMEOUT", "20")
#: Objects between two searches for circles: by the usual 700 they take a third of what
#: half a million rows do.
_YOUNG = 50_000


def _version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        from importlib.metadata import version

        echo(f"warehouse {version('eval-warehouse')}")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@shown_global_options
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Show the version.",
)
def cli() -> None:
    """Real eval dumps in, a leaderboard with honest error bars out.

    warehouse PATH ... asks result files at once: the leaderboard, or that of a benchmark
    named behind them. --from PATH asks them any other question. Nothing is left behind.
    """


def main(args: Sequence[str] | None = None) -> int:
    """Run one command line.

    Returns:
        the exit code: 0 fine, 1 the answer is no, 2 misuse, 3 bad input, 4 store
        trouble, 5 undecided.
    """
    _prepare_output()
    gc.set_threshold(_YOUNG)
    os.environ.setdefault(*IDLE_SPIN)
    try:
        result = cli.main(args=args, prog_name="warehouse", standalone_mode=False)
    except Exception as error:
        if (
            type(error).__name__ == "NoArgsIsHelpError"
        ):  # from click 8.2 on; before, the help is no error
            echo(str(error), err=True)
            return click.UsageError.exit_code
        failure = failure_of(error)
        if failure is None:
            raise
        return _fail(failure, sys.argv[1:] if args is None else args)
    if isinstance(result, int):
        return result
    return 0


def _prepare_output() -> None:
    """What the terminal's encoding lacks is spelled out (``\\u2265``); where standard output is
    closed, as under some daemons, nobody hears the answer, but the work is done."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  (until the end)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(
            errors="surrogateescape"
        )  # as arguments come; whoever needs text says so


def _without_keys(text: str) -> str:
    """A message without keys and passwords: it may repeat what was typed, or a name
    that a file has."""
    from warehouse.records.credentials import masked

    return masked(text)


def _fail(failure: Failure, args: Sequence[str]) -> int:
    """Say it, to a program that asked with ``--json`` as an object in the last line of
    standard error."""
    options = args
    if "--" in args:
        options = args[: args.index("--")]
    as_json = "--json" in options
    failure = failure._replace(message=_without_keys(failure.message))
    if as_json:
        text = json.dumps(failure.to_dict())
    else:
        text = fitted(f"Error: {visible(failure.message)}", sys.stderr)
    print(text, file=sys.stderr)
    return failure.exit_code
