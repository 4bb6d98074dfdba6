"""From dumps to rows: three short transactions per load, of which the last holds all
facts; one where the load is small and the store has no other writer.

A load is one source, or several small ones, which then cost little more than one
(seventy statements of a millisecond are what a small source takes by itself).

1. dimensions that headers, metrics and variants name; 2. prompts; 3. runs, facts,
  published
scores and the ledger. A process that dies leaves whole sources only: what the first two
wrote is invisible until a run points to it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import pyarrow as pa

from warehouse.errors import DiskFullError, InputError
from warehouse.records import Dump
from warehouse.store import engines
from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.load import (
    duplicates,
    facts,
    figure_words,
    measures,
    prompt_completion,
    published_again,
    sample_words,
    scans,
    source_ledger,
    staging,
    statements,
    suite_words,
    votes,
)
from warehouse.store.load.benchmark_metrics import add_dimensions, benchmark_metrics
from warehouse.store.load.bulk_insert import (
    NeedsMemoryError,
    UnfitError,
    parsing,
    unfit,
)
from warehouse.store.load.conflicts import decide
from warehouse.store.load.decisions import Decision
from warehouse.store.load.dimensions import Dimensions
from warehouse.store.load.facts import add_prompts
from warehouse.store.load.filled_prompts import fill_prompts
from warehouse.store.load.kept_words import give_back, words_of_people
from warehouse.store.load.run_keys import run_key
from warehouse.store.load.same_responses import (
    is_scored_by_people,
    refuse_other_scores,
    refuse_scorers_as_draws,
)
from warehouse.store.load.scratch import LARGE, open_scratch
from warehouse.store.load.state import (
    LoadOptions,
    LoadReport,
    NotTogetherError,
    Parsed,
    SourceClaim,
    _Load,
    note_same_content,
    note_unscored,
    note_values_that_are_no_numbers,
    report_of,
    state_of,
)

#: How often a load is tried where another writer got in its way (deadlock,
#: serialisation).
ATTEMPTS = 3


class Loader:
    """Loads dumps into one open store, one after the other.

    :meth:`parse` may run on another thread while :meth:`load` works on the source
    before; a slot is free again when the load of the source that was parsed into it has
    ended. Say ``overlapping`` if that is going to happen, and ``once`` if only one
    source comes: then nothing is learned for the next.
    """

    def __init__(
        self, store: Store, *, overlapping: bool = False, once: bool = False
    ) -> None:
        self.store = store
        self.once = once
        self.scratch = open_scratch(store)
        self.parser = self.scratch.parser()
        self.parser.is_alone = self.scratch.is_alone = not overlapping
        if overlapping:
            self.scratch.share_cores()
        self.dimensions = Dimensions()
        self.settled = prompt_completion.SettledPrompts(once=once)
        self._n_forgotten = store.n_forgotten

    def close(self) -> None:
        """Let go of the scratch space; the store stays open."""
        with engines.failing_anyway():
            self.parser.raw.close()
            self.scratch.close()

    def parse(self, dump: Dump, options: LoadOptions, slot: int = 0) -> Parsed:
        """Read all batches of a dump into slot 0 or 1, number its prompts, gather its
        texts.

        Raises:
            InputError: a value that no store can hold.
            NeedsMemoryError: what the engine may use was not enough.
        """
        return self.parse_all([dump], options, slot)

    def parse_all(
        self, dumps: Sequence[Dump], options: LoadOptions, slot: int = 0
    ) -> Parsed:
        """:meth:`parse` for the dumps of one load.

        Raises:
            InputError: a value that no store can hold.
            NeedsMemoryError: what the engine may use was not enough.
        """
        self.parser.use(slot)
        with parsing():
            n_rows, columns = staging.parse(
                self.parser, dumps, options.on_duplicate, options.text
            )
        return Parsed(tuple(dumps), slot, n_rows, columns)

    def receive(
        self,
        dumps: Sequence[Dump],
        n_rows: int,
        rows: Iterable[tuple[str, pa.RecordBatchReader]],
        slot: int,
    ) -> Parsed:
        """The result of :meth:`parse_all` for dumps that executors parsed.

        Args:
            dumps: without their batches.
            n_rows: number of rows of these.
            rows: what :func:`~warehouse.store.load.staging.parsed_rows` gave there.
            slot: 0 or 1.

        Raises:
            NeedsMemoryError: what the engine may use was not enough.
        """
        self.parser.use(slot)
        with parsing():
            for name, reader in rows:
                self.parser.keep(name, reader)
            columns = self.parser.columns_of("stage_given")
            staging.show_samples(self.parser, columns)
            said = set(columns)
            if n_rows:
                self.parser.run("create or replace view stage_text as from stage_said")
                said.add(staging.TRANSCRIPT)
        return Parsed(tuple(dumps), slot, n_rows, said)

    def expect_source(self, size: int) -> None:
        """Let the engine use as much as a source of so many bytes takes; for the thread
        that parses."""
        engines.expect_source(self.parser.raw, size)

    def more_memory(self) -> bool:
        """Let the engine use twice as much while this loader is open; for the thread
        that parses. False if it has all that it may have."""
        return engines.more_memory(self.parser.raw)

    def load(
        self,
        dump: Dump | Parsed,
        source: SourceClaim,
        options: LoadOptions,
        *,
        dry_run: bool = False,
    ) -> LoadReport:
        """Load one claimed source; with ``dry_run`` do everything and roll it back.

        Raises:
            InputError: too many bad rows, facts that contradict each other, or a value
                that the store cannot hold; nothing stays.
            ConflictError: a stored run says something else.
        """
        if isinstance(dump, Parsed):
            parsed = dump
        else:
            parsed = self.parse(dump, options)
        return self.load_all(parsed, [source], options, dry_run=dry_run)[0]

    def load_all(
        self,
        parsed: Parsed,
        sources: Sequence[SourceClaim],
        options: LoadOptions,
        *,
        dry_run: bool = False,
    ) -> list[LoadReport]:
        """:meth:`load` for the sources of one load: all of them or none.

        What becomes of each is what would if they were loaded one by one, in this
        order.

        Raises:
            NotTogetherError: that can only be told by doing so.
        """
        started = time.monotonic()
        self.scratch.use(parsed.slot)
        self.scratch.expect(parsed.n_rows)
        try:
            return self._attempts(parsed, sources, options, started, dry_run)
        except BaseException as error:
            if reason := engines.disk_full(error):
                raise DiskFullError(reason) from error
            if isinstance(error, UnfitError) or engines.value_error(error):
                raise unfit(error, sources[0].path) from error
            raise
        finally:
            # few give way to the next ones in their slot
            if parsed.n_rows > engines.FEW_ROWS:
                with engines.failing_anyway():
                    self.scratch.drop(
                        f"scratch.slot_{parsed.slot}.{name}" for name in staging.PARSED
                    )

    def _attempts(
        self,
        parsed: Parsed,
        sources: Sequence[SourceClaim],
        options: LoadOptions,
        started: float,
        dry_run: bool,
    ) -> list[LoadReport]:
        left = ATTEMPTS
        while True:
            try:
                return self._attempt(parsed, sources, options, started, dry_run)
            except Exception as error:
                if engines.out_of_memory(error):
                    if not engines.more_memory(self.scratch.raw):
                        raise NeedsMemoryError(sources[0].path) from error
                    continue
                left -= 1
                if not (left and self.store.dialect.retryable(error)):
                    raise

    def _attempt(
        self,
        parsed: Parsed,
        sources: Sequence[SourceClaim],
        options: LoadOptions,
        started: float,
        dry_run: bool,
    ) -> list[LoadReport]:
        state = state_of(parsed, sources, options)
        self.scratch.replaced.clear()
        if self._n_forgotten != self.store.n_forgotten:
            self._forget()
            self._n_forgotten = self.store.n_forgotten
        try:
            self._refuse_rejected(state)
            readings = self._other_readings(sources, options)
            if dry_run:
                together = self._rehearsal()
            else:
                together = self._at_once(state.n_rows, is_whole=bool(readings))
            with together:
                if readings:
                    self._replace(readings, state)
                add_dimensions(
                    self.store, self.scratch, self.dimensions, state, self._transaction
                )
                if state.n_rows:
                    with self._transaction() as connection:
                        add_prompts(connection, self.store, self.scratch, state)
                    self._prepare_facts(state)
                if votes.holds_any(self.scratch, state):
                    with self._transaction() as connection:
                        votes.add_names(
                            self.store, self.scratch, self.dimensions, state, connection
                        )
                reports = self._add_facts(state, started)
            holds_store = not self.once and self.store.dialect.embedded
            if holds_store and not dry_run and state.has_all_texts:
                # nobody else can remove them while this process holds the store
                with engines.failing_anyway():
                    staging.learn_texts(self.scratch)
            return reports
        except BaseException:
            self._forget()
            raise

    def _forget(self) -> None:
        """Forget what was just written: it is not stored."""
        self.dimensions.forget()
        self.settled.forget()

    @contextmanager
    def _transaction(self) -> Iterator[sa.Connection]:
        """One transaction; in a dry run, a part of the one that is rolled back."""
        if self.store.connection.in_transaction():
            yield self.store.connection
        else:
            with self.store.begin() as connection:
                yield connection

    @contextmanager
    def _at_once(self, n_rows: int, *, is_whole: bool = False) -> Iterator[None]:
        """One transaction in place of three where nobody waits for what the first two
        lock, and a commit takes about as long as what a small load writes; and where
        the load replaces something (``is_whole``)."""
        if is_whole or (self.store.dialect.embedded and n_rows < LARGE):
            with self.store.begin():
                yield
        else:
            yield

    @contextmanager
    def _rehearsal(self) -> Iterator[None]:
        connection = self.store.connection
        connection.begin()
        try:
            self.store.dialect.lock_all(connection)
            yield
        finally:
            connection.rollback()
            self._forget()

    def _other_readings(
        self, sources: Sequence[SourceClaim], options: LoadOptions
    ) -> list[source_ledger.OtherReading]:
        """Other readings of the same bytes, which this load replaces."""
        if options.beside:
            return []
        readings = source_ledger.other_readings(self.store, sources)
        if readings and len(sources) > 1:
            raise NotTogetherError("one was read otherwise before")
        return readings

    def _replace(
        self, readings: Sequence[source_ledger.OtherReading], state: _Load
    ) -> None:
        """Take out what the bytes of a source were read as before, and say so."""
        connection = self.store.connection
        self.store.dialect.lock_all(connection)
        state.words = words_of_people(
            connection, [reading.source_id for reading in readings]
        )
        for reading in readings:
            source_ledger.forget_source(
                self.store, self.scratch, connection, reading.source_id
            )
            state.note(reading.note())
        self._forget()
        self._n_forgotten = self.store.n_forgotten

    def _write_words(self, connection: sa.Connection, state: _Load) -> None:
        """Keep what the sources say, and say again what people had said of what this
        load replaces."""
        statements.write(connection, state.statements)
        if state.words is None:
            return
        for text in give_back(
            self.store,
            connection,
            state.words,
            [part.source.id for part in state.parts],
        ):
            state.note(text)
            state.doubtful.add(text)

    def _refuse_rejected(self, state: _Load) -> None:
        for part in state.parts:
            rejected = part.dump.rejections
            if len(rejected) <= state.options.max_rejected:
                continue
            first = rejected[0]
            rows_were = "1 row was"
            if len(rejected) > 1:
                rows_were = f"{len(rejected)} rows were"
            raise InputError(
                f"{rows_were} rejected; first: {first.place}: {first.found}",
                path=part.source.path,
                expected=first.expected,
                advice=(
                    f"repair the file, or allow it with --max-rejected {len(rejected)}"
                ),
            )

    def _prepare_facts(self, state: _Load) -> None:
        self.scratch.give_back(state.n_rows)
        state.sizes = staging.resolve(self.scratch)
        prompts = staging.prompts_of_runs(self.scratch)
        dropped = duplicates.settle_duplicates(
            self.scratch,
            state.sizes,
            prompts,
            state.options.on_duplicate,
            by_people=is_scored_by_people(state.dump.runs),
        )
        for text in dropped.notes(state.options.on_duplicate):
            state.note(text)
            state.doubtful.add(text)
        refuse_scorers_as_draws(self.scratch, state)
        state.add_marks(measures.sample_marks(self.scratch, set(state.columns)))
        state.are_apart = staging.are_apart(state.sizes, prompts)
        state.scores = measures.summarise_scores(self.scratch)
        note_values_that_are_no_numbers(self.scratch, state)
        note_unscored(self.scratch, state)
        note_same_content(self.scratch, state)
        state.sizes["stage_prompt_score"] = staging.show_prompt_scores(
            self.scratch, state.sizes, prompts
        )
        state.measured = measures.measure(
            self.scratch, prompts, state.sizes, state.scores
        )

    def _add_facts(self, state: _Load, started: float) -> list[LoadReport]:
        sources = [part.source for part in state.parts]
        with self._transaction() as connection:
            if any(part.dump.scan for part in state.parts):
                # a run that comes at the same time would not be joined
                self.store.dialect.lock_all(connection)
            else:
                self.store.dialect.lock_shared(connection, _keys(state))
            if source_ledger.any_loaded(connection, sources):
                if len(sources) > 1:
                    raise NotTogetherError("one was loaded meanwhile")
                return [
                    LoadReport(sources[0].path, "unchanged", source_id=sources[0].id)
                ]
            decisions = self._decide(state)
            run_ids = self._insert_runs(connection, state, decisions)
            completed: list[int] = []
            if state.n_rows:
                completed = self._push_rows(connection, state, decisions, run_ids)
            published_again.publish(self.store, self.scratch, state, run_ids)
            facts.push_run_metrics(connection, self.scratch, state, run_ids)
            self._link_sources(state, decisions, run_ids)
            # from here on rows of benchmarks change, which every load may want to
            stored_runs = [item.run for item in decisions if item.action != "skip"]
            benchmark_metrics(self.store, state, stored_runs)
            scans.push(self.scratch, state)
            scans.join(self.store, self.scratch, state, [*run_ids.values(), *completed])
            if votes.holds_any(self.scratch, state):
                votes.push(self.store, self.scratch, state)
            fill_prompts(self.store, self.scratch, self.settled, state, once=self.once)
            self._write_words(connection, state)
            for column, count in sorted(self.scratch.replaced.items()):
                state.note(
                    f"{count} characters U+0000 of {column} became U+FFFD: the store "
                    "cannot hold them"
                )
            reports = [
                report_of(state, number, decisions, run_ids, started)
                for number in range(len(sources))
            ]
            rejections = [part.dump.rejections for part in state.parts]
            source_ledger.finish(
                connection, list(zip(sources, reports, rejections, strict=True))
            )
        return reports

    def _insert_runs(
        self, connection: sa.Connection, state: _Load, decisions: Sequence[Decision]
    ) -> dict[int, int]:
        """Insert the runs that are new; gives their ids, by their place in the load."""
        fresh = [item for item in decisions if item.action == "new"]
        run_ids: dict[int, int] = {}
        if fresh:
            first = self.dimensions.take(connection, "run", len(fresh))
            for run_id, item in enumerate(fresh, start=first):
                run_ids[item.run] = run_id
        facts.insert_runs(connection, state, fresh, run_ids)
        facts.complete_marks(connection, decisions)
        return run_ids

    def _push_rows(
        self,
        connection: sa.Connection,
        state: _Load,
        decisions: Sequence[Decision],
        run_ids: dict[int, int],
    ) -> list[int]:
        """Append the facts of new runs; gives the runs whose transcripts were
        completed."""
        self.scratch.give_back(state.n_rows)
        facts.push(self.scratch, state, run_ids)
        all_new = len(run_ids) == len(state.dump.runs)
        state.has_all_texts = state.options.text == "all" and all_new
        completed: list[int] = []
        if staging.TRANSCRIPT in state.columns:
            again = {}
            for item in decisions:
                if item.same_as is not None:
                    again[item.run] = item.same_as
            completed = facts.complete_transcripts(
                connection, self.scratch, state, again
            )
        refuse_other_scores(self.store, state, decisions, run_ids)
        return completed

    def _link_sources(
        self, state: _Load, decisions: Sequence[Decision], run_ids: Mapping[int, int]
    ) -> None:
        """Say which runs the sources hold, and keep what they say of those that others
        have given."""
        connection = self.store.connection
        facts.link_sources(connection, state, decisions, run_ids)
        facts.state_words_on_runs(connection, state, decisions, run_ids)
        if state.n_rows and any(decision.action == "seen" for decision in decisions):
            sample_words.complete(connection, self.scratch, state, decisions, run_ids)
            figure_words.complete(
                connection, published_again.published_again(state, decisions, run_ids)
            )
        suite_words.complete(
            connection,
            published_again.suites_published_again(state, decisions, run_ids),
        )

    def _decide(self, state: _Load) -> list[Decision]:
        decisions = decide(
            self.store,
            self.scratch,
            state.dump.runs,
            state.settings,
            state.measured,
            state.options.on_conflict,
            state.parts,
        )
        if decisions is None:
            raise NotTogetherError("one decides what becomes of another")
        return decisions


def _keys(state: _Load) -> Iterator[str]:
    """Keys of what two loads must not decide about at once: the source, and what its
    runs are known by."""
    for part in state.parts:
        yield f"source {part.source.id}"
    for header, settings in zip(state.dump.runs, state.settings, strict=True):
        yield settings.condition_key
        key = run_key(header)
        if key is not None:  # a run without one is the same as no other
            yield key
