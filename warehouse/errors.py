"""The error family: what a user can do wrong, and what can go wrong under a user.

Every message says what was found, what was expected and what to do about it. The
command line is the only place that turns these into exit codes (``exit_code`` of the
class).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

#: What the part of a message begins with that says what to do, after a semicolon or in
#: a line of its own.
_ADVICE = re.compile(
    r"(?:; |\n)(?=(?:expected|give|leave|name|choose|run|see|use|publish|narrow|take|make|try|ask|say|pass|ingest"
    r"|create|keep|refresh|move|load|let|do|start|end|extend|import|scale|sync|correct|call|cast|store|sort|change|add"
    r"|install|wait|upgrade|put|such as|there (?:is|are)|it (?:has|needs)|the others are|did you mean|fields there are"
    r"|for files|in the command|two|at least|warehouse|`warehouse|--\w[\w-]* \w+s)\b)",
    re.IGNORECASE,
)


class WarehouseError(Exception):
    """Base of every error that this project raises on purpose.

    ``exit_code`` is the status with which the command line ends: 2 misuse, 3 bad input,
    4 store trouble.
    """

    exit_code = 1

    @property
    def kind(self) -> str:
        """Of the classes of this file the one that it is, in small letters: ``misuse``,
        ``schema_version``."""
        name = next(
            base.__name__ for base in type(self).__mro__ if base.__module__ == __name__
        )
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.removesuffix("Error")).lower()


class MisuseError(WarehouseError):
    """A request that cannot be meant: unknown name, ambiguous reference, contradictory
    flags."""

    exit_code = 2


class StatisticsError(MisuseError, ValueError):
    """Numbers that a statistic is not defined for (empty, not finite, lengths that
    differ)."""


class QueryLimitError(MisuseError):
    """A query that took longer, or needed more memory, than it may.

    Args:
        found: what it took.
        option: of the command line, which allows more.
        argument: the same in Python.
    """

    def __init__(self, found: str, option: str, argument: str) -> None:
        super().__init__(
            f"{found}; narrow the query, or allow more: {option} (in Python: "
            f"{argument})"
        )


class InputError(WarehouseError):
    """A dump or mapping file that cannot be read as what it claims to be.

    Args:
        found: what stands there.
        path: the file.
        place: the place in the file (``"line 4712"``, ``"entry samples/1.json"``), if
            known.
        expected: what should stand there, if that can be said.
        advice: what to do about it, if that can be said.
    """

    exit_code = 3

    def __init__(
        self,
        found: str,
        *,
        path: str = "",
        place: str = "",
        expected: str = "",
        advice: str = "",
    ) -> None:
        self.found, self.path, self.place = found, path, place
        self.expected, self.advice = expected, advice
        where = ", ".join(part for part in (path, place) if part)
        message = found
        if where:
            message = f"{where}: {found}"
        if expected:
            message += f"; expected {expected}"
        if advice:
            message += f"; {advice}"
        super().__init__(message)


class MappingError(InputError):
    """A mapping file that names fields, columns or patterns which are not there."""


class NothingMatchesError(MappingError):
    """A mapping that names none of the files below a path."""


class StoreError(WarehouseError):
    """The store cannot be opened, is locked, or lacks something that it should hold."""

    exit_code = 4


class SchemaVersionError(StoreError):
    """The store's schema is older or newer than the program.

    Args:
        found: revision of the store (``None``: there is none in the database).
        expected: revision that this program works with.
        command: the command that repairs it.
    """

    def __init__(self, found: str | None, expected: str, command: str) -> None:
        self.found, self.expected, self.command = found, expected, command
        super().__init__(
            f"the database holds no store; make one: {command}"
            if found is None
            else f"the store's schema is at revision {found}, this program needs {expected}; run: {command}"
        )


class StoreLockedError(StoreError):
    """Another process holds the store, and the wait for it ran out."""


class ReadOnlyError(StoreError):
    """A store that can only be asked, and something that only the one it was made from
    can do."""

    exit_code = 2


class DiskFullError(StoreError):
    """There was no room on a disk, or a file reached the size that it may have.

    Args:
        reason: the engine's or the system's words.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"no room on the disk: {reason}; what is stored is whole, of what was not "
            "finished nothing is stored; make room, then run the same again"
        )


class ConflictError(InputError):
    """A dump says something else about a run that the store already holds: ``run_id``,
    where it is that."""

    def __init__(self, found: str, *, run_id: int | None = None, **more: str) -> None:
        super().__init__(found, **more)
        self.run_id = run_id


def parted(message: str) -> tuple[str, str]:
    """What is wrong, and what to do about it, which the messages of this project say
    one after the other.

    >>> parted("no source 'x'; see: warehouse list sources")
    ("no source 'x'", 'see: warehouse list sources')
    """
    error, *advice = _ADVICE.split(message.strip(), maxsplit=1)
    return error, "".join(advice)


def names_of(source: str) -> list[str]:
    """A source, and what it is called in each of the folders that it lies in."""
    parts = source.split("/")
    return ["/".join(parts[number:]) for number in range(len(parts))]


def without_prefix(text: str, source: str) -> str:
    """A text that says first which source it is about, without that."""
    for name in names_of(source):
        text = text.removeprefix(f"{name}: ")
    return text


def did_you_mean(name: str, names: Iterable[str], otherwise: str) -> str:
    """The end of a message on an unknown name: ``did you mean a or b?``, else
    ``otherwise``.

    Args:
        names: those that there are; case does not count.
        otherwise: what to say where none is close.
    """
    spelled = {one.lower(): one for one in sorted(set(names), reverse=True)}
    begun = [one for one in spelled if len(name) > 2 and one.startswith(name.lower())]
    close = [
        spelled[one]
        for one in begun[:2] or get_close_matches(name.lower(), spelled, cutoff=0.65)
    ]
    if close:
        return f"did you mean {' or '.join(close)}?"
    return otherwise


def refuse_unknown(
    names: Iterable[str], known: Iterable[str], path: str, place: str = "line 1"
) -> None:
    """Refuse a column that a file of the user's does not have: misspelt, it would be
    ignored.

    Args:
        names: the columns that are there.
        known: those that may be.
        path: of the file, for the message.

    Raises:
        InputError: names the first that is unknown, and what may be meant.
    """
    columns = list(known)
    for name in names:
        if name not in columns:
            found = (
                f"a column {name!r}; "
                f"{did_you_mean(str(name), columns, 'there is none of this name')}"
            )
            raise InputError(
                found, path=path, place=place, expected=f"columns {', '.join(columns)}"
            )


def cause_of(error: BaseException) -> BaseException:
    """What the driver of an engine raised, where the layer above wrapped it; else the
    error."""
    cause: BaseException | None = getattr(error, "orig", None)
    return cause or error


def first_line(error: BaseException) -> str:
    """The first line of what an engine, or the system, says."""
    return next(iter(str(cause_of(error)).strip().splitlines()), "")
