"""The command ``warehouse``: parses, calls, and turns errors into messages and exit codes."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from functools import partial
from io import TextIOWrapper

import click

from warehouse.errors import DiskFullError, StoreError, WarehouseError, cause_of

from .lazy_group import LazyGroup
from .state import global_options
from .ui.table import echo, fitted, visible

shown_global_options = partial(global_options, hidden=False)
INTERRUPTED = 130  # 128 + SIGINT

EXIT_CODES = "0 fine, 1 the answer is no, 2 misuse, 3 bad input, 4 store trouble, 5 undecided."
EPILOG = f"""Words of the results: warehouse help TERM. Forms of answers: warehouse help output.

Exit codes: {EXIT_CODES}

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
    except WarehouseError as error:
        return _fail(str(error), error.exit_code)
    except click.UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # from click 8.2 on; before, the help is no error
            echo(error.format_message(), err=True)
            return error.exit_code
        return _fail(_usage(error), error.exit_code)
    except click.ClickException as error:
        return _fail(error.format_message(), error.exit_code)
    except click.Abort:
        return _fail("interrupted", INTERRUPTED)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        return _fail(_os_message(error), StoreError.exit_code if full else 3)
    except Exception as error:
        message = _engine_message(error)
        if message is None:
            raise
        if reason := _disk_full(error):
            return _fail(str(DiskFullError(reason)), DiskFullError.exit_code)
        return _fail(f"the store failed: {message}\nSee: warehouse db check", StoreError.exit_code)
    return result if isinstance(result, int) else 0


def _prepare_output() -> None:
    """What the terminal's encoding lacks is spelled out (``\\u2265``); where standard output is
    closed, as under some daemons, nobody hears the answer, but the work is done."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  (until the end)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="surrogateescape")  # as arguments come; whoever needs text says so


def _fail(message: str, code: int) -> int:
    print(fitted(f"Error: {visible(message)}", sys.stderr), file=sys.stderr)
    return code


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
