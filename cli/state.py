"""What holds for a whole call of the program: which store, how much to say."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warehouse.errors import (
    MisuseError,
    SchemaVersionError,
    StoreLockedError,
    WarehouseError,
)

from .dumps import AskedDumps
from .ui.table import (
    echo,
    fitted,
    has_chosen_columns,
    has_column_options,
    print_view,
    visible,
)

if TYPE_CHECKING:
    from warehouse.analysis.results import Result
    from warehouse.config import Config
    from warehouse.files import OutputKind
    from warehouse.ingest.file_rules import FileRules
    from warehouse.questions.question import Question
    from warehouse.store.connection import Store
    from warehouse.store.engines import Limits
    from warehouse.store.open import StoreOpener
    from warehouse.tables.view import View

    from .ui.output import Output


@dataclass
class State:
    """The global options."""

    db: str | None = None
    quiet: bool = False
    verbose: bool = False
    explain: bool = False  #: answers say how their figures were made.
    wait: float = 10.0
    config_file: str | None = None
    dumps: AskedDumps = field(default_factory=AskedDumps)
    _has_told: bool = False

    def settings(self) -> Config:
        """The settings that hold here, with those that a folder's own file may not say."""
        from warehouse import config

        return config.load(Path.cwd(), os.environ, url=self.db, chosen=self.config_file)

    def config(self) -> Config:
        """The settings that hold here; which store a folder's own file chose is said
        once.

        Raises:
            MisuseError: a folder's own file says what only a chosen one may.
        """
        found = self.settings()
        if self.dumps:
            return self._config_of_dumps(found)
        if found.refused:
            raise MisuseError(found.refused[0])
        if found.url.is_of_folder and not self._has_told:
            from warehouse.store.engines import shown_text

            self._has_told = True
            self.say(f"store: {shown_text(found.url.value)} ({found.url.origin})")
        return found

    def file_rules(self) -> FileRules:
        """Which mapping reads which files, and which hold no results: ``[ingest]``."""
        from warehouse.ingest.file_rules import FileRules

        config = self.settings() if self.dumps else self.config()
        maps = config.get("ingest.maps", {})
        return FileRules(tuple(maps.items()), tuple(config.get("ingest.ignore", ())))

    def _config_of_dumps(self, found: Config) -> Config:
        """The settings, with the store of the dumps as the one that is asked.

        Raises:
            MisuseError: a folder's own file names a mapping outside of it.
        """
        from warehouse.config import Setting

        for text in found.refused:
            if "ingest.maps" in text:
                raise MisuseError(text)
        url = self.dumps.url(self.file_rules(), quiet=self.quiet, verbose=self.verbose)
        return replace(
            found,
            url=Setting("store.url", url, "--from"),
            reader=Setting("store.reader", "", "--from"),
        )

    def open(
        self,
        *,
        write: bool = False,
        guarded: bool = False,
        limits: Limits | None = None,
        typed: bool = True,
        check: bool = True,
    ) -> Store:
        """The store, which has to exist; see :func:`warehouse.store.open.open_store`.

        Raises:
            StoreError: there is no store, or it cannot be opened.
        """
        from warehouse.store.open import open_store

        config = self.config()
        if self.verbose and not config.url.is_of_folder and not self.dumps:
            from warehouse.store.engines import shown_text

            self.detail(
                f"store: {shown_text(config.url.value)} (from {config.url.origin})"
            )
        return open_store(
            config.url.value,
            write=write,
            guarded=guarded,
            limits=limits,
            typed=typed,
            reader=config.reader.value,
            check=check,
            wait=self.wait,
            say=self.say,
        )

    def will_write(self, path: Path, kind: OutputKind, *, force: bool) -> None:
        """Look at a file before it is written; the store, where there is one, may know
        it.

        Raises:
            MisuseError: it must not be replaced.
            StoreError: the store cannot say whether the file is one of its sources.
        """
        from warehouse.files import COPY, require_output
        from warehouse.store.known_sources import known_in

        if kind is COPY:  # publishing asks the store itself
            from warehouse.store.snapshot import require_target

            require_target(path, force=force)
            return
        require_output(path, kind, force=force)
        if not path.is_file():
            return
        try:
            store = self.open()
        except (StoreLockedError, SchemaVersionError):
            if force:  # it may be a source: nobody can ask
                raise
            return
        except WarehouseError:
            return  # whoever needs the store will say so
        with store:
            require_output(path, kind, force=force, known_as=known_in(store))

    def ask(self, question: Question) -> Any:
        """The answer that the store gives to a question."""
        with self.open() as store:
            return question.ask(store)

    def opener(self) -> StoreOpener:
        """How to open the store, for as long as it takes."""
        from warehouse.store.open import StoreOpener

        return StoreOpener(self.open, lambda: self.open(write=True))

    def open_or_create(self, *, beside_others: bool = False) -> Store:
        """The store for writing, made if there is none.

        Args:
            beside_others: also where tables of somebody else lie.
        """
        from warehouse.store.open import open_store

        return open_store(
            self.config().url.value,
            create=True,
            beside_others=beside_others,
            wait=self.wait,
            say=self.say,
        )

    def say(self, text: str) -> None:
        """Print a remark on standard error, unless quiet."""
        if not self.quiet:
            echo(fitted(visible(self.dumps.in_commands(text)), sys.stderr), err=True)

    def notes(self, notes: Iterable[str]) -> None:
        """Remarks on the answer as a whole."""
        for note in notes:
            self.say(f"note: {note}")

    def view_of(self, view: Callable[..., View]) -> View:
        """What people are shown: how it was made where they ask, else what is read
        first, with every column where they want columns.

        Args:
            view: the view of a result, which takes ``verbose``.
        """
        if self.explains:
            return view(verbose=True)
        brief = view(verbose=False)
        if not has_column_options():
            return brief
        from warehouse.tables.wide import wide_view

        return wide_view(brief, view(verbose=True), chosen=has_chosen_columns())

    def show(self, view: View) -> None:
        """Print a view, and say its notes."""
        print_view(view)
        self.notes(view.notes)

    def give(
        self,
        output: Output,
        result: Result,
        view: Callable[[], View],
        *,
        part: str = "rows",
        notes: Iterable[str] | None = None,
    ) -> None:
        """Show people the view of a result; for programs write what a field of it
        holds, and say notes.

        Args:
            part: name of the field.
            notes: those that programs are told (default: the result's).
        """
        if output.for_people:
            self.show(view())
        else:
            output.emit_records(result.kind_of(part), getattr(result, part))
            self.notes(getattr(result, "notes", ()) if notes is None else notes)

    @property
    def explains(self) -> bool:
        """True if answers say how their figures were made."""
        return self.explain or self.verbose

    def detail(self, text: str) -> None:
        """A remark for those who asked for more."""
        if self.verbose:
            self.say(text)


def is_missing(url: str) -> bool:
    """Whether a store that is a file is not there."""
    from warehouse.store.engines import dialect_of, parse_url

    parsed = parse_url(url)
    return dialect_of(parsed).embedded and not Path(parsed.database or "").exists()


pass_state = click.make_pass_decorator(State, ensure=True)


_GLOBAL: dict[tuple[str, ...], dict[str, Any]] = {
    ("--db",): {
        "metavar": "URL",
        "help": (
            "Store: duckdb:///FILE, a file name, postgresql://HOST/DATABASE, or "
            "sail:?lake=LOCATION."
        ),
    },
    ("--from", "dumps_paths"): {
        "metavar": "PATH",
        "multiple": True,
        "help": (
            "Ask these result files or folders in place of a store; read as ingest reads "
            "them, with --map, --set, --default. Repeatable."
        ),
    },
    ("--config", "config_file"): {
        "metavar": "FILE",
        "type": click.Path(exists=True, dir_okay=False),
        "help": (
            "Settings, in place of the warehouse.toml of this folder, and free to name "
            "what lies outside of it."
        ),
    },
    ("--wait",): {
        "metavar": "SECONDS",
        "type": click.FloatRange(min=0),
        "help": (
            "How long to wait for a store that another process holds. [default: 10]"
        ),
    },
    ("-q", "--quiet"): {"is_flag": True, "help": "Answers and errors only."},
    ("--explain",): {
        "is_flag": True,
        "help": "Say how figures were made: methods, tests, every column.",
    },
    ("-v", "--verbose"): {"is_flag": True, "help": "Say more on standard error."},
}


#: How dumps are read that are asked in place of a store.
_OF_DUMPS: dict[tuple[str, ...], dict[str, Any]] = {
    ("--map", "dumps_mapping"): {"metavar": "FILE|NAME"},
    ("--set", "dumps_values"): {"metavar": "FIELD=VALUE", "multiple": True},
    ("--default", "dumps_defaults"): {"metavar": "FIELD=VALUE", "multiple": True},
    ("--format", "dumps_format"): {"metavar": "F"},
    ("--higher-is-better/--lower-is-better", "dumps_direction"): {"default": None},
}
_FROM = ("--from", "dumps_paths")


def global_options(function: Any, *, hidden: bool = True) -> Any:
    """``--db``, ``--wait``, ``-q`` and ``-v``, which stand before the command or after
    it; before it ``--from`` too, with what says how dumps are read."""
    options = {flags: more for flags, more in _GLOBAL.items() if flags != _FROM}
    if not hidden:
        function = _offered(function, _OF_DUMPS, hidden=True)
        options = _GLOBAL
    return _offered(function, options, hidden=hidden)


def dump_options(function: Any) -> Any:
    """``--from``, and what says how dumps are read, for a command that only asks; where
    it has an option of the same name, ours stands before the command."""
    return _offered(function, {_FROM: _GLOBAL[_FROM], **_OF_DUMPS}, hidden=True)


def _offered(
    function: Any, options: Mapping[tuple[str, ...], dict[str, Any]], *, hidden: bool
) -> Any:
    """A command with further options, but for those whose name it has already."""
    own = {
        flag
        for param in getattr(function, "__click_params__", ())
        for flag in (*param.opts, *param.secondary_opts)
    }
    for flags, more in reversed(list(options.items())):
        if not own & set(flags[0].split("/")):
            keep = _keep_dumps if flags[1:] and "dumps_" in flags[1] else _keep
            function = click.option(
                *flags, **more, callback=keep, expose_value=False, hidden=hidden
            )(function)
    return function


def _keep(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    if value is not None and value is not False:
        setattr(ctx.ensure_object(State), str(param.name), value)
        if param.name == "quiet":
            _silence(ctx)


def _keep_dumps(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Before the command and after it count together."""
    dumps, name = ctx.ensure_object(State).dumps, str(param.name).removeprefix("dumps_")
    if isinstance(value, tuple):
        setattr(dumps, name, getattr(dumps, name) + value)
    elif value is not None:
        setattr(dumps, name, value)


def _silence(ctx: click.Context) -> None:
    """No warnings of the library for as long as the call lasts."""
    import logging

    log = logging.getLogger("warehouse")
    before = log.level
    log.setLevel(logging.ERROR)
    ctx.find_root().call_on_close(lambda: log.setLevel(before))
