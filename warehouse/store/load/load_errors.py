"""What goes wrong in a load, as errors of ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from warehouse.errors import DiskFullError, InputError, cause_of
from warehouse.store import engines
from warehouse.store.load.bulk_insert import TooLargeError


class NeedsMemoryError(InputError):
    """A source that cannot be loaded with the memory that the engine may use."""

    def __init__(self, path: str = "") -> None:
        super().__init__(
            "it needs more memory than the engine may use",
            path=path,
            advice="allow more, as in WAREHOUSE_MEMORY_LIMIT=8GB, or split the dump",
        )


@contextmanager
def parsing() -> Iterator[None]:
    """What goes wrong in the parser, as errors of ours."""
    try:
        yield
    except Exception as error:
        if reason := engines.disk_full(error):
            raise DiskFullError(reason) from error
        if engines.out_of_memory(error):
            raise NeedsMemoryError from error
        if engines.value_error(error):
            raise unfit(error) from error
        raise


def unfit(error: BaseException, path: str = "") -> InputError:
    """A value that the store cannot hold, with what to do about it."""
    cause = cause_of(error)
    if isinstance(error, TooLargeError):
        advice = "repair that number, or leave it out"
    elif (
        isinstance(cause, UnicodeError)
        or isinstance(cause.__cause__, UnicodeError)
        or any(word in str(cause) for word in ("U+0000", "NUL (0x00)", "\\u0000", "0x00"))
    ):
        advice = "repair that text: names must be UTF-8 without U+0000; or give it with --set"
    elif engines.too_long(error):
        advice = "names and ids may have some 2,000 characters here"
    else:
        advice = "this is a defect of the importer, unless --set or the mapping gave the value"
    problem = f"a value that the store cannot hold: {str(cause).strip().splitlines()[0]}"
    return InputError(problem, path=path, advice=advice)
