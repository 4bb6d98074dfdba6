"""What an error means to whoever asked: its message, its kind, and how the program
ends."""

from __future__ import annotations

import errno
import sys
from typing import NamedTuple

import click

from warehouse.errors import InputError, StoreError, WarehouseError, parted

INTERRUPTED = 130  # 128 + SIGINT


class Failure(NamedTuple):
    """What went wrong in the words of the user, of what kind it is, and how the program
    ends."""

    message: str
    kind: str
    exit_code: int

    def to_dict(self) -> dict[str, str | int]:
        """What programs are told of it."""
        error, advice = parted(self.message)
        return {
            "error": error,
            "kind": self.kind,
            "advice": advice,
            "exit_code": self.exit_code,
        }


def failure_of(error: Exception) -> Failure | None:
    """The failure that an error means; None where it is a mistake of this program."""
    if isinstance(error, WarehouseError):
        return Failure(str(error), error.kind, error.exit_code)
    if isinstance(error, click.UsageError):
        return Failure(_usage(error), "usage", error.exit_code)
    if isinstance(error, click.ClickException):
        return Failure(error.format_message(), "usage", error.exit_code)
    if isinstance(error, click.Abort) or _is_ctrl_c_in_a_query(error):
        return Failure("interrupted", "interrupted", INTERRUPTED)
    if isinstance(error, OSError):
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        return Failure(
            _os_message(error), "file", (StoreError if full else InputError).exit_code
        )
    engines = sys.modules.get(
        "warehouse.store.engines"
    )  # not loaded: no engine can have failed
    failed = None
    if engines:
        failed = engines.store_failure(error)
    return failed and Failure(str(failed), failed.kind, failed.exit_code)


def _is_ctrl_c_in_a_query(error: Exception) -> bool:
    """Whether it is what DuckDB's client makes of Ctrl-C while it reads rows."""
    return type(error) is RuntimeError and str(error) == "Query interrupted"


def _usage(error: click.UsageError) -> str:
    path = "warehouse"
    if error.ctx:
        path = error.ctx.command_path
    return f"{error.format_message()}\nSee: {path} --help"


def _os_message(error: OSError) -> str:
    reason = error.strerror or str(error)
    if error.filename:
        return f"{error.filename}: {reason}"
    return reason
