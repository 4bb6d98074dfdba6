"""The dumps that a call is asked of in place of a store (``--from``), and how they are
read."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from warehouse.dumps.stores import DumpStore
    from warehouse.ingest.file_rules import FileRules


#: Paths that every command of a message names.
_MOST_NAMED = 2


@dataclass
class AskedDumps:
    """Files and folders with the options by which ``ingest`` would read them; the fields
    are called as those options."""

    paths: tuple[str, ...] = ()
    mapping: str | None = None
    values: tuple[str, ...] = ()
    defaults: tuple[str, ...] = ()
    direction: bool | None = None  #: whether higher is better.
    format: str | None = None
    _store: DumpStore | None = None

    def __bool__(self) -> bool:
        """True if there are any."""
        return bool(self.paths)

    def require(self, db: str | None) -> None:
        """Look at what is said of them before anything is done.

        Args:
            db: the store that was named.

        Raises:
            UsageError: it contradicts itself, or there are none that are read somehow.
            MisuseError: there is no such file or folder.
        """
        if self.paths:
            from warehouse.dumps.stores import require_dumps

            if db is not None:
                raise click.UsageError("give one of --db and --from")
            require_dumps(self.paths)
        elif how := self._how():
            raise click.UsageError(
                f"{how[0]}: goes with --from PATH; a store was read by ingest"
            )

    def _how(self) -> list[str]:
        """The options by which they are read."""
        words = ["--map", self.mapping] if self.mapping else []
        words += ["--format", self.format] if self.format else []
        words += [word for text in self.values for word in ("--set", text)]
        words += [word for text in self.defaults for word in ("--default", text)]
        if self.direction is not None:
            words.append(f"--{'higher' if self.direction else 'lower'}-is-better")
        return words

    def words(self) -> list[str]:
        """The options by which the same dumps are read the same way."""
        return [word for path in self.paths for word in ("--from", path)] + self._how()

    def in_commands(self, text: str) -> str:
        """A text whose commands can be pasted: they ask these dumps; of many the first
        command alone names all."""
        if not self.paths:
            return text
        from warehouse.dumps.advice import without_store

        from .command_table import asking_words

        text = without_store(text)
        words = "|".join(sorted(asking_words()))
        named = shlex.join(["warehouse", *self.words()])
        command = re.compile(rf"\bwarehouse (?=(?:{words})\b)")
        found = command.search(text)
        if found is None or len(self.paths) <= _MOST_NAMED:
            return command.sub(lambda _: f"{named} ", text)
        head = f"{text[: found.start()]}{named} "
        return head + command.sub("warehouse --from … ", text[found.end() :])

    def url(self, rules: FileRules, *, quiet: bool, verbose: bool) -> str:
        """The store that holds them, read at the first call, with what is to be said of
        that; let go of at the end of the call of the program.

        Raises:
            MisuseError: a path that is not there, or a wrong setting.
            InputError: nothing there can be read.
        """
        if self._store is None:
            from warehouse.dumps.reading import DumpReading
            from warehouse.importers.common.header_values import parse_values

            from .ui.dumps import opened

            reading = DumpReading(
                format=self.format,
                mapping=self.mapping,
                values=parse_values(self.values),
                defaults=parse_values(self.defaults),
                higher_is_better=self.direction,
                rules=rules,
            )
            self._store = opened(self.paths, reading, quiet=quiet, verbose=verbose)
            context = click.get_current_context().find_root()
            context.call_on_close(self._store.close)
        return self._store.url

    @property
    def exit_code(self) -> int:
        """How ``ingest`` would have ended: 3 if a source was refused."""
        if self._store is not None and self._store.said.refused:
            from warehouse.errors import InputError

            return InputError.exit_code
        return 0
