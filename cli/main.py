"""The command ``warehouse``: parses, calls, and turns errors into messages and exit codes."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Sequence
from functools import partial
from io import TextIOWrapper
from typing import NamedTuple

import click

from warehouse.errors import DiskFullError, InputError, StoreError, WarehouseError, cause_of, parted

from .lazy_group import LazyGroup
from .state import global_options
from .ui.table import echo, fitted, visible

shown_global_options = partial(global_options, hidden=False)
INTERRUPTED = 130  # 128 + SIGINT

EXIT_CODES = "0 fine, 1 the answer is no, 2 misuse, 3 bad input, 4 store trouble, 5 undecided."
EPILOG = f"""Exit codes: {EXIT_CODES}

The store is --db, else $WAREHOUSE_URL, else warehouse.toml, else duckdb:///warehouse.duckdb."""


def _version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        from importlib.metadata import version

        echo(f"warehouse {version('eval-warehouse')}")
        ctx.exit()


@click.group(cls=LazyGroup, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@shown_global_options
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version.")
def cli() -> None:
    """Real eval dumps in, a leaderboard with honest error bars out."""


def main(args: Sequence[str] | None = None) -> int:
    """Run one command line.

    Returns:
        the exit code: 0 fine, 1 the answer is no, 2 misuse, 3 bad input, 4 store trouble,
        5 undecided.
    """
    _prepare_output()
    try:
        result = cli.main(args=args, prog_name="warehouse", standalone_mode=False)
    except Exception as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # from click 8.2 on; before, the help is no error
            echo(str(error), err=True)
            return click.UsageError.exit_code
        failure = failure_of(error)
        if failure is None:
            raise
        return _fail(failure, sys.argv[1:] if args is None else args)
    return result if isinstance(result, int) else 0


class Failure(NamedTuple):
    """What went wrong in the words of the user, of what kind it is, and how the program ends."""

    message: str
    kind: str
    exit_code: int

    def to_dict(self) -> dict[str, str | int]:
        """What programs are told of it."""
        error, advice = parted(self.message)
        return {"error": error, "kind": self.kind, "advice": advice, "exit_code": self.exit_code}


def failure_of(error: Exception) -> Failure | None:
    """The failure that an error means; None where it is a mistake of this program."""
    if isinstance(error, WarehouseError):
        return Failure(str(error), error.kind, error.exit_code)
    if isinstance(error, click.UsageError):
        return Failure(_usage(error), "usage", error.exit_code)
    if isinstance(error, click.ClickException):
        return Failure(error.format_message(), "usage", error.exit_code)
    if isinstance(error, click.Abort):
        return Failure("interrupted", "interrupted", INTERRUPTED)
    if isinstance(error, OSError):
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        return Failure(_os_message(error), "file", (StoreError if full else InputError).exit_code)
    message = _engine_message(error)
    if message is None:
        return None
    if reason := _disk_full(error):
        return Failure(str(DiskFullError(reason)), "disk_full", DiskFullError.exit_code)
    return Failure(f"the store failed: {message}\nSee: warehouse db check", "store", StoreError.exit_code)


def _prepare_output() -> None:
    """What the terminal's encoding lacks is spelled out (``\\u2265``); where standard output is
    closed, as under some daemons, nobody hears the answer, but the work is done."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  (until the end)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="surrogateescape")  # as arguments come; whoever needs text says so


def _fail(failure: Failure, args: Sequence[str]) -> int:
    """Say it, to a program that asked with ``--json`` as an object in the last line of standard error."""
    options = args[: args.index("--")] if "--" in args else args
    as_json = "--json" in options
    text = json.dumps(failure.to_dict()) if as_json else fitted(f"Error: {visible(failure.message)}", sys.stderr)
    print(text, file=sys.stderr)
    return failure.exit_code


def _usage(error: click.UsageError) -> str:
    path = error.ctx.command_path if error.ctx else "warehouse"
    return f"{error.format_message()}\nSee: {path} --help"


def _os_message(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else reason


def _disk_full(error: Exception) -> str:
    from warehouse.store.engines import disk_full

    return disk_full(error)


def _engine_message(error: Exception) -> str | None:
    """What a database engine says, if it is one that failed."""
    dialects = sys.modules.get("warehouse.store.engines")
    cause = cause_of(error)
    messages = [dialect.query_error(cause) for dialect in dialects.DIALECTS.values()] if dialects else []
    return next((message.splitlines()[0] for message in messages if message), None)
